"""The graph as it is published: nodes, edges and evidence that fit together."""

from collections import Counter
from dataclasses import dataclass

import pyarrow as pa

from hcg_pipeline.errors import SnapshotError
from hcg_pipeline.tables import EDGES, EVIDENCE_LINKS, NODES


@dataclass(frozen=True)
class Graph:
    """NODES, EDGES and EVIDENCE_LINKS. Every edge joins two nodes; every link belongs to an edge."""

    nodes: pa.Table
    edges: pa.Table
    evidence: pa.Table


def assemble_graph(variables: pa.Table, metrics: pa.Table, edges: pa.Table, links: pa.Table) -> Graph:
    """VARIABLES, METRICS, NODE_EDGES and EVIDENCE_LINKS as one graph, in the order of the tables.

    An edge without evidence stays, marked by `evidence == 0`. Raises `SnapshotError` where the tables do not fit: a
    variable of an unknown metric, an edge to a variable that is not there, an edge out of a terminal, a self-loop, or
    a link to no edge.
    """
    categories = dict(zip(metrics.column("metric").to_pylist(), metrics.column("category").to_pylist(), strict=True))
    sources, targets = edges.column("source").to_pylist(), edges.column("target").to_pylist()
    into, out = Counter(targets), Counter(sources)
    nodes = []
    for row in variables.to_pylist():
        if row["metric"] not in categories:
            raise SnapshotError(f"variable {row['variable']} has an unknown metric: rebuild from the metrics on")
        name = row["variable"]
        degrees = {"in_degree": into[name], "out_degree": out[name]}
        # What no text names is there because a person wrote it.
        added_by = "corpus" if row["mentions"] else "expert"
        nodes.append({**row, "category": categories[row["metric"]], **degrees, "added_by": added_by})
    roles = {row["variable"]: row["role"] for row in nodes}
    if len(roles) != len(nodes):
        raise SnapshotError("a variable is listed twice: rebuild from the variables on")
    for source, target in zip(sources, targets, strict=True):
        if source not in roles or target not in roles:
            missing = source if source not in roles else target
            raise SnapshotError(f"edge {source} → {target}: {missing} is no variable: rebuild from the variables on")
        if source == target or roles[source] == "terminal":
            why = "joins a variable with itself" if source == target else "leaves a terminal"
            raise SnapshotError(f"edge {source} → {target} {why}: rebuild from the node edges on")
    linked = Counter(links.column("edge_id").to_pylist())
    ids = edges.column("edge_id").to_pylist()
    stray = sorted(set(linked) - set(ids))
    if stray:
        raise SnapshotError(f"{len(stray)} evidence links belong to no edge, {stray[0]} first: link the evidence again")
    kept = edges.select([name for name in EDGES.names if name != "evidence"])
    counts = pa.array([linked[edge_id] for edge_id in ids], pa.int64())
    return Graph(
        pa.Table.from_pylist(nodes, schema=NODES),
        kept.append_column("evidence", counts).cast(EDGES),
        links.cast(EVIDENCE_LINKS),
    )
