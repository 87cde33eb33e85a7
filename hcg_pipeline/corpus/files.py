"""The files below a corpus folder, and what else stands there."""

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from hcg_pipeline.corpus.loaders import ending_list, kind_of
from hcg_pipeline.corpus.settings import RESERVED

_LEFT_BY_SYSTEMS = frozenset(("thumbs.db", "desktop.ini", "__macosx", "icon\r"))


@dataclass(frozen=True, slots=True)
class CorpusFile:
    """Something below a corpus folder, by its '/'-separated name in it; `reason` says why it is not to be read.

    `path` is where its content is on this machine. `stated_size` are its bytes, where whoever listed it knows them.
    """

    name: str
    path: Path
    reason: str | None = None
    stated_size: int | None = None

    def size(self) -> int:
        """Bytes, of a link itself; 0 if it cannot be asked."""
        if self.stated_size is not None:
            return self.stated_size
        try:
            return self.path.lstat().st_size
        except OSError:
            return 0


def corpus_files(folder: Path) -> list[CorpusFile]:
    """Everything below a folder but its settings (`RESERVED` at the root), hidden names and what systems leave behind.

    Sorted by name. Links are followed to files inside the folder alone, and never to folders.
    """
    root = folder.resolve()
    return sorted(_walk(root), key=lambda file: file.name)


def is_read_from(name: str) -> bool:
    """Whether what has this '/'-separated name in a corpus's folder belongs to its documents.

    That is all but settings (`RESERVED` at the root), hidden names and what systems leave behind.
    """
    return name not in RESERVED and not any(map(_is_passed_over, name.split("/")))


def name_obstacle(name: str) -> str | None:
    """Why a file of this name is not read, if so: no loader knows its ending."""
    if kind_of(name) is not None:
        return None
    suffix = PurePosixPath(name).suffix
    which = f"files ending in {suffix!r}" if suffix else "files without an ending"
    return f"{which} are not read: convert it to one of {ending_list()}"


def _walk(root: Path) -> Iterator[CorpusFile]:
    for current, folders, names in os.walk(root, followlinks=False):
        here = Path(current)
        folders[:] = [name for name in folders if not _is_passed_over(name)]
        for name in [*folders, *names]:
            path = here / name
            if _is_passed_over(name) or (here == root and name in RESERVED):
                continue
            reason = _obstacle(path, root)
            if reason is not None or not path.is_dir():
                yield CorpusFile(_shown(path.relative_to(root)), path, reason)


def _is_passed_over(name: str) -> bool:
    return name.startswith((".", "~$")) or name.lower() in _LEFT_BY_SYSTEMS


def _obstacle(path: Path, root: Path) -> str | None:
    """Why what stands at a path is no file to read, if so. A folder as such is none, nor a link to one inside."""
    try:
        if path.is_symlink() and not path.resolve(strict=True).is_relative_to(root):
            return "the link leads out of the corpus folder: copy the file here instead"
        mode = path.stat().st_mode
    except (OSError, RuntimeError):  # RuntimeError: links in a circle, in older Pythons
        return "the link leads nowhere: remove it, or put the file here"
    if stat.S_ISDIR(mode):
        return None if path.is_symlink() else _folder_obstacle(path)
    if not stat.S_ISREG(mode):
        return "a device, pipe or socket, not a file: remove it"
    return name_obstacle(path.name)


def _folder_obstacle(path: Path) -> str | None:
    if kind_of(path.name) is not None:
        return f"a folder, not a file: rename it so that it does not end in {path.suffix} (its files are read)"
    if not os.access(path, os.R_OK | os.X_OK):
        return "the folder may not be opened: give yourself permission to read it"
    return None


def _shown(path: Path) -> str:
    """The path with '/', and with bytes that are not UTF-8 written as escapes."""
    return os.fsencode(path.as_posix()).decode("utf-8", "backslashreplace")
