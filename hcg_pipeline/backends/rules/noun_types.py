"""Which upper class a term belongs to: head noun, what the corpus says it is, its ending, its neighbours.

The class of a head is that of its senses in WordNet, reweighted by how much the corpus speaks of each class at all
(predominant senses; McCarthy et al. 2004). Hearst pairs vote with the class of their hypernym. Words that WordNet does
not have are typed by endings learned from it (-itis, -oma, -ectomy) and by what they are coordinated with.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import cache

from hcg_pipeline.backends.rules.contexts import ContextModel, ending_evidence
from hcg_pipeline.backends.rules.noun_lexicon import noun_lexicon
from hcg_pipeline.backends.rules.terms import Term
from hcg_pipeline.backends.rules.wordlists import word_lists

_HEARST_WEIGHT = 1.5
_SURE_ENOUGH = 0.55
_NAMING = 4.0
"""Evidence of an ending that speaks for its class outright."""
_LONG_ENOUGH = 8
_GERUND = 6
_FORMED = 2.5
_SAID = 2.0
"""Evidence, as a logarithm, of how a word is made, and of each time that the corpus says what kind of thing it is."""


def lexical_classes(key: str) -> tuple[dict[str, float], int]:
    """Classes of the longest end of a key that the lexicon has, and how many words that is."""
    words = key.split()
    for first in range(len(words)):
        for joiner in (" ", "-"):
            kinds = noun_lexicon().classes.get(joiner.join(words[first:]))
            if kinds:
                return dict(kinds), len(words) - first
    return {}, 0


@cache
def formed_classes(key: str) -> dict[str, float]:
    """Class -> share of a term whose head the lexicon lacks, by how the head is made; empty where that does not tell.

    A prefix on a known noun ("interneuron" is a neuron, "undervoltage" something that happens to the voltage), an
    ending of nomenclature, or the ending of a noun made from a verb ("graphitisation") or an adjective ("tightness").
    """
    head = key.rsplit(" ", maxsplit=1)[-1]
    lists = word_lists()
    for prefix in sorted(lists["noun_prefix"], key=lambda one: (-len(one), one)):
        rest = head[len(prefix) :].lstrip("-")
        known = noun_lexicon().classes.get(rest, ()) if head.startswith(prefix) and len(rest) > 3 else ()
        if known:
            return {"event": 1.0} if prefix in lists["degree_prefix"] else dict(known)
    named = {kind: 1.0 for kind, value in ending_evidence(head).items() if value >= _NAMING}
    if named:
        return named
    if (
        len(head) >= _GERUND
        and head.endswith("ing")
        and any(head[:-3] + ending in noun_lexicon().verbs for ending in ("", "e"))
    ):
        # "sowing", "bulking": what is done or happens.
        return {"event": 1.0}
    if len(head) < _LONG_ENOUGH:
        return {}
    if head.endswith(tuple(sorted(lists["happening_ending"]))):
        return {"event": 1.0}
    return {"condition": 1.0} if head.endswith(tuple(sorted(lists["state_ending"]))) else {}


class TermTypes:
    """Types terms by the evidence of one corpus."""

    def __init__(
        self,
        terms: Sequence[Term],
        pairs: Iterable[tuple[str, str]],
        groups: Sequence[Sequence[str]],
        short_forms: Mapping[str, str],
        seen: Mapping[str, Counter[str]],
    ) -> None:
        self._long = dict(short_forms)
        self._prior = self._class_shares(terms)
        self._said: defaultdict[str, defaultdict[str, float]] = defaultdict(lambda: defaultdict(float))
        for narrow, wide in pairs:
            kinds = self._reweighted(wide)
            if kinds:
                kind, share = max(kinds.items(), key=lambda item: (item[1], item[0]))
                self._said[narrow][kind] += share
        self._contexts = ContextModel(seen, {})
        self._beside: defaultdict[str, Counter[str]] = defaultdict(Counter)
        known = {term.key: kind for term in terms if (kind := self._best(self._reweighted(term.key)))}
        self._learn(known, groups, seen)
        # A second time with what the first one found: a drug that only unknown drugs stand beside.
        found = {
            term.key: kind for term in terms if term.key not in known and (kind := self._best(self.classes(term.key)))
        }
        self._learn(known | found, groups, seen)

    def _learn(
        self, known: Mapping[str, str], groups: Sequence[Sequence[str]], seen: Mapping[str, Counter[str]]
    ) -> None:
        """Contexts and neighbours in lists of the terms whose class is known."""
        self._contexts = ContextModel(seen, known)
        self._beside = defaultdict(Counter)
        for group in groups:
            types = [known.get(member) or self._best(self._reweighted(member)) for member in group]
            for place, member in enumerate(group):
                for other, kind in enumerate(types):
                    if other != place and kind:
                        self._beside[member][kind] += 1

    def _class_shares(self, terms: Sequence[Term]) -> Mapping[str, float]:
        """How much of the corpus's terms each class has: counted with WordNet's shares, then with those found."""
        shares: dict[str, float] = {}
        for _ in range(2):
            mass: defaultdict[str, float] = defaultdict(float)
            for term in terms:
                kinds, _ = lexical_classes(term.key)
                weighted = {kind: share * shares.get(kind, 1e-3) if shares else share for kind, share in kinds.items()}
                total = sum(weighted.values())
                for kind, share in weighted.items():
                    mass[kind] += share / total * min(term.frequency, 50)
            whole = sum(mass.values()) or 1.0
            shares = {kind: amount / whole for kind, amount in mass.items()}
        return shares

    def _reweighted(self, key: str) -> dict[str, float]:
        kinds, _ = lexical_classes(self._expanded(key))
        weighted = {kind: share * (0.02 + self._prior.get(kind, 0.0)) ** 0.7 for kind, share in kinds.items()}
        total = sum(weighted.values())
        return {kind: share / total for kind, share in weighted.items()} if total else {}

    def _expanded(self, key: str) -> str:
        """A key with a short form at its end written out."""
        front, _, last = key.rpartition(" ")
        return f"{front} {self._long[last]}".strip() if last in self._long else key

    @staticmethod
    def _best(kinds: Mapping[str, float]) -> str:
        if not kinds:
            return ""
        kind, share = max(kinds.items(), key=lambda item: (item[1], item[0]))
        return kind if share >= 0.5 else ""

    def classes(self, key: str) -> dict[str, float]:
        """Class -> share of the evidence, summing to 1; empty where there is none."""
        votes: defaultdict[str, float] = defaultdict(float)
        for kind, share in self._reweighted(key).items():
            votes[kind] += 2.0 * share
        said = self._said.get(key)
        if not votes:
            return self._guess(key)
        if said:
            total = sum(said.values())
            for kind, weight in said.items():
                votes[kind] += _HEARST_WEIGHT * min(total, 3.0) / 3.0 * weight / total
        whole = sum(votes.values())
        return {kind: weight / whole for kind, weight in votes.items()}

    def _guess(self, key: str) -> dict[str, float]:
        """The class of an unknown word by its ending, contexts and neighbours in lists; empty unless one stands out."""
        scores: defaultdict[str, float] = defaultdict(float)
        scores.update(ending_evidence(self._expanded(key).split()[-1]))
        for kind, share in formed_classes(self._expanded(key)).items():
            scores[kind] += _FORMED * share
        said: Mapping[str, float] = self._said.get(key, {})
        for kind, weight in said.items():
            scores[kind] += _SAID * min(weight, 3.0)
        around, used = self._contexts.evidence(key)
        for kind, value in around.items():
            scores[kind] += value
        beside = self._beside.get(key, Counter())
        for kind, count in beside.items():
            scores[kind] += 1.5 * min(count, 4)
        if not scores or (not used and not beside and not said and len(key) < 6):
            return {}
        logs = {kind: value + math.log(self._prior.get(kind, 0.0) + 0.002) for kind, value in scores.items()}
        top = max(logs.values())
        shares = {kind: math.exp(value - top) for kind, value in logs.items()}
        total = sum(shares.values())
        kind, share = max(shares.items(), key=lambda item: (item[1], item[0]))
        return {kind: share / total} if share / total >= _SURE_ENOUGH else {}

    def best(self, key: str) -> tuple[str, float]:
        """The class with the most evidence and its share, or ("", 0)."""
        kinds = self.classes(key)
        if not kinds:
            return "", 0.0
        return max(kinds.items(), key=lambda item: (item[1], item[0]))
