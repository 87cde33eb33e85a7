import codecs
import gzip
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hcg_pipeline.corpus.encoding import decode
from hcg_pipeline.errors import DocumentError

_GERMAN = "Die Größe der Wälder über München ist schön. Für Ärzte gilt das Übliche: „Geduld“ – und 15 €."
_FRENCH = "L'été était très chaud. Le café où nous étions dînait à côté de l'hôtel; ça coûte 3 €."
_RUSSIAN = "Причиной эпилепсии может быть травма головного мозга. Лечение снижает частоту приступов."
_JAPANESE = "てんかんの原因は脳の損傷である可能性があります。治療は発作の頻度を減らします。"
_CHINESE = "癫痫的原因可能是脑损伤。治疗可减少发作频率。"


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        (_GERMAN, "cp1252"),
        (_FRENCH, "cp1252"),
        ("Die schöne Größe, äöü ÄÖÜ ß", "latin-1"),
        (_RUSSIAN, "cp1251"),
        (_RUSSIAN, "koi8_r"),
        ("Przyczyną padaczki może być uraz mózgu; źródło: książka.", "cp1250"),
        (_JAPANESE, "shift_jis"),
        (_JAPANESE, "euc_jp"),
        (_JAPANESE, "iso2022_jp"),
        (_CHINESE, "gbk"),
        ("간질의 원인은 뇌 손상일 수 있습니다. 치료는 발작 빈도를 줄입니다.", "euc_kr"),
        (_GERMAN, "utf-16-le"),
        (_RUSSIAN, "utf-16-be"),
        (_CHINESE, "utf-16-le"),
        (_GERMAN, "utf-32-le"),
        (_GERMAN, "utf-32-be"),
    ],
)
def test_an_encoding_without_a_mark_is_told(text: str, encoding: str) -> None:
    assert decode(text.encode(encoding)) == text


@pytest.mark.parametrize(
    ("mark", "encoding"),
    [
        (codecs.BOM_UTF8, "utf-8"),
        (codecs.BOM_UTF16_LE, "utf-16-le"),
        (codecs.BOM_UTF16_BE, "utf-16-be"),
        (codecs.BOM_UTF32_LE, "utf-32-le"),
        (codecs.BOM_UTF32_BE, "utf-32-be"),
    ],
)
def test_a_byte_order_mark_decides_and_is_dropped(mark: bytes, encoding: str) -> None:
    assert decode(mark + _FRENCH.encode(encoding)) == _FRENCH


@given(st.text(st.characters(exclude_categories=["Cs", "Cc", "Co", "Cn"]), min_size=1))
def test_utf8_is_always_read_as_it_is(text: str) -> None:
    assert decode(b"Plain words first. " + text.encode()) == "Plain words first. " + text


def test_a_rare_character_in_a_large_file_is_enough() -> None:
    assert decode(b"word " * 200_000 + "café à l'hôtel".encode("cp1252"))[-14:] == "café à l'hôtel"


def test_what_the_file_declares_counts_unless_it_is_wrong() -> None:
    assert decode("Ж".encode("iso8859_5"), "iso-8859-5") == "Ж"
    assert decode("15 €".encode("cp1252"), "iso-8859-1") == "15 €"
    assert decode(_FRENCH.encode("cp1252"), "utf-8") == _FRENCH
    assert decode(_FRENCH.encode(), "no-such-encoding") == _FRENCH


def test_a_few_bad_bytes_do_not_turn_utf8_into_something_else() -> None:
    assert decode(("é" * 50).encode() + b"\xff end") == "é" * 50 + "\ufffd end"
    assert decode(_FRENCH.encode()[:-4] + b"\xe2\x82") == _FRENCH[:-2] + "\ufffd"


def test_stray_zero_bytes_do_not_make_it_utf16() -> None:
    assert decode(b"hello\0 world \x07bell") == "hello\0 world \x07bell"


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "the file is empty"),
        (random.Random(1).randbytes(5_000), "binary data"),
        (random.Random(2).randbytes(60), "binary data"),
        (gzip.compress(b"text", mtime=0), "a gzip archive"),
        (b"%PDF-1.7 ...", "a PDF file, whatever its name says: give the file the ending .pdf"),
        (b"PK\x03\x04....", "a zip archive or an Office document"),
        (b"\x89PNG\r\n\x1a\n....", "a PNG image"),
    ],
)
def test_what_is_no_text_is_refused(data: bytes, reason: str) -> None:
    with pytest.raises(DocumentError, match=reason):
        decode(data)
