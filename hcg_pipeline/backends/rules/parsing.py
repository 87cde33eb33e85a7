"""Passages to parsed sentences, each sentence parsed once a process."""

from collections import OrderedDict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from threading import Lock

from hcg_pipeline.backends.rules.causal import Link, links_of
from hcg_pipeline.backends.rules.clauses import Clauses
from hcg_pipeline.backends.rules.headings import without_heading
from hcg_pipeline.backends.rules.records import reading_spans
from hcg_pipeline.backends.rules.tagging import Tagger
from hcg_pipeline.corpus.window import Passage, Window

_KEPT = 60_000


@dataclass(frozen=True, slots=True)
class Parsed:
    """A sentence: its text, its words and segments, and the causal links that it states."""

    text: str
    clauses: Clauses
    links: tuple[Link, ...]


class Parser:
    """Parses sentences and keeps the latest 60,000. The result depends on the sentence alone."""

    def __init__(self) -> None:
        self._tagger: Tagger | None = None
        self._kept: OrderedDict[str, Parsed] = OrderedDict()
        self._lock = Lock()

    def sentence(self, text: str) -> Parsed:
        """Parse one sentence."""
        with self._lock:
            known = self._kept.get(text)
            if known is not None:
                self._kept.move_to_end(text)
                return known
            if self._tagger is None:
                self._tagger = Tagger()
        clauses = Clauses(without_heading(self._tagger.tag(text)))
        parsed = Parsed(text, clauses, tuple(links_of(clauses)))
        with self._lock:
            self._kept[text] = parsed
            if len(self._kept) > _KEPT:
                self._kept.popitem(last=False)
        return parsed

    def commonness(self, word: str) -> float | None:
        """See `Tagger.commonness`."""
        with self._lock:
            if self._tagger is None:
                self._tagger = Tagger()
        return self._tagger.commonness(word)

    def passage(self, passage: Passage) -> list[Parsed]:
        """The sentences of a passage, in order."""
        return [self.sentence(passage.text[start:end]) for start, end in reading_spans(passage.text)]


def passages_of(windows: Sequence[Window]) -> Iterator[Passage]:
    """All passages in order; a passage that windows share comes once."""
    seen: set[str] = set()
    for window in windows:
        for passage in window.passages:
            if passage.chunk_id not in seen:
                seen.add(passage.chunk_id)
                yield passage


def distinct(sentences: Iterable[Parsed]) -> list[Parsed]:
    """Each sentence text once: what is repeated word for word is a form, not a finding."""
    return list({parsed.text: parsed for parsed in sentences}.values())
