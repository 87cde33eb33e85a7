"""Passages as arrays: what evidence is ranked and chosen from."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa
from scipy import sparse

from hcg_pipeline.embedding.embedder import Vectors
from hcg_pipeline.retrieval.graph_arrays import Floats, Ints
from hcg_pipeline.retrieval.passages import neighbourhood
from hcg_pipeline.retrieval.terms import TermMatrix, bm25_weights

# Standard deviation, in words, of the surroundings whose score rubs off on a passage.
_SURROUNDINGS_WORDS = 600.0
# Power of a word's burstiness in what the word tells.
_BURST = 0.7
# Stems whose vectors are made at a time.
_ROWS = 4096


@dataclass(frozen=True)
class PassageArrays:
    """P passages: `table` holds their ids, spans and texts, `document` (P,) numbers their documents in order."""

    table: pa.Table
    vectors: Vectors
    terms: TermMatrix
    words: Ints
    document: Ints

    @cached_property
    def bm25(self) -> sparse.csc_matrix:
        """(P, T): what each stem is worth in each passage."""
        return bm25_weights(self.terms)

    @cached_property
    def surroundings(self) -> sparse.csr_matrix:
        """(P, P): the weight of each passage's neighbours, rows summing to one."""
        return neighbourhood(self.document, self.words, _SURROUNDINGS_WORDS)

    @cached_property
    def telling(self) -> Floats:
        """(T,): how much each stem tells whatever is asked: rare words, and those that come back where they stand."""
        weight: Floats = self.terms.idf * self.terms.burstiness ** np.float32(_BURST)
        return weight

    @cached_property
    def centre(self) -> Vectors:
        """(d,): the mean passage, which every text of the corpus resembles."""
        mean: Vectors = self.vectors.mean(axis=0) if len(self.vectors) else np.zeros(self.vectors.shape[1], np.float32)
        return mean

    @cached_property
    def holding(self) -> sparse.csr_matrix:
        """(T, P): 1 where a passage holds a stem."""
        return sparse.csr_matrix((self.terms.counts > 0).astype(np.float64).T)

    @cached_property
    def term_lengths(self) -> Floats:
        """(T,): the length of a stem's vector, the sum of the passages that hold it, each less the mean passage."""
        parts = [
            np.linalg.norm(self.holding[begin : begin + _ROWS] @ (self.vectors - self.centre), axis=1)
            for begin in range(0, self.holding.shape[0], _ROWS)
        ]
        return np.concatenate([np.empty(0), *parts]).astype(np.float32)

    def likeness(self, questions: Vectors, cosines: Floats) -> Floats:
        """(Q, T): cosines of questions (Q, d) with each stem's vector, both less the mean passage; 0 for no direction.

        A word is known by the company it keeps (Firth, 1957): no word is embedded for this. `cosines` (Q, P) are the
        questions' with the passages; that of a stem is the sum of those of its passages, so no vector of it is made.
        """
        asked, lean = questions.astype(np.float64) @ self.centre, self.vectors.astype(np.float64) @ self.centre
        centred = cosines - lean - asked[:, None] + float(self.centre @ self.centre)
        sums = np.round((self.holding @ centred.T).T, 6)
        lengths = self.term_lengths
        like: Floats = np.divide(sums, lengths, out=np.zeros_like(sums), where=lengths > 1e-6).astype(np.float32)
        return like
