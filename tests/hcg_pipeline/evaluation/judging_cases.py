"""Answers to judge, an embedder whose vectors are known, and short ways to judge them."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from hcg_pipeline.embedding.embedder import Vectors
from hcg_pipeline.evaluation.judging.answers import JudgedAnswers, judge_answers
from hcg_pipeline.evaluation.judging.judge import Judge
from hcg_pipeline.evaluation.judging.settings import JudgingSettings, Measure
from hcg_pipeline.progress import Silent
from hcg_pipeline.tables import ANSWERS


class TableEmbedder:
    """Vectors of two numbers, by text; all other texts lie at (1, 0)."""

    model = "table"
    dimension = 2

    def __init__(self, **vectors: tuple[float, float]) -> None:
        self.vectors = vectors
        self.embedded: list[str] = []

    def embed(self, texts: Sequence[str]) -> Vectors:
        self.embedded.extend(texts)
        return np.array([self.vectors.get(text.split()[0], (1, 0)) for text in texts], dtype=np.float32)


def answer_row(**values: Any) -> dict[str, Any]:
    """A row of ANSWERS: answer and reference share one of their three and two statements; two stand in the contexts."""
    row = {
        "question_set": "set",
        "id": "q1",
        "question": "What does smoking do?",
        "question_type": "Fact Retrieval",
        "answer": "Smoking harms lungs. Smoking costs money. Smoking is old.",
        "answered": True,
        "mode": "graph",
        "backend": "llm",
        "matched": [],
        "cones": [],
        "contexts": ["Smoking harms lungs. It is a habit.", "Smoking is old."],
        "evidence": [],
        "cited": [],
        "reference": "Smoking harms lungs. Smoking raises risk.",
        "reference_evidence": [],
    }
    return row | values


def answers_of(*rows: dict[str, Any]) -> pa.Table:
    return pa.Table.from_pylist(list(rows), schema=ANSWERS)


def numbered(count: int, **values: Any) -> pa.Table:
    """So many answers, all to different questions, with different texts."""
    return answers_of(
        *(
            answer_row(
                id=f"q{place}",
                question=f"What does smoking do in case {place}?",
                answer=f"Case {place} harms lungs. Case {place} is old.",
                reference=f"Case {place} harms lungs.",
                **values,
            )
            for place in range(count)
        )
    )


def judged(answers: pa.Table, judge: Judge, *measures: Measure, **settings: Any) -> JudgedAnswers:
    chosen = JudgingSettings(**({"measures": measures} if measures else {}), **settings)
    return judge_answers(answers, judge, TableEmbedder(), chosen, Silent())


def values_of(found: JudgedAnswers) -> dict[str, float]:
    """Values by measure, of one answer."""
    return {row["measure"]: row["value"] for row in found.scores.to_pylist()}
