"""What lies in a watched folder: a cheap fingerprint from sizes and times, and one from content where those changed."""

import hashlib
import os
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from hcg_pipeline.errors import HcgError
from resources.table_files import read_table, replace_table

_DIGESTS = pa.schema(
    [
        pa.field("path", pa.string(), nullable=False),
        pa.field("size", pa.int64(), nullable=False),
        pa.field("changed", pa.int64(), nullable=False),
        pa.field("digest", pa.string(), nullable=False),
    ]
)


@dataclass(frozen=True, slots=True)
class Scan:
    """The files below a folder, by '/'-separated path: their sizes in bytes and modification times in nanoseconds."""

    folder: Path
    files: dict[str, tuple[int, int]]

    @property
    def fingerprint(self) -> str:
        """Differs where a path, a size or a time does. No file was opened for it."""
        return _digest(f"{path}\0{size}\0{changed}" for path, (size, changed) in self.files.items())


def scan_folder(folder: Path) -> Scan:
    """Every file below `folder` that is not hidden, sorted by path; none where there is no such folder.

    Links to files count as what they lead to, links to folders are not followed. A file that goes while this looks is
    left out.
    """
    return Scan(folder, dict(sorted(_walk(folder, ""))))


def content_fingerprint(scan: Scan, known: Path, seconds: float) -> str | None:
    """Differs where a path or a content does, whatever the times.

    `known` is the parquet file in which digests are kept, so that only files of a new size or time are read. None if
    reading takes more than `seconds`: what was read is kept, and another call goes on from there.
    """
    before = _read_known(known)
    deadline = time.monotonic() + seconds
    now: dict[str, str] = {}
    whole = True
    for path, stamp in scan.files.items():
        if (found := before.get((path, *stamp))) is not None:
            now[path] = found
        elif time.monotonic() < deadline:
            now[path] = _file_digest(scan.folder / path)
        else:
            whole = False
    if not whole or {(path, *scan.files[path]): digest for path, digest in now.items()} != before:
        rows = [
            {"path": path, "size": scan.files[path][0], "changed": scan.files[path][1], "digest": digest}
            for path, digest in now.items()
        ]
        replace_table(known, pa.Table.from_pylist(rows, schema=_DIGESTS))
    return _digest(f"{path}\0{digest}" for path, digest in now.items()) if whole else None


def file_fingerprint(path: Path) -> str:
    """A digest of one file's content; `none` where there is no such file."""
    return _file_digest(path) if path.is_file() else "none"


def _walk(folder: Path, prefix: str) -> Iterator[tuple[str, tuple[int, int]]]:
    try:
        entries = list(os.scandir(folder))
    except (FileNotFoundError, NotADirectoryError, PermissionError):
        return
    for entry in entries:
        if entry.name.startswith((".", "~$")):
            continue
        if entry.is_dir(follow_symlinks=False):
            yield from _walk(Path(entry.path), f"{prefix}{entry.name}/")
            continue
        try:
            found = entry.stat(follow_symlinks=True)
        except OSError:  # a link to nowhere, or a file that just went
            continue
        yield f"{prefix}{entry.name}", (found.st_size, found.st_mtime_ns)


def _read_known(path: Path) -> dict[tuple[str, int, int], str]:
    try:
        rows = read_table(path).select(_DIGESTS.names).to_pydict()
    except (FileNotFoundError, KeyError, HcgError):  # a cache: without it, all files are read again
        return {}
    stamps = zip(rows["path"], rows["size"], rows["changed"], strict=True)
    return dict(zip(stamps, rows["digest"], strict=True))


def _file_digest(path: Path) -> str:
    sink = hashlib.blake2b(digest_size=16)
    try:
        with path.open("rb") as file:
            while block := file.read(1 << 20):
                sink.update(block)
    except OSError as error:  # the build says why it cannot be read; here it only has to be told from a file that can
        return f"unreadable: {error.errno}"
    return sink.hexdigest()


def _digest(lines: Iterator[str]) -> str:
    sink = hashlib.blake2b(digest_size=12)
    for line in lines:
        sink.update(line.encode("utf-8", "surrogateescape") + b"\n")
    return sink.hexdigest()
