"""A corpus folder to documents: every file is either a row of DOCUMENTS or a row of REJECTED."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa

from hcg_pipeline.corpus.cleaning import clean_text
from hcg_pipeline.corpus.files import CorpusFile, corpus_files
from hcg_pipeline.corpus.identity import content_id, split_record
from hcg_pipeline.corpus.loaders import UNKNOWN, ending_list, kind_of
from hcg_pipeline.corpus.record import Record
from hcg_pipeline.corpus.unexpected import guarded
from hcg_pipeline.corpus.words import count_words
from hcg_pipeline.errors import CorpusError, DocumentError
from hcg_pipeline.progress import Progress
from hcg_pipeline.tables import DOCUMENTS, REJECTED

_STAGE = "documents"
_SHOWN = 5
"""Rejected files that an error message names."""


@dataclass(slots=True)
class _Document:
    path: str
    media_type: str
    text: str
    other_paths: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _Rejected:
    path: str
    media_type: str
    size: int
    reason: str


def read_documents(folder: Path, progress: Progress) -> tuple[pa.Table, pa.Table]:
    """Read every file below a corpus folder: (DOCUMENTS, REJECTED), as `read_files`.

    Hidden files and folders, what systems leave behind and the settings files at the folder's root
    (`settings.RESERVED`) are passed over. Raises `CorpusError` if there is no such folder.
    """
    if not folder.is_dir():
        raise CorpusError(f"there is no corpus folder {folder}: make it and put documents into it")
    return read_files(corpus_files(folder), progress)


def read_files(files: Sequence[CorpusFile], progress: Progress) -> tuple[pa.Table, pa.Table]:
    """Read files that were listed, sorted by name: (DOCUMENTS, REJECTED), by path, records of a file in their order.

    Files of the same text are one document, named by the first path; every file that is not read is in the second
    table with a reason. Files are read one after another: parsing is Python code, so threads gain nothing.
    """
    documents: dict[str, _Document] = {}
    rejected: list[_Rejected] = []
    for done, file in enumerate(files, 1):
        kind = kind_of(file.name)
        media_type = UNKNOWN if kind is None else kind.media_type
        try:
            records = _records(file)
        except DocumentError as error:
            records = [Record(reason=str(error))]
        for record in records:
            path = file.name if record.number is None else f"{file.name}#{record.number}"
            try:
                text = _text_of(record)
            except DocumentError as error:
                rejected.append(_Rejected(path, media_type, file.size(), str(error)))
                continue
            document = documents.setdefault(content_id("d", text), _Document(path, media_type, text))
            if document.path != path:
                document.other_paths.append(path)
        progress.advance(_STAGE, done, len(files))
    return _document_table(documents), _rejected_table(rejected)


def require_documents(documents: pa.Table, rejected: pa.Table, folder: Path) -> None:
    """Raise `CorpusError` with the way out if a corpus has no document to build from."""
    if documents.num_rows:
        return
    if not rejected.num_rows:
        raise CorpusError(f"there is no document in {folder}: put files there that end in {ending_list()}")
    rows = zip(rejected.column("path").to_pylist(), rejected.column("reason").to_pylist(), strict=True)
    named = "; ".join(f"{path}: {reason}" for path, reason in list(rows)[:_SHOWN])
    more = f"; and {rejected.num_rows - _SHOWN} more" if rejected.num_rows > _SHOWN else ""
    raise CorpusError(f"none of the {rejected.num_rows} files in {folder} can be read. {named}{more}")


def _records(file: CorpusFile) -> list[Record]:
    kind = kind_of(file.name)
    if file.reason is not None or kind is None:
        return [Record(reason=file.reason)]
    try:
        data = file.path.read_bytes()
    except PermissionError as error:
        raise DocumentError("the file may not be opened: give yourself permission to read it") from error
    except OSError as error:
        raise DocumentError(f"the file cannot be opened ({error.strerror}): copy it here again") from error
    records = guarded(lambda: kind.load(data))
    if not records:
        raise DocumentError("there is no record in it: fill it or remove it")
    return records


def _text_of(record: Record) -> str:
    if record.reason is not None:
        raise DocumentError(record.reason)
    text = clean_text(record.text)
    if not text:
        raise DocumentError("there is no text in it, at most white space: fill it or remove it")
    if not any(character.isalnum() for character in text):
        raise DocumentError("there is no letter or digit in it: fill it or remove it")
    return text


def _document_table(documents: dict[str, _Document]) -> pa.Table:
    rows = sorted(documents.items(), key=lambda item: split_record(item[1].path))
    texts = [document.text for _, document in rows]
    columns = {
        "document_id": [document_id for document_id, _ in rows],
        "path": [document.path for _, document in rows],
        "other_paths": [document.other_paths for _, document in rows],
        "media_type": [document.media_type for _, document in rows],
        "text": texts,
        "characters": [len(text) for text in texts],
        "words": [count_words(text) for text in texts],
    }
    return pa.table(columns, schema=DOCUMENTS)


def _rejected_table(rejected: list[_Rejected]) -> pa.Table:
    rows = sorted(rejected, key=lambda row: split_record(row.path))
    columns = {
        "path": [row.path for row in rows],
        "media_type": [row.media_type for row in rows],
        "bytes": [row.size for row in rows],
        "reason": [row.reason for row in rows],
    }
    return pa.table(columns, schema=REJECTED)
