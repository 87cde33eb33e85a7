"""JSONL: one document a line."""

import json

from hcg_pipeline.corpus.encoding import decode
from hcg_pipeline.corpus.loaders.json_text import record_text
from hcg_pipeline.corpus.record import Record
from hcg_pipeline.errors import DocumentError


def load(data: bytes) -> list[Record]:
    """A record for each line that is not empty, numbered by its line; a line that is not JSON is one with a reason."""
    return read_lines(decode(data))


def read_lines(text: str) -> list[Record]:
    """The records of decoded JSONL. Raises `DocumentError` if no line is JSON."""
    records: list[Record] = []
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            records.append(_record(line, number))
    if records and all(record.reason is not None for record in records):
        raise DocumentError(
            f"no line of it is JSON (line {records[0].number}: {records[0].reason}). If it is plain text, name it .txt"
        )
    return records


def is_json_lines(text: str) -> bool:
    """Whether the first line that is not empty is a JSON object by itself."""
    first = next((line for line in text.split("\n") if line.strip()), "")
    try:
        return isinstance(json.loads(first), dict)
    except json.JSONDecodeError:
        return False


def _record(line: str, number: int) -> Record:
    try:
        return Record(record_text(json.loads(line)), number)
    except json.JSONDecodeError as error:
        what = f"{error.msg} at column {error.colno}"
        return Record(number=number, reason=f"not valid JSON: {what}. Repair or remove the line")
