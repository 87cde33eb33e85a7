"""A parsed HTML or XML tree as blocks of text: headings, paragraphs, list items, table rows."""

from collections.abc import Iterable
from dataclasses import dataclass

from hcg_pipeline.corpus.loaders.markup import Element, local_name
from hcg_pipeline.corpus.loaders.table_text import row_sentences
from hcg_pipeline.corpus.loaders.tree_tables import holds_table, is_layout, table_rows


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


_SKIPPED = _names("script style noscript template svg math iframe object embed canvas select button")
_INLINE = _names(
    """a abbr acronym b bdi bdo big cite code data del dfn em font hi i img input ins kbd label mark q ref rp rt ruby s
    samp small span strike strong sub sup time tt u var wbr"""
)
_HEADINGS = _names("h1 h2 h3 h4 h5 h6 head")
_LINE_BREAKS = _names("br lb")
_BREAK = "\v"
"""Stands for a line break that is meant while white space is folded."""


@dataclass(frozen=True, slots=True)
class TextBlock:
    """A block's text. `tight` blocks (list items, rows) follow the one before without an empty line between.

    `linked` is the share of its characters that stand in links: high in menus, low in prose.
    """

    text: str
    tight: bool = False
    heading: bool = False
    linked: float = 0.0


def tree_blocks(root: Element, skipped: Iterable[str] = (), inline: Iterable[str] = ()) -> list[TextBlock]:
    """The blocks of a tree in reading order.

    Elements named in `skipped` are left out, as are scripts, forms' controls and what is hidden. Every element begins
    a block but those that HTML calls inline and those named in `inline`. Tables become sentences (`row_sentences`);
    tables that only lay a page out are read cell by cell.
    """
    walk = _Walk(_SKIPPED | frozenset(skipped), _INLINE | frozenset(inline))
    walk.visit(root)
    return walk.blocks


def join_blocks(blocks: Iterable[TextBlock]) -> str:
    """Blocks as one text: an empty line between paragraphs, none within a list or table."""
    pieces: list[str] = []
    for block in blocks:
        if pieces:
            pieces.append("\n" if block.tight else "\n\n")
        pieces.append(block.text)
    return "".join(pieces)


@dataclass(frozen=True, slots=True)
class _Step:
    """What is still to do: enter an element, leave one (named), or take the text behind one."""

    element: Element | None = None
    leaves: str = ""
    text: str | None = None
    in_link: bool = False
    verbatim: bool = False


class _Walk:
    def __init__(self, skipped: frozenset[str], inline: frozenset[str]) -> None:
        self.blocks: list[TextBlock] = []
        self._skipped = skipped
        self._inline = inline
        self._pieces: list[str] = []
        self._linked = 0
        self._bullet = ""
        self._steps: list[_Step] = []

    def visit(self, root: Element) -> None:
        """Read a tree. With a stack of its own: pages with unclosed tags nest deeper than Python calls may."""
        self._steps.append(_Step(element=root))
        while self._steps:
            step = self._steps.pop()
            if step.element is not None:
                self._enter(step.element, step.in_link, step.verbatim)
            elif step.leaves:
                self.flush(heading=step.leaves in _HEADINGS)
            else:
                self._add(step.text, step.in_link, step.verbatim)
        self.flush()

    def _enter(self, element: Element, in_link: bool, verbatim: bool) -> None:
        name = local_name(element)
        if not name or name in self._skipped or _is_hidden(element):
            return
        if name == "table" and not holds_table(element):
            rows = table_rows(element, self._cell)
            if not is_layout(rows.cells):
                self.flush()
                self._add_rows(row_sentences(rows.cells, rows.header))
                return
        begins = name not in self._inline and name not in _LINE_BREAKS
        if begins:
            self.flush()
        if name in _LINE_BREAKS:
            self._pieces.append(_BREAK)
        if name == "li" or (name == "item" and local_name(element.getparent()) == "list"):
            self._bullet = "- "
        in_link = in_link or name == "a"
        verbatim = verbatim or name == "pre"
        self._add(element.text, in_link, verbatim)
        if begins:
            self._steps.append(_Step(leaves=name))
        for child in reversed(element):
            self._steps.append(_Step(text=child.tail, in_link=in_link, verbatim=verbatim))
            self._steps.append(_Step(element=child, in_link=in_link, verbatim=verbatim))

    def flush(self, heading: bool = False) -> None:
        lines = (" ".join(line.split()) for line in "".join(self._pieces).split(_BREAK))
        text = "\n".join(line for line in lines if line)
        if text:
            linked = self._linked / len("".join(text.split()))
            self.blocks.append(TextBlock(self._bullet + text, bool(self._bullet), heading, linked))
            self._bullet = ""
        self._pieces, self._linked = [], 0

    def _add(self, text: str | None, in_link: bool, verbatim: bool) -> None:
        if text:
            self._pieces.append(text.replace("\n", _BREAK) if verbatim else text)
            if in_link:
                self._linked += len("".join(text.split()))

    def _add_rows(self, lines: list[str]) -> None:
        self.blocks.extend(TextBlock(line, tight=index > 0) for index, line in enumerate(lines))

    def _cell(self, cell: Element) -> str:
        inner = _Walk(self._skipped, self._inline)
        inner.visit(cell)
        return " ".join(block.text for block in inner.blocks)


def _is_hidden(element: Element) -> bool:
    style = element.get("style") or ""
    return element.get("hidden") is not None or "display:none" in style.replace(" ", "").lower()
