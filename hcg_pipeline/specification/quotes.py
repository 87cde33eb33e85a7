"""Where a quote stands in its chunk: exactly, or up to white space, case and typographic marks. Else it is none."""

from dataclasses import dataclass

import pyarrow as pa

MINIMUM_QUOTE = 8

_SAME = {
    "‘": "'",
    "’": "'",
    "‚": "'",
    "′": "'",
    "“": '"',
    "”": '"',
    "„": '"',
    "«": '"',
    "»": '"',
    "‐": "-",
    "‑": "-",
    "‒": "-",
    "–": "-",
    "—": "-",
    "−": "-",
    "\u00ad": "",
    "\u200b": "",
    "\ufeff": "",
}
_AROUND = " \t\r\n\"'“”‘’«»…"


@dataclass(frozen=True, slots=True)
class Quote:
    """A quote as it stands: `document[start:end] == text`, inside the chunk."""

    chunk_id: str
    document_id: str
    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class _Folded:
    """A text with white space, case and marks folded, and for each folded character where it came from."""

    text: str
    origin: tuple[int, ...]


class QuoteFinder:
    """Finds quotes in the chunks of a CHUNKS table; `order` is each chunk's place in the corpus."""

    def __init__(self, chunks: pa.Table) -> None:
        ids = chunks.column("chunk_id").to_pylist()
        self.order: dict[str, int] = {chunk_id: place for place, chunk_id in enumerate(ids)}
        self._texts: list[str] = chunks.column("text").to_pylist()
        self._starts: list[int] = chunks.column("start").to_pylist()
        self._documents: list[str] = chunks.column("document_id").to_pylist()
        self._folded: dict[int, _Folded] = {}

    def find(self, chunk_id: str, quote: str) -> Quote | None:
        """The first place of `quote` in the chunk, with document offsets; None where it does not stand there.

        What is left of the quote without surrounding marks must have at least 8 characters.
        """
        place = self.order.get(chunk_id)
        wanted = quote.strip(_AROUND)
        if place is None or len(wanted) < MINIMUM_QUOTE:
            return None
        text = self._texts[place]
        start = text.find(wanted)
        end = start + len(wanted)
        if start < 0:
            span = self._find_folded(place, wanted)
            if span is None:
                return None
            start, end = span
        offset = self._starts[place]
        return Quote(chunk_id, self._documents[place], offset + start, offset + end, text[start:end])

    def _find_folded(self, place: int, wanted: str) -> tuple[int, int] | None:
        if place not in self._folded:
            self._folded[place] = _fold(self._texts[place])
        folded = self._folded[place]
        needle = _fold(wanted).text
        at = folded.text.find(needle)
        if len(needle) < MINIMUM_QUOTE or at < 0:
            return None
        return folded.origin[at], folded.origin[at + len(needle) - 1] + 1


def _fold(text: str) -> _Folded:
    letters: list[str] = []
    origin: list[int] = []
    for place, letter in enumerate(text):
        put = " " if letter.isspace() else _SAME.get(letter, letter).casefold()
        if put == " " and letters and letters[-1] == " ":
            continue
        letters.extend(put)
        origin.extend([place] * len(put))
    return _Folded("".join(letters), tuple(origin))
