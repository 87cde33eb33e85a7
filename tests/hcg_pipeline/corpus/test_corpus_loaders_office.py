"""PDF and DOCX."""

from collections.abc import Callable, Mapping, Sequence
from io import BytesIO
from zipfile import ZIP_DEFLATED, ZipFile

import pytest
from pypdf import PageObject

from hcg_pipeline.corpus.loaders import docx as docx_loader
from hcg_pipeline.corpus.loaders import pdf as pdf_loader
from hcg_pipeline.errors import DocumentError

Pdf = Callable[[Sequence[Sequence[str]]], bytes]
Locked = Callable[..., bytes]

_COLUMN = [
    "Why seals fail",
    "The mechanical seal of a centrifugal pump fails when the film of liquid treat-",
    "ment between its faces breaks down. Misalignment of the shaft, dry running and",
    "Cavitation at the impeller are the usual causes, and each of them is found early",
    "by measuring vibration.",
]
_READ = (
    "Why seals fail\nThe mechanical seal of a centrifugal pump fails when the film of liquid treatment between its "
    "faces breaks down. Misalignment of the shaft, dry running and Cavitation at the impeller are the usual causes, "
    "and each of them is found early by measuring vibration."
)


def test_lines_of_a_pdf_are_unwrapped_and_words_rejoined(pdf: Pdf) -> None:
    [record] = pdf_loader.load(pdf([_COLUMN]))
    assert record.text == _READ


def test_a_sentence_goes_on_over_the_page_and_running_lines_are_said_once(pdf: Pdf) -> None:
    def page(number: int, lines: list[str]) -> list[str]:
        return ["Journal of Pumps", *lines, f"Volume 7, page {number}", str(number)]

    pages = [page(1, _COLUMN[:3]), page(2, _COLUMN[3:]), page(3, ["Third page."]), page(4, ["Fourth page."])]
    [record] = pdf_loader.load(pdf(pages))
    assert record.text.count("Journal of Pumps") == 1
    assert record.text.count("Volume 7, page") == 1
    assert record.text.endswith("Third page.\nFourth page.")


def test_ligatures_and_shaped_letters_are_letters_again(pdf: Pdf, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(PageObject, "extract_text", lambda page: "The ﬁrst   eﬀect, ﻻ")
    [record] = pdf_loader.load(pdf([["x"]]))
    assert record.text == "The first effect, \u0644\u0627"


@pytest.mark.parametrize("algorithm", ["RC4-40", "RC4-128", "AES-128", "AES-256-R5", "AES-256"])
def test_encrypted_pdfs(pdf: Pdf, locked: Locked, algorithm: str) -> None:
    data = pdf([["Smoking causes cancer."]])
    # A password to change it, or an empty one, keeps nobody from reading.
    for user, owner in (("", "owner"), ("", "")):
        assert pdf_loader.load(locked(data, user, owner, algorithm))[0].text == "Smoking causes cancer."
    for user, owner in (("user", "owner"), ("user", "user")):
        with pytest.raises(DocumentError, match="encrypted and asks for a password: save a copy without one"):
            pdf_loader.load(locked(data, user, owner, algorithm))


@pytest.mark.parametrize("algorithm", ["AES-256-R5", "AES-256"])
def test_an_empty_owner_password_does_not_open_what_a_reader_needs_a_password_for(
    pdf: Pdf, locked: Locked, algorithm: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from pypdf._encryption import Encryption

    # pypdf's writer takes the user's password for an empty owner's; other programs write it as it is.
    write = Encryption.write_entry

    def keep_empty(self: Encryption, user: str, owner: str | None, **options: bool) -> object:
        return write(self, user, "" if owner == "empty" else owner, **options)

    monkeypatch.setattr(Encryption, "write_entry", keep_empty)
    with pytest.raises(DocumentError, match="asks for a password"):
        pdf_loader.load(locked(pdf([["Hidden."]]), "user", "empty", algorithm))


def test_a_pdf_of_images_says_to_run_ocr(pdf: Pdf) -> None:
    with pytest.raises(DocumentError, match=r"no text layer, only images \(pages: 2\): run OCR on it"):
        pdf_loader.load(pdf([[], []]))


def test_a_page_that_cannot_be_read_is_named_and_the_others_are_kept(pdf: Pdf, monkeypatch: pytest.MonkeyPatch) -> None:
    read = PageObject.extract_text

    def fail_on_second(page: PageObject) -> str:
        text = read(page)
        if "Second" in text:
            raise KeyError("/Font")
        return text

    monkeypatch.setattr(PageObject, "extract_text", fail_on_second)
    whole, bad = pdf_loader.load(pdf([["First page."], ["Second page."], ["Third page."]]))
    assert whole.text == "First page.\nThird page."
    assert bad.number == 2
    assert "page 2: " in str(bad.reason)
    assert "KeyError: '/Font'" in str(bad.reason)
    with pytest.raises(DocumentError, match="no page with text can be read; page 1: "):
        pdf_loader.load(pdf([["Second page."]]))


def _paragraph(text: str, style: str = "") -> str:
    styled = f'<w:pPr><w:pStyle w:val="{style}"/></w:pPr>' if style else ""
    return f"<w:p>{styled}<w:r><w:t xml:space='preserve'>{text}</w:t></w:r></w:p>"


def _cell(text: str, properties: str = "") -> str:
    return f"<w:tc><w:tcPr>{properties}</w:tcPr>{_paragraph(text) if text else '<w:p/>'}</w:tc>"


def test_a_word_document(docx: Callable[[str], bytes]) -> None:
    rows = [
        _cell("drug") + _cell("target") + _cell("risk"),
        _cell("A") + _cell("sodium channel", '<w:vMerge w:val="restart"/>') + _cell("rash"),
        _cell("B") + _cell("", "<w:vMerge/>") + _cell("ataxia"),
        _cell("C") + _cell("unknown", '<w:gridSpan w:val="2"/>'),
    ]
    table = "<w:tbl>" + "".join(f"<w:tr>{row}</w:tr>" for row in rows) + "</w:tbl>"
    deleted = (
        "<w:p><w:del><w:r><w:delText>Deleted.</w:delText></w:r></w:del><w:ins><w:r><w:t>Kept.</w:t></w:r></w:ins></w:p>"
    )
    [record] = docx_loader.load(
        docx(_paragraph("Seizures") + _paragraph("They harm. ") + table + f"<w:p>{deleted}</w:p>")
    )
    assert record.text == (
        "Seizures\n\nThey harm.\n\n"
        "drug: A; target: sodium channel; risk: rash.\n"
        "drug: B; target: sodium channel; risk: ataxia.\n"
        "drug: C; target: unknown.\n\n"
        "Kept."
    )


def test_a_word_document_without_text(docx: Callable[[str], bytes]) -> None:
    with pytest.raises(DocumentError, match="the document holds no text"):
        docx_loader.load(docx("<w:p/>"))


def test_a_zip_archive_of_something_else(archive: Callable[[Mapping[str, str]], bytes]) -> None:
    with pytest.raises(DocumentError, match="a zip archive, but not of a Word document"):
        docx_loader.load(archive({"a.txt": "text"}))


def test_an_archive_that_unpacks_to_gigabytes_is_not_unpacked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hcg_pipeline.corpus.loaders.archive._LARGEST", 1_000_000)
    out = BytesIO()
    with ZipFile(out, "w", ZIP_DEFLATED) as made:
        made.writestr("word/document.xml", "0" * 2_000_000)
    with pytest.raises(DocumentError, match=r"unpack to 0\.0 GB"):
        docx_loader.load(out.getvalue())
