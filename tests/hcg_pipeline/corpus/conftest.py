"""Small files of the kinds that need more than bytes, made on the spot."""

from collections.abc import Callable, Mapping, Sequence
from io import BytesIO
from pathlib import Path
from zipfile import ZipFile

import pytest
from pypdf import PdfReader, PdfWriter

Pages = Sequence[Sequence[str]]

_WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"


def _escaped(line: str) -> bytes:
    return line.replace("\\", "\\\\").replace("(", "\\(").replace(")", "\\)").encode("cp1252")


@pytest.fixture
def pdf() -> Callable[[Pages], bytes]:
    """A PDF with the given lines on each page; a page without lines has no text layer."""

    def make(pages: Pages) -> bytes:
        objects = [
            b"<</Type/Catalog/Pages 2 0 R>>",
            b"<</Type/Pages/Count %d/Kids[%s]>>"
            % (len(pages), b" ".join(b"%d 0 R" % (4 + 2 * n) for n in range(len(pages)))),
            b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>",
        ]
        for number, lines in enumerate(pages):
            shown = b"".join(b"(%s) Tj 0 -14 Td " % _escaped(line) for line in lines)
            content = b"BT /F1 11 Tf 50 780 Td " + shown + b"ET" if lines else b""
            page = b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Resources<</Font<</F1 3 0 R>>>>/Contents %d 0 R>>"
            objects.append(page % (5 + 2 * number))
            objects.append(b"<</Length %d>>stream\n%s\nendstream" % (len(content), content))
        out = BytesIO(b"")
        out.write(b"%PDF-1.4\n")
        places = []
        for number, body in enumerate(objects, 1):
            places.append(out.tell())
            out.write(b"%d 0 obj\n%s\nendobj\n" % (number, body))
        start = out.tell()
        out.write(b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1))
        out.write(b"".join(b"%010d 00000 n \n" % place for place in places))
        out.write(b"trailer<</Size %d/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF\n" % (len(objects) + 1, start))
        return out.getvalue()

    return make


@pytest.fixture
def locked() -> Callable[..., bytes]:
    """A copy of a PDF that is encrypted with a password to read (`user`) and one to change (`owner`)."""

    def lock(data: bytes, user: str, owner: str, algorithm: str) -> bytes:
        writer = PdfWriter(clone_from=PdfReader(BytesIO(data)))
        writer.encrypt(user, owner, algorithm=algorithm)
        out = BytesIO()
        writer.write(out)
        return out.getvalue()

    return lock


@pytest.fixture
def archive() -> Callable[[Mapping[str, str]], bytes]:
    """A zip archive of texts by name."""

    def make(parts: Mapping[str, str]) -> bytes:
        out = BytesIO()
        with ZipFile(out, "w") as made:
            for name, text in parts.items():
                made.writestr(name, text)
        return out.getvalue()

    return make


@pytest.fixture
def docx(archive: Callable[[Mapping[str, str]], bytes]) -> Callable[[str], bytes]:
    """A Word document with the given WordprocessingML in its body."""
    office = "http://schemas.openxmlformats.org"
    rels = f"{office}/officeDocument/2006/relationships/officeDocument"

    def make(body: str) -> bytes:
        return archive(
            {
                "[Content_Types].xml": f'<Types xmlns="{office}/package/2006/content-types"/>',
                "_rels/.rels": f'<Relationships xmlns="{office}/package/2006/relationships">'
                f'<Relationship Id="r1" Type="{rels}" Target="word/document.xml"/></Relationships>',
                "word/document.xml": f'<w:document xmlns:w="{_WORD}"><w:body>{body}</w:body></w:document>',
            }
        )

    return make


@pytest.fixture
def corpus(tmp_path: Path) -> Callable[[Mapping[str, bytes | str]], Path]:
    """A corpus folder with the given files by name."""

    def make(files: Mapping[str, bytes | str]) -> Path:
        for name, content in files.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content.encode() if isinstance(content, str) else content)
        return tmp_path

    return make
