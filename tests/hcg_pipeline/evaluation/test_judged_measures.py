"""The judged measures, with a scripted judge whose verdicts can be worked out by hand."""

from collections.abc import Callable

import pytest
from fake_openai import FakeOpenAI
from judging_cases import TableEmbedder, answer_row, answers_of, judged, values_of

from hcg_pipeline.backends.protocol import Usage
from hcg_pipeline.errors import EvaluationError
from hcg_pipeline.evaluation.judging.answers import VERDICTS, judge_answers
from hcg_pipeline.evaluation.judging.judge import Judge
from hcg_pipeline.evaluation.judging.settings import GRAPHRAG_BENCH, JudgingSettings
from hcg_pipeline.progress import Silent
from hcg_pipeline.tables import SCORES


def test_the_three_measures_of_one_answer_by_hand(build: Callable[..., Judge]) -> None:
    embedder = TableEmbedder(Smoking=(1, 0), Other=(0.6, 0.8))
    row = answer_row(reference="Other facts count. Smoking harms lungs. Smoking raises risk.")
    found = judge_answers(answers_of(row), build(), embedder, JudgingSettings(), Silent())
    assert found.scores.schema == SCORES
    assert (
        found.scores.select(["question_set", "id", "question_type", "mode"]).to_pylist()
        == [{"question_set": "set", "id": "q1", "question_type": "Fact Retrieval", "mode": "graph"}] * 3
    )
    # TP 1, FP 2, FN 2: F1 = 2/(2+2+2) = 1/3; cosine 0.6, so similarity 0.8
    assert values_of(found) == pytest.approx(
        {
            "correctness[judge-1]": 0.75 / 3 + 0.25 * 0.8,
            "coverage[judge-1]": 1 / 3,
            "faithfulness[judge-1]": 2 / 3,
        }
    )
    assert (found.failures, len(found.missing)) == ((), 0)
    assert found.usage.calls == 5  # statements of answer and of reference, three times verdicts
    assert found.usage.tokens_in > 0


def test_the_verdicts_behind_a_score_are_kept(build: Callable[..., Judge]) -> None:
    found = judged(answers_of(answer_row()), build(), "correctness", "coverage")
    assert found.verdicts.schema == VERDICTS
    rows = [
        (row["measure"].partition("[")[0], row["side"], row["statement"], row["supported"], row["reason"])
        for row in found.verdicts.to_pylist()
    ]
    assert rows == [
        ("correctness", "answer", "Smoking harms lungs.", True, "looked for a1"),
        ("correctness", "answer", "Smoking costs money.", False, "looked for a2"),
        ("correctness", "answer", "Smoking is old.", False, "looked for a3"),
        ("correctness", "reference", "Smoking harms lungs.", True, "looked for r1"),
        ("correctness", "reference", "Smoking raises risk.", False, "looked for r2"),
        ("coverage", "reference", "Smoking harms lungs.", True, "looked for r1"),
        ("coverage", "reference", "Smoking raises risk.", False, "looked for r2"),
    ]


@pytest.mark.parametrize(("weight", "expected"), [(1.0, 0.4), (0.0, 1.0), (0.5, 0.7)])
def test_the_weight_of_statements_is_a_setting(build: Callable[..., Judge], weight: float, expected: float) -> None:
    found = judged(answers_of(answer_row()), build(), "correctness", statement_weight=weight)
    assert values_of(found)["correctness[judge-1]"] == pytest.approx(expected)  # F1 2/5, the same vector


def test_a_perfect_and_an_entirely_wrong_answer(build: Callable[..., Judge]) -> None:
    perfect = answer_row(answer="Smoking raises risk. Smoking harms lungs.")
    wrong = answer_row(id="q2", answer="Tea is hot.", contexts=["Coffee is hot."])
    found = judged(answers_of(perfect, wrong), build())
    assert [row["value"] for row in found.scores.to_pylist()] == pytest.approx([1.0, 1.0, 0.5, 0.25, 0.0, 0.0])


def test_measures_by_question_type(build: Callable[..., Judge], fake: FakeOpenAI) -> None:
    types = ["Fact Retrieval", "Complex Reasoning", "Contextual Summarize", "Creative Generation", "Mechanistic"]
    answers = answers_of(*(answer_row(id=name, question_type=name) for name in types))
    found = judge_answers(answers, build(), TableEmbedder(), GRAPHRAG_BENCH, Silent())
    measures: dict[str, list[str]] = {}
    for row in found.scores.to_pylist():
        measures.setdefault(row["id"], []).append(row["measure"].partition("[")[0])
    assert measures == {
        "Fact Retrieval": ["correctness"],
        "Complex Reasoning": ["correctness"],
        "Contextual Summarize": ["correctness", "coverage"],
        "Creative Generation": ["correctness", "coverage", "faithfulness"],
        "Mechanistic": ["correctness", "coverage", "faithfulness"],
    }
    assert fake.chat_calls == 5  # all of these answers say the same to the same question


def test_an_empty_answer_covers_nothing_and_needs_no_verdict(build: Callable[..., Judge], fake: FakeOpenAI) -> None:
    found = judged(answers_of(answer_row(answer="  ")), build())
    assert values_of(found) == {"correctness[judge-1]": 0.0, "coverage[judge-1]": 0.0}
    assert found.missing.select(["measure", "reason"]).to_pylist() == [
        {"measure": "faithfulness[judge-1]", "reason": "the answer is empty"}
    ]
    assert {row["reason"] for row in found.verdicts.to_pylist()} == {"the answer is empty"}
    assert fake.chat_calls == 1  # the reference's statements


def test_without_evidence_nothing_is_borne_out(build: Callable[..., Judge], fake: FakeOpenAI) -> None:
    found = judged(answers_of(answer_row(contexts=[" "])), build(), "faithfulness")
    assert values_of(found) == {"faithfulness[judge-1]": 0.0}
    assert found.verdicts["reason"].to_pylist() == ["there is no evidence"] * 3
    assert fake.chat_calls == 1  # the answer's statements


@pytest.mark.parametrize("reference", [None, " "])
def test_without_a_reference_only_faithfulness_is_measured(build: Callable[..., Judge], reference: str | None) -> None:
    found = judged(answers_of(answer_row(reference=reference)), build())
    assert values_of(found) == pytest.approx({"faithfulness[judge-1]": 2 / 3})
    assert found.missing["reason"].to_pylist() == ["the question file has no reference answer"] * 2
    assert found.failures == ()


def test_retrieval_without_an_answer_is_not_judged(build: Callable[..., Judge], fake: FakeOpenAI) -> None:
    found = judged(answers_of(answer_row(backend="none", answer="")), build())
    assert (len(found.scores), fake.chat_calls) == (0, 0)
    assert found.missing["reason"].to_pylist() == ["no backend was asked: the evidence alone was retrieved"] * 3


def test_nothing_to_judge_is_nothing(build: Callable[..., Judge], fake: FakeOpenAI) -> None:
    found = judged(answers_of(), build())
    assert (len(found.scores), len(found.missing), found.failures, found.usage) == (0, 0, (), Usage())
    assert fake.chat_calls == 0


def test_a_table_that_lacks_a_column_is_an_error(build: Callable[..., Judge]) -> None:
    with pytest.raises(EvaluationError, match="lack the column contexts"):
        judged(answers_of(answer_row()).drop_columns("contexts"), build())
