"""What "it", "they", "this", "the drug" and "As a result" stand for, and when they are left alone."""

import pytest

from hcg_pipeline.backends.rules.parsing import Parser
from hcg_pipeline.backends.rules.reading import relations_in
from hcg_pipeline.backends.rules.resolve import Resolver
from hcg_pipeline.corpus.window import Passage
from hcg_pipeline.specification.vocabulary import Dimension, Entity, Metric, Vocabulary

NAMES = {
    "drug": ("valproate", "statin", "lithium"),
    "disease": ("gout", "stroke"),
    "indicator": ("pressure", "flow", "demand", "price"),
    "event": ("vibration", "outage"),
    "component": ("film", "bearing"),
}
METRICS = {
    "drug": "Use",
    "disease": "Occurrence",
    "indicator": "Level",
    "event": "Occurrence",
    "component": "Condition",
}


@pytest.fixture(scope="module")
def parser() -> Parser:
    return Parser()


def edges(parser: Parser, text: str) -> set[tuple[str, str, str]]:
    dimensions = tuple(Dimension(name, "", tuple(Entity(one) for one in names)) for name, names in NAMES.items())
    metrics = tuple(Metric(f"{name.capitalize()}{facet}", (name,), "", "") for name, facet in METRICS.items())
    resolver = Resolver(Vocabulary(dimensions, metrics))
    found = relations_in(Passage("c", "d", 0, len(text), text), resolver, parser)
    assert all(one.quote in text for one in found)
    return {(one.source.entities[0], one.target.entities[0], one.sign) for one in found}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Valproate is an old drug. It causes gout.", {("valproate", "gout", "+")}),
        ("Statins are cheap. They prevent strokes.", {("statin", "stroke", "-")}),
        # The number does not agree.
        ("Statins are cheap. It causes gout.", set()),
        # The subject is carried over a sentence that goes on with it.
        ("Valproate is old. It is cheap. It causes gout.", {("valproate", "gout", "+")}),
        ("Lithium is old. This drug causes gout.", {("lithium", "gout", "+")}),
        # "This" is the change that the sentence before states, with its sign.
        ("The flow decreased. This lowers the pressure.", {("flow", "pressure", "+")}),
        ("Demand rises. As a result, prices increase.", {("demand", "price", "+")}),
        ("Demand is measured. As a result, prices increase.", set()),
        # In the sentence, where one thing alone agrees.
        ("Water thins the film, and vibration weakens it.", {("vibration", "film", "-")}),
        # The film or the bearing: not read.
        ("The film protects the bearing, and vibration weakens it.", set()),
    ],
)
def test_what_points_back(parser: Parser, text: str, expected: set[tuple[str, str, str]]) -> None:
    assert edges(parser, text) == expected


def test_the_quote_holds_both_sentences(parser: Parser) -> None:
    text = "Gout is painful. Valproate is an old drug. It causes gout."
    dimensions = tuple(Dimension(name, "", tuple(Entity(one) for one in NAMES[name])) for name in ("drug", "disease"))
    metrics = (Metric("DrugUse", ("drug",), "", ""), Metric("DiseaseOccurrence", ("disease",), "", ""))
    resolver = Resolver(Vocabulary(dimensions, metrics))
    (one,) = relations_in(Passage("c", "d", 0, len(text), text), resolver, parser)
    assert one.quote == "Valproate is an old drug. It causes gout."
