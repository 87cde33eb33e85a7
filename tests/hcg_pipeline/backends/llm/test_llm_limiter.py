"""The limiter: a bound on calls in flight, buckets of requests and tokens, and giving way when throttled."""

import threading
import time

import pytest

from hcg_pipeline.backends.llm.chat import ChatReply, ChatRequest, Message, ReplySchema
from hcg_pipeline.backends.llm.limiter import Bucket, LimitedChat, Limiter
from hcg_pipeline.backends.llm.settings import RateSettings


class Clock:
    """A clock that is set by hand."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def sent_in(per_minute: int, amount: int, minutes: float) -> list[float]:
    """When calls of `amount` leave in `minutes`, each as soon as the bucket lets it."""
    bucket, now, times = Bucket(per_minute, 0.0), 0.0, []
    while True:
        now += bucket.wait(amount, now)
        if now > minutes * 60:
            return times
        bucket.wait(amount, now)
        bucket.take(amount)
        times.append(now)


def test_no_minute_exceeds_its_requests() -> None:
    times = sent_in(60, 1, 5)
    most = max(sum(start <= at < start + 60 for at in times) for start in times)
    assert most <= 60
    assert len(times) >= 5 * 54
    assert times[:6] == [0.0] * 6
    assert times[6] > 0


def test_no_minute_exceeds_its_tokens_and_a_big_call_goes_alone() -> None:
    times = sent_in(1000, 250, 5)  # more than the burst of 100
    most = max(sum(start <= at < start + 60 for at in times) for start in times) * 250
    assert most <= 1000 + 250
    assert times[1] - times[0] == pytest.approx(250 / 15)


def test_without_bounds_nobody_waits() -> None:
    bucket = Bucket(None, 0.0)
    bucket.take(1e9)
    assert bucket.wait(1e9, 0.0) == 0.0


def test_calls_in_flight_are_bounded_across_threads() -> None:
    limiter = Limiter(RateSettings(concurrency=3))
    inside, most, lock = 0, 0, threading.Lock()

    def work() -> None:
        nonlocal inside, most
        with limiter.admit(1):
            with lock:
                inside += 1
                most = max(most, inside)
            time.sleep(0.01)
            with lock:
                inside -= 1

    threads = [threading.Thread(target=work) for _ in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most == 3


def test_a_volley_of_refusals_halves_the_bound_once_and_good_calls_win_it_back() -> None:
    clock = Clock()
    limiter = Limiter(RateSettings(concurrency=16), clock=clock)
    for _ in range(10):
        limiter.interrupted(5.0, throttled=True)
    assert limiter.bound == 8
    clock.now = 6.0
    limiter.interrupted(5.0, throttled=True)
    assert limiter.bound == 4
    for _ in range(4):
        limiter.succeeded(10, 10)
    assert limiter.bound == 5
    for _ in range(1000):
        limiter.succeeded(10, 10)
    assert limiter.bound == 16


def test_errors_that_are_no_throttling_leave_the_bound() -> None:
    limiter = Limiter(RateSettings(concurrency=16))
    limiter.interrupted(5.0, throttled=False)
    assert limiter.bound == 16


def test_the_bound_never_falls_below_one() -> None:
    clock = Clock()
    limiter = Limiter(RateSettings(concurrency=2), clock=clock)
    for step in range(5):
        clock.now = step * 100.0
        limiter.interrupted(1.0, throttled=True)
    assert limiter.bound == 1


def test_new_calls_are_held_back_for_as_long_as_asked() -> None:
    limiter = Limiter(RateSettings(concurrency=4))
    limiter.interrupted(0.2, throttled=True)
    began = time.monotonic()
    with limiter.admit(1):
        waited = time.monotonic() - began
    assert 0.15 <= waited < 1.0


def test_what_a_call_did_not_use_is_put_back() -> None:
    clock = Clock()
    limiter = Limiter(RateSettings(tokens_per_minute=10_000), clock=clock)

    class Chat:
        def complete(self, request: ChatRequest) -> ChatReply:
            return ChatReply("{}", "stop", tokens_in=50, tokens_out=50)

    request = ChatRequest("m", (Message("user", "x" * 1200),), ReplySchema("s", {}), 0.0, 1, 100)
    chat = LimitedChat(Chat(), limiter)
    # The clock stands still. Each call is estimated at 505 tokens and uses 100: five fit into the burst of 1,000, and
    # only one would if nothing were put back.
    done = threading.Event()

    def work() -> None:
        for _ in range(5):
            chat.complete(request)
        done.set()

    threading.Thread(target=work, daemon=True).start()
    assert done.wait(5)
