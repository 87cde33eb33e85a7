"""EPUB books: their chapters in reading order."""

import posixpath
from urllib.parse import unquote
from zipfile import ZipFile

from hcg_pipeline.corpus.encoding import decode
from hcg_pipeline.corpus.loaders.archive import open_archive
from hcg_pipeline.corpus.loaders.markup import parse_html, parse_xml
from hcg_pipeline.corpus.loaders.tree_blocks import join_blocks, tree_blocks
from hcg_pipeline.corpus.record import Record
from hcg_pipeline.errors import DocumentError

_CONTAINER = "META-INF/container.xml"


def load(data: bytes) -> list[Record]:
    """One document: the parts of the book's spine, one after another."""
    with open_archive(data, "EPUB") as archive:
        if "META-INF/encryption.xml" in archive.namelist() and "META-INF/rights.xml" in archive.namelist():
            raise DocumentError("the book is protected (DRM): use a copy without protection")
        chapters = [_chapter(archive, name) for name in _spine(archive)]
    return [Record("\n\n".join(chapter for chapter in chapters if chapter))]


def _spine(archive: ZipFile) -> list[str]:
    """Names of the content files in reading order."""
    package = parse_xml(_read(archive, _CONTAINER)).find(".//{*}rootfile")
    path = package.get("full-path") if package is not None else None
    if not path:
        raise DocumentError(f"not an EPUB book: {_CONTAINER} names no package. Fetch it again")
    book = parse_xml(_read(archive, path))
    hrefs = {item.get("id"): item.get("href") for item in book.iterfind(".//{*}manifest/{*}item")}
    places = [hrefs.get(item.get("idref")) for item in book.iterfind(".//{*}spine/{*}itemref")]
    folder = posixpath.dirname(path)
    return [posixpath.normpath(posixpath.join(folder, unquote(place))) for place in places if place]


def _chapter(archive: ZipFile, name: str) -> str:
    root = parse_html(decode(_read(archive, name), "utf-8"))
    return "" if root is None else join_blocks(tree_blocks(root, skipped=("head", "nav")))


def _read(archive: ZipFile, name: str) -> bytes:
    try:
        return archive.read(name)
    except KeyError as error:
        raise DocumentError(f"the book lacks its part {name}: fetch it again") from error
