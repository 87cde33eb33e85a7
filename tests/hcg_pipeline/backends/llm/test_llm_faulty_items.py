"""Replies of valid form with items that cannot stand: one repair, then what is good of it, or a failure."""

import json
from collections.abc import Callable

import pytest
import sqlalchemy as sa
from fake_openai import SERVER_ERROR, WRONG_WORDS, FakeOpenAI, Fault

from hcg_pipeline.backends.llm.backend import LlmBackend
from hcg_pipeline.backends.llm.cache import cache_stats
from hcg_pipeline.backends.protocol import EdgeQuestion, Outcome, Reading, Usage
from hcg_pipeline.corpus.window import Window
from hcg_pipeline.progress import Silent
from hcg_pipeline.specification.vocabulary import Dimension, Entity, Metric, VariableRef, Vocabulary

SEVERITY = Metric("ConditionSeverity", ("condition",), "How bad it is.", "severity")
INFLUENCE = Metric("FactorInfluence", ("factor",), "How strong it is.", "influence")
VOCABULARY = Vocabulary(
    (Dimension("condition", "what ails", (Entity("bronchitis"),)), Dimension("factor", "acts", (Entity("smoking"),))),
    (SEVERITY, INFLUENCE),
)
SAID = "Chronic smoking causes bronchitis in district 0."
NOT_SAID = "Smoking is a joy."

Build = Callable[..., LlmBackend]
MakeWindows = Callable[[int], list[Window]]


def read(backend: LlmBackend, windows: list[Window]) -> Outcome[Reading]:
    return backend.read_windows(windows, VOCABULARY, Silent())


def relation(quote: str, entities: tuple[str, ...] = ("smoking",)) -> dict[str, object]:
    return {
        "source": {"metric": "FactorInfluence", "entities": list(entities)},
        "target": {"metric": "ConditionSeverity", "entities": ["bronchitis"]},
        "mechanism": f"It irritates the airways: {quote}",
        "sign": "+",
        "confidence": 0.9,
        "passage": "c1",
        "quote": quote,
    }


def reply(*relations: dict[str, object]) -> Fault:
    return Fault(content=json.dumps({"entities": [], "variables": [], "relations": list(relations)}))


def quotes(outcome: Outcome[Reading]) -> list[str]:
    return [one.quote for reading in outcome.results for one in reading.relations]


@pytest.mark.parametrize(
    ("bad", "problem"),
    [
        (relation(NOT_SAID), "relations.1.quote: not the words of passage c1; copy them exactly"),
        (relation("smoking"), "relations.1.quote: not the words of passage c1; copy them exactly"),  # too short a quote
        (relation(SAID, ()), "relations.1.source: FactorInfluence takes 1 entities (factor), not 0"),
        (relation(SAID, ("a", "b")), "relations.1.source: FactorInfluence takes 1 entities (factor), not 2"),
    ],
)
def test_a_faulty_item_is_repaired_once_with_what_is_wrong_with_it(
    fake: FakeOpenAI, build: Build, engine: sa.Engine, make_windows: MakeWindows, bad: dict[str, object], problem: str
) -> None:
    fake.script(reply(relation(SAID), bad), reply(relation(SAID)))
    outcome = read(build(), make_windows(1))
    assert (quotes(outcome), outcome.failures) == ([SAID], ())
    assert outcome.usage.calls == fake.chat_calls == 2
    assert json.dumps(problem) in fake.requests[1]["messages"][3]["content"]
    # the better reply is the answer from now on
    assert read(build(), make_windows(1)).usage == Usage(cached=1)
    assert (cache_stats(engine).replies, cache_stats(engine).pending) == (1, 0)


@pytest.mark.parametrize("second", [reply(relation(NOT_SAID)), WRONG_WORDS], ids=["as bad", "worse"])
def test_where_the_repair_is_no_better_the_first_reply_stays(
    fake: FakeOpenAI, build: Build, make_windows: MakeWindows, second: Fault
) -> None:
    """What is still faulty is passed on as it is: assembly, which looks at every item, drops and counts it."""
    fake.script(reply(relation(SAID), relation(NOT_SAID)), second)
    outcome = read(build(), make_windows(1))
    assert (quotes(outcome), outcome.failures) == ([SAID, NOT_SAID], ())
    assert read(build(), make_windows(1)).results == outcome.results
    assert fake.chat_calls == 2


def test_a_reply_without_one_good_item_is_a_failure_and_not_an_empty_reading(
    fake: FakeOpenAI, build: Build, engine: sa.Engine, make_windows: MakeWindows
) -> None:
    windows = make_windows(2)
    bad = reply(relation(NOT_SAID))
    fake.always(lambda body: bad if "Report 0" in body["messages"][1]["content"] else Fault())
    outcome = read(build(), windows)
    assert [reading.window_id for reading in outcome.results] == ["w1"]
    (failure,) = outcome.failures
    assert (failure.key, failure.raw) == ("w0", bad.content)
    assert failure.reason == "relations.0.quote: not the words of passage c1; copy them exactly; so after a repair"
    # nothing of it is kept: the next build asks for this window again
    assert (cache_stats(engine).replies, cache_stats(engine).pending) == (1, 0)
    fake.heal()
    assert [reading.window_id for reading in read(build(), windows).results] == ["w0", "w1"]


def test_a_repair_without_a_reply_is_made_up_for_by_the_next_build(
    fake: FakeOpenAI, build: Build, make_windows: MakeWindows
) -> None:
    fake.script(reply(relation(SAID), relation(NOT_SAID)), *[SERVER_ERROR] * 4)
    outcome = read(build(), make_windows(1))
    assert (quotes(outcome), outcome.failures) == ([SAID, NOT_SAID], ())
    calls = fake.chat_calls
    fake.script(reply(relation(SAID)))
    assert quotes(read(build(), make_windows(1))) == [SAID]
    assert fake.chat_calls == calls + 1


def test_a_judged_pair_needs_a_quote_from_the_passages(
    fake: FakeOpenAI, build: Build, make_windows: MakeWindows
) -> None:
    pair = (VariableRef("FactorInfluence", ("smoking",)), VariableRef("ConditionSeverity", ("bronchitis",)))
    question = EdgeQuestion(INFLUENCE, SEVERITY, "Factors act.", (pair,), make_windows(1)[0].passages)
    accepted = {"pair": "p1", "mechanism": "Smoke.", "sign": "+", "confidence": 0.9, "passage": "c1"}
    bad, good = (Fault(content=json.dumps({"borne_out": [accepted | {"quote": quote}]})) for quote in (NOT_SAID, SAID))
    fake.script(bad, good)
    outcome = build().judge_edges([question], Silent())
    assert [relation.quote for relations in outcome.results for relation in relations] == [SAID]
    assert "borne_out.0.quote: not the words of passage c1" in fake.requests[1]["messages"][3]["content"]
