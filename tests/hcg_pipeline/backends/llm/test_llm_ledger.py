"""The ledger: every call has its row, with what it cost and what came of it, and a kill loses next to none."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
import sqlalchemy as sa
from fake_openai import CUT_OFF, NO_USAGE, SERVER_ERROR, WRONG_WORDS, FakeOpenAI, throttled

from hcg_pipeline.backends.llm.backend import LlmBackend
from hcg_pipeline.backends.llm.budget import BudgetError, PriceList
from hcg_pipeline.backends.llm.cache import open_cache
from hcg_pipeline.backends.llm.chat import ChatReply, ChatRequest, Message, ReplySchema
from hcg_pipeline.backends.llm.ledger import (
    SqlLedger,
    forget_calls,
    recorded_calls,
    stage_costs,
    without_copies,
)
from hcg_pipeline.corpus.window import Window
from hcg_pipeline.errors import BackendError
from hcg_pipeline.progress import Silent
from hcg_pipeline.tables import LEDGER

Build = Callable[..., LlmBackend]
MakeWindows = Callable[[int], list[Window]]
PRICES = PriceList.model_validate(
    {"as_of": "2026-01-01", "models": {"fake-model": {"input": 1.0, "cached": 0.1, "output": 10.0}}}
)
REQUEST = ChatRequest("fake-model", (Message("user", "u" * 30),), ReplySchema("r", {}), 0.0, 7, 10, "variables", "w1")


@pytest.fixture
def ledger(engine: sa.Engine) -> SqlLedger:
    return SqlLedger(engine, "corpus", "run", PRICES)


def outcomes(engine: sa.Engine) -> list[str]:
    return recorded_calls(engine, "corpus")["outcome"].to_pylist()


def test_a_row_says_all_about_a_call(engine: sa.Engine, ledger: SqlLedger) -> None:
    ledger.replied(REQUEST, ChatReply("x", "stop", "", 1000, 100, 400, seconds=1.5, retries=2), "ok")
    table = recorded_calls(engine, "corpus")
    assert table.schema == LEDGER
    (row,) = table.to_pylist()
    assert (row["run"], row["stage"], row["key"], row["model"]) == ("run", "variables", "w1", "fake-model")
    assert (row["tokens_in"], row["tokens_cached"], row["tokens_out"], row["counted"]) == (1000, 400, 100, True)
    assert (row["seconds"], row["retries"], row["outcome"]) == (1.5, 2, "ok")
    assert row["usd"] == pytest.approx((600 * 1.0 + 400 * 0.1 + 100 * 10.0) / 1e6)


def test_a_reply_from_the_cache_costs_nothing(engine: sa.Engine, ledger: SqlLedger) -> None:
    ledger.replied(REQUEST, ChatReply("x", "stop", "", 1000, 100, cached=True), "ok")
    (row,) = recorded_calls(engine, "corpus").to_pylist()
    assert (row["outcome"], row["tokens_in"], row["tokens_out"], row["usd"]) == ("cached", 0, 0, 0.0)


def test_a_model_without_a_price_costs_an_unknown_sum(engine: sa.Engine, ledger: SqlLedger) -> None:
    ledger.replied(replace(REQUEST, model="other"), ChatReply("x", "stop", "", 10, 1), "ok")
    ledger.replied(REQUEST, ChatReply("x", "stop", "", 10, 1), "ok")
    assert [row["usd"] for row in recorded_calls(engine, "corpus").to_pylist()] == [None, 2e-5]
    assert stage_costs(recorded_calls(engine, "corpus"))[0].usd is None


def test_a_batch_costs_half(engine: sa.Engine, ledger: SqlLedger) -> None:
    ledger.replied(REQUEST, ChatReply("x", "stop", "", 1000, 100), "batch")
    assert recorded_calls(engine, "corpus")["usd"].to_pylist() == [pytest.approx(0.001)]


def test_what_came_of_calls(
    fake: FakeOpenAI, build: Build, engine: sa.Engine, ledger: SqlLedger, make_windows: MakeWindows
) -> None:
    backend = build(rate={"concurrency": 1}).recording(ledger)
    windows = make_windows(4)
    fake.script(throttled("0"), SERVER_ERROR)
    backend.propose_dimensions(windows[:1], Silent())
    fake.script(WRONG_WORDS)
    backend.propose_dimensions(windows[1:2], Silent())
    fake.script(WRONG_WORDS, WRONG_WORDS)
    with pytest.raises(BackendError):
        backend.propose_dimensions(windows[2:3], Silent())
    fake.script(*[SERVER_ERROR] * 4)
    with pytest.raises(BackendError):
        backend.propose_dimensions(windows[3:], Silent())
    fake.script(NO_USAGE)
    backend.propose_dimensions(windows[3:], Silent())
    backend.propose_dimensions(windows[:1], Silent())
    rows = recorded_calls(engine, "corpus").to_pylist()
    assert [row["outcome"] for row in rows] == [
        *("ok", "invalid", "repaired", "invalid", "failed", "unanswered", "ok", "cached")
    ]
    assert [row["retries"] for row in rows] == [2, 0, 0, 0, 0, 3, 0, 0]
    assert [row["key"] for row in rows] == ["w0", "w1", "w1", "w2", "w2", "w3", "w3", "w0"]
    assert [row["counted"] for row in rows] == [True] * 6 + [False, True]
    assert all((row["usd"] or 0) > 0 for row in rows if row["outcome"] not in ("cached", "unanswered"))
    (cost,) = stage_costs(recorded_calls(engine, "corpus"))
    assert (cost.stage, cost.calls, cost.cached, cost.invalid, cost.unanswered, cost.retries) == (
        *("dimensions", 7, 1, 3, 1),
        5,
    )
    assert cost.calls + cost.retries == fake.chat_calls


def test_a_divided_window_says_so(
    fake: FakeOpenAI, build: Build, engine: sa.Engine, ledger: SqlLedger, make_windows: MakeWindows
) -> None:
    fake.script(CUT_OFF, CUT_OFF)
    build().recording(ledger).propose_dimensions(make_windows(1), Silent())
    assert outcomes(engine) == ["invalid", "divided", "ok", "ok"]


def test_what_a_budget_forbids_is_no_call(
    fake: FakeOpenAI, build: Build, engine: sa.Engine, ledger: SqlLedger, make_windows: MakeWindows
) -> None:
    with pytest.raises(BudgetError):
        build(budget={"max_calls": 2}).recording(ledger).propose_dimensions(make_windows(4), Silent())
    assert outcomes(engine) == ["ok", "ok"]


def test_rows_are_kept_by_corpus_and_run_until_they_are_moved_on(engine: sa.Engine, ledger: SqlLedger) -> None:
    reply = ChatReply("x", "stop", "", 10, 1)
    ledger.replied(REQUEST, reply, "ok")
    SqlLedger(engine, "corpus", "later", PRICES).replied(replace(REQUEST, stage="answers"), reply, "ok")
    SqlLedger(engine, "other", "run", PRICES).replied(REQUEST, reply, "ok")
    assert recorded_calls(engine, "corpus")["run"].to_pylist() == ["run", "later"]
    first = recorded_calls(engine, "corpus", "run")
    forget_calls(engine, first)
    assert recorded_calls(engine, "corpus")["run"].to_pylist() == ["later"]
    assert recorded_calls(engine, "other").num_rows == 1
    assert [cost.stage for cost in stage_costs(recorded_calls(engine, "corpus"))] == ["answers"]


def test_copies_count_once(engine: sa.Engine, ledger: SqlLedger) -> None:
    import pyarrow as pa

    for _ in range(3):
        ledger.replied(REQUEST, ChatReply("x", "stop", "", 10, 1), "ok")
    table = recorded_calls(engine, "corpus")
    twice = pa.concat_tables([table.slice(1), table])
    assert without_copies(twice).equals(table)
    assert stage_costs(twice)[0].calls == 3


def test_no_prompt_and_no_reply_is_recorded(
    build: Build, engine: sa.Engine, ledger: SqlLedger, make_windows: MakeWindows
) -> None:
    build().recording(ledger).propose_dimensions(make_windows(2), Silent())
    said = str(recorded_calls(engine, "corpus").to_pylist())
    assert "smoking" not in said
    assert "condition" not in said


KILLED = """
import sys
from hcg_pipeline.backends.llm.assembling import build_llm_backend
from hcg_pipeline.backends.llm.budget import read_prices
from hcg_pipeline.backends.llm.cache import open_cache
from hcg_pipeline.backends.llm.ledger import SqlLedger
from hcg_pipeline.backends.llm.settings import EndpointSettings, RateSettings
from hcg_pipeline.corpus.window import Passage, Window
from hcg_pipeline.progress import Silent

url, cache = sys.argv[1:]
texts = [f"Report {n}. Chronic smoking causes bronchitis{n}x." for n in range(60)]
windows = [Window(f"w{n}", (Passage(f"c{n}", "d", 0, len(text), text),)) for n, text in enumerate(texts)]
settings = EndpointSettings(model="fake-model", base_url=url, rate=RateSettings(concurrency=4))
engine = open_cache(cache)
ledger = SqlLedger(engine, "corpus", "killed", read_prices(None))
build_llm_backend(settings, engine).recording(ledger).propose_dimensions(windows, Silent())
"""


@pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL")
def test_a_kill_loses_the_calls_in_flight_alone(tmp_path: Path) -> None:
    cache = f"sqlite:///{tmp_path}/killed.db"
    with FakeOpenAI(latency=0.03) as fake:
        process = subprocess.Popen([sys.executable, "-c", KILLED, fake.base_url, cache], stdout=subprocess.DEVNULL)
        while sum(fake.completed.values()) < 25 and process.poll() is None:
            time.sleep(0.005)
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        recorded = recorded_calls(open_cache(cache), "corpus").num_rows
        assert sum(fake.completed.values()) - recorded <= 2 * 4
        assert recorded >= 17
