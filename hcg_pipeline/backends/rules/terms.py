"""Candidate terms of a corpus and how strongly each is one (C-value; Frantzi, Ananiadou and Mima 2000)."""

import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from hcg_pipeline.backends.rules.noun_lexicon import noun_lexicon
from hcg_pipeline.backends.rules.phrases import Segment
from hcg_pipeline.backends.rules.tokens import Token
from hcg_pipeline.backends.rules.wordlists import impaired, word_lists

_LONGEST = 5
_NO_ACRONYM = 7
"""Letters of a name in capitals that is no acronym if the lexicon has its words."""
_DROPPED = frozenset({"AT0", "DT0", "DPS", "ORD", "CRD", "AV0", "AJC", "AJS", "PUQ", "CJC"})


@dataclass(frozen=True, slots=True)
class Term:
    """A candidate: key (see `term_key`), the commonest spelling, spellings, sentences that hold it, its C-value."""

    key: str
    name: str
    spellings: tuple[str, ...]
    frequency: int
    c_value: float


@lru_cache(maxsize=1 << 16)
def word_key(word: str) -> str:
    """One word as keys have it: lower case, singular."""
    return noun_lexicon().singular(word.lower().replace("’", "'"))


def term_key(text: str) -> str:
    """What spellings of one term share: lower case, singular words, hyphens as spaces."""
    words = text.lower().replace("’", "'").replace("-", " ").split()
    return " ".join(word_key(word) for word in words)


def core(tokens: Sequence[Token], segment: Segment) -> tuple[int, int]:
    """The part of a noun phrase that can be a term: no determiner, number, grading or evaluating word in front.

    After a possessive only what is possessed is left. An empty range where nothing is.
    """
    start, end = segment.start, segment.end
    for at in range(start, end):
        if tokens[at].low in {"'s", "’s"}:
            start = at + 1
    modifiers = word_lists()["modifier"] | word_lists()["adverb_modifier"] | impaired()
    while start < end:
        token = tokens[start]
        dropped = (
            token.tag in {"AT0", "DT0", "DPS", "ORD", "CRD", "AV0", "AJC", "AJS", "PUQ", "CJC"}
            or token.low in modifiers
        )
        if not dropped and (token.low.isalnum() or "-" in token.low or token.low[:1].isalnum()):
            break
        start += 1
    return start, end


def candidates(tokens: Sequence[Token], segment: Segment) -> Iterator[tuple[int, int, bool]]:
    """Ranges inside a noun phrase that may be terms; the flag tells the whole core from what is nested in it."""
    start, end = core(tokens, segment)
    if segment.form == "pronoun" or start >= end:
        return
    modifiers = word_lists()["modifier"]
    for last in range(start, end):
        if not tokens[last].is_noun:
            continue
        for first in range(max(start, last - _LONGEST + 1), last + 1):
            token = tokens[first]
            if (
                token.tag in {"CRD", "PUQ", "VVG", "VVD", "AV0"}
                or (token.low in modifiers and not token.is_noun)
                or not token.low[:1].isalpha()
            ):
                continue
            if any(tokens[at].tag == "NN2" and word_key(tokens[at].low) != tokens[at].low for at in range(first, last)):
                continue
            if any(
                tokens[at].low.startswith("-") or tokens[at].low in {"'s", "’s", '"', "“", "”"}
                for at in range(first, last + 1)
            ):
                continue
            yield first, last + 1, first == start and last + 1 == end


class TermCounter:
    """Counts candidates over sentences; `terms` ranks them."""

    def __init__(self) -> None:
        self._frequency: Counter[str] = Counter()
        self._whole: Counter[str] = Counter()
        self._spellings: defaultdict[str, Counter[str]] = defaultdict(Counter)
        self._words: dict[str, tuple[str, ...]] = {}

    def add(self, tokens: Sequence[Token], noun_phrases: Sequence[Segment]) -> None:
        """Count the candidates of one sentence."""
        for segment in noun_phrases:
            for first, last, whole in candidates(tokens, segment):
                text = " ".join(token.text for token in tokens[first:last])
                key = self._words_of(text)
                self._frequency[key] += 1
                self._whole[key] += whole
                # The first word of a sentence is capitalised whatever it is, and tells nothing.
                opening = first == 0 and tokens[0].text.istitle()
                self._spellings[key][text[0].lower() + text[1:] if opening else text] += 0 if opening else 1

    def _words_of(self, text: str) -> str:
        key = term_key(text)
        self._words.setdefault(key, tuple(key.split()))
        return key

    def terms(self, at_least: int) -> list[Term]:
        """Terms seen at least so often, by falling C-value. One word counts as log2(2)."""
        nested: Counter[str] = Counter()
        containers: Counter[str] = Counter()
        for key, frequency in self._frequency.items():
            words = self._words[key]
            if frequency < at_least or len(words) < 2:
                continue
            inner = {
                " ".join(words[i:j])
                for i in range(len(words))
                for j in range(i + 1, len(words) + 1)
                if j - i < len(words)
            }
            for part in inner:
                nested[part] += frequency
                containers[part] += 1
        found = []
        for key, frequency in self._frequency.items():
            # A fragment of longer terms never stands alone ("cell skin cancer").
            if frequency < at_least or self._whole[key] < 0.12 * frequency:
                continue
            inside = nested[key] / containers[key] if containers[key] else 0.0
            value = math.log2(len(self._words[key]) + 1) * (frequency - inside)
            spellings = sorted(self._spellings[key].items(), key=lambda item: (-item[1], item[0]))
            found.append(
                Term(key, _show(spellings[0][0], spellings), tuple(text for text, _ in spellings[:6]), frequency, value)
            )
        return sorted(found, key=lambda term: (-term.c_value, term.key))


def of_the_text(name: str) -> bool:
    """Whether a name is of what a text does rather than speaks of: a study, an aim, a statistical model."""
    lists = word_lists()
    words = [word_key(word) for word in name.lower().split()]
    return words[-1] in lists["meta"] or (
        words[-1] in lists["statistical_head"] and not lists["statistical"].isdisjoint(words[:-1])
    )


def shown(text: str) -> str:
    """A term that was seen once as a name: singular, and in lower case where it is no acronym."""
    return _show(text, [(text, 1)])


def _show(best: str, spellings: Sequence[tuple[str, int]]) -> str:
    """A term as a name: the commonest spelling in the singular, in lower case except where it is always capitalised."""
    total = sum(count for _, count in spellings) or 1
    lowered = sum(count for text, count in spellings if text[:1].islower())
    words = best.split()
    if best.isupper() and len(best) >= _NO_ACRONYM and all(_shouted(word) for word in words):
        # "WEAR RINGS" in a heading is no acronym.
        words = [word.lower() for word in words]
    elif (
        best[:1].islower()
        or lowered / total > 0.1
        or (len(words) > 1 and not all(word[:1].isupper() for word in words))
    ):
        words = [word if _acronym(word) else word.lower() for word in words]
    last = words[-1]
    singular = noun_lexicon().singular(last.lower())
    if singular != last.lower() and not _acronym(last):
        words[-1] = singular.capitalize() if last[:1].isupper() else singular
    elif len(last) > 2 and last.endswith("s") and last[:-1].isupper():
        words[-1] = last[:-1]
    return " ".join(words)


def _shouted(word: str) -> bool:
    """Whether a word in capitals is a noun of its own."""
    return word_key(word) in noun_lexicon().classes


def _acronym(word: str) -> bool:
    return sum(letter.isupper() for letter in word) > 1 or any(letter.isdigit() for letter in word)
