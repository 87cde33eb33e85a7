"""The retrieval modes by name. A new one is a `Strategy` and a line here."""

from hcg_pipeline.retrieval.graph_mode import graph, nodes_only
from hcg_pipeline.retrieval.hybrid import hybrid
from hcg_pipeline.retrieval.in_context import in_context
from hcg_pipeline.retrieval.naive import naive
from hcg_pipeline.retrieval.strategy import Strategy

MODES: dict[str, Strategy] = {
    "graph": graph,
    "nodes_only": nodes_only,
    "naive": naive,
    "in_context": in_context,
    "hybrid": hybrid,
}
