"""Short texts in replies: tidied when they are read, and held against the text that they claim to come from."""

import re
import unicodedata
from collections.abc import Iterable
from typing import Annotated

from pydantic import AfterValidator

LONGEST_NAME = 100
_WORD = re.compile(r"[^\W_]+")
_STEM = 5


def tidy(text: str) -> str:
    """`text` in NFC on one line: control characters gone, white space single."""
    shown = "".join(" " if unicodedata.category(character)[0] in "CZ" else character for character in text)
    return unicodedata.normalize("NFC", " ".join(shown.split()))


Phrase = Annotated[str, AfterValidator(tidy)]


def is_name(text: str) -> bool:
    """Whether `text` can be a name: at least one letter, at most 100 characters, no parenthesis mark of a call."""
    return any(character.isalpha() for character in text) and len(text) <= LONGEST_NAME


def unique(names: Iterable[str]) -> tuple[str, ...]:
    """The usable names, each once (by its case-folded form), in order."""
    seen: dict[str, str] = {}
    for name in names:
        if is_name(name):
            seen.setdefault(name.casefold(), name)
    return tuple(seen.values())


def stems(text: str) -> frozenset[str]:
    """The words of `text`, case-folded and cut to five letters: enough to find an inflected form again."""
    return frozenset(word[:_STEM] for word in _WORD.findall(text.casefold()))


def stands_in(name: str, text_stems: frozenset[str]) -> bool:
    """Whether every word of `name` occurs, in some form, in the text with these stems."""
    return stems(name) <= text_stems
