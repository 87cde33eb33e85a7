"""Vocabulary drift: how much of the newest text does not fit the vocabulary that an earlier text was given."""

import re
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from hcg_pipeline.corpus.sentences import sentence_spans
from hcg_pipeline.specification.names import key_of, singular, split_camel
from hcg_pipeline.specification.vocabulary import Vocabulary

SHOWN_WORDS = 20

# Plain words for cause and effect. They find most causal sentences of an English text and some that are none; the same
# error on both sides of a comparison does little harm. In other languages nothing is found, and nothing is claimed.
_CAUSAL = re.compile(
    r"\b(?:caus(?:e|es|ed|ing)|le(?:ad|ads|d|ading) to|result(?:s|ed|ing)? in|due to|because of|contribut\w+ to"
    r"|(?:increas|reduc|rais|induc|promot|improv|decreas)(?:e|es|ed|ing)|(?:prevent|trigger|inhibit|lower|worsen)(?:s|ed"
    r"|ing)?|risk factors? (?:for|of)|depends? on|affects?|affected by|driven by|drives)\b",
    re.IGNORECASE,
)
_WORD = re.compile(r"[^\W\d_]{5,}")


@dataclass(frozen=True, slots=True)
class Fit:
    """How a text fits a vocabulary: passages, those that some variable is read in; causal sentences, those read."""

    documents: int
    passages: int
    spoken_of: int
    statements: int
    read: int

    @property
    def unspoken(self) -> float:
        """Share of the passages in which no variable is spoken of; 0.0 where there are none."""
        return _share(self.passages - self.spoken_of, self.passages)

    @property
    def unread(self) -> float:
        """Share of the sentences with a causal word from which no relation was read; 0.0 where there are none."""
        return _share(self.statements - self.read, self.statements)


@dataclass(frozen=True)
class Drift:
    """The fit of all text, of the text that the vocabulary was made from (`older`), and of what came since (`newest`).

    The last two are None where it is not known which is which, or nothing came since. `words` are words of the newest
    text, with the number of its passages, that neither the older text nor the vocabulary has.
    """

    all: Fit
    older: Fit | None
    newest: Fit | None
    words: tuple[tuple[str, int], ...]

    @property
    def excess(self) -> float:
        """How much larger the unfit share of the newest text is than the older text's: passages or statements."""
        if self.older is None or self.newest is None:
            return 0.0
        pairs = ((self.newest.unspoken, self.older.unspoken), (self.newest.unread, self.older.unread))
        return round(max(0.0, *(new - old for new, old in pairs)), 4)


def measure_drift(
    chunks: pa.Table,
    variables: pa.Table,
    relations: pa.Table,
    vocabulary: Vocabulary,
    known: Collection[str] | None,
) -> Drift:
    """Drift of a corpus (CHUNKS, VARIABLES, SEED_RELATIONS) from the documents `known` to its vocabulary.

    `known` are ids of the documents that the vocabulary was made from; None where nobody kept them. A document's id
    follows its text, so an edited document counts as new.
    """
    rows = chunks.to_pylist()
    spoken = {chunk_id for chunk_ids in variables.column("chunk_ids").to_pylist() for chunk_id in chunk_ids}
    quotes = _quotes(relations)
    everything = _fit(rows, spoken, quotes)
    old = [row for row in rows if known is not None and row["document_id"] in known]
    new = [row for row in rows if known is not None and row["document_id"] not in known]
    if not old or not new:
        return Drift(everything, None, None, ())
    return Drift(everything, _fit(old, spoken, quotes), _fit(new, spoken, quotes), _unknown_words(old, new, vocabulary))


def _quotes(relations: pa.Table) -> dict[str, tuple[list[int], list[int]]]:
    """Per document the sorted starts of its quotes, and for each the furthest end so far."""
    spans: dict[str, list[tuple[int, int]]] = defaultdict(list)
    columns = (relations.column(name).to_pylist() for name in ("document_id", "start", "end"))
    for document, start, end in zip(*columns, strict=True):
        spans[document].append((start, end))
    found = {}
    for document, pairs in spans.items():
        pairs.sort()
        furthest, ends = 0, []
        for _, end in pairs:
            furthest = max(furthest, end)
            ends.append(furthest)
        found[document] = ([start for start, _ in pairs], ends)
    return found


def _fit(rows: Sequence[dict[str, Any]], spoken: set[str], quotes: dict[str, tuple[list[int], list[int]]]) -> Fit:
    statements = read = 0
    for row in rows:
        starts, ends = quotes.get(row["document_id"], ([], []))
        for start, end in sentence_spans(row["text"]):
            if _CAUSAL.search(row["text"], start, end):
                statements += 1
                place = bisect_left(starts, row["start"] + end)
                read += place > 0 and ends[place - 1] > row["start"] + start
    return Fit(
        documents=len({row["document_id"] for row in rows}),
        passages=len(rows),
        spoken_of=sum(row["chunk_id"] in spoken for row in rows),
        statements=statements,
        read=read,
    )


def _unknown_words(
    old: Sequence[dict[str, Any]], new: Sequence[dict[str, Any]], vocabulary: Vocabulary
) -> tuple[tuple[str, int], ...]:
    names = [metric.name for metric in vocabulary.metrics]
    for dimension in vocabulary.dimensions:
        names += [spelling for entity in dimension.entities for spelling in (entity.name, *entity.aliases)]
    known = {word for name in names for word in key_of(split_camel(name)).split()}
    known |= {word for row in old for word in _words(row["text"])}
    counts = Counter(word for row in new for word in _words(row["text"]) if word not in known)
    ranked = sorted(
        ((word, count) for word, count in counts.items() if count > 1), key=lambda item: (-item[1], item[0])
    )
    return tuple(ranked[:SHOWN_WORDS])


def _words(text: str) -> set[str]:
    return {singular(word) for word in _WORD.findall(text.lower())}


def _share(part: int, whole: int) -> float:
    return round(part / whole, 4) if whole else 0.0
