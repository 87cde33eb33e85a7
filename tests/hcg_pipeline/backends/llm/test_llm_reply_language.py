"""A reply in another language than the passages is told apart from all that only looks like one."""

from collections.abc import Callable

import pytest
from fake_openai import FakeOpenAI, Fault

from hcg_pipeline.backends.llm.backend import LlmBackend
from hcg_pipeline.backends.llm.reply_language import written_texts, wrong_language
from hcg_pipeline.backends.protocol import AnswerRequest
from hcg_pipeline.progress import Silent

ENGLISH = "The pump fails when the seal is worn, and the leak that follows is the cause of the damage to the motor."
GERMAN = "Die Pumpe fällt aus, wenn die Dichtung verschlissen ist, und das Leck führt zu einem Schaden, der teuer wird."
FRENCH = "La pompe tombe en panne quand le joint est usé, et les fuites sont la cause des dommages dans le moteur."
RUSSIAN = "Насос выходит из строя, когда уплотнение изношено, и утечка приводит к повреждению двигателя."
CHINESE = "密封件磨损时泵会发生故障,随后的泄漏会损坏电机。"
JAPANESE = "シールが摩耗するとポンプが故障し、その後の漏れがモーターを損傷させます。"
TEXTS = {"en": ENGLISH, "de": GERMAN, "fr": FRENCH, "ru": RUSSIAN, "zh": CHINESE}


def user(passages: str, question: str = "") -> str:
    shown = f'# Metrics\n- Wear(part): how far it goes\n\n# Passages\n<passage id="c1">\n{passages}\n</passage>'
    return f"{shown}\n\n# Question\n{question}" if question else shown


@pytest.mark.parametrize("said", TEXTS)
@pytest.mark.parametrize("read", TEXTS)
def test_only_a_reply_in_another_language_is_wrong(read: str, said: str) -> None:
    problem = wrong_language({"relations": [{"mechanism": TEXTS[said]}]}, user(TEXTS[read] * 3))
    assert bool(problem) == (read != said)
    assert not problem or "write in the language of the passages" in problem


def test_the_message_names_both() -> None:
    assert "in English, the passages in German" in wrong_language({"answer": ENGLISH}, user(GERMAN))
    assert "in Cyrillic letters, the passages in Latin ones" in wrong_language({"answer": RUSSIAN}, user(ENGLISH))


@pytest.mark.parametrize(
    "reply",
    [
        {"answer": "Seal wear."},
        {"relations": [{"mechanism": "Dichtung", "quote": GERMAN}]},
        {"entities": [{"name": GERMAN}]},
        {"relations": []},
        {"answer": "IL-6, TNF-α and β-blockers: the α of the β is that which the γ has."},
    ],
)
def test_short_replies_names_quotes_and_symbols_pass(reply: dict[str, object]) -> None:
    assert wrong_language(reply, user(ENGLISH * 3)) == ""


def test_mixed_passages_pass_either_way() -> None:
    for said in (ENGLISH, GERMAN):
        assert wrong_language({"answer": said}, user(ENGLISH + GERMAN)) == ""
    for said in (ENGLISH, CHINESE):
        assert wrong_language({"answer": said}, user(ENGLISH + CHINESE * 4)) == ""


def test_japanese_and_chinese_share_a_script() -> None:
    assert wrong_language({"answer": CHINESE}, user(JAPANESE)) == ""


def test_an_answer_may_be_in_the_language_of_the_question() -> None:
    assert wrong_language({"answer": ENGLISH}, user(GERMAN, "What is the cause of the damage?")) == ""
    assert wrong_language({"answer": RUSSIAN}, user(ENGLISH, "Почему насос выходит из строя?")) == ""
    assert wrong_language({"answer": FRENCH}, user(GERMAN, "What is the cause of the damage?")) != ""


def test_only_what_the_model_words_is_looked_at() -> None:
    reply = {"a": [{"mechanism": "m", "quote": "q", "name": "n"}], "answer": "x", "description": 7}
    assert written_texts(reply) == ["x", "m"]


def test_it_is_repaired_once(fake: FakeOpenAI, build: Callable[..., LlmBackend]) -> None:
    german = (
        '{"answer": "Die Bronchitis ist die Folge, und das Rauchen ist die Ursache.", "answered": true, "cited": [1]}'
    )
    fake.script(Fault(content=german))
    contexts = ("The heavy smoking of the patients causes bronchitis, and that is the end of the matter for them.",)
    outcome = build().answer([AnswerRequest("q", "What does smoking cause?", contexts)], Silent())
    assert outcome.results[0].text == contexts[0]
    assert "in German, the passages in English" in fake.requests[1]["messages"][-1]["content"]
