"""The one form in which every extracted text is kept."""

import re
import unicodedata

_NEWLINES = re.compile("\r\n?|[\v\f\x1c-\x1e\x85\u2028\u2029]")
_SPACES = re.compile("[\xa0\u1680\u2000-\u200a\u202f\u205f\u3000]")
_DROPPED = re.compile(
    "[\x00-\x08\x0e-\x1b\x1f\x7f-\x84\x86-\x9f"  # control characters
    "\xad\u200b\u2060\ufeff"  # soft hyphen, zero-width space, word joiner, byte-order mark
    "\u200e\u200f\u202a-\u202e\u2066-\u2069"  # marks of writing direction
    "\ud800-\udfff\ufffe\uffff]"  # lone surrogates and noncharacters
)
_SYMBOL_FONT = re.compile("[\uf020-\uf0ff]")
"""Where Word and PDF put the glyphs of Symbol and Wingdings, nearly always bullets."""


def clean_text(text: str) -> str:
    """The text in Unicode NFC with newlines \\n and plain spaces, without control and invisible characters at all.

    Joiners that scripts need (U+200C, U+200D) stay. White space at both ends goes, so that two files which differ in
    nothing else are the same document.
    """
    text = _NEWLINES.sub("\n", text)
    text = _SPACES.sub(" ", text)
    text = _DROPPED.sub("", text)
    text = _SYMBOL_FONT.sub("•", text)
    return unicodedata.normalize("NFC", text).strip()
