"""Progress of a run: lines in Dagster's log, now and then, and every step to whoever listens in this process."""

import logging
import time
from collections.abc import Callable

from dagster import DagsterLogManager

LISTENED = logging.getLogger("hcg.progress")  # records carry `stage`, `done`, `total`; `hcg` draws bars from them
_SECONDS_BETWEEN_LINES = 5.0


class Listened:
    """A `Progress` for whoever listens in this process, and nobody else."""

    def advance(self, stage: str, done: int, total: int) -> None:
        """Report `done` of `total` items of `stage`."""
        LISTENED.info("%s: %d of %d", stage, done, total, extra={"stage": stage, "done": done, "total": total})


class RunProgress(Listened):
    """A `Progress` that writes `variables: 120 of 400, about 40 s left` to the run's log at most every 5 s.

    A stage that takes longer also gets a line at its end. `spent` says what the run has cost so far, or nothing.
    """

    def __init__(self, log: DagsterLogManager, spent: Callable[[], str] = str) -> None:
        self._log = log
        self._spent = spent
        self._began: dict[str, float] = {}
        self._last_line: dict[str, float] = {}

    def advance(self, stage: str, done: int, total: int) -> None:
        """Report `done` of `total` items of `stage`."""
        super().advance(stage, done, total)
        now = time.monotonic()
        took = now - self._began.setdefault(stage, now)
        waited = now - self._last_line.setdefault(stage, now)
        over = done == total and took >= _SECONDS_BETWEEN_LINES
        if waited < _SECONDS_BETWEEN_LINES and not over:
            return
        self._last_line[stage] = now
        left = f", about {took / done * (total - done):.0f} s left" if done else ""
        about = f" in {took:.0f} s" if over else left
        spent = self._spent()
        self._log.info(f"{stage}: {done} of {total}{about}{f'; {spent}' if spent else ''}")
