"""Entities that the vocabulary lacks: typed by their head, named by the core of their phrase, or left out."""

import pytest

from hcg_pipeline.backends.rules.newcomers import Newcomers
from hcg_pipeline.backends.rules.noun_types import formed_classes
from hcg_pipeline.backends.rules.parsing import Parser
from hcg_pipeline.backends.rules.resolve import Resolver
from hcg_pipeline.backends.rules.terms import of_the_text
from hcg_pipeline.specification.vocabulary import Dimension, Entity, Metric, Vocabulary

DIMENSIONS = {
    "component": ("bearing", "seal", "wear ring"),
    "equipment": ("pump", "motor"),
    "event": ("vibration", "surge"),
    "condition": ("corrosion", "voltage unbalance"),
    "disease": ("stroke", "gout"),
}


@pytest.fixture(scope="module")
def parser() -> Parser:
    return Parser()


def found(parser: Parser, sentence: str, dimensions: dict[str, tuple[str, ...]]) -> dict[str, str]:
    vocabulary = Vocabulary(
        tuple(Dimension(name, "", tuple(Entity(one) for one in names)) for name, names in dimensions.items()),
        tuple(Metric(f"{name.capitalize()}Level", (name,), "", "") for name in dimensions),
    )
    newcomers = Newcomers(Resolver(vocabulary), parser.commonness)
    return {entity.name: dimension for dimension, entity in newcomers.found([parser.sentence(sentence)]).values()}


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("Undervoltage causes vibration.", {"undervoltage": "event"}),
        ("Graphitisation weakens the seal.", {"graphitisation": "event"}),
        ("Osteoporosis causes stroke.", {"osteoporosis": "disease"}),
        # The head is shared with an entity of the vocabulary.
        ("Load unbalance causes vibration.", {"load unbalance": "condition"}),
        # What is measured is the entity, not the measure.
        ("Corrosion shortens the life of gaskets.", {"gasket": "component"}),
        # A change of something that is no entity.
        ("Stroke causes neuronal loss.", {"neuronal loss": "event"}),
        # Words that point or are too wide, people, and names name nothing.
        ("It causes vibration.", {}),
        ("The figure increases vibration.", {}),
        ("The nurse reduces vibration.", {}),
        ("No graphitisation causes vibration.", {}),
        # What the vocabulary has is no newcomer.
        ("Corrosion causes vibration.", {}),
    ],
)
def test_what_a_cause_or_effect_names(parser: Parser, sentence: str, expected: dict[str, str]) -> None:
    assert found(parser, sentence, DIMENSIONS) == expected


def test_a_dimension_that_the_vocabulary_lacks_gets_nothing(parser: Parser) -> None:
    assert found(parser, "Osteoporosis damages the motor.", {"equipment": ("motor", "pump")}) == {}


def test_dimensions_cut_to_one_size_take_no_more(parser: Parser) -> None:
    names = tuple(f"thing{number} bearing" for number in range(40))
    full = {"component": names, "event": tuple(f"thing{number} surge" for number in range(40))}
    assert found(parser, "Undervoltage causes vibration.", full) == {}
    open_still = {"component": names, "event": ("vibration", "surge")}
    assert found(parser, "Undervoltage causes vibration.", open_still) == {"undervoltage": "event"}


@pytest.mark.parametrize(
    ("word", "kind"),
    [
        ("interneuron", "body_part"),
        ("overvoltage", "event"),
        ("graphitisation", "event"),
        ("pitchiness", "condition"),
        ("gastrectomy", "treatment"),
        ("xyzzy", ""),
    ],
)
def test_classes_by_how_a_word_is_made(word: str, kind: str) -> None:
    kinds = formed_classes(word)
    assert max(kinds, key=lambda name: kinds[name], default="") == kind


def test_a_thing_that_ends_as_a_deed_does_is_no_event(parser: Parser) -> None:
    assert found(parser, "Better housing prevents vibration.", {"event": ("vibration", "surge")}) == {}


@pytest.mark.parametrize(
    ("name", "own"),
    [
        ("multivariate logistic regression", True),
        ("tumor regression", False),
        ("healthy controls", True),
        ("pest control", False),
        ("meta-analysis", True),
        ("assessment", True),
        ("noise", False),
    ],
)
def test_what_a_text_does_is_not_what_it_speaks_of(name: str, own: bool) -> None:
    assert of_the_text(name) is own
