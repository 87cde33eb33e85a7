"""A person's comments in `graph_spec.yaml`, each with the item that it stands above, beside or within."""

import re
from collections.abc import Iterator, Sequence

from hcg_pipeline.specification.specification import Comment

Item = tuple[str, str, int]
"""The section of an item, its name, and the line on which it begins."""
_BLOCK = re.compile(r"(\s*)(?:- +)?[^#]*?[:-] +[|>][+-]?\d?[+-]?\s*(?:#.*)?")
_BEFORE_A_QUOTE = frozenset(" \t[{,:-")


def comments_of(text: str, items: Sequence[Item], header: Sequence[str]) -> tuple[Comment, ...]:
    """The comments at the head of the file (without `header`), then those of each item, in the file's order.

    A comment belongs to the item that follows it at once, or else to the one in which it stands.
    """
    lines = text.split("\n")
    head = 0
    while head < len(lines) and lines[head].startswith("#"):
        head += 1
    own = tuple(line.rstrip() for line in lines[:head] if line.rstrip() not in header)
    starts = {line: (section, name) for section, name, line in items}
    found: dict[tuple[str, str], list[str]] = {}
    waiting: list[str] = []
    current: tuple[str, str] | None = None
    for number, line in _outside_block_texts(lines, head):
        stripped = line.strip()
        if stripped.startswith("#"):
            waiting.append(stripped)
            continue
        if number in starts:
            current = starts[number]
        said = [*waiting, *_beside(line)]
        if current is not None and said:
            found.setdefault(current, []).extend(said)
        waiting = []
    if waiting and current is not None:
        found.setdefault(current, []).extend(waiting)
    comments = [Comment(section, name, tuple(said)) for (section, name), said in found.items()]
    return (*([Comment("", "", own)] if own else []), *comments)


def _outside_block_texts(lines: Sequence[str], head: int) -> Iterator[tuple[int, str]]:
    """The lines after the head with their numbers, without those of texts that `|` or `>` begins: a # is text there."""
    inside: int | None = None
    for place in range(head, len(lines)):
        line = lines[place]
        if inside is not None and (not line.strip() or len(line) - len(line.lstrip()) > inside):
            continue
        block = _BLOCK.fullmatch(line)
        inside = len(block.group(1)) if block else None
        yield place + 1, line


def _beside(line: str) -> list[str]:
    """The comment at the end of a line, if there is one."""
    quote = ""
    bare = line.replace("''", "__")  # an apostrophe inside single quotes, or nothing at all
    for place, letter in enumerate(bare):
        before = bare[place - 1] if place else " "
        if quote:
            quote = "" if letter == quote and not (quote == '"' and before == "\\") else quote
        elif letter in "'\"" and before in _BEFORE_A_QUOTE:
            quote = letter
        elif letter == "#" and before in " \t":
            return [line[place:].strip()]
    return []
