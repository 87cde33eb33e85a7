"""The published graph as a Cypher script: `cypher-shell < graph.cypher`, or pasted into Neo4j, Memgraph or FalkorDB."""

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from hcg_pipeline.graph.exports import EDGE_ATTRIBUTES, node_values, quotes_by_edge
from hcg_pipeline.graph.published import Graph

ROWS_PER_STATEMENT = 200

_HEADER = """\
// A causal graph: (:Variable)-[:CAUSES]->(:Variable). Run it as often as you like: nothing is made twice.
// In a large graph an index on :Variable(name) makes it quicker; its syntax differs between databases.
"""
_NODE_CLAUSE = "MERGE (v:Variable {name: row.name})\nSET v += row;\n"
_EDGE_CLAUSE = (
    "MATCH (cause:Variable {name: row.source})\n"
    "MATCH (effect:Variable {name: row.target})\n"
    "MERGE (cause)-[edge:CAUSES {edge_id: row.values.edge_id}]->(effect)\n"
    "SET edge += row.values;\n"
)


def cypher_script(graph: Graph) -> str:
    """Statements, each ended by `;` at the end of a line, that create or update the graph in a database.

    A node has the label `Variable` and its name as `name`; an edge has the type `CAUSES` and its evidence texts as
    `quotes`. Every text is a double-quoted literal on one line, so that no text can end it and become a statement.
    """
    quotes = quotes_by_edge(graph)
    nodes = [{"name": row["variable"], **node_values(row)} for row in graph.nodes.to_pylist()]
    edges = [
        {
            "source": row["source"],
            "target": row["target"],
            "values": {
                **{name: row[name] for name in EDGE_ATTRIBUTES},
                "quotes": quotes.get(row["edge_id"], []),
            },
        }
        for row in graph.edges.to_pylist()
    ]
    return _HEADER + "".join([*_statements(nodes, _NODE_CLAUSE), *_statements(edges, _EDGE_CLAUSE)])


def _statements(rows: Sequence[dict[str, Any]], clause: str) -> Iterator[str]:
    for start in range(0, len(rows), ROWS_PER_STATEMENT):
        lines = ",\n".join(f"  {_literal(row)}" for row in rows[start : start + ROWS_PER_STATEMENT])
        yield f"UNWIND [\n{lines}\n] AS row\n{clause}"


def _literal(value: Any) -> str:
    """A Cypher literal. JSON's escapes are a part of Cypher's; keys are our own column names."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}: {_literal(part)}" for key, part in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(_listed(value)) + "]"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    return repr(value)


def _listed(values: Iterable[Any]) -> Iterator[str]:
    return (_literal(value) for value in values)
