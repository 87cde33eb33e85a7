"""The published graph of a corpus, as everyone who asks it opens it."""

import shlex
from dataclasses import dataclass
from typing import Any

from hcg_pipeline.errors import SnapshotError
from hcg_pipeline.graph.snapshot import Snapshot, SnapshotStore
from hcg_pipeline.graph.summary import summarise
from hcg_pipeline.retrieval.index import GraphIndex, open_index
from hcg_pipeline.retrieval.manifest import read_manifest
from resources.embedding import EmbeddingModel
from resources.workspace import Workspace


@dataclass(frozen=True)
class Published:
    """A snapshot and its opened index."""

    snapshot: Snapshot
    index: GraphIndex


def open_snapshot(workspace: Workspace, corpus: str) -> Snapshot:
    """The published snapshot of a corpus. Raises `SnapshotError`, which says how to build one."""
    snapshot = SnapshotStore(workspace.corpus_store(corpus)).current()
    if snapshot is None:
        raise SnapshotError(f"Corpus {corpus!r} has not been built yet: hcg build {shlex.quote(corpus)}")
    return snapshot


def open_published(workspace: Workspace, corpus: str, embedding: EmbeddingModel) -> Published:
    """The published snapshot with its index, questions embedded by the model that made it.

    Raises `SnapshotError`, and `EmbeddingError` where that model is not the one configured.
    """
    snapshot = open_snapshot(workspace, corpus)
    embedder = embedding.embedder_of(read_manifest(snapshot.index).model)
    return Published(snapshot, open_index(snapshot.index, embedder))


def summarise_snapshot(snapshot: Snapshot) -> dict[str, Any]:
    """A snapshot in numbers, as plain data: what `GraphSummary` says, the sizes of its tables, its id and model."""
    manifest = snapshot.manifest
    summary = summarise(snapshot.graph()).as_json()
    summary["metrics_used"] = summary.pop("metrics")
    sizes = {name: manifest["rows"][name] for name in ("documents", "chunks", "dimensions", "metrics")}
    return {
        "snapshot_id": snapshot.snapshot_id,
        **manifest["built_by"],
        "embedding_model": manifest["embedding_model"],
        **sizes,
        **summary,
    }


def built_sizes(workspace: Workspace, corpus: str) -> dict[str, Any]:
    """`corpus`, whether it is `built`, and if so the rows of its published tables (`variables` are its nodes)."""
    snapshot = SnapshotStore(workspace.corpus_store(corpus)).current()
    if snapshot is None:
        return {"corpus": corpus, "built": False}
    rows = snapshot.manifest["rows"]
    return {"corpus": corpus, "built": True, **rows, "variables": rows["nodes"], "snapshot_id": snapshot.snapshot_id}
