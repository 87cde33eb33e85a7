"""Words of a sentence with their places."""

import re
from dataclasses import dataclass

_ENDED = "induced|mediated|driven|caused|related|associated"
_SHORT = "s|re|ve|ll|d|m"
_TOKEN = re.compile(
    rf"(?<=[\w)\]])[-\u2010\u2011](?:{_ENDED})\b"
    r"|(?:[A-Za-z]\.){2,}"
    r"|[^\W_]+(?=n['’]t\b)|n['’]t\b"
    rf"|['’](?:{_SHORT})\b"
    rf"|[^\W_]+(?:(?:[-\u2010\u2011](?!(?:{_ENDED})\b)|[.&+]|::|['’](?!(?:{_SHORT})\b))[^\W_]+)*%?"
    r"|\.\.\.|\S"
)
NOUNS = ("NN0", "NN1", "NN2", "NP0", "UNC")
LONGEST = 120
"""Words of a sentence that are read: what is longer is no sentence but a table or a list."""


@dataclass(slots=True)
class Token:
    """A word: as written, lower case, lemma, C5 tag, and characters [start, end) of the sentence."""

    text: str
    low: str
    lemma: str
    tag: str
    start: int
    end: int

    @property
    def is_noun(self) -> bool:
        """Nouns, names and unknown words."""
        return self.tag in NOUNS


def word_spans(sentence: str) -> list[tuple[int, int]]:
    """Character spans of the words and marks of a sentence, at most `LONGEST`.

    "cisplatin-induced" is two words, so are "don't" and "patient's"; other hyphened words are one.
    """
    return [match.span() for match in _TOKEN.finditer(sentence)][:LONGEST]
