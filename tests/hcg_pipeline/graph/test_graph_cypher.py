import re

import pytest
from graph_builders import VOCABULARY, graph_of
from hypothesis import given
from hypothesis import strategies as st

from hcg_pipeline.graph.cypher import ROWS_PER_STATEMENT, cypher_script
from hcg_pipeline.graph.published import Graph
from hcg_pipeline.tables import EVIDENCE_LINKS

PAIR = ("Price(farming)", "Output(farming)")
_TOKEN = re.compile(
    r"""(?P<space>\s+)|(?P<comment>//[^\n]*)|(?P<string>"(?:[^"\\\x00-\x1f]|\\["\\bfnrt]|\\u[0-9a-fA-F]{4})*")"""
    r"""|(?P<number>-?\d+(?:\.\d+)?(?:e-?\d+)?)|(?P<word>[A-Za-z_]\w*)|(?P<sign>\+=|->|[\[\]{}():,.;-])"""
)
_ESCAPES = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}


def statements(script):
    """The script's statements as tokens: strict, so that whatever is no part of this little Cypher is refused."""
    found, current, place = [], [], 0
    while place < len(script):
        match = _TOKEN.match(script, place)
        assert match, f"no Cypher at {script[place : place + 60]!r}"
        place = match.end()
        if match.lastgroup in ("space", "comment"):
            continue
        if match.group() == ";":
            found.append(current)
            current = []
        else:
            current.append((match.lastgroup, match.group()))
    assert not current, "the last statement is not ended"
    return found


def rows_of(tokens):
    """The list after UNWIND as plain data, and the words of the clauses after it."""
    assert tokens[0] == ("word", "UNWIND")
    value, rest = parse(tokens[1:])
    assert rest[:2] == [("word", "AS"), ("word", "row")]
    return value, "".join(text for _, text in rest[2:])


def parse(tokens):
    kind, text = tokens[0]
    if kind == "string":
        body = text[1:-1]
        body = re.sub(
            r"\\(u[0-9a-fA-F]{4}|.)",
            lambda m: chr(int(m[1][1:], 16)) if m[1][0] == "u" else _ESCAPES.get(m[1], m[1]),
            body,
        )
        return body, tokens[1:]
    if kind == "number":
        return float(text) if re.search(r"[.e]", text) else int(text), tokens[1:]
    if text == "[":
        values, rest = [], tokens[1:]
        while rest[0][1] != "]":
            value, rest = parse(rest)
            values.append(value)
            if rest[0][1] == ",":
                rest = rest[1:]
        return values, rest[1:]
    assert text == "{", text
    mapping, rest = {}, tokens[1:]
    while rest[0][1] != "}":
        (key_kind, key), colon = rest[0], rest[1]
        assert (key_kind, colon[1]) == ("word", ":")
        mapping[key], rest = parse(rest[2:])
        if rest[0][1] == ",":
            rest = rest[1:]
    return mapping, rest[1:]


def with_text(text):
    graph = graph_of(PAIR)
    edges = graph.edges.to_pylist()
    link = {
        "edge_id": edges[0]["edge_id"],
        "chunk_id": "d.0",
        "document_id": "d",
        "start": 0,
        "end": len(text),
        "quote": text,
        "kind": "quote",
        "similarity": None,
    }
    evidence = EVIDENCE_LINKS.empty_table().from_pylist([link], schema=EVIDENCE_LINKS)
    changed = graph.edges.from_pylist([{**edges[0], "mechanism": text}], schema=graph.edges.schema)
    return Graph(graph.nodes, changed, evidence)


def test_the_script_holds_every_node_and_every_edge_with_its_values():
    graph = graph_of(PAIR, ("Output(farming)", "Price(mining)"))
    nodes, edges = (rows_of(tokens) for tokens in statements(cypher_script(graph)))
    assert nodes[1] == "MERGE(v:Variable{name:row.name})SETv+=row"
    assert [row["name"] for row in nodes[0]] == graph.nodes["variable"].to_pylist()
    first = next(row for row in nodes[0] if row["name"] == "Price(farming)")
    assert (first["metric"], first["entities"], first["role"]) == ("Price", ["farming"], "driver")
    assert (first["in_degree"], first["out_degree"], first["mentions"]) == (0, 1, 1)
    assert edges[1] == (
        "MATCH(cause:Variable{name:row.source})MATCH(effect:Variable{name:row.target})"
        "MERGE(cause)-[edge:CAUSES{edge_id:row.values.edge_id}]->(effect)SETedge+=row.values"
    )
    assert [(row["source"], row["target"]) for row in edges[0]] == [("Output(farming)", "Price(mining)"), PAIR]
    values = edges[0][1]["values"]
    assert (values["sign"], values["confidence"], values["mechanism"], values["quotes"]) == ("+", 0.5, "it does", [])


@pytest.mark.parametrize(
    "text",
    [
        'she said "no"; DROP',
        "it's a \\ and a \\\\ and \\u0022",
        "two\nlines\r\nand\ttabs",
        '"}] AS row MATCH (n) DETACH DELETE n; //',
        "*/ /* // ;",
        "\x00\x07\x7f\u2028\ufeff😀",
    ],
)
def test_no_text_can_end_its_literal(text):
    parsed = statements(cypher_script(with_text(text)))
    assert len(parsed) == 2
    values = rows_of(parsed[1])[0][0]["values"]
    assert (values["mechanism"], values["quotes"]) == (text, [text])


@given(st.text(max_size=60))
def test_any_text_comes_back_as_it_was(text):
    text = text.encode("utf-8", "ignore").decode()
    assert rows_of(statements(cypher_script(with_text(text)))[1])[0][0]["values"]["quotes"] == [text]


def test_many_rows_are_split_over_statements_and_an_empty_graph_has_none():
    names = tuple(f"Price(good {number:03})" for number in range(ROWS_PER_STATEMENT + 1))
    assert VOCABULARY.metric["Price"].signature == ("sector",)
    sizes = [len(rows_of(tokens)[0]) for tokens in statements(cypher_script(graph_of(extra=names)))]
    assert sizes == [ROWS_PER_STATEMENT, 1]
    assert statements(cypher_script(graph_of())) == []
