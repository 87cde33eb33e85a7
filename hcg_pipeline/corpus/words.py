"""How long a text is to a reader, in words."""

import re

_UNSPACED = re.compile(
    "[\u0e00-\u0eff\u0f00-\u0fff\u1000-\u109f\u1780-\u17ff"  # Thai, Lao, Tibetan, Burmese, Khmer
    "\u3040-\u30ff\u31f0-\u31ff\uff66-\uff9d\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]+"  # CJK
)
_LONGEST_WORD = 12
"""Characters a word has at most on average, spaces included; text with fewer spaces counts by its characters."""


def count_words(text: str) -> int:
    """White-space separated words."""
    return len(text.split())


def reading_length(text: str) -> int:
    """Length in words of any script: what chunks and windows are measured in.

    For text with spaces it is the number of words. Scripts without spaces count two characters a word, and runs
    without spaces (base64, long identifiers) twelve.
    """
    words = len(text.split())
    length = max(words, len(text) // _LONGEST_WORD)
    if text.isascii():
        return length
    unspaced = sum(len(run) for run in _UNSPACED.findall(text))
    return max(length, words + unspaced // 2)
