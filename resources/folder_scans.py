"""What lies in a watched folder: a cheap fingerprint from sizes and times, and one from content where those changed.

An object store tells contents apart itself: there the tags in its listing are both, and nothing is read.
"""

import os
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path

import pyarrow as pa

from hcg_pipeline.any_path import AnyPath
from hcg_pipeline.errors import HcgError
from resources.remote_files import list_files
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
    """The files below a folder, by '/'-separated path: sizes in bytes, and times in nanoseconds or an object's tag."""

    folder: AnyPath
    files: Mapping[str, tuple[int, int | str]]

    @property
    def fingerprint(self) -> str:
        """Differs where a path, a size, or a time or tag does. No file was opened for it."""
        return _digest(f"{path}\0{size}\0{changed}" for path, (size, changed) in self.files.items())


def scan_folder(folder: AnyPath) -> Scan:
    """Every file below `folder` that is not hidden, sorted by path; none where there is no such folder.

    Links to files count as what they lead to, links to folders are not followed. A file that goes while this looks is
    left out. Raises `StorageError` where an object store cannot be asked.
    """
    if not isinstance(folder, Path):
        listed = list_files(folder).items()
        return Scan(folder, {name: (file.size, file.tag) for name, file in listed if not _is_hidden(name)})
    return Scan(folder, dict(sorted(_walk(folder, ""))))


def content_digests(scan: Scan, known: Path, seconds: float) -> dict[str, str] | None:
    """What tells the content of each file of a scan from another content, by path.

    `known` is the parquet file in which digests are kept, so that only files of a new size or time are read. None if
    reading takes more than `seconds`: what was read is kept, and another call goes on from there.
    """
    if not isinstance(scan.folder, Path):
        return {path: f"{size} {tag}" for path, (size, tag) in scan.files.items()}
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
    return now if whole else None


def content_fingerprint(digests: Mapping[str, str]) -> str:
    """Differs where a path or a content does, whatever the times."""
    return _digest(f"{path}\0{digest}" for path, digest in digests.items())


def file_fingerprint(path: AnyPath) -> str:
    """A digest of one small file's content; `none` where there is no such file."""
    if not path.is_file():
        return "none"
    return _file_digest(path) if isinstance(path, Path) else blake2b(path.read_bytes(), digest_size=16).hexdigest()


def _walk(folder: Path, prefix: str) -> Iterator[tuple[str, tuple[int, int]]]:
    try:
        entries = list(os.scandir(folder))
    except (FileNotFoundError, NotADirectoryError, PermissionError):
        return
    for entry in entries:
        if _is_hidden(entry.name):
            continue
        if entry.is_dir(follow_symlinks=False):
            yield from _walk(Path(entry.path), f"{prefix}{entry.name}/")
            continue
        try:
            found = entry.stat(follow_symlinks=True)
        except OSError:  # a link to nowhere, or a file that just went
            continue
        yield f"{prefix}{entry.name}", (found.st_size, found.st_mtime_ns)


def _is_hidden(name: str) -> bool:
    return any(part.startswith((".", "~$")) for part in name.split("/"))


def _read_known(path: Path) -> dict[tuple[str, int, int | str], str]:
    try:
        rows = read_table(path).select(_DIGESTS.names).to_pydict()
    except (FileNotFoundError, KeyError, HcgError):  # a cache: without it, all files are read again
        return {}
    stamps = zip(rows["path"], rows["size"], rows["changed"], strict=True)
    return dict(zip(stamps, rows["digest"], strict=True))


def _file_digest(path: Path) -> str:
    sink = blake2b(digest_size=16)
    try:
        with path.open("rb") as file:
            while block := file.read(1 << 20):
                sink.update(block)
    except OSError as error:  # the build says why it cannot be read; here it only has to be told from a file that can
        return f"unreadable: {error.errno}"
    return sink.hexdigest()


def _digest(lines: Iterator[str]) -> str:
    sink = blake2b(digest_size=12)
    for line in lines:
        sink.update(line.encode("utf-8", "surrogateescape") + b"\n")
    return sink.hexdigest()
