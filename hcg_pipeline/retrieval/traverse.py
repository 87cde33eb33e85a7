"""Definition 3: forward breadth-first search from the matched variables, and the subgraph it spans."""

from dataclasses import dataclass

import numpy as np

from hcg_pipeline.retrieval.graph_arrays import GraphArrays, Ints, ranges


@dataclass(frozen=True, slots=True)
class Subgraph:
    """R reached variables (ascending places) and the S edges between them.

    `hops` (R,) counts from the nearest matched variable; `edges` (S,) are places in the graph's edge arrays, sorted by
    source; `source` and `target` (S,) are places in `nodes`; so are `seeds`, the matched variables in their order.
    """

    nodes: Ints
    hops: Ints
    edges: Ints
    source: Ints
    target: Ints
    seeds: Ints


def traverse(graph: GraphArrays, matched: Ints, hops: int) -> Subgraph:
    """Everything that at most `hops` edges lead to from `matched` (places of variables), and all edges in between."""
    distance = np.full(graph.size, -1, dtype=np.int64)
    distance[matched] = 0
    frontier = np.unique(matched)
    for hop in range(1, hops + 1):
        out = graph.target[ranges(graph.indptr[frontier], graph.indptr[frontier + 1])]
        fresh = out[distance[out] < 0]
        if not len(fresh):
            break
        distance[fresh] = hop
        frontier = np.unique(fresh) if len(fresh) * 8 < graph.size else np.flatnonzero(distance == hop)
    nodes = np.flatnonzero(distance >= 0)
    edges = ranges(graph.indptr[nodes], graph.indptr[nodes + 1])
    edges = edges[distance[graph.target[edges]] >= 0]
    local = np.empty(graph.size, dtype=np.int64)
    local[nodes] = np.arange(len(nodes))
    return Subgraph(
        nodes=nodes,
        hops=distance[nodes],
        edges=edges,
        source=local[graph.source[edges]],
        target=local[graph.target[edges]],
        seeds=local[matched],
    )
