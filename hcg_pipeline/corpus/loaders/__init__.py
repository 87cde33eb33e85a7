"""How files become text: one module per kind of file, found by the file's ending.

To add a kind: write a module here with a function `load(data: bytes) -> list[Record]`, and add a line to `KINDS`.
"""

from dataclasses import dataclass
from importlib import import_module
from pathlib import PurePath
from typing import Protocol, cast

from hcg_pipeline.corpus.record import Record


class Load(Protocol):
    """Reads one kind of file."""

    def __call__(self, data: bytes) -> list[Record]:
        """The records of a file from its bytes. Raises `DocumentError` with a reason that a person can act on.

        Any other exception of a library is turned into one by the caller (`documents.read_documents`).
        """


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of file: its endings (lower case), IANA media type, and the module here whose `load` reads it."""

    endings: tuple[str, ...]
    media_type: str
    module: str

    @property
    def load(self) -> Load:
        """The module's function. Imported on first use: some of the libraries take long to load."""
        return cast(Load, import_module(f"{__name__}.{self.module}").load)


KINDS = (
    Kind((".txt", ".text"), "text/plain", "plain_text"),
    Kind((".md", ".markdown"), "text/markdown", "markdown"),
    Kind((".html", ".htm", ".xhtml"), "text/html", "html"),
    Kind((".pdf",), "application/pdf", "pdf"),
    Kind((".docx",), "application/vnd.openxmlformats-officedocument.wordprocessingml.document", "docx"),
    Kind((".csv",), "text/csv", "delimited"),
    Kind((".tsv",), "text/tab-separated-values", "delimited"),
    Kind((".json",), "application/json", "json_file"),
    Kind((".jsonl", ".ndjson"), "application/jsonl", "json_lines"),
    Kind((".xml",), "application/xml", "xml"),
    Kind((".epub",), "application/epub+zip", "epub"),
)
UNKNOWN = "application/octet-stream"
_BY_ENDING = {ending: kind for kind in KINDS for ending in kind.endings}


def kind_of(name: str) -> Kind | None:
    """The kind of a file by the ending of its name, whatever its case; None where nothing reads it."""
    return _BY_ENDING.get(PurePath(name).suffix.lower())


def ending_list() -> str:
    """Every ending that is read, in the order of `KINDS`, for messages."""
    return ", ".join(_BY_ENDING)
