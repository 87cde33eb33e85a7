"""Snapshots of a corpus in an object store, which has no rename: an object is there once all of it is.

    <remote>/snapshots/<id>/…              the files of a snapshot; its manifest.json is put last
    <remote>/CURRENT                       the id of the published snapshot, put when all of that is there

A snapshot without manifest.json is none, so readers see the old one or the new one. Snapshots are written, and read, in
a folder of this machine: what never changes once it is there needs to be fetched once.
"""

import json
import os
import shutil
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from upath import UPath

from hcg_pipeline.errors import SnapshotError
from hcg_pipeline.graph.snapshot import KEPT, MANIFEST, STALE_SECONDS, Snapshot, SnapshotStore, file_hash

_POINTER = "CURRENT"


class RemoteSnapshotStore(SnapshotStore):
    """The snapshots of one corpus below `remote`, with copies of those read or written here in the folder `local`."""

    def __init__(self, remote: UPath, local: Path) -> None:
        super().__init__(local)
        self._remote = remote

    def commit(self, staging: Path) -> str:
        """Make a staging folder a snapshot: put its files, the manifest last. Returns the snapshot's id.

        Where the same content is a snapshot already, only its manifest is put again, as the latest.
        """
        manifest = (staging / MANIFEST).read_bytes()
        snapshot_id = str(json.loads(manifest)["snapshot_id"])
        if not self._is_whole(snapshot_id):
            files = [path for path in sorted(staging.rglob("*")) if path.is_file() and path != staging / MANIFEST]
            keys = [self._key(snapshot_id, path.relative_to(staging).as_posix()) for path in files]
            for leftover in self._remote.fs.find(self._key(snapshot_id, "").rstrip("/")):  # of a writer that died
                self._remote.fs.rm_file(leftover)
            self._remote.fs.put([str(path) for path in files], keys)
        self._remote.fs.pipe_file(self._key(snapshot_id, MANIFEST), manifest)
        return super().commit(staging)

    def publish(self, snapshot_id: str) -> None:
        """Point CURRENT at a snapshot, in one step, and remove old ones but for the last few."""
        if not self._is_whole(snapshot_id):
            raise SnapshotError(f"there is no snapshot {snapshot_id} in {self._remote}: build the graph first")
        manifest = self._key(snapshot_id, MANIFEST)
        self._remote.fs.pipe_file(manifest, self._remote.fs.cat_file(manifest))  # the latest, from now on
        self._remote.fs.pipe_file((self._remote / _POINTER).path, f"{snapshot_id}\n".encode("ascii"))
        self._prune_remote(snapshot_id)
        self.open(snapshot_id)
        self._prune(snapshot_id)

    def published_id(self) -> str | None:
        """The id that CURRENT names, or None before the first publication."""
        try:
            return (self._remote / _POINTER).read_bytes().decode("ascii", "replace").strip()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise SnapshotError(
                f"{self._remote} cannot be read ({error}): check the bucket and the AWS_… variables"
            ) from error

    def manifest_of(self, snapshot_id: str) -> dict[str, Any]:
        """What a snapshot's manifest says, without its tables. Raises `SnapshotError` where there is none."""
        try:
            loaded: dict[str, Any] = json.loads(self._remote.fs.cat_file(self._key(snapshot_id, MANIFEST)))
        except FileNotFoundError as error:
            raise SnapshotError(f"snapshot {snapshot_id} is not in {self._remote}: build the graph again") from error
        return loaded

    def open(self, snapshot_id: str) -> Snapshot:
        """The snapshot of that id, fetched if it is not here yet. Raises `SnapshotError` where there is none."""
        place = self._folder(snapshot_id)
        if not (place / MANIFEST).is_file():
            self._fetch(snapshot_id)
        elif not self._is_whole(snapshot_id):  # a copy is no snapshot: a writer would take it for one that is kept
            raise SnapshotError(f"snapshot {snapshot_id} is not in {self._remote}: build the graph again")
        with suppress(FileNotFoundError):
            os.utime(place)  # copies that are not opened any more are the first to go
        return Snapshot(snapshot_id, place, str(self._remote / "snapshots" / snapshot_id))

    def _fetch(self, snapshot_id: str) -> None:
        """Copy a snapshot here, under another name until it is whole."""
        manifest = self.manifest_of(snapshot_id)
        prefix = self._key(snapshot_id, "")
        names = [key.removeprefix(prefix) for key in self._remote.fs.find(prefix.rstrip("/"))]
        staging = self._new_staging()
        try:
            self._remote.fs.get([prefix + name for name in names], [str(staging / name) for name in names])
            wrong = [name for name, known in manifest["files"].items() if file_hash(staging / name) != known]
            if wrong:
                raise SnapshotError(f"{wrong[0]} of {self._remote}/snapshots/{snapshot_id} is damaged: build it again")
            super().commit(staging)
        except FileNotFoundError as error:
            raise SnapshotError(f"snapshot {snapshot_id} was removed while it was read: read it again") from error
        finally:
            shutil.rmtree(staging, ignore_errors=True)
        self._prune(snapshot_id)

    def _key(self, snapshot_id: str, name: str) -> str:
        self._folder(snapshot_id)  # an id that is none is refused
        return f"{(self._remote / 'snapshots' / snapshot_id).path}/{name}"

    def _is_whole(self, snapshot_id: str) -> bool:
        return bool(self._remote.fs.exists(self._key(snapshot_id, MANIFEST)))

    def _prune_remote(self, current: str) -> None:
        """Remove all but the `KEPT` latest snapshots, and what writers that died a week ago put without a manifest."""
        root = (self._remote / "snapshots").path + "/"
        snapshots: dict[str, dict[str, Mapping[str, Any]]] = {}
        for key, info in self._remote.fs.find(root.rstrip("/"), detail=True).items():
            snapshot_id, _, name = key.removeprefix(root).partition("/")
            snapshots.setdefault(snapshot_id, {})[name] = info
        made = {
            one: files[MANIFEST]["LastModified"].timestamp() for one, files in snapshots.items() if MANIFEST in files
        }
        newest = sorted(made, key=lambda one: (one != current, -made[one], one))
        old = time.time() - STALE_SECONDS
        unfinished = [
            one
            for one, files in snapshots.items()
            if one not in made and all(info["LastModified"].timestamp() < old for info in files.values())
        ]
        for one in (*newest[KEPT:], *unfinished):
            for name in sorted(snapshots[one], key=lambda name: name != MANIFEST):  # first what makes it a snapshot
                self._remote.fs.rm_file(f"{root}{one}/{name}")
