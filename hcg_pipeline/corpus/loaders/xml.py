"""XML of any kind, such as JATS articles and RSS feeds."""

from lxml import etree

from hcg_pipeline.corpus.loaders.html import parse_html
from hcg_pipeline.corpus.loaders.tree_blocks import join_blocks, local_name, tree_blocks
from hcg_pipeline.corpus.record import Record
from hcg_pipeline.errors import DocumentError

# What JATS and TEI put around an article, and what says nothing to a reader.
_SKIPPED = frozenset(
    """journal-meta article-id contrib-group aff author-notes pub-date history permissions ref-list funding-group
    custom-meta-group counts self-uri object-id guid link pubdate lastbuilddate generator teiheader""".split()
)
_BLOCKS = frozenset(
    """p sec title div section article ul ol li list item table tr td th fig caption table-wrap disp-formula
    disp-quote blockquote pre h1 h2 h3 h4 h5 h6 body html description abstract""".split()
)
_MARKUP = ("</p>", "<br", "</a>", "</div>", "</li>", "<p>", "</em>", "</strong>")


def load(data: bytes) -> list[Record]:
    """The text of the elements in their order, each element that holds text as a block.

    Elements that stand within text (mixed content) are part of it. HTML that is escaped in an element, as feeds have
    it, is read as HTML. Entities and other files are not loaded.
    """
    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, remove_comments=True)
    if not data.strip():
        raise DocumentError("the file is empty: put text into it or remove it")
    try:
        root = etree.fromstring(data, parser)
    except etree.XMLSyntaxError as error:
        raise DocumentError(
            f"not well-formed XML: {error.msg}. If the file was cut off, fetch it again; if it is HTML, name it .html"
        ) from error
    for element in list(root.iter()):
        if not len(element) and element.text and any(mark in element.text for mark in _MARKUP):
            page = parse_html(element.text)
            element.text = None
            if page is not None:
                element.append(page)
    return [Record(join_blocks(tree_blocks(root, skipped=_SKIPPED, inline=_mixed(root))))]


def _mixed(root: etree._Element) -> set[str]:
    """Names of the elements that stand within text somewhere, and so are part of it."""
    return {local_name(element) for element in root.iter(etree.Element) if (element.tail or "").strip()} - _BLOCKS
