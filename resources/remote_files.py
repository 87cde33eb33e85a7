"""Files below a prefix of an object store: which there are, and copies of them on this machine."""

import hashlib
import os
import secrets
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from upath import UPath

from hcg_pipeline.any_path import AnyPath
from hcg_pipeline.errors import HcgError
from resources.places import is_remote

_AT_ONCE = 64
"""Files that are asked for together."""
_UNUSED_SECONDS = 24 * 3600.0


class StorageError(HcgError):
    """An object store cannot be read: no such bucket, no keys, no connection."""


@dataclass(frozen=True, slots=True)
class RemoteFile:
    """One object: its name below the folder, where it lies, its bytes, and the tag that changes with its content."""

    name: str
    key: str
    size: int
    tag: str


def list_files(folder: AnyPath) -> dict[str, RemoteFile]:
    """Every object below a prefix, by its '/'-separated name, sorted; one request for each thousand of them.

    Keys that end in '/', which some tools write to show a folder, are left out. Raises `StorageError`.
    """
    place = _remote(folder)
    with _speaking_of(folder):
        found = place.fs.find(place.path, detail=True)
    start = len(place.path.rstrip("/")) + 1
    names = ((info["name"][start:], info) for info in found.values())
    return {
        name: RemoteFile(name, info["name"], int(info["size"]), str(info.get("ETag") or info.get("LastModified")))
        for name, info in sorted(names, key=lambda pair: pair[0])
        if name and not name.endswith("/")
    }


def list_folders(folder: AnyPath) -> list[str]:
    """The first parts of the keys below a prefix that are followed by '/', sorted. Raises `StorageError`."""
    place = _remote(folder)
    with _speaking_of(folder):
        try:
            found = place.fs.ls(place.path, detail=True)
        except FileNotFoundError:
            if place.fs.exists(place.path.partition("/")[0]):
                return []  # a prefix that nothing was put under yet
            raise
    return sorted(info["name"].rpartition("/")[2] for info in found if info["type"] == "directory")


class Copies:
    """Copies of objects in a folder of this machine, each kept under a name of its key and tag, so never out of date.

    One that nobody has asked for in a day is removed. Any number of processes may share the folder.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def path(self, file: RemoteFile) -> Path:
        """Where the copy of an object is, or would be."""
        digest = hashlib.blake2b(f"{file.key}\0{file.tag}\0{file.size}".encode(), digest_size=16).hexdigest()
        return self._folder / digest[:2] / digest

    def fetch(self, folder: AnyPath, files: Sequence[RemoteFile]) -> list[RemoteFile]:
        """Make sure of a copy of each. Returns those that are gone, or have another content since they were listed.

        Copies that are there are taken; the rest is asked for 64 at a time. Raises `StorageError`.
        """
        place = _remote(folder)
        missing = [file for file in files if not self._is_there(file)]
        lost: list[RemoteFile] = []
        with _speaking_of(folder):
            for at in range(0, len(missing), _AT_ONCE):
                batch = missing[at : at + _AT_ONCE]
                try:
                    lost += self._take(place, batch)
                except FileNotFoundError:  # one of them is gone: the others are asked for alone
                    for file in batch:
                        try:
                            lost += self._take(place, [file])
                        except FileNotFoundError:
                            lost.append(file)
        return lost

    def forget_unused(self, used: Iterable[RemoteFile]) -> None:
        """Remove copies that are not of `used` and that nobody asked for in a day."""
        kept = {self.path(file) for file in used}
        oldest = time.time() - _UNUSED_SECONDS
        for copy in self._folder.glob("??/*"):
            if copy not in kept and copy.stat().st_mtime < oldest:
                copy.unlink(missing_ok=True)

    def _is_there(self, file: RemoteFile) -> bool:
        try:
            os.utime(self.path(file))
        except FileNotFoundError:
            return False
        return True

    def _take(self, place: UPath, files: Sequence[RemoteFile]) -> list[RemoteFile]:
        """Copy each, under another name until it is whole. Returns those whose content is not the one listed."""
        token = secrets.token_hex(4)
        targets = [self.path(file) for file in files]
        parts = [target.with_name(f".{target.name}.{token}.part") for target in targets]
        try:
            place.fs.get([file.key for file in files], [str(part) for part in parts], batch_size=_AT_ONCE)
            lost = []
            for file, part, target in zip(files, parts, targets, strict=True):
                # The tag of a small upload is its MD5. Of others it says nothing, so the object must still have it.
                if _md5(part) == file.tag.strip('"') or _tag_now(place, file) == file.tag:
                    part.replace(target)
                else:
                    lost.append(file)
            return lost
        finally:
            for part in parts:
                part.unlink(missing_ok=True)


def _md5(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, lambda: hashlib.md5(usedforsecurity=False)).hexdigest()


def _tag_now(place: UPath, file: RemoteFile) -> str | None:
    try:
        found = place.fs.info(file.key)
    except FileNotFoundError:
        return None
    return str(found.get("ETag") or found.get("LastModified"))


def _remote(folder: AnyPath) -> UPath:
    if not is_remote(folder):
        raise StorageError(f"{folder} is a folder of this machine, not one of an object store.")
    return folder


@contextmanager
def _speaking_of(folder: AnyPath) -> Iterator[None]:
    from botocore.exceptions import BotoCoreError  # type: ignore[import-untyped]

    try:
        yield
    except (OSError, BotoCoreError) as error:
        reason = " ".join(str(error).split()) or type(error).__name__
        raise StorageError(
            f"{folder} cannot be read ({reason}): check the bucket and the variables AWS_ACCESS_KEY_ID, "
            "AWS_SECRET_ACCESS_KEY, AWS_DEFAULT_REGION and, for a store that is not Amazon's, AWS_ENDPOINT_URL."
        ) from error
