"""Whether evidence speaks of what a question asks: rare terms and names count, words of the asking do not."""

import pytest

from hcg_pipeline.backends.protocol import AnswerRequest
from hcg_pipeline.backends.rules.answering import answer
from hcg_pipeline.backends.rules.parsing import Parser
from hcg_pipeline.backends.rules.question_terms import covers, key_terms

CONTEXTS = (
    "How drugs are chosen\n\nCenobamate suppresses the sodium current. Hospitals are dear: the price of a month.",
    "It also reduces contraceptive hormones. Valproate can damage the liver, and a blood test finds that damage.",
)


@pytest.fixture(scope="module")
def parser() -> Parser:
    return Parser()


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("What does cenobamate suppress?", True),
        ("Explain how valproate damages the liver.", True),
        # The word "drug" need not stand in the evidence: a drug does.
        ("Which medicine can damage the liver?", True),
        # An abbreviation may be written out.
        ("How does VPA damage the liver?", True),
        ("What is the price of a month of cenobamate in Japan?", False),
        ("Which variety of apple keeps longest in a cool cellar?", False),
        ("Does homeopathy damage the liver?", False),
        ("???", True),
    ],
)
def test_terms_that_no_context_has(parser: Parser, question: str, expected: bool) -> None:
    assert covers(question, CONTEXTS, parser) is expected


def test_rarer_words_weigh_more(parser: Parser) -> None:
    terms = key_terms("Summarise what damage cenobamate does.", parser)
    assert set(terms) == {"damage", "cenobamate"}
    assert terms["cenobamate"] > terms["damage"] > 0


def test_an_answer_leads_with_the_best_sentence_and_has_no_heading(parser: Parser) -> None:
    reply = answer(AnswerRequest("k", "How are drugs chosen that damage the liver?", CONTEXTS), parser)
    assert reply.answered
    assert reply.text.startswith("Valproate can damage the liver")
    assert "How drugs are chosen" not in reply.text


def test_a_question_beside_the_point_is_not_answered(parser: Parser) -> None:
    reply = answer(AnswerRequest("k", "What is the price of a month of cenobamate in Japan?", CONTEXTS), parser)
    assert (reply.answered, reply.cited) == (False, ())
    assert reply.text == "The evidence found does not hold an answer to this question."
