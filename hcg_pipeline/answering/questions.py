"""Question files: JSON (a list, or an object with `questions`), JSONL, CSV and parquet."""

import csv
import io
import json
import math
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from hcg_pipeline.any_path import AnyPath
from hcg_pipeline.corpus.encoding import decode
from hcg_pipeline.errors import DocumentError, QuestionFileError

ENDINGS = (".json", ".jsonl", ".csv", ".parquet")

Row = tuple[str, Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class Question:
    """One question; `answer` and `evidence` are the file's own reference, for scoring only."""

    id: str
    question: str
    answer: str | None = None
    question_type: str = ""
    evidence: tuple[str, ...] = ()


def read_questions(path: AnyPath) -> list[Question]:
    """The questions of one file, in its order.

    Each needs `id` (unique in the file; a number is taken as its text) and `question`; `answer`, `question_type` and
    `evidence` (a text, a list of texts, or a list written as JSON in a CSV cell) may be missing, other columns are
    ignored. Raises `QuestionFileError` with file and row (record number; line number for JSONL and CSV).
    """
    readers = {".json": _json_rows, ".jsonl": _jsonl_rows, ".csv": _csv_rows, ".parquet": _parquet_rows}
    reader = readers.get(path.suffix.lower())
    if reader is None:
        raise QuestionFileError(f"{path}: '{path.suffix}' is no question format. Use one of {', '.join(ENDINGS)}.")
    questions: list[Question] = []
    seen: dict[str, str] = {}
    for where, row in reader(path):
        question = _question(row, f"{path}, {where}")
        if question.id in seen:
            raise QuestionFileError(
                f"{path}, {where}: id '{question.id}' was already used in {seen[question.id]}. "
                "Give each question its own id."
            )
        seen[question.id] = where
        questions.append(question)
    if not questions:
        raise QuestionFileError(f"{path}: no questions in it. Add rows with 'id' and 'question', or remove the file.")
    return questions


def find_question_files(folder: AnyPath) -> list[AnyPath]:
    """The question files straight in a folder, sorted by name; a folder that is not there holds none.

    The name of a question set is its file's stem, so two files of one stem (`a.csv` and `a.json`) are refused with
    `QuestionFileError`. Hidden files and other endings are left alone.
    """
    if not folder.is_dir():
        return []
    files = sorted(
        (
            path
            for path in folder.iterdir()
            if path.suffix.lower() in ENDINGS and not path.name.startswith(".") and path.is_file()
        ),
        key=lambda path: path.name,
    )
    stems: dict[str, AnyPath] = {}
    for path in files:
        if path.stem in stems:
            raise QuestionFileError(
                f"{folder}: {stems[path.stem].name} and {path.name} would both be the question set '{path.stem}'. "
                "Rename one of them."
            )
        stems[path.stem] = path
    return files


def _question(row: Mapping[str, Any], where: str) -> Question:
    for column in ("id", "question"):
        if column not in row:
            raise QuestionFileError(f"{where}: no '{column}'. Each question needs 'id' and 'question'.")
    text = _text(row["question"], "question", where)
    if text is None:
        raise QuestionFileError(f"{where}: 'question' is empty. Write the question, or remove the row.")
    identity = _text(row["id"], "id", where)
    if identity is None:
        raise QuestionFileError(f"{where}: 'id' is empty. Give each question an id that is unique in its file.")
    return Question(
        id=identity,
        question=text,
        answer=_text(row.get("answer"), "answer", where),
        question_type=_text(row.get("question_type"), "question_type", where) or "",
        evidence=_evidence(row.get("evidence"), where),
    )


def _text(value: object, column: str, where: str) -> str | None:
    """A cell as text without surrounding space; None where it is missing or blank.

    NaN is what pandas writes for a cell that is missing.
    """
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return None
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise QuestionFileError(f"{where}: '{column}' is a {type(value).__name__}, not a text. Write it as a string.")
    text = str(value).strip()
    if not text.isascii() and any("\ud800" <= character <= "\udfff" for character in text):
        raise QuestionFileError(f"{where}: '{column}' holds half a character (\\ud800 to \\udfff). Write it whole.")
    return text or None


def _evidence(value: object, where: str) -> tuple[str, ...]:
    if isinstance(value, str) and value.lstrip().startswith("["):
        with suppress(ValueError):  # A sentence may begin with a bracket: then it is one piece as it stands.
            value = json.loads(value)
    pieces = value if isinstance(value, list | tuple) else [value]
    texts = (_text(piece, "evidence", where) for piece in pieces)
    return tuple(text for text in texts if text is not None)


def _json_rows(path: AnyPath) -> Iterator[Row]:
    try:
        content = json.loads(_decode(path))
    except ValueError as error:
        raise QuestionFileError(
            f"{path}: not JSON: {error}. One object a line is .jsonl: rename the file if it is."
        ) from error
    if isinstance(content, dict):
        content = content.get("questions")
    if not isinstance(content, list):
        raise QuestionFileError(f"{path}: neither a list nor an object with a list 'questions'. Write one of the two.")
    yield from _objects(((f"record {number}", row) for number, row in enumerate(content, start=1)), path)


def _jsonl_rows(path: AnyPath) -> Iterator[Row]:
    def lines() -> Iterator[tuple[str, object]]:
        for number, line in enumerate(_decode(path).split("\n"), start=1):
            if line.strip():
                try:
                    yield f"line {number}", json.loads(line)
                except ValueError as error:
                    raise QuestionFileError(
                        f"{path}, line {number}: not JSON: {error}. Write one object a line."
                    ) from error

    yield from _objects(lines(), path)


def _objects(rows: Iterable[tuple[str, object]], path: AnyPath) -> Iterator[Row]:
    for where, row in rows:
        if not isinstance(row, dict):
            raise QuestionFileError(f"{path}, {where}: a {type(row).__name__}, not an object with 'id' and 'question'.")
        yield where, row


def _csv_rows(path: AnyPath) -> Iterator[Row]:
    reader = csv.DictReader(io.StringIO(_decode(path), newline=""), strict=True)
    try:
        header = reader.fieldnames or ()
        for column in ("id", "question"):
            if column not in header:
                raise QuestionFileError(
                    f"{path}, line 1: no column '{column}' among {', '.join(map(repr, header)) or 'none'}. "
                    "The first line names the columns: id, question, and what else there is, with commas between."
                )
        for column in ("id", "question", "answer", "question_type", "evidence"):
            if list(header).count(column) > 1:
                raise QuestionFileError(f"{path}, line 1: two columns '{column}'. Keep one of them.")
        for row in reader:
            if None in row:
                raise QuestionFileError(
                    f"{path}, line {reader.line_num}: more cells than columns. Quote cells that hold a comma."
                )
            yield f"line {reader.line_num}", row
    except csv.Error as error:
        raise QuestionFileError(f"{path}, after line {reader.line_num}: not CSV: {error}.") from error


def _parquet_rows(path: AnyPath) -> Iterator[Row]:
    try:
        rows = pq.read_table(pa.BufferReader(path.read_bytes())).to_pylist()
    except (pa.ArrowException, OSError) as error:
        raise QuestionFileError(f"{path}: not a parquet file: {error}. Write it again.") from error
    yield from ((f"row {number}", row) for number, row in enumerate(rows, start=1))


def _decode(path: AnyPath) -> str:
    """The file's text, in whatever encoding, with \\n at the end of lines."""
    try:
        text = decode(path.read_bytes())
    except OSError as error:
        raise QuestionFileError(f"{path}: cannot be read: {error.strerror}.") from error
    except DocumentError as error:
        raise QuestionFileError(f"{path}: {error}.") from error
    return text.removeprefix("\ufeff").replace("\r\n", "\n")
