"""Families: quantities and happenings of one kind get a metric of their own, and descriptions say what is measured."""

from collections import Counter
from collections.abc import Mapping

import pytest

from hcg_pipeline.backends.rules.descriptions import describe
from hcg_pipeline.backends.rules.families import families, family_of
from hcg_pipeline.backends.rules.metrics import metric_name
from hcg_pipeline.backends.rules.parsing import Parser
from hcg_pipeline.backends.rules.reading import relations_in
from hcg_pipeline.backends.rules.resolve import Resolver, metric_facet
from hcg_pipeline.backends.rules.wordlists import facet_of_noun, facets, fits, noun_classes
from hcg_pipeline.corpus.window import Passage
from hcg_pipeline.specification.vocabulary import Dimension, Entity, Metric, Vocabulary


@pytest.mark.parametrize(
    ("dimension", "entity", "family"),
    [
        ("indicator", "freight rate", "RateLevel"),
        ("indicator", "holding costs", "CostLevel"),
        ("indicator", "fertility", ""),
        ("condition", "galvanic corrosion", "DegradationOccurrence"),
        ("event", "power failure", "FailureOccurrence"),
        ("disease", "heart failure", ""),
        ("activity", "labor market", "MarketActivity"),
    ],
)
def test_an_entity_is_of_the_family_of_its_head_noun(dimension: str, entity: str, family: str) -> None:
    assert family_of(dimension, entity) == family


def test_every_family_is_of_known_dimensions_and_no_name_is_a_facet() -> None:
    dimensions = {kind.dimension for kind in noun_classes().values()}
    assert all(one.dimensions <= dimensions for one in families().values())
    assert not set(families()) & set(facets())


def test_metric_names_say_the_family_and_read_back_as_it() -> None:
    assert metric_name(("indicator",), "CostLevel") == "CostLevel"
    assert metric_facet(Metric("CostLevel", ("indicator",), "", "")) == "CostLevel"
    assert metric_facet(Metric("CostLevel", ("good",), "", "")) == "Level"  # somebody's own metric, over goods
    assert metric_name(("disease",), "Death") == "DiseaseMortality"
    assert metric_facet(Metric("DiseaseMortality", ("disease",), "", "")) == "Death"


def test_a_description_says_what_is_measured_of_what() -> None:
    entities = Counter({"freight rate": 3, "interest rate": 2})
    text = describe(("indicator",), "RateLevel", entities, Counter({"fuel price": 1}), Counter())
    assert text == "How high a rate or ratio is, for example freight rate and interest rate. Driven by fuel price."
    pair = describe(("treatment", "disease"), "Use", Counter({"surgery": 1}), Counter(), Counter({"cancer": 2}))
    assert pair == "Whether and how much a treatment is used against a disease, for example surgery. Influences cancer."
    own = describe(("risk_factor",), "Level", Counter(), Counter(), Counter())
    assert own == "How much there is of a risk factor."


def relations(text: str, names: Mapping[str, tuple[str, ...]], *metrics: Metric) -> list[tuple[str, str, str]]:
    dimensions = tuple(Dimension(name, "", tuple(map(Entity, entities))) for name, entities in names.items())
    resolver = Resolver(Vocabulary(dimensions, metrics))
    found = relations_in(Passage("c", "d", 0, len(text), text), resolver, Parser())
    return [(one.source.name, one.sign, one.target.name) for one in found]


def test_a_mention_goes_to_its_family_where_the_vocabulary_has_it_and_to_the_wide_metric_where_not() -> None:
    text = "A rise in interest rates increases holding cost."
    names = {"indicator": ("interest rate", "holding cost")}
    wide = Metric("IndicatorLevel", ("indicator",), "", "")
    cost = Metric("CostLevel", ("indicator",), "", "")
    assert relations(text, names, wide) == [("IndicatorLevel(interest rate)", "+", "IndicatorLevel(holding cost)")]
    assert relations(text, names, wide, cost) == [("IndicatorLevel(interest rate)", "+", "CostLevel(holding cost)")]


def test_a_level_of_a_price_is_its_price() -> None:
    """Found in an economics text: "the price level" was a variable beside the price."""
    wide, price = (Metric(name, ("indicator",), "", "") for name in ("IndicatorLevel", "PriceLevel"))
    found = relations("Inflation raises the price level.", {"indicator": ("inflation", "price")}, wide, price)
    assert found == [("IndicatorLevel(inflation)", "+", "PriceLevel(price)")]


def test_fewer_or_smaller_machines_are_in_no_worse_condition() -> None:
    names = {"condition": ("standardisation",), "component": ("spare",)}
    metrics = (
        Metric("ConditionOccurrence", ("condition",), "", ""),
        Metric("ComponentCondition", ("component",), "", ""),
    )
    assert relations("Standardisation reduces the number of spares.", names, *metrics) == []


def test_what_weighs_on_people_is_a_burden_and_what_a_machine_carries_a_load() -> None:
    assert facet_of_noun()["burden"] == "Burden"
    assert fits("Burden", "disease")
    assert not fits("Burden", "equipment")
    assert fits("Load", "equipment")
    assert not fits("Load", "disease")
