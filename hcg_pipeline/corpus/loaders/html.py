"""HTML: the main content of a page, without menus, headers and footers."""

import re

import trafilatura
from trafilatura.settings import Document

from hcg_pipeline.corpus.encoding import decode
from hcg_pipeline.corpus.loaders.markup import parse_html
from hcg_pipeline.corpus.loaders.tree_blocks import TextBlock, join_blocks, tree_blocks
from hcg_pipeline.corpus.record import Record
from hcg_pipeline.corpus.unexpected import guarded
from hcg_pipeline.errors import DocumentError

_CHARSET = re.compile(rb"""<(?:meta[^>]{0,200}?charset|\?xml[^>]{0,100}?encoding)\s*=\s*["']?([\w.:-]+)""", re.I)
_HEAD = 4_096
"""Bytes in which a page says its encoding."""
_SURROUNDINGS = ("head", "nav", "footer", "aside", "form", "dialog", "menu")
_SMALL_PAGE = 300
"""Words up to which a page is read in full: there is too little to tell what is main."""
_KEPT = 0.6
"""Share of the prose that the main content must hold; trafilatura finding less has missed the page's structure."""
_MENU = 0.5
"""Share of link text from which a block is a menu."""


def load(data: bytes) -> list[Record]:
    """The headings, paragraphs, lists and tables of the page's main content, as trafilatura finds it.

    Where that loses much of what is not in links, all that is not is taken; of a small page, all but its navigation.
    """
    declared = _CHARSET.search(data[:_HEAD])
    page = decode(data, declared.group(1).decode("ascii") if declared is not None else None)
    root = parse_html(page)
    if root is None:
        raise DocumentError("there is no element in it: if it is plain text, name it .txt")
    whole = tree_blocks(root, skipped=_SURROUNDINGS)
    prose = [block for block in whole if block.linked < _MENU]
    if sum(map(_words, prose)) <= _SMALL_PAGE:
        return [Record(join_blocks(whole))]
    main = _main_content(page)
    if sum(map(_words, main)) < _KEPT * sum(map(_words, prose)):
        return [Record(join_blocks(prose))]
    return [Record(join_blocks(_with_title(main, whole)))]


def _main_content(page: str) -> list[TextBlock]:
    try:
        found = guarded(
            lambda: trafilatura.bare_extraction(
                page, include_comments=False, include_tables=True, favor_recall=True, with_metadata=False
            )
        )
    except DocumentError:
        return []  # the caller takes the whole page instead
    return tree_blocks(found.body) if isinstance(found, Document) and found.body is not None else []


def _with_title(main: list[TextBlock], whole: list[TextBlock]) -> list[TextBlock]:
    """The main content below the page's first heading, if it lost that."""
    heading = next((block for block in whole if block.heading), None)
    if heading is None or any(block.text == heading.text for block in main):
        return main
    return [heading, *main]


def _words(block: TextBlock) -> int:
    return len(block.text.split())
