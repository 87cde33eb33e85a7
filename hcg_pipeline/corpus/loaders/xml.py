"""XML of any kind, such as JATS articles and RSS feeds."""

from hcg_pipeline.corpus.loaders.markup import Element, local_name, parse_html, parse_xml
from hcg_pipeline.corpus.loaders.tree_blocks import join_blocks, tree_blocks
from hcg_pipeline.corpus.record import Record


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


# What JATS and TEI put around an article, and what says nothing to a reader.
_SKIPPED = _names(
    """journal-meta article-id contrib-group aff author-notes pub-date history permissions ref-list funding-group
    custom-meta-group counts self-uri object-id guid link pubdate lastbuilddate generator teiheader"""
)
_BLOCKS = _names(
    """p sec title div section article ul ol li list item table tr td th fig caption table-wrap disp-formula
    disp-quote blockquote pre h1 h2 h3 h4 h5 h6 body html description abstract"""
)
_MARKUP = ("</p>", "<br", "</a>", "</div>", "</li>", "<p>", "</em>", "</strong>")


def load(data: bytes) -> list[Record]:
    """The text of the elements in their order, each element that holds text as a block.

    Elements that stand within text (mixed content) are part of it. HTML that is escaped in an element, as feeds have
    it, is read as HTML. Entities and other files are not loaded.
    """
    root = parse_xml(data)
    for element in list(root.iter("*")):
        if not len(element) and element.text and any(mark in element.text for mark in _MARKUP):
            page = parse_html(element.text)
            element.text = None
            if page is not None:
                element.append(page)
    return [Record(join_blocks(tree_blocks(root, skipped=_SKIPPED, inline=_mixed(root))))]


def _mixed(root: Element) -> set[str]:
    """Names of the elements that stand within text somewhere, and so are part of it."""
    return {local_name(element) for element in root.iter("*") if (element.tail or "").strip()} - _BLOCKS
