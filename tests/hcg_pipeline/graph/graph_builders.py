"""A small corpus, its vocabulary and its tables, for the tests of this room."""

import pyarrow as pa

from hcg_pipeline.graph.node_edges import seed_edges
from hcg_pipeline.graph.published import Graph, assemble_graph
from hcg_pipeline.specification.assembly import variable_row
from hcg_pipeline.specification.names import parse_variable
from hcg_pipeline.specification.vocabulary import Dimension, Entity, Metric, Vocabulary
from hcg_pipeline.specification.vocabulary_tables import dimensions_table, metrics_table
from hcg_pipeline.tables import CHUNKS, DOCUMENTS, EVIDENCE_LINKS, SEED_RELATIONS, VARIABLES

VOCABULARY = Vocabulary(
    (
        Dimension("sector", "Parts of an economy.", (Entity("farming"), Entity("mining"), Entity("trade"))),
        Dimension("region", "Places.", (Entity("north"), Entity("south"))),
    ),
    (
        Metric("Subsidy", ("sector", "region"), "Money that is paid.", "policy", "driver", 9),
        Metric("Output", ("sector",), "What is made.", "production", "outcome", 7),
        Metric("Price", ("sector",), "What it costs.", "market", "driver", 5),
        Metric("Welfare", ("region",), "How people fare.", "end", "terminal", 3),
    ),
)
METRICS = metrics_table(VOCABULARY.metrics)


def chunks_table(documents: dict[str, list[str]]) -> pa.Table:
    """Chunks of documents whose text is the chunks joined with one space; ids are `<document>.<position>`."""
    rows = []
    for document, texts in documents.items():
        start = 0
        for position, text in enumerate(texts):
            end = start + len(text)
            rows.append((f"{document}.{position}", document, position, start, end, text, len(text.split())))
            start = end + 1
    return pa.Table.from_pylist([dict(zip(CHUNKS.names, row, strict=True)) for row in rows], schema=CHUNKS)


def documents_table(documents: dict[str, list[str]]) -> pa.Table:
    rows = []
    for name, texts in documents.items():
        text = " ".join(texts)
        rows.append((name, f"{name}.txt", [], "text/plain", text, len(text), len(text.split())))
    return pa.Table.from_pylist([dict(zip(DOCUMENTS.names, row, strict=True)) for row in rows], schema=DOCUMENTS)


def relation(source: str, target: str, quote: str = "x causes y", **values: object) -> dict[str, object]:
    """A row of SEED_RELATIONS in chunk `d.0`, with the quote at the document's beginning unless said otherwise."""
    start = int(str(values.pop("start", 0)))
    document = str(values.pop("document_id", "d"))
    row: dict[str, object] = {
        "source": source,
        "target": target,
        "mechanism": "it does",
        "sign": "+",
        "confidence": 0.5,
        "chunk_id": f"{document}.0",
        "document_id": document,
        "start": start,
        "end": start + len(quote),
        "quote": quote,
    }
    return row | values


def relations_table(*rows: dict[str, object]) -> pa.Table:
    return pa.Table.from_pylist(list(rows), schema=SEED_RELATIONS)


def variables_table(mentions: dict[str, list[str]], order: dict[str, int]) -> pa.Table:
    """VARIABLES from each variable's chunks."""
    rows = []
    for name, chunk_ids in mentions.items():
        ref = parse_variable(name)
        assert ref is not None
        rows.append(variable_row(ref, VOCABULARY.metric[ref.metric], dict.fromkeys(chunk_ids, 1), order))
    return pa.Table.from_pylist(rows, schema=VARIABLES)


def graph_of(
    *pairs: tuple[str, str], links: list[dict[str, object]] | None = None, extra: tuple[str, ...] = ()
) -> Graph:
    """A graph with these edges; its variables are their ends and `extra`."""
    names = sorted({name for pair in pairs for name in pair} | set(extra))
    edges = seed_edges(relations_table(*(relation(*pair) for pair in pairs)))
    return assemble_graph(
        variables_table({name: ["d.0"] for name in names}, {"d.0": 0}),
        METRICS,
        edges,
        pa.Table.from_pylist(links or [], schema=EVIDENCE_LINKS),
    )


_ONE = {"d": ["x causes y"]}
SNAPSHOT_TABLES = {
    "metrics": METRICS,
    "dimensions": dimensions_table(VOCABULARY.dimensions),
    "documents": documents_table(_ONE),
    "chunks": chunks_table(_ONE),
}
"""What goes into a snapshot beside its graph."""
