"""The progress of a run in this process: a bar per stage on a terminal, plain lines elsewhere."""

import logging
import time

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from resources.run_progress import LISTENED

_SECONDS_BETWEEN_LINES = 5.0


class StageBars(logging.Handler):
    """Draws what `RunProgress` reports while it is entered as a context."""

    def __init__(self, console: Console) -> None:
        super().__init__(logging.INFO)
        self._console = console
        self._bars = Progress(
            TextColumn("{task.description:<18}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TextColumn("left"),
            TimeRemainingColumn(),
            console=console,
        )
        self._drawn = False
        self._tasks: dict[str, TaskID] = {}
        self._last_line: dict[str, float] = {}
        self._finished: set[str] = set()

    def __enter__(self) -> "StageBars":
        LISTENED.setLevel(logging.INFO)
        LISTENED.propagate = False
        LISTENED.addHandler(self)
        # Asked once: while the bars are up they stand between the console and the terminal.
        self._drawn = self._console.is_terminal
        if self._drawn:
            self._bars.start()
        return self

    def __exit__(self, *_error: object) -> None:
        LISTENED.removeHandler(self)
        LISTENED.setLevel(logging.NOTSET)
        LISTENED.propagate = True
        if self._drawn:
            self._bars.stop()

    def emit(self, record: logging.LogRecord) -> None:
        """Move the bar of `record.stage`, or print a line at its end and now and then before."""
        stage, done, total = (getattr(record, name) for name in ("stage", "done", "total"))
        if self._drawn:
            task = self._tasks.get(stage)
            if task is None:
                task = self._tasks[stage] = self._bars.add_task(stage, total=total)
            self._bars.update(task, completed=done, total=total)
            return
        if done < total:
            self._finished.discard(stage)  # the stage begins again, with the next question file
        now = time.monotonic()
        over = done >= total and stage not in self._finished
        if over or (done < total and now - self._last_line.setdefault(stage, now) >= _SECONDS_BETWEEN_LINES):
            self._last_line[stage] = now
            self._finished |= {stage} if over else set()
            self._console.print(f"{stage}: {done} of {total}")
