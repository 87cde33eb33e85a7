"""Word documents."""

from io import BytesIO
from typing import Any

import mammoth

from hcg_pipeline.corpus.loaders.archive import open_archive
from hcg_pipeline.corpus.loaders.markup import parse_html
from hcg_pipeline.corpus.loaders.tree_blocks import join_blocks, tree_blocks
from hcg_pipeline.corpus.record import Record
from hcg_pipeline.errors import DocumentError


def load(data: bytes) -> list[Record]:
    """Headings, paragraphs, lists, tables and notes as mammoth finds them, without comments and deleted text."""
    with open_archive(data, "DOCX") as archive:
        names = archive.namelist()
    if "word/document.xml" not in names and "_rels/.rels" not in names:
        raise DocumentError("a zip archive, but not of a Word document: unpack it, or remove it")
    result = mammoth.convert_to_html(BytesIO(data), convert_image=_no_image)
    root = parse_html(result.value)
    text = "" if root is None else join_blocks(tree_blocks(root))
    if not text:
        raise DocumentError("the document holds no text, perhaps images of it: write it out or remove the file")
    return [Record(text)]


def _no_image(image: Any) -> list[Any]:
    return []
