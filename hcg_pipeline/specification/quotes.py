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


class QuotedText:
    """A text in which quotes are looked for. White space, case and marks are folded once a quote needs it."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._folded: tuple[str, tuple[int, ...]] | None = None

    def span(self, quote: str) -> tuple[int, int] | None:
        """The first place of `quote` in the text, as characters `start` to `end`; None where it does not stand there.

        What is left of the quote without surrounding marks must have at least 8 characters.
        """
        wanted = quote.strip(_AROUND)
        if len(wanted) < MINIMUM_QUOTE:
            return None
        start = self._text.find(wanted)
        return (start, start + len(wanted)) if start >= 0 else self._span_folded(wanted)

    def _span_folded(self, wanted: str) -> tuple[int, int] | None:
        if self._folded is None:
            self._folded = _fold(self._text)
        folded, origin = self._folded
        needle, _ = _fold(wanted)
        at = folded.find(needle)
        if len(needle) < MINIMUM_QUOTE or at < 0:
            return None
        return origin[at], origin[at + len(needle) - 1] + 1


class QuoteFinder:
    """Finds quotes in the chunks of a CHUNKS table; `order` is each chunk's place in the corpus."""

    def __init__(self, chunks: pa.Table) -> None:
        ids = chunks.column("chunk_id").to_pylist()
        self.order: dict[str, int] = {chunk_id: place for place, chunk_id in enumerate(ids)}
        self._texts: list[str] = chunks.column("text").to_pylist()
        self._starts: list[int] = chunks.column("start").to_pylist()
        self._documents: list[str] = chunks.column("document_id").to_pylist()
        self._quoted = [QuotedText(text) for text in self._texts]

    def find(self, chunk_id: str, quote: str) -> Quote | None:
        """The first place of `quote` in the chunk, with document offsets; None where it does not stand there.

        See `QuotedText.span`.
        """
        place = self.order.get(chunk_id)
        span = None if place is None else self._quoted[place].span(quote)
        if place is None or span is None:
            return None
        start, end = span
        offset = self._starts[place]
        return Quote(chunk_id, self._documents[place], offset + start, offset + end, self._texts[place][start:end])


def _fold(text: str) -> tuple[str, tuple[int, ...]]:
    """`text` with white space, case and marks folded, and for each folded character where it came from."""
    letters: list[str] = []
    origin: list[int] = []
    for place, letter in enumerate(text):
        put = " " if letter.isspace() else _SAME.get(letter, letter).casefold()
        if put == " " and letters and letters[-1] == " ":
            continue
        letters.extend(put)
        origin.extend([place] * len(put))
    return "".join(letters), tuple(origin)
