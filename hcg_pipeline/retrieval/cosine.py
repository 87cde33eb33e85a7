"""Cosine similarities that do not depend on how many are computed at once."""

import numpy as np

from hcg_pipeline.embedding.embedder import Vectors
from hcg_pipeline.retrieval.graph_arrays import Floats

_ROWS = 8192


def cosines(questions: Vectors, vectors: Vectors) -> Floats:
    """(Q, N) cosines of L2-normalised rows, to six decimals.

    A matrix product in float32 differs in its last digits with the shape of the batch, which could turn a tie. In
    float64 and rounded, a question has the same similarities alone and among thousands.
    """
    result = np.empty((len(questions), len(vectors)), dtype=np.float32)
    exact = questions.astype(np.float64)
    for begin in range(0, len(vectors), _ROWS):
        block = vectors[begin : begin + _ROWS].astype(np.float64)
        result[:, begin : begin + _ROWS] = np.round(exact @ block.T, 6)
    return result
