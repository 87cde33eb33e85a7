"""Bytes to text, whatever the encoding."""

import codecs
import re
from collections.abc import Iterator

from charset_normalizer import from_bytes

from hcg_pipeline.errors import DocumentError

_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),  # before UTF-16, whose mark it begins with
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_KINDS = (
    (b"%PDF-", "a PDF file", ".pdf"),
    (b"PK\x03\x04", "a zip archive or an Office document", "its own, such as .docx"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an Office 97-2003 or encrypted Office document", ""),
    (b"\x89PNG", "a PNG image", ""),
    (b"\xff\xd8\xff", "a JPEG image", ""),
    (b"GIF8", "a GIF image", ""),
    (b"\x1f\x8b", "a gzip archive", ""),
    (b"SQLite format 3", "an SQLite database", ""),
    (b"PAR1", "a parquet file", ""),
)
# The encodings in which text without a mark is found in practice, the likelier first: the legacy encodings of the
# Encoding Standard (https://encoding.spec.whatwg.org). charset-normalizer alone ranks rarer ones level with them.
_LEGACY = (
    *("cp1252", "cp1250", "cp1251", "cp932", "gb18030", "big5", "cp949", "euc_jp", "iso2022_jp", "cp1254", "cp1253"),
    *("cp1256", "cp1255", "cp1257", "cp874", "cp1258", "iso8859_2", "koi8_r", "cp866", "mac_roman"),
    *("utf_16_le", "utf_16_be"),
)
_NEARLY = 0.06
"""Candidates whose language fit is this close to the best are level: then the likelier encoding is taken."""
_SAMPLE = 65_536
"""Bytes from which a legacy encoding is told."""
_BEYOND_ASCII = re.compile(rb"[\x80-\xff]+(?:[\x00-\x7f][\x80-\xff]+)*")
_AROUND = 40
"""Bytes that are kept before those beyond ASCII in a sample."""
_CONTROLS = re.compile("[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f\x80-\x9f\ufffd]")
_MIXED = re.compile("[A-Za-z][\u0370-\u06ff]|[\u0370-\u06ff][A-Za-z]")
"""Latin letters beside Greek, Cyrillic, Armenian, Hebrew or Arabic ones."""
_BINARY = 0.01
"""Share of control and undecodable characters beyond which something is no text."""


def decode(data: bytes, declared: str | None = None) -> str:
    """Text of a file: by its byte-order mark, the encoding it declares, UTF-8, or the likeliest legacy encoding.

    UTF-16 and UTF-32 without a mark are told by where their zero bytes stand. Raises `DocumentError` for what is
    empty or no text.
    """
    if not data:
        raise DocumentError("the file is empty: put text into it or remove it")
    for head, kind, ending in _KINDS:
        if data.startswith(head):
            advice = f"give the file the ending {ending}" if ending else "convert it to text or PDF, or remove it"
            raise DocumentError(f"this is {kind}, whatever its name says: {advice}")
    text = _decoded(data, declared)
    if len(_CONTROLS.findall(text)) > max(2, len(text) * _BINARY):
        raise _binary()
    return text


def _binary() -> DocumentError:
    return DocumentError("this is binary data, not text in any known encoding: remove it, or convert it to text")


def _decoded(data: bytes, declared: str | None) -> str:
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return data[len(mark) :].decode(encoding, "replace")
    for encoding in _candidates(data, declared):
        try:
            return data.decode(encoding)
        except (UnicodeDecodeError, LookupError):
            continue
    if _is_damaged_utf8(data):
        return data.decode("utf-8", "replace")
    return _decode_legacy(data)


def _candidates(data: bytes, declared: str | None) -> Iterator[str]:
    sample = data[:_SAMPLE]
    if _is_wide(sample):
        even, odd = sample[0::2].count(0), sample[1::2].count(0)
        if len(data) % 4 == 0 and even + odd > len(sample) * 0.6:
            yield "utf-32-le" if sample[3] == 0 else "utf-32-be"
        if min(even, odd) * 10 <= max(even, odd):
            yield "utf-16-be" if even > odd else "utf-16-le"
    if declared is not None:
        # Browsers read what calls itself Latin-1 or ASCII as its superset too.
        latin = declared.strip().lower() in ("iso-8859-1", "latin-1", "latin1", "us-ascii", "ascii")
        yield "cp1252" if latin else declared.strip()
    if b"\x1b$" in sample:
        yield "iso2022_jp"
    yield "utf-8"


def _is_wide(sample: bytes) -> bool:
    """Whether zero bytes come from two or four bytes a character, not from a few strays in other text."""
    zeros = sample.count(0)
    others = sample.translate(None, b"\0\t\n\r")
    controls = len(others) - len(others.translate(None, bytes(range(32))))
    return zeros > 0 and (zeros > len(sample) * 0.2 or controls > len(others) * 0.2 or not _is_utf8(others))


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        return error.start > len(data) - 4  # the sample ends within a character
    return True


def _is_damaged_utf8(data: bytes) -> bool:
    """Whether it is UTF-8 with a few bad bytes, such as a character cut in half at the end."""
    text = _sample(data).decode("utf-8", "replace")
    bad = text.count("\ufffd")
    good = sum(1 for character in text if character > "\x7f") - bad
    return good >= 3 * bad


def _decode_legacy(data: bytes) -> str:
    sample = _sample(data)
    matches = [match for match in from_bytes(sample, cp_isolation=list(_LEGACY)) if match.encoding in _LEGACY]
    matches = [match for match in matches if not _mixes_scripts(sample.decode(match.encoding, "replace"))]
    if matches:
        least = min(match.chaos for match in matches) + 0.01
        clear = [match for match in matches if match.chaos <= least]
        best = max(match.coherence for match in clear) - _NEARLY
        level = [match.encoding for match in clear if match.coherence >= best]
        return data.decode(min(level, key=_LEGACY.index), "replace")
    text = data.decode(_LEGACY[0], "replace")
    if _CONTROLS.search(text):
        raise _binary()
    return text


def _mixes_scripts(text: str) -> bool:
    """Whether other letters often stand within Latin words, as when 'k\xf6nnen' is taken for Cyrillic."""
    return len(_MIXED.findall(text)) > 0.1 * sum(1 for character in text if character > "\x7f")


def _sample(data: bytes) -> bytes:
    """The surroundings of the bytes that are not ASCII: the rest tells nothing about a legacy encoding."""
    if len(data) <= _SAMPLE:
        return data
    pieces: list[bytes] = []
    size = taken = 0
    for match in _BEYOND_ASCII.finditer(data):
        start = max(taken, match.start() - _AROUND)
        taken = match.end() + 1  # the last byte of a Shift-JIS or GBK character may be an ASCII one
        pieces.append(data[start:taken])
        size += taken - start
        if size >= _SAMPLE:
            break
    return b" ".join(pieces)
