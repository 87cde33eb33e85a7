"""Ids that depend on content alone, and the names of records."""

import re
from hashlib import blake2b

_DIGITS = 16
_RECORD = re.compile(r"#(\d+)\Z")


def content_id(prefix: str, *parts: str) -> str:
    """The prefix and the first 16 hex digits of the BLAKE2b hash of the parts (joined by NUL, which texts lack)."""
    return prefix + blake2b("\0".join(parts).encode()).hexdigest()[:_DIGITS]


def split_record(path: str) -> tuple[str, int]:
    """A document's path as file and number of the record: 'a/b.jsonl#7' is ('a/b.jsonl', 7), 'a/b.txt' ('a/b.txt', 0).

    Sorting by it keeps the records of a file together and in order.
    """
    match = _RECORD.search(path)
    return (path[: match.start()], int(match.group(1))) if match is not None else (path, 0)
