"""The picture shows the best supported connected part, the same every time."""

import pyarrow as pa
import pytest

from hcg_pipeline.graph.picture import draw_graph, strongest_part
from hcg_pipeline.tables import EDGES, NODES


def _edge(source: str, target: str, support: int, sign: str = "+") -> dict[str, object]:
    return {
        "edge_id": f"e-{source}-{target}",
        "source": source,
        "target": target,
        "mechanism": "because",
        "sign": sign,
        "confidence": 0.5,
        "origin": "seed",
        "support": support,
        "evidence": 1,
    }


def _node(name: str, role: str = "driver") -> dict[str, object]:
    return {
        "variable": name,
        "metric": name.split("(", maxsplit=1)[0],
        "entities": ["x"],
        "role": role,
        "description": name,
        "mentions": 1,
        "chunk_ids": ["c1"],
        "category": "any",
        "in_degree": 0,
        "out_degree": 0,
    }


def _edges(*rows: dict[str, object]) -> pa.Table:
    return pa.Table.from_pylist(list(rows), schema=EDGES)


def test_takes_the_largest_component_and_grows_from_its_best_edge():
    edges = _edges(
        _edge("A(x)", "B(x)", 3), _edge("B(x)", "C(x)", 1), _edge("C(x)", "D(x)", 2), _edge("Y(x)", "Z(x)", 9)
    )
    part = strongest_part(edges, limit=2)
    assert sorted(part.edges) == [("A(x)", "B(x)"), ("B(x)", "C(x)")]
    assert sorted(strongest_part(edges, limit=50)) == ["A(x)", "B(x)", "C(x)", "D(x)"]


@pytest.mark.parametrize("kind", ["svg", "png"])
def test_same_tables_same_bytes_and_loops_are_drawn(kind: str):
    nodes = pa.Table.from_pylist([_node("Dose(<drug & $x$>)"), _node("Risk(y)", "terminal")], schema=NODES)
    edges = _edges(_edge("Dose(<drug & $x$>)", "Risk(y)", 2, "-"), _edge("Risk(y)", "Dose(<drug & $x$>)", 1, "?"))
    image = draw_graph(nodes, edges, kind=kind)
    assert image == draw_graph(nodes, edges, kind=kind)
    if kind == "svg":
        text = image.decode()
        assert "&lt;drug" in text
        assert "<drug" not in text


def test_an_empty_graph_says_so():
    image = draw_graph(NODES.empty_table(), EDGES.empty_table())
    assert b"The graph has no edges." in image
