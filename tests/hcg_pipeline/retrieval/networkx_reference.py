"""Definitions 2 to 4 written plainly over networkx: slow, short, and what the arrays must agree with."""

from dataclasses import dataclass

import networkx as nx
import numpy as np


@dataclass(frozen=True)
class ReferenceCone:
    metric: str
    outcomes: tuple[str, ...]
    converging: int
    score: float
    nodes: frozenset[str]


def reference_match(similarities, metric_of, tau_min, metrics, band, per_metric):
    """[(variable, similarity)], best first. `similarities` and `metric_of` are dicts in the order of the variables."""
    place = {name: number for number, name in enumerate(similarities)}
    best = {}
    for name, similarity in similarities.items():
        metric = metric_of[name]
        best[metric] = max(best.get(metric, similarity), similarity)
    admitted = sorted((m for m in best if best[m] >= np.float32(tau_min)), key=lambda m: (-best[m], m))[:metrics]
    matched = []
    for metric in admitted:
        threshold = np.float32(min(tau_min, float(best[metric]) * (1 - band)))
        members = [name for name in similarities if metric_of[name] == metric and similarities[name] >= threshold]
        matched += sorted(members, key=lambda name: (-similarities[name], place[name]))[:per_metric]
    return sorted(((n, similarities[n]) for n in matched), key=lambda pair: (-pair[1], place[pair[0]]))


def reference_subgraph(graph, matched, hops):
    """The subgraph induced by everything within `hops` edges of a matched node."""
    reached = set()
    for seed in matched:
        reached |= set(nx.single_source_shortest_path_length(graph, seed, cutoff=hops))
    return graph.subgraph(reached)


def reference_cones(subgraph, matched, settings):
    """Merged cones in order, by a reverse search from every reached outcome (the paper's way)."""
    by_metric = {}
    for node in sorted(subgraph):
        if subgraph.nodes[node]["role"] in ("terminal", "outcome"):
            by_metric.setdefault(subgraph.nodes[node]["metric"], []).append(node)
    strengths = {seed: _strength(subgraph, seed, similarity, settings) for seed, similarity in matched}
    cones = []
    for metric, outcomes in by_metric.items():
        reaching = {outcome: {outcome} | nx.ancestors(subgraph, outcome) for outcome in outcomes}
        nodes = set().union(*reaching.values())
        converging = sum(seed in nodes for seed, _ in matched)
        worth = [max(strengths[seed].get(outcome, 0) for outcome in outcomes) for seed, _ in matched]
        score = float(np.array(worth, dtype=np.float64).sum())
        counts = {outcome: sum(seed in reaching[outcome] for seed, _ in matched) for outcome in outcomes}
        ranked = tuple(sorted(outcomes, key=lambda outcome, counts=counts: (-counts[outcome], outcome)))
        cones.append(ReferenceCone(metric, ranked, converging, score, frozenset(nodes)))
    if settings.order == "paper":
        cones.sort(key=lambda cone: (-cone.converging, -cone.score, cone.metric))
    else:
        cones.sort(key=lambda cone: (-cone.score, -cone.converging, cone.metric))
    return cones[: settings.cones]


def reference_links(subgraph, matched, cones, settings):
    """{(source, target): weight} of the edges in a cone: what still reaches the source, times confidence and rank."""
    strengths = [_strength(subgraph, seed, similarity, settings) for seed, similarity in matched]
    links = {}
    for source, target, data in subgraph.edges(data=True):
        rank = next((rank for rank, cone in enumerate(cones) if target in cone.nodes), None)
        strength = max((one.get(source, 0) for one in strengths), default=0)
        weight = strength * data["confidence"] / (1 + 0.1 * rank) if rank is not None else 0
        if weight > 0:
            links[source, target] = weight
    return links


def _strength(subgraph, seed, similarity, settings):
    """Similarity times the best path's product of confidence and discount, over at most h_max edges."""
    best = {seed: np.float32(max(similarity, 0))}
    for _ in range(settings.hops):
        arriving = dict(best)
        for source, target, data in subgraph.edges(data=True):
            if source in best:
                kept = np.float32(np.float32(data["confidence"]) * np.float32(settings.discount))
                arriving[target] = max(arriving.get(target, np.float32(0)), np.float32(best[source] * kept))
        best = arriving
    return best
