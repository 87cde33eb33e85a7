"""Many prompts at once: order, progress, the canary, and stopping with what was done kept."""

import threading
import time
from collections.abc import Callable

import pytest
import sqlalchemy as sa
from fake_openai import OUT_OF_QUOTA, SERVER_ERROR, WRONG_WORDS, FakeOpenAI, Fault, throttled
from pydantic import SecretStr

from hcg_pipeline.backends.llm.backend import LlmBackend
from hcg_pipeline.backends.llm.budget import BudgetError
from hcg_pipeline.backends.llm.cache import cache_stats
from hcg_pipeline.backends.llm.mapping import canary_places
from hcg_pipeline.backends.llm.settings import BudgetSettings, RateSettings, RetrySettings
from hcg_pipeline.corpus.window import Window
from hcg_pipeline.errors import BackendError
from hcg_pipeline.progress import Silent

Build = Callable[..., LlmBackend]
MakeWindows = Callable[[int], list[Window]]


class Recorder:
    """Remembers what it is told, and from how many threads at once."""

    def __init__(self) -> None:
        self.told: list[tuple[str, int, int]] = []
        self.threads: set[int] = set()

    def advance(self, stage: str, done: int, total: int) -> None:
        self.told.append((stage, done, total))
        self.threads.add(threading.get_ident())


@pytest.mark.parametrize(
    ("count", "places"),
    [(0, []), (1, [0]), (5, [0, 1, 2, 3, 4]), (6, [0, 1, 3, 4, 5]), (10, [1, 3, 5, 7, 9]), (100, [10, 30, 50, 70, 90])],
)
def test_the_canary_is_spread(count: int, places: list[int]) -> None:
    assert canary_places(count) == places


def test_results_do_not_depend_on_concurrency_or_delays(
    fake: FakeOpenAI, build: Build, engine: sa.Engine, make_windows: MakeWindows
) -> None:
    windows = make_windows(24)
    outcomes = []
    for concurrency in (1, 16):
        fake.always(lambda body: Fault(hang=(hash(str(body)) % 7) / 200))
        outcomes.append(build(rate=RateSettings(concurrency=concurrency)).propose_dimensions(windows, Silent()))
        with engine.begin() as connection:
            connection.execute(sa.text("DELETE FROM llm_replies"))
    assert outcomes[0] == outcomes[1]
    assert outcomes[0].usage.calls == 24
    assert fake.in_flight_most <= 16
    assert fake.in_flight_most > 4


def test_progress_counts_up_from_one_thread(build: Build, make_windows: MakeWindows) -> None:
    recorder = Recorder()
    build().propose_dimensions(make_windows(8), recorder)
    assert recorder.told == [("dimensions", done, 8) for done in range(1, 9)]
    assert recorder.threads == {threading.get_ident()}


def test_nothing_to_ask_is_no_call(fake: FakeOpenAI, build: Build) -> None:
    outcome = build().propose_dimensions([], Silent())
    assert (outcome.results, outcome.failures, fake.chat_calls) == ((), (), 0)


def test_a_model_that_cannot_do_the_task_is_found_out_by_the_canary(
    fake: FakeOpenAI, build: Build, make_windows: MakeWindows
) -> None:
    fake.always(WRONG_WORDS)
    with pytest.raises(BackendError) as info:
        build().propose_dimensions(make_windows(100), Silent())
    said = str(info.value)
    assert "dimensions: the model cannot do this task (5 of 5 replies could not be used)" in said
    assert "its reply began: 'lorem banana quux" in said
    assert "HCG_LLM_MODEL" in said
    assert "\n" not in said
    assert fake.chat_calls == 10  # five windows, each with one repair; 95 were not paid for


def test_a_model_that_fails_now_and_then_goes_on(fake: FakeOpenAI, build: Build, make_windows: MakeWindows) -> None:
    broken = ("Report 1.", "Report 3.", "Report 5.")  # three of a canary of five
    fake.always(lambda body: WRONG_WORDS if any(name in body["messages"][1]["content"] for name in broken) else Fault())
    outcome = build().propose_dimensions(make_windows(10), Silent())
    assert [failure.key for failure in outcome.failures] == ["w1", "w3", "w5"]


def test_all_of_a_small_stage_failing_is_an_error_and_some_are_not(
    fake: FakeOpenAI, build: Build, make_windows: MakeWindows
) -> None:
    fake.always(lambda body: Fault() if "Report 4." in body["messages"][1]["content"] else WRONG_WORDS)
    assert len(build().propose_dimensions(make_windows(5), Silent()).failures) == 4
    with pytest.raises(BackendError, match=r"3 of 3 replies"):
        build().propose_dimensions(make_windows(3), Silent())


def test_a_refused_key_stops_at_once_and_is_not_shown(
    fake: FakeOpenAI, build: Build, make_windows: MakeWindows
) -> None:
    key = "sk-secret-abcdefgh"
    fake.always(Fault(status=401, message=f"Incorrect API key provided: {key}"))
    with pytest.raises(BackendError, match="refused the key") as info:
        build(api_key=SecretStr(key), rate=RateSettings(concurrency=1)).propose_dimensions(make_windows(50), Silent())
    assert key not in str(info.value)
    assert fake.chat_calls == 1


def test_a_used_up_quota_stops_and_keeps_what_was_done(
    fake: FakeOpenAI, build: Build, engine: sa.Engine, make_windows: MakeWindows
) -> None:
    windows = make_windows(20)
    fake.always(lambda _body: OUT_OF_QUOTA if fake.chat_calls > 8 else Fault())
    with pytest.raises(BackendError, match="quota is used up"):
        build(rate=RateSettings(concurrency=2)).propose_dimensions(windows, Silent())
    assert fake.chat_calls <= 10
    assert cache_stats(engine).replies == 8
    fake.heal()
    outcome = build().propose_dimensions(windows, Silent())
    assert (outcome.usage.calls, outcome.usage.cached) == (12, 8)
    assert max(fake.completed.values()) == 1


def test_a_budget_stops_with_what_was_done_and_a_higher_one_goes_on(
    fake: FakeOpenAI, build: Build, make_windows: MakeWindows
) -> None:
    windows = make_windows(20)
    with pytest.raises(BudgetError, match=r"^dimensions: 12 of 20 done, 8 left; the budget of 12 calls is reached"):
        build(budget=BudgetSettings(max_calls=12)).propose_dimensions(windows, Silent())
    assert fake.chat_calls == 12
    outcome = build(budget=BudgetSettings(max_calls=20)).propose_dimensions(windows, Silent())
    assert (outcome.usage.calls, outcome.usage.cached) == (8, 12)
    assert max(fake.completed.values()) == 1


def test_an_endpoint_that_stays_down_stops_the_stage(fake: FakeOpenAI, build: Build, make_windows: MakeWindows) -> None:
    fake.always(lambda _body: SERVER_ERROR if fake.chat_calls > 10 else Fault())
    with pytest.raises(BackendError, match=r"failed 5 times in a row; finished calls are kept.*HTTP 500"):
        build(rate=RateSettings(concurrency=2)).propose_dimensions(make_windows(60), Silent())
    assert fake.chat_calls < 10 + 4 * 8


def test_an_endpoint_that_is_down_from_the_start_says_so(
    fake: FakeOpenAI, build: Build, make_windows: MakeWindows
) -> None:
    fake.always(SERVER_ERROR)
    with pytest.raises(
        BackendError, match=r"dimensions: 2 of 2 calls got no reply.*HTTP 500.*gave up after 4 attempts"
    ):
        build().propose_dimensions(make_windows(2), Silent())


def test_a_storm_of_429_is_ridden_out_at_a_lower_pace(
    fake: FakeOpenAI, build: Build, make_windows: MakeWindows
) -> None:
    """Every call beyond four in flight is refused, as a strict endpoint does."""
    fake.latency = 0.01
    fake.always(lambda _body: throttled("0.05") if fake.in_flight > 4 else Fault())
    outcome = build(
        rate=RateSettings(concurrency=32), retry=RetrySettings(first_wait=0.01, longest_wait=0.2, patience=30)
    ).propose_dimensions(make_windows(60), Silent())
    assert outcome.failures == ()
    assert outcome.usage.calls == 60
    assert fake.chat_calls < 200  # without slowing down, each of 60 would be refused again and again


def test_many_calls_in_flight_cost_little_over_the_latency(
    fake: FakeOpenAI, build: Build, make_windows: MakeWindows
) -> None:
    fake.latency = 0.5
    backend = build(rate=RateSettings(concurrency=32))
    began = time.monotonic()
    outcome = backend.propose_dimensions(make_windows(69), Silent())  # the canary, then two full rounds
    assert outcome.usage.calls == 69
    assert time.monotonic() - began < 3 * 0.5 * 2
