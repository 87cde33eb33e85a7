"""The data folder as a Dagster resource: which corpora there are, and where each one's files lie."""

import os
import unicodedata
from pathlib import Path

import dagster as dg

from hcg_pipeline.corpus.names import check_name
from hcg_pipeline.corpus.settings import CorpusSettings, read_settings
from hcg_pipeline.errors import CorpusError
from resources.places import data_folder, folder_name


class Workspace(dg.ConfigurableResource[None]):
    """Where corpora, question files and the store lie. `data` is an absolute path."""

    data: str

    @classmethod
    def from_environment(cls) -> "Workspace":
        """The workspace at `HCG_DATA`, or at the checkout's `data/`."""
        return cls(data=str(data_folder()))

    @property
    def store(self) -> Path:
        """Everything that is built: a folder per corpus, `cache/` and (unless DAGSTER_HOME is set) `dagster/`."""
        return Path(self.data) / "store"

    @property
    def cache(self) -> Path:
        """Databases that any build may fill and that may be deleted at any time."""
        return self.store / "cache"

    def keep_caches_inside(self) -> None:
        """Have libraries that keep caches in a person's home (matplotlib's fonts) keep them in the store instead."""
        os.environ.setdefault("MPLCONFIGDIR", str(self.cache / "matplotlib"))

    def corpora(self) -> list[str]:
        """Names of the corpus folders, sorted; folders whose names are refused are in `refused_folders`."""
        return sorted(name for name, reason in self._folders() if reason is None)

    def refused_folders(self) -> list[tuple[str, str]]:
        """Folders beside the corpora that cannot be one: their name, and why."""
        return sorted((name, reason) for name, reason in self._folders() if reason is not None)

    def corpus_folder(self, corpus: str) -> Path:
        """The folder with a corpus's documents. Raises `CorpusError`, which lists the corpora that there are."""
        name = check_name(corpus)
        folder = _named_folder(Path(self.data) / "corpora", name)
        if folder is None:
            there = (
                ", ".join(self.corpora()) or f"none yet: make {Path(self.data) / 'corpora' / name} and put documents in"
            )
            raise CorpusError(f"There is no corpus {name!r} in {Path(self.data) / 'corpora'}. There are: {there}.")
        return folder

    def question_folder(self, corpus: str) -> Path:
        """The folder with a corpus's question files, which may not exist. Raises `CorpusError` for a bad name."""
        name = check_name(corpus)
        root = Path(self.data) / "questions"
        return _named_folder(root, name) or root / name

    def settings(self, corpus: str) -> CorpusSettings:
        """What the corpus's corpus.yaml says. Raises `CorpusError`, `SettingsError`."""
        return read_settings(self.corpus_folder(corpus))

    def corpus_store(self, corpus: str) -> Path:
        """The folder with everything that was built of a corpus. Raises `CorpusError` for a bad name."""
        return self.store / folder_name(check_name(corpus))

    def _folders(self) -> list[tuple[str, str | None]]:
        root = Path(self.data) / "corpora"
        if not root.is_dir():
            return []
        found: list[tuple[str, str | None]] = []
        for folder in root.iterdir():
            if folder.name.startswith(".") or not folder.is_dir():
                continue
            try:
                found.append((check_name(folder.name), None))
            except CorpusError as error:
                found.append((folder.name, str(error)))
        return found


def _named_folder(root: Path, name: str) -> Path | None:
    """The folder of that name, however its file system composes accented letters."""
    direct = root / name
    if direct.is_dir():
        return direct
    if not root.is_dir():
        return None
    same = [path for path in root.iterdir() if unicodedata.normalize("NFC", path.name) == name and path.is_dir()]
    return same[0] if same else None
