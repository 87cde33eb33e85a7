"""Extractive answers: the sentence that answers, its context, and a plain word where there is none."""

import pytest

from hcg_pipeline.backends.protocol import AnswerRequest
from hcg_pipeline.backends.rules.backend import RulesBackend
from hcg_pipeline.progress import Silent

CONTEXTS = (
    "Epilepsy is a disorder of the brain. It is found at every age. About 50 million people have epilepsy.",
    "Valproate can damage the liver. It is given twice a day. Liver damage is found by a blood test.",
    "The pump was repaired in May. Worn bearings cause vibration in the pump.",
)


@pytest.fixture(scope="module")
def backend() -> RulesBackend:
    return RulesBackend()


def ask(backend: RulesBackend, question: str) -> tuple[str, bool, tuple[int, ...]]:
    reply = backend.answer([AnswerRequest("k", question, CONTEXTS)], Silent()).results[0]
    assert reply.key == "k"
    return reply.text, reply.answered, reply.cited


@pytest.mark.parametrize(
    ("question", "begins", "cited"),
    [
        ("What is epilepsy?", "Epilepsy is a disorder of the brain.", 0),
        ("How many people have epilepsy?", "About 50 million people have epilepsy.", 0),
        ("What causes vibration in the pump?", "Worn bearings cause vibration in the pump.", 2),
        ("Which drug can damage the liver?", "Valproate can damage the liver.", 1),
    ],
)
def test_the_sentence_that_answers_is_given(backend: RulesBackend, question: str, begins: str, cited: int) -> None:
    text, answered, places = ask(backend, question)
    assert answered
    assert begins in text
    assert cited in places


def test_every_word_of_an_answer_stands_in_the_evidence(backend: RulesBackend) -> None:
    text, _, places = ask(backend, "Why does the liver suffer damage from valproate?")
    assert all(sentence.strip(" .") in CONTEXTS[1] for sentence in text.split(". "))
    assert places == (1,)


@pytest.mark.parametrize("question", ["Who won the football cup in Brazil?", "???", ""])
def test_evidence_without_an_answer_is_said_to_have_none(backend: RulesBackend, question: str) -> None:
    text, answered, places = ask(backend, question)
    assert not answered and places == ()
    assert text == "The evidence found does not hold an answer to this question."


def test_no_context_is_no_answer(backend: RulesBackend) -> None:
    reply = backend.answer([AnswerRequest("k", "What is epilepsy?", ())], Silent()).results[0]
    assert not reply.answered
