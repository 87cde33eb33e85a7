"""What a run of judging asks: each thing once, whatever the order, the concurrency, and how often it is stopped."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest
import sqlalchemy as sa
from fake_openai import WRONG_WORDS, FakeOpenAI, Fault
from judging_cases import TableEmbedder, answer_row, answers_of, judged, numbered

from hcg_pipeline.backends.llm.budget import BudgetError, read_prices
from hcg_pipeline.backends.llm.cache import open_cache
from hcg_pipeline.backends.llm.ledger import SqlLedger, recorded_calls
from hcg_pipeline.backends.llm.settings import (
    BudgetSettings,
    EndpointSettings,
    RateSettings,
)
from hcg_pipeline.evaluation.judging.answers import judge_answers
from hcg_pipeline.evaluation.judging.judge import Judge, build_judge
from hcg_pipeline.evaluation.judging.settings import JudgingSettings
from hcg_pipeline.progress import Silent


def test_a_text_is_split_and_embedded_once_however_many_modes_share_it(
    build: Callable[..., Judge], fake: FakeOpenAI
) -> None:
    rows = [answer_row(mode=mode, answer=f"{mode} is good.") for mode in ("graph", "naive", "hybrid")]
    embedder = TableEmbedder()
    judge_answers(answers_of(*rows), build(), embedder, JudgingSettings(measures=("correctness",)), Silent())
    assert fake.chat_calls == 3 + 1 + 3
    assert len(embedder.embedded) == 4


def test_the_second_run_asks_nothing_and_says_the_same(build: Callable[..., Judge], fake: FakeOpenAI) -> None:
    first = judged(numbered(6), build())
    calls = fake.chat_calls
    assert (calls, first.usage.calls) == (6 * 5, 6 * 5)
    second = judged(numbered(6), build())
    assert fake.chat_calls == calls
    assert (second.usage.calls, second.usage.cached) == (0, 30)
    assert (second.scores, second.verdicts) == (first.scores, first.verdicts)


def test_a_run_that_was_stopped_goes_on_where_it_was(build: Callable[..., Judge], fake: FakeOpenAI) -> None:
    with pytest.raises(BudgetError, match=r"judge judge-1: judge_verdicts: .* done.*HCG_JUDGE_MAX_CALLS"):
        judged(numbered(6), build(budget=BudgetSettings(max_calls=20)))
    assert fake.chat_calls == 20
    found = judged(numbered(6), build())
    assert fake.chat_calls == 30
    assert max(fake.completed.values()) == 1
    assert (found.usage.calls, found.usage.cached) == (10, 20)
    assert len(found.scores) == 18


def test_concurrency_changes_nothing(build: Callable[..., Judge], tmp_path: Path, fake: FakeOpenAI) -> None:
    fake.always(lambda body: WRONG_WORDS if "Case 7 " in body["messages"][1]["content"] else Fault())
    alone = judged(numbered(12), build(rate=RateSettings(concurrency=1)))
    fresh = open_cache(f"sqlite:///{tmp_path}/other.db")
    settings = EndpointSettings(model="judge-1", base_url=fake.base_url, rate=RateSettings(concurrency=16))
    together = judge_answers(numbered(12), build_judge(settings, fresh), TableEmbedder(), JudgingSettings(), Silent())
    # What the calls cost may differ: how an endpoint wants to be asked is found out on the way.
    assert replace(together, usage=alone.usage) == alone
    assert together.usage.calls == alone.usage.calls
    assert len(alone.missing) == 3
    assert fake.in_flight_most > 1


def test_order_changes_only_the_order(build: Callable[..., Judge]) -> None:
    table = numbered(6)
    forth = judged(table, build()).scores.to_pylist()
    back = judged(table.take(list(range(5, -1, -1))), build()).scores.to_pylist()
    assert sorted(back, key=lambda row: (row["id"], row["measure"])) == forth


def test_two_judges_stand_side_by_side(build: Callable[..., Judge], fake: FakeOpenAI) -> None:
    judges = [build(), build(model="judge-2"), build(name="judge-1, seed 8", seed=8)]
    tables = [judged(answers_of(answer_row()), judge, "coverage").scores for judge in judges]
    assert pa.concat_tables(tables)["measure"].to_pylist() == [
        "coverage[judge-1]",
        "coverage[judge-2]",
        "coverage[judge-1, seed 8]",
    ]
    assert [body["model"] for body in fake.requests] == ["judge-1"] * 2 + ["judge-2"] * 2 + ["judge-1"] * 2
    assert len({judge.version for judge in judges}) == 3
    assert build().version == build(name="renamed").version


def test_progress_counts_both_rounds(build: Callable[..., Judge]) -> None:
    class Recorder:
        def __init__(self) -> None:
            self.last: dict[str, tuple[int, int]] = {}

        def advance(self, stage: str, done: int, total: int) -> None:
            self.last[stage] = (done, total)

    progress = Recorder()
    judge_answers(numbered(6), build(), TableEmbedder(), JudgingSettings(), progress)
    assert progress.last == {"judge_statements": (12, 12), "judge_verdicts": (18, 18)}


def test_every_call_is_in_the_ledger_with_what_came_of_it(
    build: Callable[..., Judge], fake: FakeOpenAI, engine: sa.Engine
) -> None:
    ledger = SqlLedger(engine, "roads", "run", read_prices(None))
    fake.script(WRONG_WORDS, Fault(), Fault(usage=False))
    found = judged(answers_of(answer_row()), build(model="gpt-4.1-mini").recording(ledger), "correctness")
    assert len(found.scores) == 1
    rows = recorded_calls(engine, "roads").to_pylist()
    assert [(row["stage"], row["outcome"]) for row in rows] == [
        ("judge_statements", "invalid"),
        ("judge_statements", "repaired"),
        ("judge_statements", "ok"),
        ("judge_verdicts", "ok"),
    ]
    assert {row["model"] for row in rows} == {"gpt-4.1-mini"}
    assert rows[-1]["key"] == "correctness of set/q1, graph"
    assert [row["counted"] for row in rows] == [True, True, False, True]
    price = read_prices(None).price("gpt-4.1-mini")
    assert price is not None
    for row in rows:
        assert row["tokens_in"] > 0 and row["seconds"] > 0
        assert row["usd"] == pytest.approx(price.usd(row["tokens_in"], 0, row["tokens_out"]))
    judged(answers_of(answer_row()), build(model="gpt-4.1-mini").recording(ledger), "correctness")
    again = recorded_calls(engine, "roads").to_pylist()[len(rows) :]
    assert [(row["outcome"], row["usd"]) for row in again] == [("cached", 0.0)] * 3


def test_what_kept_replies_took_is_known_after_a_stop(build: Callable[..., Judge]) -> None:
    first = judged(numbered(6), build()).usage
    second = judged(numbered(6), build()).usage
    assert (second.calls, second.tokens_in, second.tokens_out) == (0, 0, 0)
    assert (second.kept_in, second.kept_out) == (first.tokens_in, first.tokens_out)
