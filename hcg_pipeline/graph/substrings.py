"""Which chunks contain a given text: an index by word, so that many texts need not each scan the whole corpus."""

import re
from collections import defaultdict
from collections.abc import Sequence

_WORD = re.compile(r"\w+")


class SubstringIndex:
    """Finds exact substrings in a fixed list of texts.

    A text that contains `wanted` contains each word inside it whole (its first and last may be cut words of the text),
    so only texts with the rarest of these are searched. Where no word is inside, all texts are.
    """

    def __init__(self, texts: Sequence[str]) -> None:
        self._texts = texts
        holders: dict[str, list[int]] = defaultdict(list)
        for place, text in enumerate(texts):
            for word in set(_WORD.findall(text)):
                holders[word].append(place)
        self._holders = dict(holders)

    def find(self, wanted: str) -> list[tuple[int, int]]:
        """(place of the text, offset of the first occurrence in it), in order of place."""
        inner = _WORD.findall(wanted)[1:-1]
        holders: list[Sequence[int]] = [self._holders.get(word, ()) for word in inner]
        candidates = min(holders, key=len, default=range(len(self._texts)))
        found = ((place, self._texts[place].find(wanted)) for place in candidates)
        return [(place, at) for place, at in found if at >= 0]
