"""Bad replies of every kind, over real HTTP: one repair, then a failure with the raw text; failed is never empty."""

import json
from collections.abc import Callable

import pytest
import sqlalchemy as sa
from fake_openai import (
    BROKEN_JSON,
    CUT_OFF,
    EMPTY,
    FENCED,
    INVALID_JSON,
    REFUSAL,
    SCHEMA_ECHO,
    SERVER_ERROR,
    THOUGHT,
    WRONG_WORDS,
    FakeOpenAI,
    Fault,
)

from hcg_pipeline.backends.llm.backend import LlmBackend
from hcg_pipeline.backends.llm.cache import cache_stats
from hcg_pipeline.backends.protocol import Outcome, Reading, Usage
from hcg_pipeline.corpus.window import Window
from hcg_pipeline.progress import Silent
from hcg_pipeline.specification.vocabulary import Dimension, Entity, Metric, Vocabulary

VOCABULARY = Vocabulary(
    (Dimension("condition", "what ails", (Entity("bronchitis"), Entity("hypertension"))), Dimension("factor", "acts")),
    (
        Metric("ConditionSeverity", ("condition",), "How bad it is.", "severity"),
        Metric("FactorInfluence", ("factor",), "How strong it is.", "influence"),
    ),
)

Build = Callable[..., LlmBackend]
MakeWindows = Callable[[int], list[Window]]


def read(backend: LlmBackend, windows: list[Window]) -> Outcome[Reading]:
    return backend.read_windows(windows, VOCABULARY, Silent())


def reading(**changes: object) -> str:
    """A valid reply about the first window, with changes to its one relation."""
    relation = {
        "source": {"metric": "FactorInfluence", "entities": ["smoking"]},
        "target": {"metric": "ConditionSeverity", "entities": ["bronchitis"]},
        "mechanism": "Smoke irritates the airways.",
        "sign": "+",
        "confidence": 0.9,
        "passage": "c1",
        "quote": "Chronic smoking causes bronchitis in district 0.",
    } | changes
    return json.dumps({"entities": [], "variables": [], "relations": [relation]})


@pytest.mark.parametrize("wrapping", [FENCED, THOUGHT])
def test_wrapped_json_needs_no_repair(
    fake: FakeOpenAI, build: Build, make_windows: MakeWindows, wrapping: Fault
) -> None:
    fake.always(wrapping)
    outcome = read(build(), make_windows(1))
    assert fake.chat_calls == 1
    assert len(outcome.results[0].relations) == 2


BAD = {
    "cut off": (CUT_OFF, "cut off at the token limit"),
    "broken": (BROKEN_JSON, "no JSON object"),
    "invalid": (INVALID_JSON, "no JSON object"),
    "echo": (SCHEMA_ECHO, "repeats the JSON schema"),
    "refusal": (REFUSAL, "the model refused: I cannot help with that."),
    "filtered": (Fault(content="", finish_reason="content_filter"), "the model refused: content filter"),
    "empty": (EMPTY, "the reply is empty"),
    "nonsense": (WRONG_WORDS, "no JSON object: 'lorem banana"),
    "wrong type": (Fault(content=reading(confidence="very")), "relations.0.confidence: Input should be a valid number"),
    "too sure": (
        Fault(content=reading(confidence=7)),
        "relations.0.confidence: Input should be less than or equal to 1",
    ),
    "no field": (Fault(content='{"variables": []}'), "entities: Field required; relations: Field required"),
    "unknown metric": (
        Fault(content=reading(source={"metric": "Wealth", "entities": ["x"]})),
        "relations.0.source.metric: Value error, 'Wealth' is none of: ConditionSeverity, FactorInfluence",
    ),
    "unknown passage": (
        Fault(content=reading(passage="c9")),
        "relations.0.passage: Value error, 'c9' is none of: c1, c2",
    ),
    "unknown sign": (Fault(content=reading(sign="up")), "'up' is none of: +, -, ?"),
}


@pytest.mark.parametrize(("fault", "reason"), BAD.values(), ids=BAD)
def test_a_bad_reply_is_repaired_once_with_what_is_wrong_with_it(
    fake: FakeOpenAI, build: Build, engine: sa.Engine, make_windows: MakeWindows, fault: Fault, reason: str
) -> None:
    fake.script(fault)
    outcome = read(build(), make_windows(1))
    assert outcome.failures == ()
    assert len(outcome.results[0].relations) == 2
    assert outcome.usage.calls == fake.chat_calls == 2
    repair = fake.requests[1]["messages"]
    assert [message["role"] for message in repair] == ["system", "user", "assistant", "user"]
    assert reason in json.loads(repair[3]["content"].split("used. ")[1].rsplit(". Answer", 1)[0])
    # The repaired reply is the answer to the original request: the next build asks nothing.
    again = read(build(), make_windows(1))
    assert again.results == outcome.results
    assert again.usage == Usage(cached=1)
    assert fake.chat_calls == 2
    assert (cache_stats(engine).replies, cache_stats(engine).pending) == (1, 0)


# What is cut off twice is divided: see test_llm_dividing.
STAYS_BAD = {name: case for name, case in BAD.items() if name != "cut off"}


@pytest.mark.parametrize(("fault", "reason"), STAYS_BAD.values(), ids=STAYS_BAD)
def test_a_reply_that_stays_bad_is_a_failure_with_its_raw_text(
    fake: FakeOpenAI, build: Build, engine: sa.Engine, make_windows: MakeWindows, fault: Fault, reason: str
) -> None:
    windows = make_windows(3)
    fake.always(lambda body: fault if "Report 1" in body["messages"][1]["content"] else Fault())
    outcome = read(build(), windows)
    assert [one.window_id for one in outcome.results] == ["w0", "w2"]
    (failure,) = outcome.failures
    assert (failure.stage, failure.key) == ("variables", "w1")
    assert reason in failure.reason
    if fault.content and fault is not SCHEMA_ECHO:
        assert failure.raw == fault.content
    assert outcome.usage.calls == 4
    # Nothing bad is kept: the next build asks for this window again, and only for it.
    assert (cache_stats(engine).replies, cache_stats(engine).pending) == (2, 0)
    fake.heal()
    again = read(build(), windows)
    assert [one.window_id for one in again.results] == ["w0", "w1", "w2"]
    assert (again.usage.calls, again.usage.cached) == (1, 2)


def test_a_window_that_says_nothing_is_no_failure(fake: FakeOpenAI, build: Build, make_windows: MakeWindows) -> None:
    fake.always(Fault(content='{"entities": [], "variables": [], "relations": []}'))
    outcome = read(build(), make_windows(2))
    assert outcome.failures == ()
    assert [(one.window_id, one.variables, one.relations) for one in outcome.results] == [
        ("w0", (), ()),
        ("w1", (), ()),
    ]


def test_a_killed_build_goes_straight_to_the_repair(
    fake: FakeOpenAI, build: Build, engine: sa.Engine, make_windows: MakeWindows
) -> None:
    """Killed between a bad reply and its repair: neither the finished call nor its badness is forgotten."""
    fake.script(WRONG_WORDS, *[SERVER_ERROR] * 4)  # the repair gets no reply
    windows = make_windows(2)
    fake.always(lambda body: Fault())
    first = build(rate={"concurrency": 1})
    outcome = read(first, windows)
    assert [failure.key for failure in outcome.failures] == ["w0"]
    assert "the repair got no reply" in outcome.failures[0].reason
    assert outcome.failures[0].raw == WRONG_WORDS.content
    assert cache_stats(engine).pending == 1
    calls = fake.chat_calls
    again = read(build(), windows)
    assert again.failures == ()
    assert fake.chat_calls == calls + 1
    assert len(fake.requests[-1]["messages"]) == 4


def test_a_poisoned_cache_entry_does_not_pass(
    fake: FakeOpenAI, build: Build, engine: sa.Engine, make_windows: MakeWindows
) -> None:
    windows = make_windows(1)
    good = read(build(), windows)
    with engine.begin() as connection:
        connection.execute(sa.text("UPDATE llm_replies SET text = 'poison'"))
    again = read(build(), windows)
    assert again.results == good.results
    assert fake.chat_calls == 2  # the first, and the repair of the poisoned one


def test_usage_is_zero_without_counts_but_the_call_counts(
    fake: FakeOpenAI, build: Build, make_windows: MakeWindows
) -> None:
    fake.always(Fault(usage=False))
    assert read(build(), make_windows(2)).usage == Usage(calls=2)
