"""What stands around noun phrases, and how the endings of words speak for classes: evidence for words no lexicon has.

Distributional typing in the way of Thelen and Riloff (2002): a term that is treated with, taken and dosed like known
drugs is a drug.
"""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from functools import cache

from hcg_pipeline.backends.rules.clauses import Clauses
from hcg_pipeline.backends.rules.hearst import phrase_key
from hcg_pipeline.backends.rules.noun_lexicon import noun_lexicon
from hcg_pipeline.backends.rules.wordlists import word_map

_LONGEST_ENDING = 6
_SHORTEST_ENDING = 3
_NAMED = 5.0
_SYMBOL = re.compile(r"^[a-z]{3,6}\d{1,2}[a-z]?\d?$")


def contexts(clauses: Clauses) -> Iterator[tuple[str, str]]:
    """(term key, context) of the noun phrases of a sentence: the verb it is object or subject of, what it is "of"."""
    for place in range(len(clauses.segments)):
        key = phrase_key(clauses, place)
        if not key:
            continue
        before, after = clauses.verb(place - 1), clauses.verb(place + 1)
        if before is not None:
            yield key, f"object of {before.lemma}"
        if after is not None:
            yield key, f"subject of {after.lemma}{' passive' if after.passive else ''}"
        if clauses.kind(place - 1) == "P":
            left = clauses.segments[place - 2] if place >= 2 else None
            if left is not None and left.kind in {"NP", "VG"}:
                yield key, f"{left.lemma} {clauses.low(place - 1)}"
        if clauses.kind(place + 1) == "P" and clauses.kind(place + 2) == "NP":
            yield key, f"{clauses.low(place + 1)} {clauses.segments[place + 2].lemma}"


@cache
def _ending_counts() -> tuple[dict[str, Counter[str]], Counter[str]]:
    counts: defaultdict[str, Counter[str]] = defaultdict(Counter)
    overall: Counter[str] = Counter()
    for lemma, kinds in noun_lexicon().classes.items():
        if " " in lemma or len(lemma) < 6:
            continue
        kind = kinds[0][0]
        overall[kind] += 1
        for size in range(_SHORTEST_ENDING, _LONGEST_ENDING + 1):
            counts[lemma[-size:]][kind] += 1
    return dict(counts), overall


def ending_evidence(word: str) -> dict[str, float]:
    """Class -> log P(class | ending) - log P(class), by the longest ending that at least five nouns share.

    Endings of international nomenclature, and the look of gene symbols (KCNQ2), speak for their class outright.
    """
    counts, overall = _ending_counts()
    total = sum(overall.values())
    named = word_map("endings.tsv")
    for size in range(9, 2, -1):
        kind = named.get(word[-size:]) if len(word) > size + 2 else None
        if kind is not None:
            return {kind: _NAMED}
    if _SYMBOL.match(word):
        return {"biomolecule": 4.0}
    for size in range(_LONGEST_ENDING, _SHORTEST_ENDING - 1, -1):
        found = counts.get(word[-size:])
        if found is not None and len(word) > size and sum(found.values()) >= 5:
            seen = sum(found.values())
            return {
                kind: math.log((found[kind] + 20 * overall[kind] / total / 4) / (seen + 5))
                - math.log(overall[kind] / total)
                for kind in overall
            }
    return {}


class ContextModel:
    """Naive Bayes over contexts, trained on the terms of the corpus whose class is known."""

    def __init__(self, seen: Mapping[str, Counter[str]], known: Mapping[str, str]) -> None:
        self._seen = seen
        self._counts: defaultdict[str, Counter[str]] = defaultdict(Counter)
        self._overall: Counter[str] = Counter()
        for key, kind in known.items():
            for context, count in seen.get(key, {}).items():
                self._counts[context][kind] += min(count, 5)
                self._overall[kind] += min(count, 5)

    def evidence(self, key: str) -> tuple[dict[str, float], int]:
        """Class -> summed log likelihood ratio against the average class, and the number of contexts it rests on."""
        total = sum(self._overall.values())
        votes: defaultdict[str, float] = defaultdict(float)
        used = 0
        for context, count in sorted(self._seen.get(key, {}).items()):
            found = self._counts.get(context)
            if not found or sum(found.values()) < 3:
                continue
            used += 1
            whole = sum(found.values())
            for kind, mass in self._overall.items():
                share = (found[kind] + 2.0 * mass / total) / (whole + 2.0)
                votes[kind] += min(count, 3) ** 0.5 * math.log(share / (mass / total))
        return dict(votes), used
