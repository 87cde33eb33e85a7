"""The published graph on disk. Readers see the old snapshot or the new one, never a mix and never half of one.

    <root>/CURRENT                     the id of the published snapshot
    <root>/snapshots/<id>/             one snapshot; never changed once it is there
    <root>/snapshots/.staging-…/       one being written

A snapshot's id is the hash of its tables, its specification and the embedding model of its index, so that the same
content has the same id wherever it is built. Nothing in its files but the index (LanceDB's own) depends on the clock.
"""

import json
import os
import re
import shutil
import socket
import time
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from hcg_pipeline.errors import SnapshotError
from hcg_pipeline.graph.exports import graphml, node_link_json
from hcg_pipeline.graph.published import Graph
from hcg_pipeline.specification.outcomes import outcomes_of, render_outcomes
from hcg_pipeline.specification.vocabulary_tables import to_vocabulary

FORMAT = 1
KEPT = 4
INDEX = "index"
MANIFEST = "manifest.json"
_ID = re.compile(r"s[0-9a-f]{16}")
_STAGING = ".staging-"
STALE_SECONDS = 7 * 24 * 3600
_TABLES = ("nodes", "edges", "evidence", "metrics", "dimensions", "documents", "chunks")


@dataclass(frozen=True)
class Snapshot:
    """One snapshot, read on demand from a folder of this machine. `kept_at`: where it is kept, if elsewhere."""

    snapshot_id: str
    folder: Path
    kept_at: str = ""

    @property
    def place(self) -> str:
        """Where it is kept, for people: its folder, or a URL."""
        return self.kept_at or str(self.folder)

    @property
    def index(self) -> Path:
        """The folder of the LanceDB index."""
        return self.folder / INDEX

    @property
    def manifest(self) -> dict[str, Any]:
        """What `manifest.json` says: format, id, backend and tier, embedding model, row counts, file hashes."""
        loaded: dict[str, Any] = json.loads((self.folder / MANIFEST).read_text(encoding="utf-8"))
        return loaded

    @property
    def spec_text(self) -> str:
        """The text of `graph_spec.yaml`."""
        return (self.folder / "graph_spec.yaml").read_text(encoding="utf-8")

    def table(self, name: str) -> pa.Table:
        """One of nodes, edges, evidence, metrics, dimensions, documents, chunks. Raises `SnapshotError` otherwise."""
        if name not in _TABLES:
            raise SnapshotError(f"a snapshot has no table {name!r}: choose one of {', '.join(_TABLES)}")
        try:
            return pq.read_table(self.folder / f"{name}.parquet")
        except (OSError, pa.ArrowException) as error:
            raise SnapshotError(
                f"{self.folder / name}.parquet cannot be read ({error}): build the graph again"
            ) from error

    def graph(self) -> Graph:
        """Nodes, edges and evidence."""
        return Graph(self.table("nodes"), self.table("edges"), self.table("evidence"))


class SnapshotStore:
    """The snapshots of one corpus under `root`. One process writes at a time; any number read."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._snapshots = root / "snapshots"

    def staging(
        self,
        graph: Graph,
        tables: Mapping[str, pa.Table],
        spec_text: str,
        embedding_model: str,
        built_by: Mapping[str, str] | None = None,
    ) -> Path:
        """Write everything but the index into a new staging folder, and return it.

        `tables` are metrics, dimensions, documents, chunks; `built_by` names the backend and the tier.
        The index goes into `<folder>/index`; then `commit`.
        """
        contents = {"nodes": graph.nodes, "edges": graph.edges, "evidence": graph.evidence, **tables}
        if sorted(contents) != sorted(_TABLES):
            raise SnapshotError(f"a snapshot consists of {', '.join(_TABLES)}; got {', '.join(sorted(contents))}")
        folder = self._new_staging()
        for name in _TABLES:
            pq.write_table(contents[name], folder / f"{name}.parquet", compression="zstd", version="2.6")
        (folder / "graph_spec.yaml").write_text(spec_text, encoding="utf-8", newline="\n")
        roles = outcomes_of(to_vocabulary(tables["dimensions"], tables["metrics"]).metrics)
        (folder / "outcomes.yaml").write_text(render_outcomes(roles), encoding="utf-8", newline="\n")
        (folder / "graph.graphml").write_text(graphml(graph), encoding="utf-8", newline="\n")
        (folder / "graph.json").write_text(node_link_json(graph), encoding="utf-8", newline="\n")
        hashes = {file.name: file_hash(file) for file in sorted(folder.iterdir())}
        identity = json.dumps([FORMAT, embedding_model, dict(built_by or {}), hashes], sort_keys=True).encode()
        manifest = {
            "format": FORMAT,
            "snapshot_id": "s" + blake2b(identity, digest_size=8).hexdigest(),
            "built_by": dict(built_by or {}),
            "embedding_model": embedding_model,
            "rows": {name: contents[name].num_rows for name in _TABLES},
            "files": hashes,
        }
        (folder / MANIFEST).write_text(json.dumps(manifest, indent=1, ensure_ascii=False) + "\n", "utf-8")
        return folder

    def commit(self, staging: Path) -> str:
        """Make a staging folder a snapshot: flush it to disk, then rename it. Returns the snapshot's id.

        Where the same content is a snapshot already, that one stays and the staging folder goes.
        """
        snapshot_id = str(json.loads((staging / MANIFEST).read_text(encoding="utf-8"))["snapshot_id"])
        place = self._folder(snapshot_id)
        if not place.is_dir():
            _flush(staging)
            try:
                staging.rename(place)
            except OSError as error:
                if not place.is_dir():
                    raise SnapshotError(
                        f"{place} cannot be written ({error}): free its disk and build again"
                    ) from error
            _flush_folder(self._snapshots)
        shutil.rmtree(staging, ignore_errors=True)
        return snapshot_id

    def write(
        self,
        graph: Graph,
        tables: Mapping[str, pa.Table],
        spec_text: str,
        embedding_model: str = "",
        built_by: Mapping[str, str] | None = None,
    ) -> str:
        """A snapshot without an index: `staging`, then `commit`. Returns its id."""
        return self.commit(self.staging(graph, tables, spec_text, embedding_model, built_by))

    def publish(self, snapshot_id: str) -> None:
        """Point CURRENT at a snapshot, in one step, and remove old ones but for the last few."""
        folder = self._folder(snapshot_id)
        if not folder.is_dir():
            raise SnapshotError(f"there is no snapshot {snapshot_id} in {self._snapshots}: build the graph first")
        os.utime(folder)
        pointer = self.root / "CURRENT"
        temporary = self.root / f".CURRENT-{os.getpid()}-{uuid.uuid4().hex}"
        with temporary.open("w", encoding="ascii") as file:
            file.write(snapshot_id + "\n")
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(pointer)
        _flush_folder(self.root)
        self._prune(snapshot_id)

    def published_id(self) -> str | None:
        """The id that CURRENT names, or None before the first publication."""
        try:
            return (self.root / "CURRENT").read_text(encoding="ascii", errors="replace").strip()
        except FileNotFoundError:
            return None

    def current(self) -> Snapshot | None:
        """The published snapshot, or None before the first. Raises `SnapshotError` where CURRENT points nowhere."""
        named = self.published_id()
        while named is not None:
            try:
                return self.open(named)
            except SnapshotError:
                now = self.published_id()
                if now == named:
                    raise
                named = now  # others were published, and this one removed, since CURRENT was read
        return None

    def manifest_of(self, snapshot_id: str) -> dict[str, Any]:
        """What a snapshot's manifest says, without its tables. Raises `SnapshotError` where there is none."""
        return self.open(snapshot_id).manifest

    def open(self, snapshot_id: str) -> Snapshot:
        """The snapshot of that id, published or not. Raises `SnapshotError` where there is none."""
        folder = self._folder(snapshot_id)
        if not (folder / MANIFEST).is_file():
            raise SnapshotError(f"snapshot {snapshot_id} is not in {self._snapshots}: build the graph again")
        return Snapshot(snapshot_id, folder)

    def _folder(self, snapshot_id: str) -> Path:
        if not _ID.fullmatch(snapshot_id):
            raise SnapshotError(
                f"{snapshot_id[:40]!r} is no snapshot id ('s' and 16 hex digits): build the graph again"
            )
        return self._snapshots / snapshot_id

    def _new_staging(self) -> Path:
        """A new staging folder. Those that dead processes left behind are removed first."""
        self._snapshots.mkdir(parents=True, exist_ok=True)
        self._clear_stale()
        folder = self._snapshots / f"{_STAGING}{socket.gethostname()}-{os.getpid()}-{uuid.uuid4().hex}"
        folder.mkdir()
        return folder

    def _prune(self, current: str) -> None:
        """Remove all but the `KEPT` last published, so that a reader of a recent one is not cut off."""
        folders = [folder for folder in self._snapshots.iterdir() if _ID.fullmatch(folder.name)]
        newest = sorted(folders, key=lambda folder: (folder.name != current, -folder.stat().st_mtime_ns, folder.name))
        for folder in newest[KEPT:]:
            doomed = folder.with_name(f"{_STAGING}{socket.gethostname()}-{os.getpid()}-{folder.name}")
            folder.rename(doomed)
            shutil.rmtree(doomed, ignore_errors=True)

    def _clear_stale(self) -> None:
        for folder in self._snapshots.glob(f"{_STAGING}*"):
            host, _, rest = folder.name.removeprefix(_STAGING).rpartition("-")[0].rpartition("-")
            dead = host == socket.gethostname() and rest.isdecimal() and not _alive(int(rest))
            if dead or time.time() - folder.stat().st_mtime > STALE_SECONDS:
                shutil.rmtree(folder, ignore_errors=True)


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def file_hash(file: Path) -> str:
    """What the manifest says of one of a snapshot's files: 32 hex digits."""
    return blake2b(file.read_bytes(), digest_size=16).hexdigest()


def _flush(folder: Path) -> None:
    for place, _, files in os.walk(folder):
        for name in files:
            with (Path(place) / name).open("rb") as file:
                os.fsync(file.fileno())
        _flush_folder(Path(place))


def _flush_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
