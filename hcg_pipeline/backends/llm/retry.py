"""The retry layer: wait out what passes, give up on what does not.

Waits grow by doubling with full jitter (Brooker, "Exponential Backoff and Jitter", 2015), unless the endpoint says
how long to wait: then that. Jitter changes when a call is made, never what it says.
"""

import random
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Protocol, TypeVar

from hcg_pipeline.backends.llm.chat import AttemptError, CallError, ChatCall, ChatReply, ChatRequest
from hcg_pipeline.backends.llm.settings import RetrySettings
from hcg_pipeline.errors import BackendError

T = TypeVar("T")


class Pacer(Protocol):
    """Who wants to know about attempts that failed: the limiter, so that it slows everybody down."""

    def interrupted(self, wait: float, throttled: bool) -> None:
        """An attempt failed and will be repeated in `wait` seconds; `throttled`: because of going too fast."""


class Unpaced:
    """Takes no notice."""

    def interrupted(self, wait: float, throttled: bool) -> None:
        """Ignore it."""


def with_retries(
    attempt: Callable[[], T],
    settings: RetrySettings,
    pacer: Pacer,
    *,
    sleep: Callable[[float], None] = time.sleep,
    jitter: Callable[[], float] = random.random,
) -> T:
    """What `attempt()` returns, calling it again while it raises `AttemptError`.

    `CallError` after `settings.attempts` failures other than throttling (a slow one counts as two), or when being
    throttled has cost more than `settings.patience` seconds of waiting in all. `BackendError` at once when the endpoint
    asks for a longer wait than that: no other call would fare better.
    """
    attempts, failures, throttlings, waited = 0, 0, 0, 0.0
    while True:
        try:
            return attempt()
        except AttemptError as error:
            attempts += 1
            if error.throttled:
                throttlings += 1
            else:
                failures += 2 if error.slow else 1
            if failures >= settings.attempts:
                raise CallError(f"{error}; gave up after {attempts} attempts") from error
            if error.retry_after is not None and error.retry_after > settings.patience:
                raise BackendError(
                    f"{error}; it asks to wait {error.retry_after:.0f} s. Run again later; finished calls are kept"
                ) from error
            wait = _wait(error, max(failures, throttlings), settings, jitter)
            waited += wait
            if waited > settings.patience:
                raise CallError(f"{error}; gave up after {attempts} attempts in {waited:.0f} s of waiting") from error
            pacer.interrupted(wait, error.throttled)
            sleep(wait)


@dataclass(frozen=True, slots=True)
class Tried:
    """How long a call took, waits included, and after how many retries it was over."""

    seconds: float
    retries: int


def with_retries_counted(
    attempt: Callable[[], T], settings: RetrySettings, pacer: Pacer, *, sleep: Callable[[float], None] = time.sleep
) -> tuple[T, Tried]:
    """As `with_retries`, and what it took; a `CallError` carries that, too."""
    attempts = 0

    def counted() -> T:
        nonlocal attempts
        attempts += 1
        return attempt()

    began = time.monotonic()
    try:
        result = with_retries(counted, settings, pacer, sleep=sleep)
    except CallError as error:
        error.seconds, error.retries = time.monotonic() - began, attempts - 1
        raise
    return result, Tried(time.monotonic() - began, attempts - 1)


def _wait(error: AttemptError, attempts: int, settings: RetrySettings, jitter: Callable[[], float]) -> float:
    growth = 2.0 ** min(attempts - 1, 32)
    if error.retry_after is not None:  # a server that says "0" for ever must not be asked in a tight loop
        return max(error.retry_after, min(settings.longest_wait, 0.05 * growth))
    ceiling = min(settings.longest_wait, settings.first_wait * growth)
    return ceiling * (0.5 + jitter() / 2)


class RetryingChat:
    """The retry layer of the chain."""

    def __init__(
        self, inner: ChatCall, settings: RetrySettings, pacer: Pacer, *, sleep: Callable[[float], None] = time.sleep
    ) -> None:
        self._inner = inner
        self._settings = settings
        self._pacer = pacer
        self._sleep = sleep

    def complete(self, request: ChatRequest) -> ChatReply:
        """See `ChatCall.complete`. The reply, or the error, says how long it took and after how many retries."""
        reply, tried = with_retries_counted(
            lambda: self._inner.complete(request), self._settings, self._pacer, sleep=self._sleep
        )
        return replace(reply, seconds=tried.seconds, retries=tried.retries)
