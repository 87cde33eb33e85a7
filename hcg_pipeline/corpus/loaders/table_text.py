"""Rows of a table as sentences: 'column: value; column: value.'"""

import re
from collections.abc import Sequence

Row = Sequence[str]

_NUMBER = re.compile(r"[-+]?[\d.,:/%\s€$£-]+")
_LONGEST_NAME = 12
"""Words of a column's name."""


def row_sentences(rows: Sequence[Row], header: bool | None = None) -> list[str]:
    """One line a row that holds anything, each ending in a full stop.

    The first row gives the columns' names if `header` says so, or if it is None and the row looks like names
    (`looks_like_header`). Values beyond the last name stand without one, empty ones are left out. Without names a row
    is its values, and one of two values reads 'first: second.'.
    """
    cleaned = [[" ".join(value.split()) for value in row] for row in rows]
    if header is None:
        header = looks_like_header(cleaned)
    names = cleaned[0] if header and cleaned else []
    lines = (_sentence(row, names) for row in cleaned[1 if header else 0 :])
    return [line for line in lines if line]


def looks_like_header(rows: Sequence[Row]) -> bool:
    """Whether the first of at least two rows names the columns: short, distinct, no numbers, none empty."""
    if len(rows) < 2 or not rows[0]:
        return False
    names = list(rows[0])
    while names and not names[-1].strip():
        names.pop()
    if len(names) == 1:  # a lone column has a name if its values are much longer
        lengths = [len(" ".join(row).split()) for row in rows[1:]]
        return len(names[0].split()) * 2 < sum(lengths) / len(lengths)
    return (
        len(names) > 1
        and len({name.casefold() for name in names}) == len(names)
        and all(name.strip() and len(name.split()) <= _LONGEST_NAME for name in names)
        and not any(_NUMBER.fullmatch(name) or name.strip().endswith((".", "!")) for name in names)
    )


def _sentence(row: Row, names: Row) -> str:
    parts: list[str] = []
    for column, value in enumerate(cell.rstrip(" ;") for cell in row):
        if not value:
            continue
        name = names[column].rstrip(" :") if column < len(names) else ""
        parts.append(f"{name}: {value}" if name else value)
    if not names and len(parts) == 2:
        parts = [f"{parts[0].rstrip(' :')}: {parts[1]}"]
    # A value that is a sentence brings its own full stop, which would end the row's.
    line = "; ".join([*(part.removesuffix(".") for part in parts[:-1]), *parts[-1:]])
    return line if not line or line[-1] in ".!?" else line + "."
