"""Markup to element trees (lxml): HTML however broken, and XML without anything that it could load."""

from typing import Any, TypeAlias

from lxml import etree, html  # type: ignore[import-untyped]

from hcg_pipeline.errors import DocumentError

Element: TypeAlias = Any
"""An `lxml.etree` element; lxml has no types."""


def parse_html(page: str) -> Element | None:
    """The tree of a page; None if nothing is left of it."""
    parser = html.HTMLParser(encoding="utf-8", huge_tree=True, remove_comments=True, remove_pis=True)
    try:
        return html.document_fromstring(page.encode(), parser=parser)
    except etree.ParserError:
        return None


def parse_xml(data: bytes) -> Element:
    """The tree of an XML document. Entities, DTDs and the network are not used. Raises `DocumentError`."""
    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, remove_comments=True)
    if not data.strip():
        raise DocumentError("the file is empty: put text into it or remove it")
    try:
        return etree.fromstring(data, parser)
    except etree.XMLSyntaxError as error:
        raise DocumentError(
            f"not well-formed XML: {error.msg}. If the file was cut off, fetch it again; if it is HTML, name it .html"
        ) from error


def local_name(element: Element) -> str:
    """The element's name in lower case without its namespace; '' for comments and processing instructions."""
    return element.tag.rpartition("}")[2].lower() if isinstance(element.tag, str) else ""
