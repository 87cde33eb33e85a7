"""The index holds what the graph holds, opens as arrays, and refuses what does not belong to it."""

import json
import shutil

import lancedb
import numpy as np
import pytest
from conftest import DOCUMENTS_TEXT, EDGE_ROWS, VARIABLES, FixedEmbedder

from hcg_pipeline.errors import EmbeddingError, SnapshotError
from hcg_pipeline.retrieval.index import build_index, open_index
from hcg_pipeline.retrieval.index_differences import index_differences


def test_the_manifest_says_what_is_in_it(built, wordllama):
    folder, manifest = built
    assert (manifest.model, manifest.dimension) == (wordllama.model, 256)
    assert (manifest.documents, manifest.chunks, manifest.variables) == (3, 3, 6)
    assert (manifest.edges, manifest.evidence) == (4, 4)
    assert 0 < manifest.tau_min < 1
    assert json.loads((folder / "manifest.json").read_text()) == manifest.model_dump()


def test_every_passage_stands_in_its_document(index):
    texts = {f"d{number}": text for number, text in enumerate(DOCUMENTS_TEXT.values())}
    rows = index.passages.table.to_pylist()
    assert {row["document_id"] for row in rows} == set(texts)
    for row in rows:
        assert texts[row["document_id"]][row["start"] : row["end"]] == row["text"]


def test_the_graph_comes_back_as_it_was(index):
    graph = index.graph
    assert graph.names == tuple(name for name, _, _ in VARIABLES)
    pairs = {(int(s), int(t)) for s, t in zip(graph.source, graph.target, strict=True)}
    assert pairs == {(source, target) for source, target, _, _ in EDGE_ROWS}
    assert graph.endpoint.tolist() == [role != "driver" for _, _, role in VARIABLES]
    np.testing.assert_allclose(graph.confidence, 0.9)


def test_an_edge_finds_the_passage_of_its_quote(index):
    texts = index.passages.table["text"].to_pylist()
    for row, (_, _, quote, _) in enumerate(EDGE_ROWS):
        found = index.edge_passages[index.edge_pointers[row] : index.edge_pointers[row + 1]]
        assert [quote in texts[passage] for passage in found] == [True]


def test_lancedb_searches_text_and_vectors(built, wordllama):
    database = lancedb.connect(str(built[0]))
    found = database.open_table("chunks").search("compost earthworms", query_type="fts").limit(1).to_list()
    assert found[0]["chunk_id"] == "c0"
    query = wordllama.embed(["yeast growth in dough"])[0]
    assert database.open_table("variables").search(query).limit(1).to_list()[0]["variable"] == "YeastGrowth(dough)"
    assert database.open_table("edges").search("nitrogen", query_type="fts").limit(5).to_list()
    assert {"vector", "text"} <= set(database.open_table("edges").schema.names)


def test_what_only_the_graph_or_only_the_index_holds_is_found(built, tables, tmp_path):
    folder = tmp_path / "index"
    shutil.copytree(built[0], folder)
    parts = (tables.chunks, tables.nodes, tables.edges)
    assert index_differences(folder, *parts) == []
    lancedb.connect(str(folder)).open_table("variables").delete("variable = 'YeastGrowth(dough)'")
    assert index_differences(folder, tables.chunks.slice(1), tables.nodes, tables.edges) == [
        {"table": "chunks", "row": tables.chunks["chunk_id"][0].as_py(), "only": "index"},
        {"table": "variables", "row": "YeastGrowth(dough)", "only": "graph"},
    ]
    lancedb.connect(str(folder)).drop_table("edges")
    with pytest.raises(SnapshotError, match="'edges'"):
        index_differences(folder, *parts)


def test_another_model_is_refused_with_the_way_out(built):
    with pytest.raises(EmbeddingError, match=r"wordllama.*other-model.*hcg build"):
        open_index(built[0], FixedEmbedder())


def test_no_index_and_an_unfinished_one_are_refused(tmp_path, wordllama):
    with pytest.raises(SnapshotError, match="no finished index"):
        open_index(tmp_path / "nowhere", wordllama)
    (tmp_path / "manifest.json").write_text('{"format": 1')
    with pytest.raises(SnapshotError, match=r"manifest\.json"):
        open_index(tmp_path, wordllama)


def test_a_lost_table_is_reported(tables, wordllama, tmp_path, built):
    import shutil

    shutil.copytree(built[0], tmp_path / "copy")
    shutil.rmtree(tmp_path / "copy" / "edges.lance")
    with pytest.raises(SnapshotError, match="table 'edges'"):
        open_index(tmp_path / "copy", wordllama)


def test_the_same_graph_gives_the_same_fingerprint_and_another_does_not(tables, wordllama, tmp_path, built):
    def manifest(name, edges, evidence):
        return build_index(
            tmp_path / name,
            tables.chunks,
            tables.embeddings,
            tables.nodes,
            edges,
            evidence,
            tables.documents,
            wordllama,
        )

    same = manifest("same", tables.edges, tables.evidence)
    assert same == built[1]
    fewer = manifest("fewer", tables.edges.slice(0, 3), tables.evidence.slice(0, 3))
    assert fewer.fingerprint != same.fingerprint
    assert fewer.edges == 3


def test_a_graph_without_edges_or_variables_can_be_indexed(tables, wordllama, tmp_path):
    manifest = build_index(
        tmp_path / "empty", tables.chunks, tables.embeddings, tables.nodes.slice(0, 0), tables.edges.slice(0, 0),
        tables.evidence.slice(0, 0), tables.documents, wordllama,
    )  # fmt: skip
    assert (manifest.variables, manifest.edges, manifest.tau_min, manifest.tau_e) == (0, 0, 0.35, 0.78)
    assert open_index(tmp_path / "empty", wordllama).graph.size == 0


def test_tables_that_do_not_fit_together_are_refused(tables, wordllama, tmp_path):
    with pytest.raises(SnapshotError, match="c1"):
        build_index(
            tmp_path / "x", tables.chunks, tables.embeddings.slice(0, 1), tables.nodes, tables.edges, tables.evidence,
            tables.documents, wordllama,
        )  # fmt: skip
    with pytest.raises(SnapshotError, match="e3"):
        build_index(
            tmp_path / "y", tables.chunks, tables.embeddings, tables.nodes, tables.edges.slice(0, 3), tables.evidence,
            tables.documents, wordllama,
        )  # fmt: skip
