"""Retrying: what passes is waited out, for as long as asked and no longer than set; the rest is not retried."""

from collections.abc import Callable

import pytest

from hcg_pipeline.backends.llm.chat import AttemptError, CallError
from hcg_pipeline.backends.llm.retry import Unpaced, with_retries
from hcg_pipeline.backends.llm.settings import RetrySettings
from hcg_pipeline.errors import BackendError

SETTINGS = RetrySettings(attempts=4, first_wait=1, longest_wait=8, patience=100)


class Notes:
    """Remembers waits, and what the pacer was told."""

    def __init__(self) -> None:
        self.slept: list[float] = []
        self.told: list[tuple[float, bool]] = []

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)

    def interrupted(self, wait: float, throttled: bool) -> None:
        self.told.append((wait, throttled))


def failing(*errors: Exception) -> Callable[[], str]:
    left = list(errors)

    def attempt() -> str:
        if left:
            raise left.pop(0)
        return "done"

    return attempt


def run(attempt: Callable[[], str], settings: RetrySettings = SETTINGS) -> tuple[str, Notes]:
    notes = Notes()
    return with_retries(attempt, settings, notes, sleep=notes.sleep, jitter=lambda: 1.0), notes


def test_waits_double_and_the_pacer_hears_of_each() -> None:
    result, notes = run(failing(AttemptError("a"), AttemptError("b"), AttemptError("c")))
    assert result == "done"
    assert notes.slept == [1, 2, 4]
    assert notes.told == [(1, False), (2, False), (4, False)]


def test_jitter_takes_up_to_half_of_a_wait_away() -> None:
    notes = Notes()
    with_retries(failing(AttemptError("a")), SETTINGS, notes, sleep=notes.sleep, jitter=lambda: 0.0)
    assert notes.slept == [0.5]


def test_retry_after_is_honoured_to_the_second() -> None:
    _, notes = run(failing(AttemptError("slow down", retry_after=17.0, throttled=True)))
    assert notes.slept == [17]
    assert notes.told == [(17, True)]


def test_gives_up_after_the_attempts_and_says_so() -> None:
    with pytest.raises(CallError, match=r"last; gave up after 4 attempts"):
        run(failing(*(AttemptError(name) for name in ("a", "b", "c", "last"))))


def test_a_timeout_counts_twice() -> None:
    with pytest.raises(CallError, match=r"gave up after 2 attempts"):
        run(failing(AttemptError("a", slow=True), AttemptError("b", slow=True)))


def test_throttling_is_waited_out_beyond_the_attempts_but_not_for_ever() -> None:
    result, _ = run(failing(*[AttemptError("429", retry_after=1, throttled=True)] * 10))
    assert result == "done"
    with pytest.raises(CallError, match=r"429; gave up after \d+ attempts in 1\d\d s"):
        run(failing(*[AttemptError("429", throttled=True)] * 1000))


def test_retry_after_zero_for_ever_is_no_tight_loop() -> None:
    notes = Notes()
    with pytest.raises(CallError):
        with_retries(
            failing(*[AttemptError("429", retry_after=0, throttled=True)] * 1000), SETTINGS, notes, sleep=notes.sleep
        )
    assert len(notes.slept) < 30


def test_a_longer_wait_than_the_patience_stops_everything_at_once() -> None:
    notes = Notes()
    with pytest.raises(BackendError, match=r"asks to wait 3600 s"):
        with_retries(failing(AttemptError("429", retry_after=3600, throttled=True)), SETTINGS, notes, sleep=notes.sleep)
    assert notes.slept == []


@pytest.mark.parametrize("error", [BackendError("no"), CallError("no"), ValueError("no")])
def test_other_errors_pass_through_without_a_retry(error: Exception) -> None:
    with pytest.raises(type(error)):
        with_retries(failing(error), SETTINGS, Unpaced(), sleep=lambda _: pytest.fail("slept"))
