"""Definition 4: outcome cones, counted by forward reachability from the few matched variables.

The paper searches backwards from each of the many outcomes. Here every node of the subgraph carries one bit per matched
variable that reaches it; the bits flow along the edges until nothing changes. What a cone is worth by similarity is the
same flow with numbers in place of bits.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hcg_pipeline.retrieval.graph_arrays import Floats, GraphArrays, Ints
from hcg_pipeline.retrieval.match import Match
from hcg_pipeline.retrieval.settings import RetrievalSettings
from hcg_pipeline.retrieval.traverse import Subgraph

Bits = NDArray[np.uint64]
_WORD = 64


@dataclass(frozen=True, slots=True)
class MergedCone:
    """The cone of all reached outcomes of one metric.

    `outcomes` are places in the subgraph's nodes, the most converging first; `converging` counts the matched variables
    that reach any of them; `score` is what the cone was ranked by besides the count.
    """

    metric: int
    outcomes: Ints
    converging: int
    score: float


@dataclass(frozen=True, slots=True)
class Cones:
    """The kept cones, best first, with their members.

    `member` (S edges,) holds the rank of the best cone that an edge belongs to, or the number of cones for an edge in
    none; `strength` (R nodes,) what the matched variables' similarity is still worth at a node.
    """

    kept: tuple[MergedCone, ...]
    member: Ints
    strength: Floats


def find_cones(graph: GraphArrays, subgraph: Subgraph, match: Match, settings: RetrievalSettings) -> Cones:
    """Ranks the reached outcomes' cones, merges them by metric, keeps C_max and marks their edges.

    With order `paper` the count of converging matched variables ranks, then the similarity score, then the metric's
    name. With `similarity` the score comes first: the sum over matched variables of similarity times the best path's
    product of edge confidence and discount per hop, over at most h_max hops.
    """
    flow = _Flow(subgraph)
    strengths = flow.strengths(graph, match, settings)
    outcomes = np.flatnonzero(graph.endpoint[subgraph.nodes])
    reach = flow.forward(subgraph.seeds)
    kept = _merge(graph, subgraph, outcomes, reach, strengths, settings)
    members = flow.backward([cone.outcomes for cone in kept])
    return Cones(kept, members[subgraph.target], strengths.max(axis=1, initial=0))


def _merge(
    graph: GraphArrays, subgraph: Subgraph, outcomes: Ints, reach: Bits, strengths: Floats, settings: RetrievalSettings
) -> tuple[MergedCone, ...]:
    """The cones of the reached outcomes, merged by metric, the best C_max in order."""
    metrics = graph.metric[subgraph.nodes[outcomes]]
    order = np.argsort(metrics, kind="stable")
    outcomes, metrics = outcomes[order], metrics[order]
    if not len(outcomes):
        return ()
    starts = np.flatnonzero(np.diff(metrics, prepend=-1))
    ends = np.append(starts[1:], len(outcomes))
    reaching = reach[outcomes]
    converging = np.bitwise_count(np.bitwise_or.reduceat(reaching, starts, axis=0)).sum(axis=1, dtype=np.int64)
    best = np.maximum.reduceat(strengths[outcomes], starts, axis=0)
    # float64 and a fixed order of summands: the ranking must not hang on rounding.
    scores = best.astype(np.float64).sum(axis=1)
    keys = (converging, scores) if settings.order == "paper" else (scores, converging)
    cones = []
    for place in np.lexsort((metrics[starts], -keys[1], -keys[0]))[: settings.cones]:
        inside = slice(starts[place], ends[place])
        counts = np.bitwise_count(reaching[inside]).sum(axis=1, dtype=np.int64)
        ranked = outcomes[inside][np.argsort(-counts, kind="stable")]
        cones.append(MergedCone(int(metrics[starts[place]]), ranked, int(converging[place]), float(scores[place])))
    return tuple(cones)


class _Flow:
    """Spreads values along the subgraph's edges, in either direction."""

    def __init__(self, subgraph: Subgraph) -> None:
        self._size = len(subgraph.nodes)
        self._seeds = subgraph.seeds
        self._edges = subgraph.edges
        # Edges are sorted by source already; a second order sorts them by target. It need not be stable, since what
        # arrives at a node is joined by 'or' and 'maximum'.
        self._by_target = np.argsort(subgraph.target)
        self._source = subgraph.source
        self._target = subgraph.target

    def forward(self, seeds: Ints) -> Bits:
        """(R, words): bit i of a node is set where seed i reaches it. A node reaches itself."""
        bits = np.zeros((self._size, max(1, -(-len(seeds) // _WORD))), dtype=np.uint64)
        places = np.arange(len(seeds))
        np.bitwise_or.at(bits, (seeds, places // _WORD), np.uint64(1) << (places % _WORD).astype(np.uint64))
        order = self._by_target
        return self._spread(bits, self._source[order], self._target[order])

    def backward(self, groups: list[Ints]) -> Ints:
        """(R,): the first group that a node reaches a member of, or len(groups) where it reaches none."""
        bits = np.zeros((self._size, max(1, -(-len(groups) // _WORD))), dtype=np.uint64)
        for number, group in enumerate(groups):
            bits[group, number // _WORD] |= np.uint64(1) << np.uint64(number % _WORD)
        bits = self._spread(bits, self._target, self._source)
        first = np.full(self._size, len(groups), dtype=np.int64)
        for word in range(bits.shape[1] - 1, -1, -1):
            held = bits[:, word]
            lowest = np.bitwise_count((held & (~held + np.uint64(1))) - np.uint64(1))
            first = np.where(held != 0, word * _WORD + lowest.astype(np.int64), first)
        return first

    def _spread(self, bits: Bits, giver: Ints, taker: Ints) -> Bits:
        """Passes bits from giver to taker, edges sorted by taker, until nothing changes."""
        if not len(giver):
            return bits
        starts = np.flatnonzero(np.diff(taker, prepend=-1))
        takers = taker[starts]
        for word in range(bits.shape[1]):
            held = bits[:, word].copy()
            before = held[takers]
            while True:
                grown = before | np.bitwise_or.reduceat(held[giver], starts)
                if np.array_equal(grown, before):
                    break
                held[takers] = before = grown
            bits[:, word] = held
        return bits

    def strengths(self, graph: GraphArrays, match: Match, settings: RetrievalSettings) -> Floats:
        """(R, seeds): similarity of a seed times the best path's product of confidence and discount, 0 if none.

        Only the pairs of node and seed that grew in the last hop are carried on: few in the first hops, and never more
        than the paths there are.
        """
        count = len(self._seeds)
        values = np.zeros(self._size * count, dtype=np.float32)
        pairs = self._seeds * count + np.arange(count)
        values[pairs] = np.maximum(match.similarities, 0)
        kept = graph.confidence[self._edges] * np.float32(settings.discount)
        pointers = np.concatenate(([0], np.cumsum(np.bincount(self._source, minlength=self._size))))
        target = self._target * count
        for left in range(settings.hops - 1, -1, -1):
            node = pairs // max(count, 1)
            starts = pointers[node]
            lengths = pointers[node + 1] - starts
            # The edges that leave the pairs' nodes, and the place in `pairs` that each comes from.
            origin = np.repeat(np.arange(len(pairs)), lengths)
            edges = np.arange(len(origin)) + (starts - np.cumsum(lengths) + lengths)[origin]
            reached = target[edges] + (pairs - node * count)[origin]
            before = values.copy() if left else values
            np.maximum.at(values, reached, before[pairs][origin] * kept[edges])
            if left:
                pairs = np.flatnonzero(values > before)
        return values.reshape(self._size, count)
