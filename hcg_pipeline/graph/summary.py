"""What a person wants to know of a graph at first sight: sizes, shares, degrees, chains, loops."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import Any

import networkx as nx

from hcg_pipeline.graph.published import Graph

_BOUNDS = ((0, "0"), (1, "1"), (2, "2"), (4, "3-4"), (8, "5-8"), (16, "9-16"), (32, "17-32"), (64, "33-64"))


@dataclass(frozen=True, slots=True)
class MetricSummary:
    """A metric in numbers: its variables, their mentions, and the edges that touch these."""

    metric: str
    role: str
    category: str
    variables: int
    mentions: int
    edges: int


@dataclass(frozen=True)
class GraphSummary:
    """Numbers and small tables about a graph; `as_json` gives plain data."""

    variables: int
    edges: int
    metrics: int
    categories: dict[str, int]
    roles: dict[str, int]
    signs: dict[str, int]
    origins: dict[str, int]
    evidence_links: int
    evidence_kinds: dict[str, int]
    edges_with_evidence: int
    share_with_evidence: float
    share_by_kind: dict[str, float]
    mean_degree: float
    degrees: dict[str, int]
    isolated: int
    reciprocal_pairs: int
    feedback_groups: int
    variables_in_feedback: int
    longest_chains: tuple[tuple[str, ...], ...]
    top_metrics: tuple[MetricSummary, ...]

    def as_json(self) -> dict[str, Any]:
        """The same as dictionaries, lists and numbers."""
        return asdict(self)


def summarise(graph: Graph, top: int = 15, chains: int = 3) -> GraphSummary:
    """Summarise a graph.

    `share_with_evidence` is 1.0 where there are no edges. `degrees` counts variables by in- plus out-degree in ranges.
    Loops are told by strongly connected components of two or more variables (`feedback_groups`; single cycles are too
    many to count). `longest_chains` are paths through the components in their causal order, at most half of one in a
    longer one: within a component the shortest way, so none visits a variable twice.
    """
    nodes, edges = graph.nodes.to_pylist(), graph.edges.to_pylist()
    network: nx.DiGraph[str] = nx.DiGraph()
    network.add_nodes_from(sorted(row["variable"] for row in nodes))
    network.add_edges_from(sorted((row["source"], row["target"]) for row in edges))
    loops = [group for group in nx.strongly_connected_components(network) if len(group) > 1]
    kinds = graph.evidence.column("kind").to_pylist()
    ids = graph.evidence.column("edge_id").to_pylist()
    with_kind = Counter(kind for _, kind in set(zip(ids, kinds, strict=True)))
    supported = sum(row["evidence"] > 0 for row in edges)
    return GraphSummary(
        variables=len(nodes),
        edges=len(edges),
        metrics=len({row["metric"] for row in nodes}),
        categories=_counted(row["category"] for row in nodes),
        roles=_counted(row["role"] for row in nodes),
        signs=_counted(row["sign"] for row in edges),
        origins=_counted(row["origin"] for row in edges),
        evidence_links=len(kinds),
        evidence_kinds=_counted(kinds),
        edges_with_evidence=supported,
        share_with_evidence=_share(supported, len(edges), 1.0),
        share_by_kind={kind: _share(with_kind[kind], len(edges), 0.0) for kind in ("quote", "text", "semantic")},
        mean_degree=_share(2 * len(edges), len(nodes), 0.0),
        degrees=_degrees(network),
        isolated=sum(1 for _, degree in network.degree() if degree == 0),
        reciprocal_pairs=sum(1 for one, other in network.edges if one < other and network.has_edge(other, one)),
        feedback_groups=len(loops),
        variables_in_feedback=sum(len(group) for group in loops),
        longest_chains=_chains(network, chains),
        top_metrics=_top_metrics(nodes, top),
    )


def _counted(values: Any) -> dict[str, int]:
    counts = Counter(values)
    return {value: counts[value] for value in sorted(counts, key=lambda v: (-counts[v], v))}


def _share(part: int, whole: int, empty: float) -> float:
    return round(part / whole, 4) if whole else empty


def _degrees(network: "nx.DiGraph[str]") -> dict[str, int]:
    found: dict[str, int] = {label: 0 for _, label in _BOUNDS} | {"65+": 0}
    for _, degree in network.degree():
        found[next((label for bound, label in _BOUNDS if degree <= bound), "65+")] += 1
    return {label: count for label, count in found.items() if count}


def _top_metrics(nodes: list[dict[str, Any]], top: int) -> tuple[MetricSummary, ...]:
    groups: dict[str, list[dict[str, Any]]] = {}
    for row in nodes:
        groups.setdefault(row["metric"], []).append(row)
    summaries = [
        MetricSummary(
            metric,
            rows[0]["role"],
            rows[0]["category"],
            len(rows),
            sum(row["mentions"] for row in rows),
            sum(row["in_degree"] + row["out_degree"] for row in rows),
        )
        for metric, rows in groups.items()
    ]
    return tuple(sorted(summaries, key=lambda s: (-s.edges, -s.variables, s.metric))[:top])


def _chains(network: "nx.DiGraph[str]", count: int) -> tuple[tuple[str, ...], ...]:
    """The longest paths through the condensation (Tarjan; longest path in a DAG), realised as variables."""
    groups = sorted((sorted(group) for group in nx.strongly_connected_components(network)), key=lambda group: group[0])
    home = {name: place for place, group in enumerate(groups) for name in group}
    # Per pair of components the first edge between them by name.
    between: dict[tuple[int, int], tuple[str, str]] = {}
    for source, target in sorted(network.edges):
        if home[source] != home[target]:
            between.setdefault((home[source], home[target]), (source, target))
    condensed: nx.DiGraph[int] = nx.DiGraph()
    condensed.add_nodes_from(range(len(groups)))
    condensed.add_edges_from(between)
    best: dict[int, tuple[int, ...]] = {}
    for place in nx.lexicographical_topological_sort(condensed):
        earlier = [best[before] for before in sorted(condensed.predecessors(place))]
        best[place] = (*max(earlier, key=len, default=()), place)
    ends = sorted(
        (place for place in best if condensed.out_degree(place) == 0 and len(best[place]) > 1),
        key=lambda place: (-len(best[place]), groups[place][0]),
    )
    chosen: list[tuple[str, ...]] = []
    for end in ends:
        path = _path(network, best[end], groups, between)
        # Chains that differ in their last links alone are one thing to a reader.
        if len(chosen) < count and all(2 * len(set(path) & set(other)) <= len(path) for other in chosen):
            chosen.append(path)
    return tuple(chosen)


def _path(
    network: "nx.DiGraph[str]",
    places: tuple[int, ...],
    groups: list[list[str]],
    between: Mapping[tuple[int, int], tuple[str, str]],
) -> tuple[str, ...]:
    steps = [between[pair] for pair in pairwise(places)]
    path = [steps[0][0]]
    for place, (source, target) in zip(places, steps, strict=False):
        if path[-1] != source:
            # Built from sorted edges: a subgraph view would iterate in hash order.
            inside = nx.DiGraph(sorted(network.subgraph(groups[place]).edges))
            path.extend(nx.shortest_path(inside, path[-1], source)[1:])
        path.append(target)
    return tuple(path)
