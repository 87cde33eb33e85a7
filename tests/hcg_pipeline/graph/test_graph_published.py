import json
import xml.etree.ElementTree as ET

import networkx as nx
import pyarrow as pa
import pytest
from graph_builders import METRICS, graph_of, relation, relations_table, variables_table

from hcg_pipeline.errors import SnapshotError
from hcg_pipeline.graph.exports import graphml, node_link_json, to_networkx
from hcg_pipeline.graph.node_edges import edge_id, seed_edges
from hcg_pipeline.graph.published import Graph, assemble_graph
from hcg_pipeline.tables import EDGES, EVIDENCE_LINKS, NODES

SUBSIDY, OUTPUT, WELFARE = "Subsidy(farming, north)", "Output(farming)", "Welfare(north)"


def link(source: str, target: str, quote: str = "words", kind: str = "quote") -> dict[str, object]:
    return {
        "edge_id": edge_id(source, target),
        "chunk_id": "d.0",
        "document_id": "d",
        "start": 0,
        "end": len(quote),
        "quote": quote,
        "kind": kind,
        "similarity": None,
    }


def test_nodes_have_degrees_and_edges_count_their_evidence():
    graph = graph_of(
        (SUBSIDY, OUTPUT),
        (OUTPUT, WELFARE),
        (OUTPUT, SUBSIDY),
        links=[link(SUBSIDY, OUTPUT)] * 2,
        extra=("Price(trade)",),
    )
    assert graph.nodes.schema.equals(NODES)
    assert graph.edges.schema.equals(EDGES)
    assert {r["variable"]: (r["category"], r["in_degree"], r["out_degree"]) for r in graph.nodes.to_pylist()} == {
        SUBSIDY: ("policy", 1, 1),
        OUTPUT: ("production", 1, 2),
        WELFARE: ("end", 1, 0),
        "Price(trade)": ("market", 0, 0),
    }
    assert {(r["source"], r["target"]): r["evidence"] for r in graph.edges.to_pylist()} == {
        (SUBSIDY, OUTPUT): 2,
        (OUTPUT, WELFARE): 0,
        (OUTPUT, SUBSIDY): 0,
    }


@pytest.mark.parametrize(
    ("names", "pairs", "links", "what"),
    [
        ((SUBSIDY,), ((SUBSIDY, OUTPUT),), [], "Output\\(farming\\) is no variable"),
        ((SUBSIDY,), ((SUBSIDY, SUBSIDY),), [], "joins a variable with itself"),
        ((WELFARE, OUTPUT), ((WELFARE, OUTPUT),), [], "leaves a terminal"),
        ((SUBSIDY, OUTPUT), (), [link(SUBSIDY, OUTPUT)], "1 evidence links belong to no edge"),
    ],
)
def test_tables_that_do_not_fit_are_refused(names, pairs, links, what):
    with pytest.raises(SnapshotError, match=what):
        assemble_graph(
            variables_table({name: ["d.0"] for name in names}, {"d.0": 0}),
            METRICS,
            seed_edges(relations_table(*(relation(*pair) for pair in pairs))),
            pa.Table.from_pylist(links, schema=EVIDENCE_LINKS),
        )


def test_variable_of_an_unknown_metric_is_refused():
    variables = variables_table({SUBSIDY: ["d.0"]}, {"d.0": 0})
    with pytest.raises(SnapshotError, match="unknown metric"):
        assemble_graph(variables, METRICS.slice(1), seed_edges(relations_table()), EVIDENCE_LINKS.empty_table())


def test_graphml_opens_in_networkx_with_values_and_types(tmp_path):
    graph = graph_of(
        (SUBSIDY, OUTPUT), (OUTPUT, WELFARE), links=[link(SUBSIDY, OUTPUT, "a < b & c"), link(SUBSIDY, OUTPUT, "two")]
    )
    (tmp_path / "g.graphml").write_text(graphml(graph), encoding="utf-8")
    keys = [key.get("id") for key in ET.parse(tmp_path / "g.graphml").getroot() if key.tag.endswith("key")]
    assert len(set(keys)) == len(keys), "an id names one attribute, of nodes or of edges"
    read = nx.read_graphml(tmp_path / "g.graphml")
    assert set(read.edges) == {(SUBSIDY, OUTPUT), (OUTPUT, WELFARE)}
    assert read.nodes[SUBSIDY]["entities"] == "farming | north"
    assert read.nodes[OUTPUT]["in_degree"] == 1
    assert read.edges[SUBSIDY, OUTPUT]["confidence"] == 0.5
    assert read.edges[SUBSIDY, OUTPUT]["quotes"] == "a < b & c | two"


def _with_mechanism(text: str) -> Graph:
    graph = graph_of((SUBSIDY, OUTPUT))
    rows = [{**row, "mechanism": text} for row in graph.edges.to_pylist()]
    return Graph(graph.nodes, pa.Table.from_pylist(rows, schema=EDGES), graph.evidence)


def test_characters_without_a_place_in_xml_are_left_out():
    text = graphml(_with_mechanism("a\x00b\x0b]]>\ufffe<i>&amp;\U0001f600"))
    values = {e.text for e in ET.fromstring(text).iter("{http://graphml.graphdrawing.org/xmlns}data")}
    assert "ab]]><i>&amp;\U0001f600" in values


def test_node_link_json_reads_back_as_the_same_graph():
    graph = graph_of((SUBSIDY, OUTPUT), (OUTPUT, WELFARE), links=[link(SUBSIDY, OUTPUT)])
    data = json.loads(node_link_json(graph))
    assert data["directed"] is True
    assert [node["id"] for node in data["nodes"]] == [OUTPUT, SUBSIDY, WELFARE]
    assert nx.utils.graphs_equal(nx.node_link_graph(data, edges="edges"), to_networkx(graph))


def test_an_empty_graph_exports():
    graph = graph_of()
    assert json.loads(node_link_json(graph))["nodes"] == []
    assert "<graph" in graphml(graph)
