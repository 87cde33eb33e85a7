"""Short texts in replies: tidied when they are read, and held against the text that they claim to come from."""

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Annotated

from pydantic import AfterValidator

LONGEST_NAME = 100
_WORD = re.compile(r"[^\W_]+")
_STEM = 5


def tidy(text: str) -> str:
    """`text` in NFC on one line: white space single; control, private and bidirectional characters gone."""
    shown = "".join(character if _is_shown(character) else " " for character in text)
    return unicodedata.normalize("NFC", " ".join(shown.split()))


def _is_shown(character: str) -> bool:
    # the (non-)joiners are part of the spelling in Persian, Hindi and other scripts
    return unicodedata.category(character)[0] not in "CZ" or character in "\u200c\u200d"


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


@dataclass(frozen=True, slots=True)
class SpokenText:
    """A text against which names are held: case-folded, and the stems of its words."""

    folded: str
    stems: frozenset[str]


def spoken_text(texts: Iterable[str]) -> SpokenText:
    """The texts of a window's passages as one."""
    folded = " ".join(" ".join(texts).split()).casefold()
    return SpokenText(folded, stems(folded))


def stems(text: str) -> frozenset[str]:
    """The words of `text`, case-folded and cut to five letters: enough to find an inflected form again."""
    return frozenset(word[:_STEM] for word in _WORD.findall(text.casefold()))


def stands_in(name: str, text: SpokenText) -> bool:
    """Whether `text` has `name` as it is (scripts without spaces), or every word of it in some form."""
    return name.casefold() in text.folded or stems(name) <= text.stems
