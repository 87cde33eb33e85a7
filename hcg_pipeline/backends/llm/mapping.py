"""Many prompts at once: concurrent, in order, and stopped early where the model cannot do the task.

A canary goes first: a few prompts spread over the stage. If nearly all of them fail, the stage stops before the rest is
paid for. Failures of the endpoint in an unbroken row stop it, too.
"""

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from typing import Generic, Protocol, TypeVar

from hcg_pipeline.backends.llm.asking import Asked
from hcg_pipeline.backends.llm.budget import BudgetError
from hcg_pipeline.backends.llm.endpoint import without_keys
from hcg_pipeline.backends.protocol import Failure, Usage
from hcg_pipeline.errors import BackendError
from hcg_pipeline.progress import Progress

R = TypeVar("R")


class Question(Protocol):
    """What is asked: a prompt, or a window that may take several."""

    @property
    def stage(self) -> str:
        """The stage that it belongs to, the same for all of a call of `ask_all`."""


Q = TypeVar("Q", bound=Question)

CANARY = 5
_MOST_CANARY_FAILURES = 3
_MOST_UNANSWERED = 5
_WAY_OUT = "Set HCG_LLM_MODEL to a more capable model, or use the rules backend"


def ask_all(
    ask: Callable[[Q], Asked[R]],
    prompts: Sequence[Q],
    workers: int,
    progress: Progress,
    before: Callable[[Sequence[Q]], None] | None = None,
    *,
    way_out: str = _WAY_OUT,
) -> list[Asked[R]]:
    """What came of each prompt, in the order of `prompts`, whatever the number of workers.

    `before` is called with the prompts that are left after the canary, before any of them is asked. `way_out` is what
    a person is told to do about a model that cannot do the task.

    `BackendError` when all fail, when more than three of a canary of five do, or when the endpoint fails five times
    in a row; also whatever `BackendError` a call raises (a budget that is reached says how far the stage came).
    """
    if not prompts:
        return []
    run: _Run[Q, R] = _Run(ask, prompts, progress, way_out)
    with ThreadPoolExecutor(min(workers, len(prompts)), thread_name_prefix="llm") as executor:
        canary = canary_places(len(prompts))
        run.work(executor, canary)
        if len(prompts) > CANARY:
            run.check_canary(canary)
        chosen = set(canary)
        left = [place for place in range(len(prompts)) if place not in chosen]
        if left and before is not None:
            before([prompts[place] for place in left])
        run.work(executor, left)
    results = run.in_order()
    if all(asked.failure is not None for asked in results):
        raise _hopeless(results, way_out)
    return results


def canary_places(count: int) -> list[int]:
    """At most five places in `range(count)`, spread evenly: the head of a corpus is often not like the rest."""
    if count <= CANARY:
        return list(range(count))
    return [(2 * step + 1) * count // (2 * CANARY) for step in range(CANARY)]


def total_usage(results: Sequence[Asked[R]]) -> Usage:
    """What all prompts cost together."""
    total = Usage()
    for asked in results:
        total += asked.usage
    return total


def failures_of(results: Sequence[Asked[R]]) -> tuple[Failure, ...]:
    """The failures, in order."""
    return tuple(asked.failure for asked in results if asked.failure is not None)


class _Run(Generic[Q, R]):
    """The state of one stage: results by place, and the error that stopped it."""

    def __init__(self, ask: Callable[[Q], Asked[R]], prompts: Sequence[Q], progress: Progress, way_out: str) -> None:
        self._way_out = way_out
        self._ask = ask
        self._prompts = prompts
        self._progress = progress
        self._stage = prompts[0].stage
        self._results: dict[int, Asked[R]] = {}
        self._unanswered = 0
        self._stopped = threading.Event()

    def work(self, executor: ThreadPoolExecutor, places: Sequence[int]) -> None:
        """Ask the prompts at `places`. On an error, calls in flight are finished (and kept), the others not begun."""
        futures = {executor.submit(self._ask_unless_stopped, self._prompts[place]): place for place in places}
        waiting = set(futures)
        error: BackendError | None = None
        try:
            while waiting:
                done, waiting = wait(waiting, return_when=FIRST_COMPLETED)
                for future in sorted(done, key=futures.__getitem__):
                    stopping = self._take(futures[future], future)
                    error = error or stopping
        except BaseException:  # an interrupt, or an error in the program: begin nothing more
            self._stopped.set()
            raise
        if isinstance(error, BudgetError):
            done_count, total = len(self._results), len(self._prompts)
            raise BudgetError(f"{self._stage}: {done_count:,} of {total:,} done, {total - done_count:,} left; {error}")
        if error is not None:
            raise error

    def _ask_unless_stopped(self, prompt: Q) -> Asked[R] | None:
        if self._stopped.is_set():
            return None
        try:
            return self._ask(prompt)
        except BaseException:
            self._stopped.set()
            raise

    def _take(self, place: int, future: Future[Asked[R] | None]) -> BackendError | None:
        """Note the result of the prompt at `place`; the error that stops the stage, if it is or makes one."""
        try:
            asked = future.result()
        except BackendError as error:
            return error
        if asked is None:
            return None
        self._results[place] = asked
        self._progress.advance(self._stage, len(self._results), len(self._prompts))
        self._unanswered = self._unanswered + 1 if asked.unanswered else 0
        if asked.failure is None or self._unanswered < _MOST_UNANSWERED or self._stopped.is_set():
            return None
        self._stopped.set()
        return BackendError(
            f"{self._stage}: the endpoint failed {self._unanswered} times in a row; finished calls are kept, run again "
            f"when it works. Last: {asked.failure.reason}"
        )

    def check_canary(self, places: Sequence[int]) -> None:
        """Raise `BackendError` if nearly all of a full canary failed."""
        canary = [self._results[place] for place in places]
        if sum(asked.failure is not None for asked in canary) > _MOST_CANARY_FAILURES:
            raise _hopeless(canary, self._way_out)

    def in_order(self) -> list[Asked[R]]:
        """All results in the order of the prompts."""
        return [self._results[place] for place in range(len(self._prompts))]


def _hopeless(results: Sequence[Asked[R]], way_out: str) -> BackendError:
    """The error for a stage whose replies fail; shows the first failure that has a reply to show."""
    failed = [(asked, asked.failure) for asked in results if asked.failure is not None]
    shown, failure = next((pair for pair in failed if not pair[0].unanswered), failed[0])
    count = f"{len(failed)} of {len(results)}"
    if shown.unanswered:
        return BackendError(
            f"{failure.stage}: {count} calls got no reply. {failure.key}: {failure.reason}. Finished calls are kept "
            "for the next run"
        )
    raw = without_keys(failure.raw, 120)
    came = f"; its reply began: {raw!r}" if raw else ""
    return BackendError(
        f"{failure.stage}: the model cannot do this task ({count} replies could not be used). "
        f"{failure.key}: {failure.reason}{came}. {way_out}"
    )
