"""Markdown: the text that a reader sees."""

from markdown_it import MarkdownIt

from hcg_pipeline.corpus.encoding import decode
from hcg_pipeline.corpus.loaders.markup import parse_html
from hcg_pipeline.corpus.loaders.tree_blocks import join_blocks, tree_blocks
from hcg_pipeline.corpus.record import Record

_LARGEST = 4_000_000
"""Characters; a larger file is no page that somebody wrote, and is taken as it is."""


def load(data: bytes) -> list[Record]:
    """Headings, paragraphs, lists and tables (CommonMark and GitHub's tables) without marks and link targets."""
    text = decode(data)
    if len(text) > _LARGEST:
        return [Record(text)]
    root = parse_html(MarkdownIt("commonmark", {"html": True}).enable("table").render(text))
    return [Record("" if root is None else join_blocks(tree_blocks(root)))]
