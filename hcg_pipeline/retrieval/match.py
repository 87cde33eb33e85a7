"""Definition 2: which variables a question speaks of, by a gate per metric. All questions in one matrix product."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from hcg_pipeline.embedding.embedder import Vectors
from hcg_pipeline.retrieval.cosine import cosines
from hcg_pipeline.retrieval.graph_arrays import Floats, GraphArrays, Ints
from hcg_pipeline.retrieval.settings import RetrievalSettings

# Similarities of a block of questions with all variables stay under about 64 MB.
_BLOCK_CELLS = 16_000_000


@dataclass(frozen=True, slots=True)
class Match:
    """The matched variables of one question, best first: places in the graph's arrays, and cosine similarities.

    Where nothing matched, `nearest` is the variable that came closest, with its similarity.
    """

    variables: Ints
    similarities: Floats
    nearest: tuple[int, float] | None = None


NO_VARIABLES, NO_SIMILARITIES = np.empty(0, dtype=np.int64), np.empty(0, dtype=np.float32)


def match_questions(
    questions: Vectors, variables: Vectors, graph: GraphArrays, tau_min: float, settings: RetrievalSettings
) -> Iterator[Match]:
    """One match per row of `questions` (Q, d), against `variables` (V, d); rows of both are L2-normalised."""
    step = max(1, _BLOCK_CELLS // max(1, graph.size))
    # Variables sorted by metric: the best of each metric is then one reduceat over a block's columns.
    order = np.argsort(graph.metric, kind="stable")
    starts = np.flatnonzero(np.diff(graph.metric[order], prepend=-1)) if graph.size else np.empty(0, dtype=np.int64)
    grouped = variables[order]
    for begin in range(0, len(questions), step):
        for row in cosines(questions[begin : begin + step], grouped):
            yield _gate(row, order, starts, tau_min, settings)


def _gate(row: Floats, order: Ints, starts: Ints, tau_min: float, settings: RetrievalSettings) -> Match:
    """Steps 1 to 4 of Definition 2 over similarities grouped by metric. Ties go to what comes first in the arrays."""
    if not len(starts):
        return Match(NO_VARIABLES, NO_SIMILARITIES)
    ends = np.append(starts[1:], len(row))
    best = np.maximum.reduceat(row, starts)
    admitted = np.flatnonzero(best >= tau_min)
    kept = admitted[np.argsort(-best[admitted], kind="stable")][: settings.metrics]
    chosen: list[Ints] = []
    for metric in kept:
        threshold = min(tau_min, float(best[metric]) * (1 - settings.band))
        group = row[starts[metric] : ends[metric]]
        above = np.flatnonzero(group >= threshold)
        chosen.append(starts[metric] + above[np.argsort(-group[above], kind="stable")][: settings.per_metric])
    if not chosen:
        closest = int(np.argmax(row))
        return Match(NO_VARIABLES, NO_SIMILARITIES, (int(order[closest]), float(row[closest])))
    places = np.concatenate(chosen)
    variables, similarities = order[places], row[places]
    ranked = np.lexsort((variables, -similarities))
    return Match(variables[ranked], similarities[ranked])
