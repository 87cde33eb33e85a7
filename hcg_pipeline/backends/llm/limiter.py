"""The limiter layer: how many calls are in flight, and how many requests and tokens leave in a minute.

One `Limiter` is shared by all workers of a process that talk to one endpoint. Requests and tokens a minute are token
buckets (a tenth of the minute's allowance at once, the rest evenly), so no minute exceeds its bound and nothing comes
in bursts. Being throttled halves the calls in flight and holds back new ones for as long as the endpoint asks; every
run of good calls as long as the present bound adds one (additive increase, multiplicative decrease: Chiu and Jain,
1989).
"""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from hcg_pipeline.backends.llm.chat import ChatCall, ChatReply, ChatRequest, estimate_input_tokens
from hcg_pipeline.backends.llm.settings import RateSettings

_BURST = 0.1
_TYPICAL_REPLY = 500


class Bucket:
    """A token bucket for `per_minute` units; None never makes anyone wait. Not thread-safe by itself."""

    def __init__(self, per_minute: int | None, now: float) -> None:
        self._capacity = max(1.0, (per_minute or 0) * _BURST)
        self._rate = max(0.0, ((per_minute or 0) - self._capacity)) / 60 or 1 / 60
        self._level = self._capacity
        self._at = now
        self._bounded = per_minute is not None

    def wait(self, amount: float, now: float) -> float:
        """Seconds until `amount` may go. More than the bucket holds may go when it is full, and leaves a debt."""
        if not self._bounded:
            return 0.0
        self._level = min(self._capacity, self._level + (now - self._at) * self._rate)
        self._at = now
        lacking = min(amount, self._capacity) - self._level
        return lacking / self._rate if lacking > 1e-9 else 0.0

    def take(self, amount: float) -> None:
        """Take `amount` out, or with a negative amount put back what was not used."""
        self._level = min(self._capacity, self._level - amount)


class Limiter:
    """Admits calls. See the module's text; `clock` and `sleep` are for tests."""

    def __init__(
        self,
        settings: RateSettings,
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        now = clock()
        self._clock = clock
        self._most = settings.concurrency
        self._bound = settings.concurrency
        self._in_flight = 0
        self._good = 0
        self._not_before = now
        self._cut_at = now - 1e9
        self._requests = Bucket(settings.requests_per_minute, now)
        self._tokens = Bucket(settings.tokens_per_minute, now)
        self._changed = threading.Condition()

    @property
    def bound(self) -> int:
        """Calls that may be in flight at present."""
        return self._bound

    @contextmanager
    def admit(self, tokens: int) -> Iterator[None]:
        """Hold a place in flight for one call of about `tokens` tokens; waits for it."""
        with self._changed:
            while (wait := self._wait(tokens)) != 0.0:
                self._changed.wait(wait)
            self._in_flight += 1
            self._requests.take(1)
            self._tokens.take(tokens)
        try:
            yield
        finally:
            with self._changed:
                self._in_flight -= 1
                self._changed.notify_all()

    def _wait(self, tokens: int) -> float | None:
        """Seconds until a call may go; None: until another one ends."""
        if self._in_flight >= self._bound:
            return None
        now = self._clock()
        return max(0.0, self._not_before - now, self._requests.wait(1, now), self._tokens.wait(tokens, now))

    def succeeded(self, estimated: int, used: int) -> None:
        """A call admitted for `estimated` tokens used `used` (0: the endpoint does not say)."""
        with self._changed:
            if used:
                self._tokens.take(used - estimated)
            self._good += 1
            if self._good >= self._bound and self._bound < self._most:
                self._bound += 1
                self._good = 0
                self._changed.notify_all()

    def interrupted(self, wait: float, throttled: bool) -> None:
        """An attempt failed and is repeated by its holder in `wait` seconds: that is one more request.

        A volley of calls refused together halves the bound once, not once each.
        """
        with self._changed:
            now = self._clock()
            self._requests.take(1)
            if throttled:
                self._good = 0
                if now >= self._cut_at:
                    self._bound = max(1, self._bound // 2)
                    self._cut_at = now + max(wait, 1.0)
                self._not_before = max(self._not_before, now + wait)


class LimitedChat:
    """The limiter layer of the chain. `limiter` is shared with every other user of the endpoint, embedders included."""

    def __init__(self, inner: ChatCall, limiter: Limiter) -> None:
        self._inner = inner
        self._limiter = limiter

    def complete(self, request: ChatRequest) -> ChatReply:
        """See `ChatCall.complete`."""
        tokens = estimate_input_tokens(request) + min(request.max_tokens, _TYPICAL_REPLY)
        with self._limiter.admit(tokens):
            reply = self._inner.complete(request)
        self._limiter.succeeded(tokens, reply.tokens_in + reply.tokens_out)
        return reply
