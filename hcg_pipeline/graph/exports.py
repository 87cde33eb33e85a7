"""The published graph in formats that other tools open: GraphML (Gephi, yEd, Cytoscape) and node-link JSON."""

import json
import re
from collections.abc import Mapping
from typing import Any

import networkx as nx

from hcg_pipeline.graph.published import Graph

# Characters that XML 1.0 cannot hold, not even escaped.
_NOT_XML = re.compile("[^\\t\\n\\r\\u0020-\\ud7ff\\ue000-\\ufffd\\U00010000-\\U0010ffff]")
NODE_ATTRIBUTES = (
    *("metric", "entities", "role", "category", "description", "mentions", "in_degree", "out_degree", "added_by"),
)
EDGE_ATTRIBUTES = ("edge_id", "mechanism", "sign", "confidence", "origin", "support", "evidence")


def to_networkx(graph: Graph) -> "nx.DiGraph[str]":
    """The graph with the columns of its tables as attributes; an edge's `quotes` are its evidence texts, in order."""
    quotes = quotes_by_edge(graph)
    network: nx.DiGraph[str] = nx.DiGraph()
    for row in graph.nodes.to_pylist():
        network.add_node(row["variable"], **node_values(row))
    for row in graph.edges.to_pylist():
        values = {name: row[name] for name in EDGE_ATTRIBUTES}
        network.add_edge(row["source"], row["target"], **values, quotes=quotes.get(row["edge_id"], []))
    return network


def node_values(row: Mapping[str, Any]) -> dict[str, Any]:
    """The attributes of a node, from a row of NODES; a snapshot of an earlier version may lack the newest of them."""
    return {name: row[name] for name in NODE_ATTRIBUTES if name in row}


def quotes_by_edge(graph: Graph) -> dict[str, list[str]]:
    """The evidence texts of each edge that has any, each once, in the order of the evidence."""
    quotes: dict[str, dict[str, None]] = {}
    links = (graph.evidence.column(name).to_pylist() for name in ("edge_id", "quote"))
    for edge_id, quote in zip(*links, strict=True):
        quotes.setdefault(edge_id, {})[quote] = None
    return {edge_id: list(texts) for edge_id, texts in quotes.items()}


def graphml(graph: Graph) -> str:
    """The graph as GraphML text. Lists are joined with ' | '; characters that XML has no place for are left out."""
    flat: nx.DiGraph[str] = nx.DiGraph()
    network = to_networkx(graph)
    for name, values in network.nodes(data=True):
        flat.add_node(_xml(name), **{key: _flat(value) for key, value in values.items()})
    for source, target, values in network.edges(data=True):
        flat.add_edge(_xml(source), _xml(target), **{key: _flat(value) for key, value in values.items()})
    return "\n".join(nx.generate_graphml(flat, named_key_ids=True)) + "\n"


def node_link_json(graph: Graph) -> str:
    """The graph as node-link JSON (networkx, D3): `nodes` with `id`, `edges` with `source` and `target`."""
    return json.dumps(nx.node_link_data(to_networkx(graph), edges="edges"), ensure_ascii=False, indent=1) + "\n"


def _flat(value: Any) -> Any:
    if isinstance(value, list):
        return _xml(" | ".join(value))
    return _xml(value) if isinstance(value, str) else value


def _xml(text: str) -> str:
    return _NOT_XML.sub("", text)
