"""Verbs and nouns that look alike, headings that have run in, and what a few candidates do not know."""

import pytest

from hcg_pipeline.backends.protocol import EdgeQuestion
from hcg_pipeline.backends.rules.judging import judge_edge
from hcg_pipeline.backends.rules.noun_types import formed_classes
from hcg_pipeline.backends.rules.parsing import Parser
from hcg_pipeline.backends.rules.second_verbs import prefixed_base
from hcg_pipeline.corpus.window import Passage
from hcg_pipeline.specification.vocabulary import Metric, VariableRef


@pytest.fixture(scope="module")
def parser() -> Parser:
    return Parser()


@pytest.mark.parametrize(
    ("sentence", "word", "tag"),
    [
        ("Driver shortages push up wages and limit capacity.", "limit", "VVB"),
        ("Slide valves reduce deposits and cut emissions of soot.", "cut", "VVB"),
        ("Repeated tillage destroys aggregates and speeds up the decay.", "speeds", "VVZ"),
        ("Overconfidence leads to manual overrides that cost money.", "overrides", "NN2"),
        ("A failed thermostat overcools the engine at low load.", "overcools", "VVZ"),
        ("Lynch syndrome causes cancer.", "Lynch", "NN1"),
        ("Engineers reduce noise and control systems.", "control", "NN1"),
    ],
)
def test_verbs_and_nouns_are_told_apart(parser: Parser, sentence: str, word: str, tag: str) -> None:
    tags = {token.text: token.tag for token in parser.sentence(sentence).clauses.tokens}
    assert tags[word] == tag


def test_a_prefix_keeps_a_verb_a_verb() -> None:
    assert prefixed_base("overcools") == "overcool"
    assert prefixed_base("overrides") is None  # a noun as well
    assert prefixed_base("reactors") is None


def test_nouns_from_short_verbs_name_what_is_done_or_happens() -> None:
    assert formed_classes("liming") == {"event": 1.0}
    assert formed_classes("sowing") == {"event": 1.0}
    assert formed_classes("spring") == {}


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("Diet and lifestyle No one diet prevents cancer.", "No"),
        ("The World Health Organization Report says that it helps.", "The"),
        ("Hepatitis A causes fever in most people.", "Hepatitis"),
        ("Case presentation A 71-year-old man fell from a tree.", "A"),
        ("He read it in The Lancet on a train.", "He"),
    ],
)
def test_a_heading_that_ran_in_is_left_out(parser: Parser, text: str, first: str) -> None:
    assert parser.sentence(text).clauses.tokens[0].text == first


def judged(parser: Parser, text: str, source: str, target: str) -> int:
    causes = Metric("ConditionOccurrence", ("condition",), "", "")
    levels = Metric("IndicatorLevel", ("indicator",), "", "")
    pair = (VariableRef(causes.name, (source,)), VariableRef(levels.name, (target,)))
    question = EdgeQuestion(causes, levels, "", (pair,), (Passage("c", "d", 0, len(text), text),))
    return len(judge_edge(question, parser))


def test_a_candidate_is_judged_by_its_own_name_alone(parser: Parser) -> None:
    """Found in a text on soils: of "crop yield" the judge, who knew "yield" alone, made "yield"."""
    assert judged(parser, "Drought lowers yield.", "drought", "yield") == 1
    assert judged(parser, "Drought lowers the final yield.", "drought", "yield") == 1
    assert judged(parser, "Drought lowers crop yield.", "drought", "yield") == 0
    assert judged(parser, "Loss of drought lowers yield.", "drought", "yield") == 0
