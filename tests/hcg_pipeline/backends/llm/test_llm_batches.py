"""The Batch API over real HTTP: what it answers is never asked again, what it does not is asked in the normal way."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from fake_openai import SERVER_ERROR, WRONG_WORDS, FakeOpenAI, Fault, refuses

from hcg_pipeline.backends.llm.assembling import build_llm_backend
from hcg_pipeline.backends.llm.backend import LlmBackend
from hcg_pipeline.backends.llm.batch_jobs import JobBook
from hcg_pipeline.backends.llm.budget import Budget, BudgetError, read_prices
from hcg_pipeline.backends.llm.cache import cache_stats, open_cache
from hcg_pipeline.backends.llm.endpoint import public_url
from hcg_pipeline.backends.llm.ledger import SqlLedger, recorded_calls, stage_costs
from hcg_pipeline.backends.llm.settings import BatchSettings, BudgetSettings, EndpointSettings
from hcg_pipeline.backends.protocol import AnswerRequest, Usage
from hcg_pipeline.corpus.window import Window
from hcg_pipeline.errors import BackendError
from hcg_pipeline.progress import Silent

Build = Callable[..., LlmBackend]
MakeWindows = Callable[[int], list[Window]]
QUICK = BatchSettings(fewest=2, poll=0.01)
CANARY = 5


@pytest.fixture
def batched(build: Build) -> Build:
    """Makes a backend that goes through the Batch API."""
    return lambda **settings: build(**({"batch": QUICK} | settings)).in_batches()


def open_jobs(engine: sa.Engine, fake: FakeOpenAI) -> int:
    return len(JobBook(engine, public_url(fake.base_url)).open_jobs())


def test_all_but_the_canary_goes_in_one_file(
    fake: FakeOpenAI, build: Build, batched: Build, engine: sa.Engine, tmp_path: Path, make_windows: MakeWindows
) -> None:
    windows = make_windows(20)
    outcome = batched().propose_dimensions(windows, Silent())
    assert fake.chat_calls == CANARY
    assert len(fake.batches.jobs) == 1
    assert len(fake.batches.lines) == 20 - CANARY
    assert len({line["custom_id"] for line in fake.batches.lines}) == 20 - CANARY
    line = fake.batches.lines[0]
    assert (line["method"], line["url"]) == ("POST", "/v1/chat/completions")
    assert "stream" not in line["body"]
    assert line["body"]["response_format"]["type"] == "json_schema"
    assert outcome.failures == ()
    assert open_jobs(engine, fake) == 0
    plain = open_cache(f"sqlite:///{tmp_path}/plain.db")
    settings = EndpointSettings(model="fake-model", base_url=fake.base_url)
    assert build_llm_backend(settings, plain).propose_dimensions(windows, Silent()).results == outcome.results
    before = fake.chat_calls
    assert build().propose_dimensions(windows, Silent()).usage == Usage(cached=20)
    assert fake.chat_calls == before
    assert cache_stats(engine).pending == 0


def test_questions_go_in_batches_too(fake: FakeOpenAI, batched: Build) -> None:
    contexts = ("Weather is mild.", "Heavy smoking causes bronchitis.")
    requests = [AnswerRequest(f"q{n}", f"What does smoking bring about, case {n}?", contexts) for n in range(12)]
    outcome = batched().answer(requests, Silent())
    assert [reply.key for reply in outcome.results] == [f"q{n}" for n in range(12)]
    assert {reply.text for reply in outcome.results} == {"Heavy smoking causes bronchitis."}
    assert (fake.chat_calls, len(fake.batches.lines)) == (CANARY, 7)


def test_a_canary_that_fails_stops_before_a_batch_is_paid_for(
    fake: FakeOpenAI, batched: Build, make_windows: MakeWindows
) -> None:
    fake.always(WRONG_WORDS)
    with pytest.raises(BackendError, match="the model cannot do this task"):
        batched().propose_dimensions(make_windows(20), Silent())
    assert fake.batches.jobs == {}


def test_refused_and_invalid_lines_go_back_through_the_normal_path(
    fake: FakeOpenAI, batched: Build, make_windows: MakeWindows
) -> None:
    def fault(body: dict[str, Any]) -> Fault | None:
        text = body["messages"][1]["content"]
        if "district 0." in text:
            return SERVER_ERROR
        return WRONG_WORDS if "district 1." in text else None

    fake.batches.line_fault = fault
    outcome = batched().propose_dimensions(make_windows(20), Silent())
    assert (len(outcome.results), outcome.failures) == (80, ())
    assert fake.chat_calls == CANARY + 2  # one asked afresh, one repaired
    assert len(fake.requests[-1]["messages"]) + len(fake.requests[-2]["messages"]) == 2 + 4


@pytest.mark.parametrize("end", ["expired", "cancelled"])
def test_what_a_job_did_not_finish_is_asked_in_the_normal_way(
    fake: FakeOpenAI, batched: Build, engine: sa.Engine, make_windows: MakeWindows, end: str
) -> None:
    fake.batches.end, fake.batches.share = end, 0.4
    outcome = batched().propose_dimensions(make_windows(20), Silent())
    assert (len(outcome.results), outcome.failures) == (80, ())
    assert fake.chat_calls == CANARY + 9
    assert max(fake.completed.values()) == 1
    assert open_jobs(engine, fake) == 0


def test_a_job_that_is_refused_is_an_error_with_its_reason(
    fake: FakeOpenAI, batched: Build, engine: sa.Engine, make_windows: MakeWindows
) -> None:
    fake.batches.end = "failed"
    with pytest.raises(BackendError, match=r"refused the batch job batch_1 .the file is too large.*without --batch"):
        batched().propose_dimensions(make_windows(20), Silent())
    assert open_jobs(engine, fake) == 0
    fake.batches.end = "completed"
    assert batched().propose_dimensions(make_windows(20), Silent()).failures == ()
    assert len(fake.batches.jobs) == 2


def test_a_server_without_the_api_is_named(fake: FakeOpenAI, batched: Build, make_windows: MakeWindows) -> None:
    fake.batches.there = False
    with pytest.raises(BackendError, match=r"has no Batch API.*run again without --batch"):
        batched().propose_dimensions(make_windows(20), Silent())


def test_jobs_keep_to_the_limits_of_a_job(fake: FakeOpenAI, batched: Build, make_windows: MakeWindows) -> None:
    batched(batch=BatchSettings(fewest=2, poll=0.01, requests_per_job=6)).propose_dimensions(make_windows(20), Silent())
    assert [job["request_counts"]["total"] for job in fake.batches.jobs.values()] == [6, 6, 3]
    largest = max(len(content) for content in fake.batches.files.values())
    settings = BatchSettings(fewest=2, poll=0.01, bytes_per_job=largest // 2)
    before = len(fake.batches.files)
    batched(batch=settings, seed=8).propose_dimensions(make_windows(20), Silent())
    uploads = [fake.batches.files[job["input_file_id"]] for job in list(fake.batches.jobs.values())[3:]]
    assert len(fake.batches.files) > before
    assert all(len(upload) <= largest // 2 for upload in uploads)
    assert sum(upload.count(b"\n") for upload in uploads) == 15


def test_few_calls_make_no_job(fake: FakeOpenAI, batched: Build, make_windows: MakeWindows) -> None:
    batched(batch=BatchSettings(fewest=16, poll=0.01)).propose_dimensions(make_windows(20), Silent())
    assert (fake.chat_calls, fake.batches.jobs) == (20, {})


def test_the_file_speaks_the_endpoints_dialect(fake: FakeOpenAI, batched: Build, make_windows: MakeWindows) -> None:
    fake.always(refuses("temperature"))
    windows = make_windows(20)
    batched().propose_dimensions(windows[:5], Silent())  # the canary is in the cache, and the process is another one
    batched().propose_dimensions([*windows[5:], *windows[:5]], Silent())
    assert fake.batches.lines
    assert all("temperature" not in line["body"] for line in fake.batches.lines)


def test_half_the_price_in_ledger_and_budget(fake: FakeOpenAI, engine: sa.Engine, make_windows: MakeWindows) -> None:
    settings = EndpointSettings(model="gpt-4.1-mini", base_url=fake.base_url, batch=QUICK)
    budget = Budget(BudgetSettings(), "gpt-4.1-mini")
    ledger = SqlLedger(engine, "c", "r", read_prices(None))
    backend = build_llm_backend(settings, engine, budget=budget).in_batches().recording(ledger)
    backend.propose_dimensions(make_windows(20), Silent())
    rows = recorded_calls(engine, "c").to_pylist()
    by_outcome = {name: [row for row in rows if row["outcome"] == name] for name in ("ok", "batch", "cached")}
    assert {name: len(found) for name, found in by_outcome.items()} == {"ok": 5, "batch": 15, "cached": 15}
    for row in by_outcome["batch"]:
        assert row["usd"] == pytest.approx((row["tokens_in"] * 0.4 + row["tokens_out"] * 1.6) / 2e6)
    (cost,) = stage_costs(recorded_calls(engine, "c"))
    assert (cost.calls, cost.batched, cost.cached) == (20, 15, 0)
    assert budget.spent.calls == 20
    assert budget.spent.usd == pytest.approx(cost.usd, abs=1e-5)


def test_a_budget_bounds_the_file(fake: FakeOpenAI, batched: Build, make_windows: MakeWindows) -> None:
    with pytest.raises(BudgetError, match="12 calls"):
        batched(budget={"max_calls": 12}).propose_dimensions(make_windows(20), Silent())
    assert (fake.chat_calls, len(fake.batches.lines)) == (CANARY, 7)
    outcome = batched(budget={"max_calls": 12}).propose_dimensions(make_windows(20), Silent())
    assert len(outcome.results) == 80
    assert fake.chat_calls + len(fake.batches.lines) == 20


def test_storms_are_waited_out(fake: FakeOpenAI, batched: Build, make_windows: MakeWindows) -> None:
    windows = make_windows(20)
    fake.batches.faulty = True
    seen = 0

    def every_third(body: dict[str, Any]) -> Fault:
        nonlocal seen
        seen += "path" in body
        return SERVER_ERROR if "path" in body and seen % 3 == 1 else Fault()

    fake.always(every_third)
    assert batched().propose_dimensions(windows, Silent()).failures == ()
    assert len(fake.batches.jobs) == 1


def test_a_batch_whose_creation_broke_off_is_not_created_twice(
    fake: FakeOpenAI, batched: Build, make_windows: MakeWindows
) -> None:
    fake.batches.faulty = True
    answered = 0

    def reset_the_creation(body: dict[str, Any]) -> Fault:
        nonlocal answered
        if body.get("path") == "/v1/batches":
            answered += 1
            return Fault(reset="start") if answered == 1 else Fault()
        return Fault()

    fake.always(reset_the_creation)
    assert batched().propose_dimensions(make_windows(20), Silent()).failures == ()
    assert len(fake.batches.jobs) == 1


KILLED = """
import sys
from hcg_pipeline.backends.llm.assembling import build_llm_backend
from hcg_pipeline.backends.llm.cache import open_cache
from hcg_pipeline.backends.llm.settings import BatchSettings, EndpointSettings
from hcg_pipeline.corpus.window import Passage, Window
from hcg_pipeline.progress import Silent

url, cache = sys.argv[1:]
texts = [f"Report {n}. Chronic smoking causes bronchitis{n}x." for n in range(30)]
windows = [Window(f"w{n}", (Passage(f"c{n}", "d", 0, len(text), text),)) for n, text in enumerate(texts)]
settings = EndpointSettings(model="fake-model", base_url=url, batch=BatchSettings(fewest=2, poll=0.05))
outcome = build_llm_backend(settings, open_cache(cache)).in_batches().propose_dimensions(windows, Silent())
print(len(outcome.results), len(outcome.failures))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL")
def test_a_killed_wait_goes_on_with_the_same_job(fake: FakeOpenAI, tmp_path: Path) -> None:
    """As when a laptop is closed: the job goes on at the endpoint, and the next run collects it."""
    fake.batches.looks = 10**6
    command = [sys.executable, "-c", KILLED, fake.base_url, f"sqlite:///{tmp_path}/killed.db"]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    while not any(fake.batches.seen.values()) and process.poll() is None:
        time.sleep(0.005)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    fake.batches.looks = 0
    last = subprocess.run(command, capture_output=True, text=True, check=True)
    assert last.stdout.split() == ["60", "0"]
    assert len(fake.batches.jobs) == 1
    assert set(fake.completed.values()) == {1}


def test_a_job_that_was_killed_before_it_had_a_name_is_found_by_its_mark(
    fake: FakeOpenAI, batched: Build, engine: sa.Engine, make_windows: MakeWindows, monkeypatch: pytest.MonkeyPatch
) -> None:
    def die(*_args: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(JobBook, "name", die)
        batched().propose_dimensions(make_windows(20), Silent())
    assert (len(fake.batches.jobs), open_jobs(engine, fake)) == (1, 1)
    batched().propose_dimensions(make_windows(20), Silent())
    assert (len(fake.batches.jobs), open_jobs(engine, fake)) == (1, 0)
    assert set(fake.completed.values()) == {1}


def test_what_a_former_run_asked_for_is_kept_though_not_needed_now(
    fake: FakeOpenAI, batched: Build, engine: sa.Engine, make_windows: MakeWindows, monkeypatch: pytest.MonkeyPatch
) -> None:
    windows = make_windows(20)
    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr("hcg_pipeline.backends.llm.batches.Batches._collect", _interrupt)
        batched().propose_dimensions(windows, Silent())
    batched().propose_dimensions(windows[:10], Silent())
    assert cache_stats(engine).replies == 20
    before = fake.chat_calls
    assert len(batched().propose_dimensions(windows, Silent()).results) == 80
    assert (fake.chat_calls, len(fake.batches.jobs)) == (before, 1)


def _interrupt(*_args: object) -> None:
    raise KeyboardInterrupt
