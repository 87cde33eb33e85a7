"""Similarity thresholds for an embedding model: the paper's for its own model, calibrated from the corpus for others.

Cosine similarities of different models live on different scales: unrelated texts score about 0.1 with one and 0.5
with another. What carries over is how rare a similarity is. So both thresholds are quantiles of similarities that the
corpus itself shows, taken over all pairs or, in a large corpus, over an even sample of them. Nothing is random.
"""

from typing import NamedTuple

import numpy as np

from hcg_pipeline.embedding.embedder import Vectors

# The model of the paper's experiments, under which its thresholds were tuned (Appendix A, Table 4; Appendix B).
PAPER_MODEL = "text-embedding-3-small"
PAPER_TAU_MIN, PAPER_TAU_E = 0.35, 0.78

# A variable is matched if it is closer to a question than this share of the pairs of a passage and a variable.
_MATCH_QUANTILE = 0.90
# The share of edges whose nearest chunk supports them by similarity.
_LINKED_SHARE = 0.25
_SAMPLE = 2000


class Thresholds(NamedTuple):
    """`tau_min` admits a metric to a match (Definition 2); `tau_e` a chunk as evidence of an edge."""

    tau_min: float
    tau_e: float


def match_threshold(model: str, passages: Vectors, variables: Vectors) -> float:
    """tau_min for a model: 0.35 for text-embedding-3-small, else the 90 % quantile of passage–variable similarities.

    `passages` (P, d) and `variables` (V, d) are L2-normalised. Passages stand in for questions: both are short texts
    about a few variables of the same domain. Without passages or variables, the paper's value.
    """
    if is_paper_model(model) or not len(passages) or not len(variables):
        return PAPER_TAU_MIN
    similarities = even_sample(passages) @ even_sample(variables).T
    return round(float(np.quantile(similarities, _MATCH_QUANTILE)), 4)


def evidence_threshold(model: str, edges: Vectors, chunks: Vectors) -> float:
    """tau_e for a model: 0.78 for text-embedding-3-small, else what links the nearest chunk of a quarter of the edges.

    `edges` (E, d) are vectors of the edges' context strings, `chunks` (C, d) of the chunks, L2-normalised.
    """
    if is_paper_model(model) or not len(edges) or not len(chunks):
        return PAPER_TAU_E
    nearest = (even_sample(edges) @ chunks.T).max(axis=1)
    return round(float(np.quantile(nearest, 1 - _LINKED_SHARE)), 4)


def is_paper_model(model: str) -> bool:
    """Whether a model's name is the paper's, whatever provider or version stands around it."""
    return PAPER_MODEL in model


def even_sample(vectors: Vectors) -> Vectors:
    """At most 2,000 rows, evenly spaced."""
    step = max(1, -(-len(vectors) // _SAMPLE))
    return vectors[::step]
