"""The embedded model gives unit vectors that depend on the text alone."""

import logging

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hcg_pipeline.embedding.wordllama import WordLlamaEmbedder, normalise
from hcg_pipeline.errors import EmbeddingError


@pytest.fixture(scope="module")
def embedder():
    return WordLlamaEmbedder()


def test_rows_are_unit_vectors_of_the_stated_dimension(embedder):
    vectors = embedder.embed(["Smoking causes lung cancer.", "Rain makes the street wet."])
    assert vectors.shape == (2, embedder.dimension)
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-6)


def test_related_texts_are_nearer_than_unrelated_ones(embedder):
    tumour, cancer, rain = embedder.embed(["a malignant tumour", "cancer of the lung", "rain on the street"])
    assert tumour @ cancer > tumour @ rain + 0.1


def test_a_text_without_tokens_has_a_defined_direction(embedder):
    vectors = embedder.embed(["", "   \n", "word"])
    assert vectors[0].tolist() == [1.0] + [0.0] * (embedder.dimension - 1)
    assert np.isfinite(vectors).all()
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-6)


def test_no_texts_give_no_rows(embedder):
    assert embedder.embed([]).shape == (0, embedder.dimension)


def test_the_model_names_package_version_and_weights(embedder):
    assert embedder.model.startswith("wordllama-0.")
    assert embedder.model.endswith("l2_supercat_256")


def test_loading_leaves_the_root_logger_alone():
    root = logging.getLogger()
    before = (list(root.handlers), root.level)
    WordLlamaEmbedder().embed(["a text"])
    assert (list(root.handlers), root.level) == before


def test_a_long_text_does_not_pad_the_others_to_its_length(embedder):
    # Padded together these would need 200 x 300,000 tokens of 256 floats.
    texts = ["short text"] * 200 + ["very long text " * 100_000]
    vectors = embedder.embed(texts)
    assert np.array_equal(vectors[0], embedder.embed(["short text"])[0])


def test_what_is_not_text_is_refused(embedder):
    with pytest.raises(EmbeddingError, match="cannot read a text"):
        embedder.embed(["\ud800"])


@settings(max_examples=50, deadline=None)
@given(st.lists(st.text(alphabet=st.characters(codec="utf-8"), max_size=60), min_size=1, max_size=12), st.data())
def test_a_vector_does_not_depend_on_its_neighbours(embedder, texts, data):
    place = data.draw(st.integers(0, len(texts) - 1))
    assert np.array_equal(embedder.embed(texts)[place], embedder.embed([texts[place]])[0])


def test_normalise_gives_directionless_rows_the_first_unit_vector():
    rows = np.array([[3, 4], [0, 0], [np.nan, 1], [np.inf, 1]], dtype=np.float32)
    np.testing.assert_allclose(normalise(rows), [[0.6, 0.8], [1, 0], [1, 0], [1, 0]], atol=1e-7)
