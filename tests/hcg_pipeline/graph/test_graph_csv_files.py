import csv
import io

import pytest
from graph_builders import graph_of
from test_graph_cypher import PAIR, with_text

from hcg_pipeline.graph.csv_files import csv_files
from hcg_pipeline.tables import EDGES, EVIDENCE_LINKS, NODES


def read(text):
    return list(csv.DictReader(io.StringIO(text, newline=""), strict=True))


def test_three_files_with_the_columns_of_the_tables():
    graph = graph_of(PAIR)
    files = csv_files(graph)
    assert list(files) == ["nodes.csv", "edges.csv", "evidence.csv"]
    for name, schema in (("nodes.csv", NODES), ("edges.csv", EDGES), ("evidence.csv", EVIDENCE_LINKS)):
        assert files[name].split("\r\n", 1)[0].split(",") == schema.names
    [edge] = read(files["edges.csv"])
    assert (edge["source"], edge["target"], edge["sign"], edge["confidence"]) == (*PAIR, "+", "0.5")
    nodes = {row["variable"]: row for row in read(files["nodes.csv"])}
    assert sorted(nodes) == sorted(PAIR)
    assert nodes["Price(farming)"]["entities"] == "farming"


@pytest.mark.parametrize("text", ['a "quoted" word, and a comma', "two\nlines\r\nand \\n", "ü — 漢字 😀", "- ", "+"])
def test_texts_come_back_as_they_were(text):
    [edge] = read(csv_files(with_text(text))["edges.csv"])
    assert edge["mechanism"] == (f"'{text}" if text == "- " else text)


@pytest.mark.parametrize("text", ['=HYPERLINK("http://x")', "+1+1", "-2+3+cmd|' /C calc'!A0", "@SUM(A1)", "\t=1"])
def test_a_text_that_a_spreadsheet_would_run_is_marked_as_text(text):
    [link] = read(csv_files(with_text(text))["evidence.csv"])
    assert link["quote"] == f"'{text}"
