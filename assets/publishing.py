"""Make a built graph the one that readers see, together with its index."""

import json
import shutil

import pyarrow as pa

from hcg_pipeline.embedding.embedder import Embedder
from hcg_pipeline.errors import SnapshotError
from hcg_pipeline.graph.snapshot import INDEX, Snapshot, SnapshotStore, file_hash
from hcg_pipeline.retrieval.index import build_index
from hcg_pipeline.retrieval.manifest import read_manifest


def publish_with_index(store: SnapshotStore, built: Snapshot, embeddings: pa.Table, embedder: Embedder) -> Snapshot:
    """Publish `built` with an index by `embedder`; where the same graph has such an index already, that one is kept.

    Raises `SnapshotError`, `EmbeddingError`. Until the pointer moves, readers see the snapshot before.
    """
    published = store.current()
    if published is not None and _same(published, built, embedder.model) and _is_indexed(store, published.snapshot_id):
        store.publish(published.snapshot_id)
        return published
    graph = built.graph()
    tables = {name: built.table(name) for name in ("metrics", "dimensions", "documents", "chunks")}
    staging = store.staging(graph, tables, built.spec_text, embedder.model, built.manifest["built_by"])
    try:
        if not _is_indexed(store, json.loads((staging / "manifest.json").read_text(encoding="utf-8"))["snapshot_id"]):
            build_index(
                staging / INDEX,
                tables["chunks"],
                embeddings,
                graph.nodes,
                graph.edges,
                graph.evidence,
                tables["documents"],
                embedder,
            )
        snapshot_id = store.commit(staging)
    finally:
        shutil.rmtree(staging, ignore_errors=True)
    store.publish(snapshot_id)
    return store.open(snapshot_id)


def _same(published: Snapshot, built: Snapshot, model: str) -> bool:
    """Whether the published snapshot is the graph that was built, for that embedding model, and whole on the disk."""
    there, new = published.manifest, built.manifest
    if there["embedding_model"] != model or any(there[key] != new[key] for key in ("format", "built_by", "files")):
        return False
    files = {name: published.folder / name for name in there["files"]}
    return all(file.is_file() and file_hash(file) == there["files"][name] for name, file in files.items())


def _is_indexed(store: SnapshotStore, snapshot_id: str) -> bool:
    """Whether that snapshot is there with a finished index."""
    try:
        read_manifest(store.open(snapshot_id).index)
    except SnapshotError:
        return False
    return True
