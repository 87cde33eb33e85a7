"""The quality report of a graph: what is in it, how well it is supported, what looks wrong, as numbers."""

from collections.abc import Mapping
from dataclasses import dataclass

import networkx as nx
import pyarrow as pa

from hcg_pipeline.graph.drift import Drift
from hcg_pipeline.graph.published import Graph
from hcg_pipeline.graph.summary import GraphSummary, summarise
from hcg_pipeline.specification.merges import APART
from hcg_pipeline.tables import QUALITY_REPORT

CHAINS = 5
CYCLES = 10

# What the counts of reading are about, for people.
COUNTED = {
    "variables_read": "mentions of variables read",
    "relations_read": "causal statements read",
    "relations_repeated": "statements read twice at one place, taken once",
    "repaired_metric": "metrics in another spelling, repaired",
    "repaired_entity": "entities in another spelling or by an alias, repaired",
    "repaired_order": "entities in another order than the signature's, repaired",
    "dropped_unknown_metric": "references to a metric that the vocabulary lacks, dropped",
    "dropped_unknown_entity": "references to an entity that the vocabulary lacks, dropped",
    "dropped_arity": "references with more or fewer entities than the signature, dropped",
    "dropped_relation_reference": "statements with an end outside the vocabulary, dropped",
    "dropped_self_loop": "statements that join a variable with itself, dropped",
    "terminal_source": "statements that leave a terminal by the vocabulary's roles, kept out of the graph",
    "dropped_unevidenced": "statements whose quote does not stand in the passage, dropped",
    "dropped_confidence": "statements without a usable confidence, dropped",
    "dropped_unknown_chunk": "statements that cite no passage of the window, dropped",
    "entity_added": "entities that readings added to the dimensions",
    "entity_on_other_dimension": "entities that stand on another dimension already, kept there",
    "entity_unknown_dimension": "entities on a dimension that the vocabulary lacks, dropped",
    "entity_refused": "names that no entity may have, dropped",
}


@dataclass(frozen=True)
class Quality:
    """All that the report says. `cycles` and `isolated` name variables; `bare` are edges (source, target)."""

    summary: GraphSummary
    counts: Mapping[str, int]
    cycles: tuple[tuple[str, ...], ...]
    isolated: tuple[str, ...]
    bare: tuple[tuple[str, str], ...]
    merges: int
    apart: tuple[str, ...]
    drift: Drift


def measure_quality(graph: Graph, counts: Mapping[str, int], merges: pa.Table, drift: Drift) -> Quality:
    """Measure a graph; `counts` are those of assembly, `merges` is the MERGES table.

    `cycles` has for each group of variables that all reach each other (strongly connected component) its shortest
    cycle, largest groups first, at most 10.
    """
    network: nx.DiGraph[str] = nx.DiGraph()
    network.add_nodes_from(sorted(graph.nodes["variable"].to_pylist()))
    network.add_edges_from(
        sorted(zip(graph.edges["source"].to_pylist(), graph.edges["target"].to_pylist(), strict=True))
    )
    groups = sorted(
        (sorted(group) for group in nx.strongly_connected_components(network) if len(group) > 1),
        key=lambda group: (-len(group), group[0]),
    )
    merged, reasons = (merges[name].to_pylist() for name in ("merged", "reason"))
    return Quality(
        summary=summarise(graph, top=graph.nodes.num_rows or 1, chains=CHAINS),
        counts={name: counts[name] for name in sorted(counts, key=_counted_order)},
        cycles=tuple(_shortest_cycle(network, group) for group in groups[:CYCLES]),
        isolated=tuple(name for name, degree in network.degree() if degree == 0),
        bare=tuple(
            (row["source"], row["target"])
            for row in graph.edges.select(["source", "target", "evidence"]).to_pylist()
            if row["evidence"] == 0
        ),
        merges=sum(not reason.startswith(APART) for reason in reasons),
        apart=tuple(sorted({name for name, why in zip(merged, reasons, strict=True) if why.startswith(APART)})),
        drift=drift,
    )


def quality_table(quality: Quality) -> pa.Table:
    """The numbers as QUALITY_REPORT rows, for trends and for other tools."""
    summary, drift = quality.summary, quality.drift
    sections: dict[str, Mapping[str, float]] = {
        "size": {
            "variables": summary.variables,
            "edges": summary.edges,
            "metrics": summary.metrics,
            "evidence": summary.evidence_links,
            "merged spellings": quality.merges,
        },
        "variables by metric": {metric.metric: metric.variables for metric in summary.top_metrics},
        "edges by metric": {metric.metric: metric.edges for metric in summary.top_metrics},
        "variables by category": summary.categories,
        "variables by role": summary.roles,
        "edges by sign": summary.signs,
        "edges by origin": summary.origins,
        "variables by degree": summary.degrees,
        "share of edges with evidence": {"any": summary.share_with_evidence, **summary.share_by_kind},
        "reading": dict(quality.counts),
        "structure": {
            "isolated variables": summary.isolated,
            "feedback groups": summary.feedback_groups,
            "variables in feedback": summary.variables_in_feedback,
            "edges in both directions": summary.reciprocal_pairs,
            "longest chain": max((len(chain) for chain in summary.longest_chains), default=0),
        },
        "unfit share of the text": {
            f"{what}, {which}": share
            for which, fit in (("all", drift.all), ("older", drift.older), ("newest", drift.newest))
            if fit is not None
            for what, share in (("passages", fit.unspoken), ("statements", fit.unread))
        },
        "drift": {"excess": drift.excess},
    }
    rows = [
        {"section": section, "item": item, "value": float(value)}
        for section, values in sections.items()
        for item, value in values.items()
    ]
    return pa.Table.from_pylist(rows, schema=QUALITY_REPORT)


def _shortest_cycle(network: "nx.DiGraph[str]", group: list[str]) -> tuple[str, ...]:
    """The shortest cycle inside a strongly connected group, begun at its first name; the first by name of several."""
    inside = nx.DiGraph(sorted(network.subgraph(group).edges))
    best: tuple[str, ...] = ()
    for source, target in sorted(inside.edges):
        if best and len(best) == 2:
            break
        path = tuple(nx.shortest_path(inside, target, source))
        if not best or len(path) < len(best):
            best = path
    start = best.index(min(best))
    return best[start:] + best[:start]


def _counted_order(name: str) -> tuple[int, str]:
    order = list(COUNTED)
    return (order.index(name) if name in COUNTED else len(order), name)
