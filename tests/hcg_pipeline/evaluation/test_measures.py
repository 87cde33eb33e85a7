"""The measures on hand-worked cases, and the table that they make."""

import math

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hcg_pipeline.evaluation.measures import (
    MEASURES,
    evidence_recall,
    reference_recall,
    reference_terms,
    score_answers,
    term_weights,
)
from hcg_pipeline.tables import ANSWERS, CHUNKS, SCORES

CORPUS = ["iron rusts in water", "zinc protects iron", "gold does not rust"]


def answer_row(**changes):
    row = {
        "question_set": "s", "id": "1", "question": "What does iron do?", "question_type": "Fact",
        "answer": "It rusts.",
        "answered": True, "mode": "graph", "backend": "rules", "matched": [], "cones": [],
        "contexts": ["iron rusts in water"], "evidence": [], "cited": [], "reference": "It rusts in water.",
        "reference_evidence": [],
    }  # fmt: skip
    return {**row, **changes}


def chunk_table():
    rows = [
        {"chunk_id": str(n), "document_id": "d", "position": n, "start": 0, "end": 0, "text": text, "words": 0}
        for n, text in enumerate(CORPUS)
    ]
    return pa.Table.from_pylist(rows, schema=CHUNKS)


class AngleEmbedder:
    """Texts of equal length have cosine 1; each further character turns by 0.1 radians."""

    model, dimension = "angle", 2

    def embed(self, texts):
        angles = np.array([len(text) / 10 for text in texts])
        return np.stack([np.cos(angles), np.sin(angles)], axis=1).astype(np.float32)


def scores(*rows):
    table = score_answers(pa.Table.from_pylist(list(rows), schema=ANSWERS), chunk_table(), AngleEmbedder())
    assert table.schema.equals(SCORES)
    return {(row["id"], row["measure"]): row["value"] for row in table.to_pylist()}


def test_weights_are_the_logarithm_of_rarity():
    weights = term_weights(CORPUS)
    # 'rust' stands in two of three texts, 'zinc' in one, 'lead' in none.
    assert weights.of("rust") == pytest.approx(math.log(4 / 3))
    assert weights.of("zinc") == pytest.approx(math.log(4 / 2))
    assert weights.of("lead") == pytest.approx(math.log(4))


def test_terms_of_the_question_are_not_asked_for():
    assert reference_terms("What does iron do?", "Iron rusts.", ["It rusts in water."]) == {"rust", "water"}


def test_recall_weighs_rare_terms_more_and_counts_only_the_first_words():
    weights = term_weights(CORPUS)
    rust, zinc = math.log(4 / 3), math.log(4 / 2)
    found = reference_recall(frozenset({"rust", "zinc"}), ["a b rusts", "d zinc"], weights, (2, 3, 4, 5))
    assert found == pytest.approx([0, rust / (rust + zinc), rust / (rust + zinc), 1])


def test_there_is_no_recall_of_nothing():
    weights = term_weights(CORPUS)
    assert reference_recall(frozenset(), ["x"], weights) is None
    # A word in every text weighs nothing.
    assert reference_recall(frozenset({"iron"}), ["x"], term_weights(["iron", "iron"])) is None
    assert reference_recall(frozenset({"zinc"}), [], weights) == [0, 0, 0, 0]


@given(st.lists(st.sampled_from(["iron", "rusts", "zinc", "gold", "and"]), max_size=30), st.integers(0, 30))
def test_recall_grows_with_the_budget_and_not_with_how_words_are_cut(words, cut):
    weights = term_weights(CORPUS)
    wanted = frozenset({"rust", "zinc", "gold"})
    budgets = (1, 5, 10, 30)
    one = reference_recall(wanted, [" ".join(words)], weights, budgets)
    two = reference_recall(wanted, [" ".join(words[:cut]), " ".join(words[cut:])], weights, budgets)
    assert one == two == sorted(one)
    assert all(0 <= share <= 1 + 1e-12 for share in one)


def test_evidence_recall_counts_whole_pieces():
    pieces = ["iron rusts", "zinc  protects\niron", "old does"]
    contexts = ["iron rusts in water", "zinc protects iron gold does"]
    assert evidence_recall(pieces, contexts, (2, 4, 7, 9)) == pytest.approx([1 / 3, 1 / 3, 2 / 3, 2 / 3])


def test_scores_of_an_answer():
    found = scores(answer_row())
    assert [measure for _, measure in found] == [m for m in MEASURES if not m.startswith("evidence")]
    assert found["1", "reference_recall@750"] == 1
    # ROUGE-L: 'it rust' of 'it rust in water': precision 2/2, recall 2/4.
    assert found["1", "rouge_l"] == pytest.approx(2 / 3)
    assert found["1", "embedding_similarity"] == pytest.approx(math.cos(0.9), abs=1e-6)


def test_evidence_that_is_not_the_corpus_own_words_is_not_looked_for():
    found = scores(
        answer_row(reference_evidence=["zinc protects iron", "in other words"]),
        answer_row(id="2", reference_evidence=["zinc protects iron"], contexts=["zinc protects iron"]),
        answer_row(id="3", reference_evidence=["in other words"]),
    )
    assert found["1", "evidence_recall@750"] == 0
    assert found["2", "evidence_recall@750"] == 1
    assert ("3", "evidence_recall@750") not in found


def test_questions_without_reference_are_not_scored():
    assert scores(answer_row(reference=None)) == {}


def test_evidence_alone_has_no_score_of_an_answer():
    found = scores(answer_row(backend="none", answer=""), answer_row(id="2"))
    assert {measure for identity, measure in found if identity == "1"} == set(MEASURES[:4])
    # The similarity of the second answer is its own.
    assert found["2", "embedding_similarity"] == pytest.approx(math.cos(0.9), abs=1e-6)


def test_an_unanswered_question_keeps_its_scores():
    found = scores(answer_row(answered=False, answer="The corpus does not say."))
    assert found["1", "rouge_l"] == 0
