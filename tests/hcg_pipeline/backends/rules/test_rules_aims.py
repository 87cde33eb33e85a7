"""What a sentence asks or sets out to do, and what it says is not known."""

import pytest

from hcg_pipeline.backends.rules.aims import asked_from, unsettled
from hcg_pipeline.backends.rules.parsing import Parser


@pytest.fixture(scope="module")
def parser() -> Parser:
    return Parser()


@pytest.mark.parametrize(
    ("text", "asked"),
    [
        ("This study aims to examine noise.", "aims to examine noise ."),
        ("The aim of this review was to describe noise.", "The aim of this review was to describe noise ."),
        ("To describe noise in schools.", "To describe noise in schools ."),
        ("We tested whether noise harms sleep.", "whether noise harms sleep ."),
        ("It was used to assess the effect of noise.", "the effect of noise ."),
        ("The law aims to reduce noise.", ""),
        ("To reduce noise, the law bans trucks.", ""),
        ("The genes determine growth.", ""),
        ("Noise was assessed daily.", ""),
    ],
)
def test_what_is_asked(parser: Parser, text: str, asked: str) -> None:
    clauses = parser.sentence(text).clauses
    assert " ".join(token.text for token in clauses.tokens[asked_from(clauses) :]) == asked


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The effect of noise on sleep remains unclear.", True),
        ("Evidence on the effect of noise is contradictory.", True),
        ("Few studies have looked at the effect of noise.", True),
        ("The effect of noise on sleep has not been studied.", True),
        ("The effect of noise on sleep is well known.", False),
        ("The effect of noise is not small.", False),
    ],
)
def test_what_is_not_known(parser: Parser, text: str, expected: bool) -> None:
    assert unsettled(parser.sentence(text).clauses) is expected
