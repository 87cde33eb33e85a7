"""The published graph of a corpus, as everyone who asks it opens it."""

import shlex
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from hcg_pipeline.answering.answers import write_answers_jsonl
from hcg_pipeline.any_path import AnyPath
from hcg_pipeline.errors import SnapshotError
from hcg_pipeline.graph.snapshot import Snapshot
from hcg_pipeline.graph.summary import summarise
from hcg_pipeline.retrieval.index import GraphIndex, open_index
from hcg_pipeline.retrieval.manifest import read_manifest
from resources.embedding import EmbeddingModel
from resources.ledgers import RunCalls
from resources.table_files import replace_bytes
from resources.workspace import Workspace


@dataclass(frozen=True)
class Published:
    """A snapshot and its opened index."""

    snapshot: Snapshot
    index: GraphIndex


def open_snapshot(workspace: Workspace, corpus: str) -> Snapshot:
    """The published snapshot of a corpus. Raises `SnapshotError`, which says how to build one."""
    snapshot = workspace.snapshots(corpus).current()
    if snapshot is None:
        raise SnapshotError(f"Corpus {corpus!r} has not been built yet: hcg build {shlex.quote(corpus)}")
    return snapshot


def open_published(
    workspace: Workspace, corpus: str, embedding: EmbeddingModel, calls: RunCalls | None = None
) -> Published:
    """The published snapshot with its index, questions embedded by the model that made it.

    `calls` takes note of the calls of an embedder that makes any. Raises `SnapshotError`, and `EmbeddingError` where
    that model is not the one configured.
    """
    snapshot = open_snapshot(workspace, corpus)
    embedder = embedding.embedder_of(read_manifest(snapshot.index).model)
    if calls is not None and embedder.makes_calls:
        embedder = calls.of(embedder)
    return Published(snapshot, open_index(snapshot.index, embedder))


def keep_answers(answers: pa.Table, file: AnyPath) -> None:
    """Write ANSWERS as one JSON object a line, as `write_answers_jsonl` says, to this machine or to S3."""
    if isinstance(file, Path):
        write_answers_jsonl(answers, file)
        return
    with tempfile.TemporaryDirectory() as folder:
        written = Path(folder) / file.name
        write_answers_jsonl(answers, written)
        replace_bytes(file, written.read_bytes())


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
    store = workspace.snapshots(corpus)
    published = store.published_id()
    if published is None:
        return {"corpus": corpus, "built": False}
    rows = store.manifest_of(published)["rows"]
    return {"corpus": corpus, "built": True, **rows, "variables": rows["nodes"], "snapshot_id": published}
