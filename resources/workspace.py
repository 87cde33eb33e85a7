"""The data folder as a Dagster resource: which corpora there are, and where each one's files lie."""

import hashlib
import os
import unicodedata
from collections.abc import Sequence
from pathlib import Path

import dagster as dg
from pydantic import Field

from hcg_pipeline.any_path import AnyPath
from hcg_pipeline.corpus.files import CorpusFile, corpus_files, is_read_from, name_obstacle
from hcg_pipeline.corpus.names import check_name
from hcg_pipeline.corpus.settings import CorpusSettings, read_settings
from hcg_pipeline.errors import CorpusError
from hcg_pipeline.graph.remote_snapshots import RemoteSnapshotStore
from hcg_pipeline.graph.snapshot import SnapshotStore
from resources import environment
from resources.places import cache_folder, data_folder, folder_name, is_remote, part, place
from resources.remote_files import Copies, list_files, list_folders

_LISTINGS = 5
"""How often a prefix is listed again whose objects change while they are fetched."""


class Workspace(dg.ConfigurableResource[None]):
    """Where corpora, question files and the store lie: absolute paths of folders, or URLs `s3://bucket/prefix`."""

    data: str = Field(description="The data folder (HCG_DATA).")
    corpora_folder: str = Field(
        description="A folder per corpus (HCG_CORPORA); by default `corpora` in the data folder."
    )
    questions_folder: str = Field(description="A folder per corpus (HCG_QUESTIONS); by default `questions` beside it.")
    store_folder: str = Field(description="Everything that is built (HCG_STORE); by default `store` beside these.")
    cache_folder: str = Field(description="A folder of this machine (HCG_CACHE); by default `cache` in the store.")
    looks: int | None = Field(
        default=None,
        description="Seconds between two looks at the folders (HCG_SECONDS_BETWEEN_LOOKS); null: 10, or 60 on S3.",
    )

    @classmethod
    def from_environment(cls) -> "Workspace":
        """The workspace that the variables name; without any, the checkout's `data/`. Raises `SettingsError`."""
        return cls(
            data=str(data_folder()),
            corpora_folder=str(part("corpora")),
            questions_folder=str(part("questions")),
            store_folder=str(part("store")),
            cache_folder=str(cache_folder()),
            looks=environment.whole_number("HCG_SECONDS_BETWEEN_LOOKS"),
        )

    @property
    def store(self) -> AnyPath:
        """Everything that is built: a folder per corpus, and, on this machine, `cache/` and `dagster/`."""
        return place(self.store_folder)

    @property
    def cache(self) -> Path:
        """Databases that any build may fill, and copies of what is on S3: all may be deleted at any time."""
        return Path(self.cache_folder)

    @property
    def seconds_between_looks(self) -> int:
        """How often sensors look at the folders; on S3, where each thousand objects are a request, more seldom."""
        if self.looks is not None:
            return max(1, self.looks)
        folders = (self.corpora_folder, self.questions_folder)
        return 60 if any(is_remote(place(folder)) for folder in folders) else 10

    def keep_caches_inside(self) -> None:
        """Have libraries that keep caches in a person's home (matplotlib's fonts) keep them in the store instead."""
        os.environ.setdefault("MPLCONFIGDIR", str(self.cache / "matplotlib"))

    def corpora(self) -> list[str]:
        """Names of the corpus folders, sorted; folders whose names are refused are in `refused_folders`.

        Raises `StorageError` where they are on S3 and cannot be listed.
        """
        return sorted(name for name, reason in self._checked() if reason is None)

    def refused_folders(self) -> list[tuple[str, str]]:
        """Folders beside the corpora that cannot be one: their name, and why. Raises as `corpora`."""
        return sorted((name, reason) for name, reason in self._checked() if reason is not None)

    def corpus_folder(self, corpus: str) -> AnyPath:
        """The folder with a corpus's documents. Raises `CorpusError`, which lists the corpora that there are."""
        name = check_name(corpus)
        root = place(self.corpora_folder)
        folder = _named_folder(root, name)
        if folder is None:
            there = ", ".join(self.corpora()) or f"none yet: make {root / name} and put documents in"
            raise CorpusError(f"There is no corpus {name!r} in {root}. There are: {there}.")
        return folder

    def document_files(self, corpus: str) -> Sequence[CorpusFile]:
        """What lies in a corpus's folder besides its settings, sorted by name, with contents on this machine.

        Of what is on S3 there are copies in the cache folder; only objects that are new or changed are fetched.
        Raises `CorpusError`, `StorageError`.
        """
        folder = self.corpus_folder(corpus)
        return corpus_files(folder) if isinstance(folder, Path) else _fetched(folder, Copies(self._kept_of(folder)))

    def question_folder(self, corpus: str) -> AnyPath:
        """The folder with a corpus's question files, which may not exist. Raises `CorpusError` for a bad name."""
        name = check_name(corpus)
        root = place(self.questions_folder)
        return _named_folder(root, name) or root / name

    def settings(self, corpus: str) -> CorpusSettings:
        """What the corpus's corpus.yaml says. Raises `CorpusError`, `SettingsError`."""
        return read_settings(self.corpus_folder(corpus))

    def corpus_store(self, corpus: str) -> AnyPath:
        """The folder with everything that was built of a corpus. Raises `CorpusError` for a bad name."""
        return self.store / folder_name(check_name(corpus))

    def snapshots(self, corpus: str) -> SnapshotStore:
        """The snapshots of a corpus, published or not. Raises `CorpusError` for a bad name."""
        store = self.corpus_store(corpus)
        if is_remote(store):
            return RemoteSnapshotStore(store, self._kept_of(store))
        return SnapshotStore(Path(str(store)))

    def _kept_of(self, location: AnyPath) -> Path:
        """Where this machine keeps copies of what lies at a place on S3."""
        digest = hashlib.blake2b(str(location).encode(), digest_size=8).hexdigest()
        return self.cache / "copies" / digest

    def _checked(self) -> list[tuple[str, str | None]]:
        found: list[tuple[str, str | None]] = []
        for name in _folders(place(self.corpora_folder)):
            try:
                found.append((check_name(name), None))
            except CorpusError as error:
                found.append((name, str(error)))
        return found


def _folders(root: AnyPath) -> list[str]:
    """Names of the folders in `root` that are not hidden."""
    if not isinstance(root, Path):
        names = list_folders(root)
    else:
        names = [folder.name for folder in root.iterdir() if folder.is_dir()] if root.is_dir() else []
    return [name for name in names if not name.startswith(".")]


def _named_folder(root: AnyPath, name: str) -> AnyPath | None:
    """The folder of that name, however its file system composes accented letters."""
    if isinstance(root, Path) and (root / name).is_dir():
        return root / name
    same = [folder for folder in _folders(root) if unicodedata.normalize("NFC", folder) == name]
    return root / same[0] if same else None


def _fetched(folder: AnyPath, copies: Copies) -> list[CorpusFile]:
    for _ in range(_LISTINGS):
        listed = {name: file for name, file in list_files(folder).items() if is_read_from(name)}
        obstacles = {name: name_obstacle(name) for name in listed}
        wanted = [file for name, file in listed.items() if obstacles[name] is None]
        if not copies.fetch(folder, wanted):
            copies.forget_unused(wanted)
            return [CorpusFile(name, copies.path(file), obstacles[name], file.size) for name, file in listed.items()]
    raise CorpusError(f"{folder} changes while it is read: build it once everything has been uploaded.")
