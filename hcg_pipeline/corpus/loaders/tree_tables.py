"""The cells of a table element in HTML, or in the XML that trafilatura makes of it."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from hcg_pipeline.corpus.loaders.markup import Element, local_name

_LONGEST_CELL = 80
"""Words; a table with longer cells lays a page out."""
_WIDEST_SPAN = 1000
"""Columns or rows that one cell may span (the HTML standard's limit)."""


@dataclass(frozen=True, slots=True)
class TableRows:
    """The texts of a table's cells by row and column. `header`: whether the first row names the columns, if known."""

    cells: list[list[str]]
    header: bool | None


def table_rows(table: Element, text_of: Callable[[Element], str]) -> TableRows:
    """The rows of a table that holds no other. A merged cell stands in each row that it spans."""
    grid: list[list[str]] = []
    heads: list[list[bool]] = []
    below: dict[int, tuple[int, str]] = {}  # column -> (rows still to fill, text)
    for row in _own_rows(table):
        texts: list[str] = []
        head: list[bool] = []
        cells = [cell for cell in row if local_name(cell) in ("td", "th", "cell", "entry")]
        for cell in cells:
            _fill(texts, head, below)
            text, is_head = text_of(cell), local_name(cell) == "th" or cell.get("role") == "head"
            # Across columns a merged cell is said once: the empty places keep the columns in line.
            for offset in range(_span(cell, "colspan")):
                if _span(cell, "rowspan") > 1:
                    below[len(texts)] = (_span(cell, "rowspan") - 1, "" if offset else text)
                texts.append("" if offset else text)
                head.append(is_head)
        _fill(texts, head, below)
        if cells:  # a row of nothing but what reaches into it says nothing new
            grid.append(texts)
            heads.append(head)
    return TableRows(grid, _header(grid, heads))


def holds_table(table: Element) -> bool:
    """Whether there is a table inside a table: then the outer one lays out what the inner one says."""
    return next(table.iterdescendants("{*}table"), None) is not None


def is_layout(cells: list[list[str]]) -> bool:
    """Whether a table lays out a page rather than holding data: one cell alone, or cells as long as paragraphs."""
    filled = [cell for row in cells for cell in row if cell]
    return len(filled) < 2 or any(len(cell.split()) > _LONGEST_CELL for cell in filled)


def _own_rows(element: Element) -> Iterator[Element]:
    for child in element:
        name = local_name(child)
        if name in ("tr", "row"):
            yield child
        elif name in ("thead", "tbody", "tfoot", "tgroup"):
            yield from _own_rows(child)


def _fill(texts: list[str], head: list[bool], below: dict[int, tuple[int, str]]) -> None:
    """Put the cells that reach down from earlier rows into the columns that come next."""
    while (column := len(texts)) in below:
        rows, text = below.pop(column)
        if rows > 1:
            below[column] = (rows - 1, text)
        texts.append(text)
        head.append(False)


def _header(grid: list[list[str]], heads: list[list[bool]]) -> bool | None:
    if not grid or len(grid) < 2:
        return False
    if all(heads[0]) and len(heads[0]) > 1 and not all(all(row) for row in heads):
        # A caption in a cell across the whole table names nothing.
        return sum(1 for text in grid[0] if text) > 1
    if any(row and row[0] for row in heads[1:]) and max(map(len, grid)) == 2:
        return False
    return None


def _span(cell: Element, name: str) -> int:
    value = cell.get(name) or "1"
    return min(max(int(value), 1), _WIDEST_SPAN) if value.isdecimal() else 1
