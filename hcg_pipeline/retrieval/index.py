"""The index of a published graph: written once as LanceDB tables, opened as arrays for whole batches of questions."""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import pyarrow as pa
from scipy import sparse

from hcg_pipeline.embedding.embedder import Embedder, Vectors
from hcg_pipeline.errors import SnapshotError
from hcg_pipeline.retrieval import lance_tables as lance
from hcg_pipeline.retrieval.calibration import evidence_threshold, match_threshold
from hcg_pipeline.retrieval.chunk_arrays import ChunkArrays, cut_windows
from hcg_pipeline.retrieval.graph_arrays import GraphArrays, Ints, graph_arrays
from hcg_pipeline.retrieval.manifest import IndexManifest, check_embedder, fingerprint, read_manifest, write_manifest
from hcg_pipeline.retrieval.passage_arrays import PassageArrays
from hcg_pipeline.retrieval.passages import cut_passages, passages_of_spans
from hcg_pipeline.retrieval.terms import TermMatrix, count_terms, term_matrix
from hcg_pipeline.retrieval.texts import edge_text, variable_text

# The windows of NaiveRAG (paper, Section 4).
WINDOW_WORDS, OVERLAP_WORDS = 1200, 200


@dataclass(frozen=True)
class GraphIndex:
    """An opened index. The passages of the edge in row r are `edge_passages[edge_pointers[r]:edge_pointers[r + 1]]`."""

    folder: Path
    manifest: IndexManifest
    embedder: Embedder
    graph: GraphArrays
    variable_vectors: Vectors
    passages: PassageArrays
    paths: dict[str, str]
    edge_pointers: Ints
    edge_passages: Ints
    variable_pointers: Ints
    variable_passages: Ints

    @cached_property
    def edges(self) -> pa.Table:
        """The edges with their words: read when first needed."""
        return lance.read_table(lance.connect(self.folder), "edges", ["row", "edge_id", "source", "target", "text"])

    @cached_property
    def chunks(self) -> ChunkArrays:
        """The chunks, for `hybrid`: read when first needed."""
        table = lance.read_table(lance.connect(self.folder), "chunks")
        return ChunkArrays(
            table=table.select(["chunk_id", "document_id", "start", "end", "text"]),
            paths=self.paths,
            vectors=lance.vectors_of(table, self.manifest.dimension),
            words=table["words"].to_numpy().astype(np.int64),
        )

    @cached_property
    def windows(self) -> ChunkArrays:
        """The documents cut for `naive`: cut and embedded when first needed."""
        return cut_windows(self.documents, WINDOW_WORDS, OVERLAP_WORDS, self.embedder)

    @cached_property
    def documents(self) -> pa.Table:
        """The documents with their texts, by path: read when first needed."""
        return lance.read_table(lance.connect(self.folder), "documents")


def build_index(
    folder: Path,
    chunks: pa.Table,
    embeddings: pa.Table,
    nodes: pa.Table,
    edges: pa.Table,
    evidence: pa.Table,
    documents: pa.Table,
    embedder: Embedder,
) -> IndexManifest:
    """Writes the index of a graph (CHUNKS, embeddings, NODES, EDGES, EVIDENCE_LINKS, DOCUMENTS) into an empty folder.

    Tables: `documents`, `chunks`, `passages`, `variables`, `edges` (all but the first with vectors and full-text
    index) and `terms`. The manifest is written last; a folder without one is no index. Raises `EmbeddingError`, and
    `SnapshotError` if tables do not fit together.
    """
    documents = documents.select(["document_id", "path", "text"]).sort_by("path")
    place = {name: number for number, name in enumerate(documents["document_id"].to_pylist())}
    chunks = _in_order(chunks, place)
    passages = cut_passages(chunks)
    passage_vectors = embedder.embed(passages["text"].to_pylist())
    terms = count_terms(passages["text"].to_pylist())
    variable_texts = [
        variable_text(*row) for row in zip(*(nodes[name].to_pylist() for name in ("metric", "entities")), strict=True)
    ]
    edge_texts = [
        edge_text(*row)
        for row in zip(*(edges[name].to_pylist() for name in ("source", "target", "mechanism")), strict=True)
    ]
    variable_vectors, edge_vectors = embedder.embed(variable_texts), embedder.embed(edge_texts)
    chunk_vectors = _chunk_vectors(chunks, embeddings, embedder.dimension)

    folder.mkdir(parents=True, exist_ok=True)
    connection = lance.connect(folder)
    columns = {
        "documents": (documents, None, None),
        "chunks": (chunks, chunk_vectors, "text"),
        "passages": (_with_terms(passages, terms), passage_vectors, "text"),
        "variables": (
            nodes.append_column("text", pa.array(variable_texts, type=pa.string())).append_column(
                "passages", _passages_of_variables(nodes, passages)
            ),
            variable_vectors,
            "text",
        ),
        "edges": (
            edges.append_column("text", pa.array(edge_texts, type=pa.string())).append_column(
                "passages", _passages_of_edges(edges, evidence, passages)
            ),
            edge_vectors,
            "text",
        ),
        "terms": (pa.table({"stem": pa.array(terms.vocabulary, type=pa.string())}), None, None),
    }
    for name, (table, vectors, text) in columns.items():
        whole = table if vectors is None else table.append_column("vector", lance.vector_column(vectors))
        lance.write_table(connection, name, lance.with_rows(whole), text)
    manifest = IndexManifest(
        model=embedder.model,
        dimension=embedder.dimension,
        documents=documents.num_rows,
        chunks=chunks.num_rows,
        passages=passages.num_rows,
        variables=nodes.num_rows,
        edges=edges.num_rows,
        evidence=evidence.num_rows,
        tau_min=match_threshold(embedder.model, passage_vectors, variable_vectors),
        tau_e=evidence_threshold(embedder.model, edge_vectors, chunk_vectors),
        fingerprint=fingerprint(
            embedder.model, *(_serialised(table) for table in (documents, chunks, nodes, edges, evidence))
        ),
    )
    write_manifest(folder, manifest)
    return manifest


def open_index(folder: Path, embedder: Embedder) -> GraphIndex:
    """Reads an index into arrays once.

    Raises `EmbeddingError` if its vectors are another model's, `SnapshotError` if it is missing, unfinished or damaged.
    """
    manifest = read_manifest(folder)
    check_embedder(manifest, embedder)
    connection = lance.connect(folder)
    documents = lance.read_table(connection, "documents", ["row", "document_id", "path"])
    passages = lance.read_table(connection, "passages")
    variables = lance.read_table(connection, "variables", ["row", "variable", "metric", "role", "passages", "vector"])
    edges = lance.read_table(connection, "edges", ["row", "source", "target", "confidence", "passages"])
    names = variables["variable"].to_pylist()
    place = {name: number for number, name in enumerate(names)}
    paths = dict(zip(documents["document_id"].to_pylist(), documents["path"].to_pylist(), strict=True))
    order = {name: number for number, name in enumerate(paths)}
    try:
        ends = [
            (place[s], place[t]) for s, t in zip(edges["source"].to_pylist(), edges["target"].to_pylist(), strict=True)
        ]
    except KeyError as error:
        raise SnapshotError(f"{folder}: an edge names {error}, which is no node. Build the corpus again.") from error
    vocabulary = lance.read_table(connection, "terms")["stem"].to_pylist()
    pointers, columns = lance.lists_of(passages, "terms")
    _, counts = lance.lists_of(passages, "counts")
    shape = (passages.num_rows, len(vocabulary))
    edge_pointers, edge_passages = lance.lists_of(edges, "passages")
    variable_pointers, variable_passages = lance.lists_of(variables, "passages")
    return GraphIndex(
        folder=folder,
        manifest=manifest,
        embedder=embedder,
        graph=graph_arrays(
            names,
            variables["metric"].to_pylist(),
            variables["role"].to_pylist(),
            ends,
            edges["confidence"].to_numpy(),
        ),
        variable_vectors=lance.vectors_of(variables, manifest.dimension),
        passages=PassageArrays(
            table=passages.select(["chunk_id", "document_id", "start", "end", "text"]),
            vectors=lance.vectors_of(passages, manifest.dimension),
            terms=term_matrix(vocabulary, sparse.csr_matrix((counts, columns, pointers), shape=shape)),
            words=passages["words"].to_numpy().astype(np.int64),
            document=np.array([order[name] for name in passages["document_id"].to_pylist()], dtype=np.int64),
        ),
        paths=paths,
        edge_pointers=edge_pointers,
        edge_passages=edge_passages.astype(np.int64),
        variable_pointers=variable_pointers,
        variable_passages=variable_passages.astype(np.int64),
    )


def _in_order(chunks: pa.Table, place: dict[str, int]) -> pa.Table:
    """The chunks by path of their document and position."""
    try:
        document = [place[name] for name in chunks["document_id"].to_pylist()]
    except KeyError as error:
        raise SnapshotError(
            f"a chunk names the document {error}, which is not there. Build the corpus again."
        ) from error
    return chunks.take(np.lexsort((chunks["position"].to_numpy(), np.array(document, dtype=np.int64))))


def _chunk_vectors(chunks: pa.Table, embeddings: pa.Table, dimension: int) -> Vectors:
    place = {name: row for row, name in enumerate(embeddings["chunk_id"].to_pylist())}
    try:
        rows = np.array([place[name] for name in chunks["chunk_id"].to_pylist()], dtype=np.int64)
    except KeyError as error:
        raise SnapshotError(f"chunk {error} has no vector. Build the corpus again: hcg build CORPUS.") from error
    return lance.vectors_of(embeddings, dimension)[rows]


def _with_terms(passages: pa.Table, terms: TermMatrix) -> pa.Table:
    pointers = pa.array(terms.counts.indptr, type=pa.int32())
    for name, values, kind in (
        ("terms", terms.counts.indices, pa.int32()),
        ("counts", terms.counts.data, pa.float32()),
    ):
        passages = passages.append_column(name, pa.ListArray.from_arrays(pointers, pa.array(values, type=kind)))
    return passages


def _passages_of_edges(edges: pa.Table, evidence: pa.Table, passages: pa.Table) -> pa.ListArray:
    """For each edge the rows of the passages that its evidence lies in, each once, ascending."""
    rows = {name: row for row, name in enumerate(edges["edge_id"].to_pylist())}
    try:
        owner = np.array([rows[name] for name in evidence["edge_id"].to_pylist()], dtype=np.int64)
    except KeyError as error:
        raise SnapshotError(f"evidence names the edge {error}, which is not there. Build the corpus again.") from error
    spans, found = passages_of_spans(
        passages, evidence["document_id"].to_pylist(), evidence["start"].to_numpy(), evidence["end"].to_numpy()
    )
    return _lists(owner[spans], found, edges.num_rows)


def _passages_of_variables(nodes: pa.Table, passages: pa.Table) -> pa.ListArray:
    """For each variable the rows of the passages of the chunks that speak of it."""
    by_chunk: dict[str, list[int]] = {}
    for row, chunk_id in enumerate(passages["chunk_id"].to_pylist()):
        by_chunk.setdefault(chunk_id, []).append(row)
    pairs = [
        (node, row)
        for node, names in enumerate(nodes["chunk_ids"].to_pylist())
        for name in names or ()
        for row in by_chunk.get(name, ())
    ]
    owners, rows = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
    return _lists(owners, rows, nodes.num_rows)


def _lists(owners: Ints, values: Ints, size: int) -> pa.ListArray:
    pairs = np.unique(np.stack([owners, values], axis=1), axis=0)
    pointers = np.concatenate(([0], np.cumsum(np.bincount(pairs[:, 0], minlength=size))))
    return pa.ListArray.from_arrays(pa.array(pointers, type=pa.int32()), pa.array(pairs[:, 1], type=pa.int64()))


def _serialised(table: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table.combine_chunks())
    return bytes(sink.getvalue())
