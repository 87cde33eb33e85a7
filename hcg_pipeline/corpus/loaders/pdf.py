"""PDF: the text layer, page by page."""

import re
from collections import Counter
from collections.abc import Sequence
from io import BytesIO
from unicodedata import normalize

from pypdf import PasswordType, PdfReader
from pypdf._encryption import AlgV4, AlgV5

from hcg_pipeline.corpus.lines import unwrap
from hcg_pipeline.corpus.record import Record
from hcg_pipeline.corpus.unexpected import guarded
from hcg_pipeline.errors import DocumentError

_PRESENTATION_FORMS = re.compile("[\ufb00-\ufb4f\ufb50-\ufdff\ufe70-\ufefc]")
"""Ligatures (fi, fl) and the shapes of Arabic and Hebrew letters, which PDF fonts encode as characters."""
_DIGITS = re.compile(r"\d+|\b[ivxlc]+\b")
_EDGE = 2
"""Lines at the top and at the bottom of a page that may be running headers and footers."""
_RUNNING = 0.5
"""Share of the pages on which such a line stands if it is one."""


def load(data: bytes) -> list[Record]:
    """The text with lines unwrapped, words rejoined, and headers and footers once instead of on every page.

    A page that cannot be read is a record of its own, numbered by the page. Raises `DocumentError` for an encrypted
    file, one without a text layer, and one of which no page can be read.
    """
    if not data:
        raise DocumentError("the file is empty: put a document there or remove it")
    reader = PdfReader(BytesIO(data))
    if reader.is_encrypted and not _opens_without_password(reader):
        raise DocumentError("the PDF is encrypted and asks for a password: save a copy without one")
    pages: list[str] = []
    bad: list[Record] = []
    for number, page in enumerate(reader.pages, 1):
        try:
            pages.append(guarded(page.extract_text))
        except DocumentError as error:
            bad.append(Record(number=number, reason=f"page {number}: {error}"))
    text = _PRESENTATION_FORMS.sub(lambda match: normalize("NFKC", match.group()), _body(pages))
    if any(character.isalnum() for character in text):
        return [Record(unwrap(text)), *bad]
    if bad:
        raise DocumentError(f"no page with text can be read; {bad[0].reason}")
    raise DocumentError(
        f"the PDF has no text layer, only images (pages: {len(pages)}): run OCR on it, for example with ocrmypdf"
    )


def _opens_without_password(reader: PdfReader) -> bool:
    kind = reader.decrypt("")
    if kind != PasswordType.OWNER_PASSWORD:
        return kind == PasswordType.USER_PASSWORD
    # An empty owner password lets pypdf in, but a person who set a password for reading is asked for it by viewers.
    found = reader._encryption
    if found is None:
        return True
    values = found.values
    if found.V >= 5:
        return bool(AlgV5.verify_user_password(found.R, b"", values.U, values.UE))
    lengths = (found.R, found.Length, values.O, values.U, found.P, found.id1_entry, found.EncryptMetadata)
    return bool(AlgV4.verify_user_password(b"", *lengths))


def _body(pages: Sequence[str]) -> str:
    """The pages' lines without those that run along the edge of many pages, after the first time."""
    lines = [[line for line in page.split("\n") if line.strip()] for page in pages]
    edges = [{_shape(line) for line in [*page[:_EDGE], *page[-_EDGE:]]} for page in lines]
    counts = Counter(shape for page in edges for shape in page)
    running = {shape for shape, count in counts.items() if count > max(2, len(pages) * _RUNNING)}
    said: set[str] = set()
    kept: list[str] = []
    for page in lines:
        for place, line in enumerate(page):
            if place in (0, len(page) - 1) and line.strip().isdecimal():
                continue  # a page number
            at_edge = place < _EDGE or place >= len(page) - _EDGE
            shape = _shape(line)
            if at_edge and shape in running:
                if shape in said or not any(character.isalpha() for character in line):
                    continue
                said.add(shape)
            kept.append(line)
    return "\n".join(kept)


def _shape(line: str) -> str:
    """A line without the numbers that differ from page to page."""
    return _DIGITS.sub("#", " ".join(line.split()).lower())
