"""The published graph as arrays: what matching, traversal and cones run on."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Floats = NDArray[np.float32]
Flags = NDArray[np.bool_]


@dataclass(frozen=True)
class GraphArrays:
    """V variables and E edges. Edges are sorted by source, then target; `indptr` (V+1) cuts them by source (CSR).

    `metric` (V,) numbers `metric_names`; `endpoint` (V,) marks terminal and outcome variables; `source`, `target` and
    `confidence` are (E,); `edge_row` (E,) is the edge's row in the published edges table; `by_target` (E,) lists the
    edges sorted by target and `target_indptr` (V+1) cuts that list (CSC).
    """

    names: tuple[str, ...]
    metric: Ints
    metric_names: tuple[str, ...]
    endpoint: Flags
    indptr: Ints
    source: Ints
    target: Ints
    confidence: Floats
    edge_row: Ints
    by_target: Ints
    target_indptr: Ints

    @property
    def size(self) -> int:
        """V."""
        return len(self.names)


def graph_arrays(
    names: Sequence[str],
    metrics: Sequence[str],
    roles: Sequence[str],
    edges: Sequence[tuple[int, int]] | NDArray[np.int64],
    confidence: Sequence[float] | NDArray[np.float64],
) -> GraphArrays:
    """Arrays of a graph given as variables (name, metric, role) and edges (places of source and target)."""
    metric_names = tuple(sorted(set(metrics)))
    place = {name: number for number, name in enumerate(metric_names)}
    pairs = np.asarray(edges, dtype=np.int64).reshape(-1, 2)
    order = np.lexsort((pairs[:, 1], pairs[:, 0]))
    source, target = pairs[order, 0], pairs[order, 1]
    by_target = np.argsort(target, kind="stable")
    return GraphArrays(
        names=tuple(names),
        metric=np.array([place[metric] for metric in metrics], dtype=np.int64),
        metric_names=metric_names,
        endpoint=np.array([role in ("terminal", "outcome") for role in roles], dtype=bool),
        indptr=_pointers(source, len(names)),
        source=source,
        target=target,
        confidence=np.asarray(confidence, dtype=np.float32)[order],
        edge_row=order.astype(np.int64),
        by_target=by_target.astype(np.int64),
        target_indptr=_pointers(target, len(names)),
    )


def _pointers(ends: Ints, size: int) -> Ints:
    return np.concatenate(([0], np.cumsum(np.bincount(ends, minlength=size)))).astype(np.int64)


def ranges(starts: Ints, ends: Ints) -> Ints:
    """All integers of the half-open ranges, one range after the other."""
    lengths = ends - starts
    total = int(lengths.sum())
    if not total:
        return np.empty(0, dtype=np.int64)
    shifts = np.repeat(starts - np.concatenate(([0], np.cumsum(lengths)[:-1])), lengths)
    return np.arange(total, dtype=np.int64) + shifts
