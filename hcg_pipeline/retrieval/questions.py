"""A batch of questions as vectors and stems, and how similar every passage is to each of them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from time import perf_counter

import numpy as np

from hcg_pipeline.embedding.embedder import Embedder, Vectors
from hcg_pipeline.retrieval.cosine import cosines
from hcg_pipeline.retrieval.graph_arrays import Floats
from hcg_pipeline.retrieval.passage_arrays import PassageArrays

# What counts beside a passage's BM25 score of at most 1: its cosine, and its surroundings, in which the cosine counts
# less. How much more a stem tells if the passages that hold it lie in the question's direction. All chosen on the even
# half of question files with references: medical, of abstracts, of a textbook.
_COSINE, _AROUND, _COSINE_AROUND, _LIKENESS = 0.5, 1.6, 0.3, 2.0
# Scores of a block of questions with all passages stay under about 64 MB.
_BLOCK_CELLS = 16_000_000


@dataclass(frozen=True)
class QuestionBatch:
    """Q questions: their texts and `vectors` (Q, d), L2-normalised; `seconds` per question that embedding took."""

    texts: tuple[str, ...]
    vectors: Vectors
    seconds: float = field(default=0.0, compare=False)


def question_batch(texts: Sequence[str], embedder: Embedder) -> QuestionBatch:
    """Embeds the questions in one call. Raises `EmbeddingError`."""
    began = perf_counter()
    vectors = embedder.embed(list(texts))
    return QuestionBatch(tuple(texts), vectors, (perf_counter() - began) / max(len(texts), 1))


@dataclass(frozen=True)
class Similarity:
    """One question's scores for all P passages, from 0 to about 1, and `stems` (T,): what each stem tells about it.

    The question's own stems tell nothing (0): every passage that is any good has them.
    """

    vector: Floats
    text: Floats
    combined: Floats
    stems: Floats


def similarities(batch: QuestionBatch, passages: PassageArrays) -> Iterator[Similarity]:
    """Per question: cosine, BM25, and their weighted sum with those of the surrounding passages.

    A passage in the middle of a section seldom repeats what the section is about; the smoothed scores of its
    surroundings say it. Each score is divided by the question's best, so that they can be added.
    """
    rows = passages.terms.rows(batch.texts)
    weights = passages.bm25.T.tocsr()
    step = block_size(4 * max(passages.terms.counts.shape))
    for begin in range(0, len(batch.texts), step):
        asked, questions = rows[begin : begin + step], batch.vectors[begin : begin + step]
        cosine = cosines(questions, passages.vectors)
        vector = best_is_one(cosine)
        text = best_is_one(np.asarray((asked @ weights).todense(), dtype=np.float32))
        # In float64 and rounded, like the cosines: the sums must not depend on the size of the block.
        nearby = passages.surroundings @ (text + _COSINE_AROUND * vector.astype(np.float64)).T
        around = best_is_one(np.round(nearby.T, 6).astype(np.float32))
        combined = best_is_one(text + np.float32(_COSINE) * vector + np.float32(_AROUND) * around)
        likeness = best_is_one(passages.likeness(questions, cosine))
        for place in range(len(combined)):
            stems = passages.telling * (1 + np.float32(_LIKENESS) * likeness[place])
            stems[asked.indices[asked.indptr[place] : asked.indptr[place + 1]]] = 0
            yield Similarity(vector[place], text[place], combined[place], stems)


def best_is_one(scores: Floats) -> Floats:
    """Rows divided by their maximum; negative scores become 0, a row without a positive score stays 0."""
    scores = np.maximum(scores, 0)
    top = scores.max(axis=1, keepdims=True, initial=0)
    result: Floats = np.divide(scores, top, out=np.zeros_like(scores), where=top > 0)
    return result


def block_size(cells: int) -> int:
    """How many questions are scored at a time against that many texts."""
    return max(1, _BLOCK_CELLS // max(1, cells))
