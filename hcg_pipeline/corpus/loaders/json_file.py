"""JSON: one object, a list of them, or the GraphRAG-Bench form {"corpus_name", "context"}."""

import json
from typing import Any

from hcg_pipeline.corpus.encoding import decode
from hcg_pipeline.corpus.loaders import json_lines
from hcg_pipeline.corpus.loaders.json_text import prose_of, record_text
from hcg_pipeline.corpus.record import Record
from hcg_pipeline.errors import DocumentError


def load(data: bytes) -> list[Record]:
    """One record for each object of a list, else one for the file.

    A list of objects may be the file itself or the one list of objects in it, such as {"articles": [...]}. A file of
    several JSON values, one a line, is read as JSONL.
    """
    text = decode(data)
    try:
        value = json.loads(text)
    except json.JSONDecodeError as error:
        if error.msg == "Extra data" and json_lines.is_json_lines(text):
            return json_lines.read_lines(text)
        raise DocumentError(
            f"not valid JSON: {error.msg} at line {error.lineno}, column {error.colno}. "
            "If the file was cut off, fetch it again; if it is plain text, name it .txt"
        ) from error
    return _records(value)


def _records(value: Any) -> list[Record]:
    entries = _entries(value)
    if entries is None:
        return [Record(record_text(value))]
    return [Record(record_text(entry), number) for number, entry in enumerate(entries, 1)]


def _entries(value: Any) -> list[Any] | None:
    """The objects that are documents of their own: those of a list, or of the one list of prose in an object."""
    if isinstance(value, dict) and not prose_of(value):
        lists = [field for field in value.values() if _is_object_list(field)]
        return lists[0] if len(lists) == 1 and any(prose_of(entry) for entry in lists[0]) else None
    return value if _is_object_list(value) else None


def _is_object_list(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(entry, dict) for entry in value)
