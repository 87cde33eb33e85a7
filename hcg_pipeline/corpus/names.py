"""Which names a corpus may have. The name is a folder, a partition key and a part of URLs and store paths."""

import unicodedata
from collections.abc import Iterator

from hcg_pipeline.errors import CorpusError

LONGEST_NAME = 100
_LONGEST_FILE_NAME = 255
"""Bytes that file systems allow in one name."""


def check_name(name: str) -> str:
    """The name in Unicode NFC, if it is one that a corpus may have.

    Letters and digits of any script, spaces, `_`, `-` and `.`, 1 to 100 characters, without a space or dot at either
    end and without two dots in a row. Raises `CorpusError` with the reason for everything else.
    """
    normal = unicodedata.normalize("NFC", name)
    reason = next(_complaints(normal), None)
    if reason is not None:
        raise CorpusError(
            f"{name[:LONGEST_NAME]!r} cannot name a corpus: {reason}. "
            "Use letters, digits, spaces, '_', '-' and '.', for example 'heart failure 2024'"
        )
    return normal


def _complaints(name: str) -> Iterator[str]:
    if not name:
        yield "it is empty"
    if len(name) > LONGEST_NAME:
        yield f"it has {len(name)} characters, more than {LONGEST_NAME}"
    yield from (f"it holds {_shown(character)}" for character in name if not _allowed(character))
    if len(name.encode("utf-8", "surrogatepass")) > _LONGEST_FILE_NAME:
        yield f"it is longer than the {_LONGEST_FILE_NAME} bytes of a folder name"
    if name.strip(" .") != name:
        yield "it begins or ends with a space or a dot"
    if ".." in name:
        yield "it holds '..'"
    if not any(character.isalnum() for character in name):
        yield "it holds no letter or digit"


def _allowed(character: str) -> bool:
    # L*: letters, M*: the marks that many scripts write vowels with, Nd: digits.
    category = unicodedata.category(character)
    return character in " _-." or category[0] in "LM" or category == "Nd"


def _shown(character: str) -> str:
    if character.isprintable():
        return f"{character!r}"
    return f"the character U+{ord(character):04X} ({unicodedata.name(character, 'a control character').lower()})"
