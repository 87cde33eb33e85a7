"""Stems and BM25, passages and their surroundings, calibration and settings."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from hcg_pipeline.retrieval.calibration import evidence_threshold, match_threshold
from hcg_pipeline.retrieval.chunk_arrays import cut_windows
from hcg_pipeline.retrieval.cosine import cosines
from hcg_pipeline.retrieval.graph_arrays import ranges
from hcg_pipeline.retrieval.passage_arrays import PassageArrays
from hcg_pipeline.retrieval.passages import cut_passages, neighbourhood, passages_of_spans
from hcg_pipeline.retrieval.questions import best_is_one
from hcg_pipeline.retrieval.settings import RetrievalSettings
from hcg_pipeline.retrieval.terms import bm25_weights, count_terms, shared_words, stems
from hcg_pipeline.retrieval.texts import metric_words, variable_text
from hcg_pipeline.tables import CHUNKS


def chunk_table(*texts, gap=0):
    rows, start = [], 0
    for number, text in enumerate(texts):
        rows.append(
            {
                "chunk_id": f"c{number}", "document_id": "d", "position": number, "start": start,
                "end": start + len(text), "text": text, "words": len(text.split()),
            }
        )  # fmt: skip
        start += len(text) + gap
    return pa.Table.from_pylist(rows, schema=CHUNKS)


def test_stems_drop_function_words_and_keep_abbreviations_that_look_like_them():
    assert stems("The leaves of ALL patients' treatments") == ["leav", "ALL", "patient", "treatment"]
    assert stems("all of it is US policy, not us") == ["US", "polici"]
    assert stems("Wilson's disease, Wilson’s disease") == ["wilson", "diseas", "wilson", "diseas"]
    assert stems("") == []


def test_shared_words_are_the_questions_own_spelling():
    assert shared_words("Why do yellow leaves, and Leaf colours, matter?", "A leaf has a colour.") == [
        "Leaf", "colours",
    ]  # fmt: skip
    assert shared_words("Warum?", "A leaf has a colour.") == []


def test_a_word_points_where_the_passages_that_hold_it_point():
    texts = ["iron rusts", "iron shines", "gold shines"]
    vectors = np.array([[1, 0], [0, 1], [0, 1]], dtype=np.float32)
    arrays = PassageArrays(
        pa.table({"text": texts}), vectors, count_terms(texts), np.full(3, 2), np.zeros(3, dtype=np.int64)
    )
    place = arrays.terms.place
    half = np.sqrt(0.5)
    # The mean passage is (1/3, 2/3). Less that, rust points to (1, -1), as does iron; gold and shine to (-1, 1).
    questions = np.array([[1, 0], [0, 1]], dtype=np.float32)
    like = arrays.likeness(questions, cosines(questions, vectors))
    # The questions less the mean passage are (2/3, -2/3) and (-1/3, 1/3).
    expected = {"rust": (4 / 3, -2 / 3), "iron": (4 / 3, -2 / 3), "gold": (-4 / 3, 2 / 3), "shine": (-4 / 3, 2 / 3)}
    for stem, (first, second) in expected.items():
        np.testing.assert_allclose(like[:, place[stem]], [first * half, second * half], rtol=1e-4)


def test_bm25_by_hand():
    # Two texts of equal length: a text that has the only rare word once gets idf · (k + 1) / (1 + k).
    terms = count_terms(["iron rusts", "iron shines"])
    weights = bm25_weights(terms)
    rare = np.log1p((2 - 1 + 0.5) / (1 + 0.5))
    assert weights[0, terms.place["rust"]] == pytest.approx(rare, rel=1e-6)
    assert weights[1, terms.place["rust"]] == 0
    # A word in both is worth less, but not nothing.
    assert 0 < weights[0, terms.place["iron"]] < weights[0, terms.place["rust"]]


def test_a_word_that_comes_back_is_bursty():
    terms = count_terms(["zinc zinc zinc acid", "acid salt", "salt"])
    assert terms.burstiness[[terms.place[word] for word in ("zinc", "acid", "salt")]].tolist() == [3, 1, 1]


def test_the_vocabulary_does_not_depend_on_the_order_of_the_texts():
    one, other = count_terms(["b a", "c"]), count_terms(["c", "b a"])
    assert one.vocabulary == other.vocabulary == tuple(sorted(one.vocabulary))
    assert np.array_equal(one.idf, other.idf)


@given(st.lists(st.integers(1, 40), min_size=1, max_size=30), st.integers(5, 120))
def test_passages_are_whole_sentences_with_exact_offsets(lengths, target):
    text = " ".join("Word " + "word " * (length - 1) + "end." for length in lengths)
    table = cut_passages(chunk_table(text), target)
    rows = table.to_pylist()
    for row in rows:
        assert text[row["start"] : row["end"]] == row["text"]
        assert row["text"].endswith("end.")
        assert row["words"] == len(row["text"].split())
    assert " ".join(row["text"] for row in rows) == text
    longest = max(lengths) + 1
    assert all(row["words"] < target * 1.5 + longest for row in rows)


def test_a_span_finds_every_passage_that_it_touches():
    table = cut_passages(chunk_table("Aa bb cc. Dd ee ff. Gg hh ii."), 3)
    assert table["start"].to_pylist() == [0, 10, 20]
    spans, found = passages_of_spans(
        table, ["d", "d", "d", "unknown"], np.array([0, 5, 10, 0]), np.array([9, 25, 11, 9])
    )
    assert list(zip(spans.tolist(), found.tolist(), strict=True)) == [(0, 0), (1, 0), (1, 1), (1, 2), (2, 1)]


def test_surroundings_stay_inside_the_document_and_sum_to_one():
    matrix = neighbourhood(np.array([0, 0, 0, 1, 1]), np.array([50, 50, 50, 50, 50]), 100.0).toarray()
    np.testing.assert_allclose(matrix.sum(axis=1), 1)
    assert matrix[:3, 3:].max() == matrix[3:, :3].max() == 0
    # Fifty words are half a standard deviation.
    assert matrix[0, 1] / matrix[0, 0] == pytest.approx(np.exp(-0.125))


def test_best_is_one_leaves_rows_without_a_score_alone():
    np.testing.assert_allclose(best_is_one(np.array([[1, 4, -2], [0, -1, 0]], np.float32)), [[0.25, 1, 0], [0, 0, 0]])


@given(st.integers(1, 9), st.integers(1, 9))
def test_cosines_do_not_depend_on_the_batch(questions, vectors):
    random = np.random.default_rng(questions * 10 + vectors)
    a = random.normal(size=(questions, 64)).astype(np.float32)
    b = random.normal(size=(vectors, 64)).astype(np.float32)
    together = cosines(a, b)
    for row in range(questions):
        assert np.array_equal(together[row], cosines(a[row : row + 1], b)[0])


def test_ranges():
    assert ranges(np.array([3, 5, 9]), np.array([5, 5, 12])).tolist() == [3, 4, 9, 10, 11]


def test_windows_overlap_by_words(wordllama):
    words = [f"w{number}" for number in range(25)]
    documents = pa.table({"document_id": ["d"], "path": ["p"], "text": ["  " + " ".join(words)]})
    cut = cut_windows(documents, 10, 4, wordllama)
    texts = cut.table["text"].to_pylist()
    assert [text.split()[0] for text in texts] == ["w0", "w6", "w12", "w18"]
    assert [len(text.split()) for text in texts] == cut.words.tolist() == [10, 10, 10, 7]
    assert texts[-1].split()[-1] == "w24"


def test_calibration_is_the_papers_for_its_model_and_a_quantile_for_others():
    grid = np.stack([np.cos(np.linspace(0, np.pi / 2, 101)), np.sin(np.linspace(0, np.pi / 2, 101))], axis=1)
    vectors = grid.astype(np.float32)
    axis = np.array([[1, 0]], dtype=np.float32)
    assert match_threshold("openai/text-embedding-3-small", vectors, axis) == 0.35
    assert evidence_threshold("text-embedding-3-small-1536", axis, vectors) == 0.78
    # A tenth of the angles from 0 to 90 degrees lies below nine.
    assert match_threshold("other", vectors, axis) == pytest.approx(np.cos(np.radians(9)), abs=1e-3)
    # A quarter of the edges is nearer to the one chunk than this.
    assert evidence_threshold("other", vectors, axis) == pytest.approx(np.cos(np.radians(22.5)), abs=1e-3)
    assert match_threshold("other", vectors[:0], axis) == 0.35


def test_names_as_words():
    assert metric_words("TreatmentEfficacy") == "treatment efficacy"
    assert metric_words("DNARepairRate") == "DNA repair rate"
    assert variable_text("DiseaseRisk", ["skin cancer", "adult"]) == "disease risk: skin cancer, adult"


def test_the_defaults_are_the_papers():
    settings = RetrievalSettings()
    assert (settings.metrics, settings.band, settings.per_metric) == (5, 0.20, 3)
    assert (settings.hops, settings.cones, settings.words) == (4, 6, 3000)


@pytest.mark.parametrize(
    "wrong", [{"tau": 0.3}, {"tau_min": 2}, {"metrics": 0}, {"band": -0.1}, {"order": "count"}, {"words": 0}]
)
def test_wrong_settings_are_refused(wrong):
    with pytest.raises(ValidationError):
        RetrievalSettings(**wrong)
