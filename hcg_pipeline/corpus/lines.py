"""Which line breaks of a text are meant, and which only wrap a paragraph to the width of a page."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

_LINE = re.compile(r"[^\n]+")
_LIST_ITEM = re.compile(
    r"(?:[-*+–·•▪▫◦‣●○■□➢✓]\s|\(?(?:\d{1,3}[.)]|[ivx]{1,5}[.)]|[A-Za-z]\)|[IVX]{2,5}[.)])\s|#{1,6}\s|[|>])"
)
_WORD = re.compile(r"\w+(?:-\w+)?")
_HYPHENATED = re.compile(r"(\w+)[-\u2010]\n\s*(\w+)")

_NARROWEST = 30
"""A column of text is at least this wide; narrower blocks are lists of short lines."""
_WIDEST = 200
"""Wrapped text is at most this wide; longer lines hold a paragraph each."""
_NEIGHBOURS = 3
"""Lines before and after one that tell how wide its column is. Few, so that an edit elsewhere changes nothing here."""
_FULL = 0.92
"""A line wraps if it and the next word would fill this share of the column (widths are in characters, fonts vary)."""
_PROSE = 1 / 3
"""Of the lines of wrapped prose more than this share begin in lower case; of rows and lists hardly any do."""


@dataclass(frozen=True, slots=True)
class Block:
    """A run of lines that read as one: text[start:end]. `paragraph`: an empty line stands before it."""

    start: int
    end: int
    paragraph: bool


@dataclass(frozen=True, slots=True)
class _Line:
    start: int
    end: int
    words: str


def blocks(text: str) -> Iterator[Block]:
    """The blocks of a text in order, without the white space around them.

    An empty line, a list item, a table row and a Markdown heading end a block. Any other line break does unless the
    line was wrapped there: the next line goes on in lower case, or its first word would not have fitted any more.
    Whether a break counts depends on the few lines around it alone.
    """
    start = end = -1
    fresh = True
    for paragraph in _paragraphs(text):
        for index, line in enumerate(paragraph):
            if index and _wraps(paragraph, index - 1):
                end = line.end
                continue
            if start >= 0:
                yield Block(start, end, fresh)
            start, end, fresh = line.start, line.end, index == 0
    if start >= 0:
        yield Block(start, end, fresh)


def unwrap(text: str) -> str:
    """The text with each block on one line of its own and an empty line between paragraphs.

    A word that was hyphenated at the end of a line is joined; it keeps its hyphen where the text writes it with one
    elsewhere.
    """
    known = frozenset(_WORD.findall(text))
    pieces: list[str] = []
    for block in blocks(text):
        if pieces:
            pieces.append("\n\n" if block.paragraph else "\n")
        pieces.append(_join(text[block.start : block.end], known))
    return "".join(pieces)


def is_list_item(text: str) -> bool:
    """Whether a line begins with a bullet, a number or a mark of Markdown."""
    return _LIST_ITEM.match(text) is not None


def _paragraphs(text: str) -> Iterator[list[_Line]]:
    """Lines that hold something, grouped by the empty lines between them."""
    lines: list[_Line] = []
    last = -1
    for match in _LINE.finditer(text):
        raw = match.group()
        words = raw.strip()
        if not words:
            continue
        start = match.start() + len(raw) - len(raw.lstrip())
        if lines and (last < 0 or text.count("\n", last, match.start()) > 1):
            yield lines
            lines = []
        lines.append(_Line(start, start + len(words), words))
        last = match.end()
    if lines:
        yield lines


def _wraps(lines: list[_Line], index: int) -> bool:
    line, following = lines[index].words, lines[index + 1].words
    if _LIST_ITEM.match(following) or line.startswith(("#", "|")):
        return False
    goes_on = following[0].islower()
    around = lines[max(0, index - _NEIGHBOURS) : index + _NEIGHBOURS + 1]
    width = max(len(other.words) for other in around)
    if width > _WIDEST:
        return goes_on and line[-1] not in ".!?:;"
    if width < _NARROWEST:
        return False
    if goes_on:
        return len(line) >= width / 2 or line[-1] in ",-"
    full = len(line) + 1 + len(following.split(None, 1)[0]) > width * _FULL
    return full and sum(_may_continue(other.words) for other in around) >= len(around) * _PROSE


def _may_continue(line: str) -> bool:
    """Whether a line may continue a sentence: it begins with a letter that is no capital, as rows seldom do."""
    return line[0].isalpha() and not line[0].isupper()


def _join(block: str, known: frozenset[str]) -> str:
    def rejoin(match: re.Match[str]) -> str:
        head, tail = match.groups()
        compound = not tail[0].islower() or not head[-1].isalpha()
        if compound or (f"{head}-{tail}" in known and head + tail not in known):
            return f"{head}-{tail}"
        return head + tail

    return " ".join(_HYPHENATED.sub(rejoin, block).split())
