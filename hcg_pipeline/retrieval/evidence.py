"""Which passages a question gets: each part of it and each link of the chain covered once before anything twice.

Choosing passages by score alone fills a budget with passages that say the same. Here the evidence is chosen as in
extractive summarisation (Takamura and Okumura, 2009; Lin and Bilmes, 2011): the words and links that the best
candidates share are concepts, each with a weight; a passage is worth the weight that it adds; a concept counts once.
The greedy choice by gain over cost is within a constant of the best one for such submodular functions.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from hcg_pipeline.retrieval.graph_arrays import Floats, Ints, ranges
from hcg_pipeline.retrieval.passage_arrays import PassageArrays

# The powers and shares below were chosen on the even half of three question files (benchmarks/retrieval.py).
# Candidates are the best passages of this many times the budget's words.
_CANDIDATE_WORDS = 6.0
# Powers of a candidate's score: as a voter for concepts, and as a factor of its own gain.
_VOTE, _OWN = 4.0, 2.0
# Power of a passage's length by which its gain is divided: 0 prefers long passages, 1 short ones.
_COST = 0.8
# What the strongest link tells beside the most telling stem: as much as two words, its cause and its effect.
_LINK = 2.0
# The evidence stands in blocks of about this many words, the most telling block first, each in document order.
BLOCK_WORDS = 750


@dataclass(frozen=True, slots=True)
class Links:
    """Causal links (edges) and what states them: link `link[i]` of weight `weight[i]` stands in `passage[i]`."""

    link: Ints
    passage: Ints
    weight: Floats


NO_LINKS = Links(np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64), np.empty(0, dtype=np.float32))


@dataclass(frozen=True, slots=True)
class Choice:
    """One chosen passage, in the order of choice: its row and the link that it was first to cover, or -1."""

    passage: int
    link: int


def select(passages: PassageArrays, scores: Floats, stems: Floats, links: Links, words: int) -> list[Choice]:
    """Chooses passages for one question up to a budget of `words`; passages are kept whole.

    `scores` (P,) are from 0 to 1; `stems` (T,) is what each stem is worth as a concept, 0 for the question's own, which
    every candidate has. At least one passage is chosen if there is any with a score, even above the budget.
    """
    candidates = _candidates(scores, passages.words, words)
    if not len(candidates):
        return []
    relevance = scores[candidates] / scores[candidates[0]]
    cost = passages.words[candidates]
    coverage = _Coverage(passages, candidates, relevance**_VOTE, stems, links)
    # A factor of 0 closes a candidate: chosen already, or too long for what is left.
    factor = (relevance**_OWN / np.maximum(cost, 1) ** _COST).astype(np.float64)
    longest = int(np.max(cost))
    chosen: list[Choice] = []
    left = words
    while True:
        # A little more than nothing, so that the score decides once everything is covered.
        worth = factor * (coverage.gain + 1e-6)
        best = int(worth.argmax())
        if worth[best] <= 0:
            return chosen
        chosen.append(Choice(int(candidates[best]), coverage.cover(best)))
        factor[best] = 0
        left -= int(cost[best])
        if left < longest:
            factor[cost > left] = 0


def _candidates(scores: Floats, lengths: Ints, words: int) -> Ints:
    """The best passages, best first (ties: document order), of a few times the budget."""
    count = min(
        len(scores), max(16, int(_CANDIDATE_WORDS * words / max(1.0, float(np.median(lengths)) if len(lengths) else 1)))
    )
    if not count:
        return np.empty(0, dtype=np.int64)
    floor = np.partition(scores, len(scores) - count)[len(scores) - count]
    above = np.flatnonzero(scores >= max(floor, np.float32(1e-9)))
    return above[np.argsort(-scores[above], kind="stable")][:count]


class _Coverage:
    """Which concepts the C candidates hold, and the weight that each would still add: `gain` (C,).

    Sums are in float64 and made anew after each choice, so that a near tie is always decided the same way.
    """

    def __init__(self, passages: PassageArrays, candidates: Ints, votes: Floats, stems: Floats, links: Links) -> None:
        counts = passages.terms.counts
        starts, ends = counts.indptr[candidates], counts.indptr[candidates + 1]
        self._stems = ends - starts
        held = np.concatenate(([0], np.cumsum(self._stems)))
        concept = counts.indices[ranges(starts, ends)]
        self._first_link = len(stems)
        self._links, stated, stating, strength = _stated(passages, candidates, links)
        telling = np.concatenate([stems, _LINK * np.max(stems, initial=0) * strength])
        voters = np.repeat(votes, self._stems)
        if len(self._links):
            # A candidate's links come after its stems.
            voters = np.insert(voters, held[stating + 1], votes[stating])
            concept = np.insert(concept, held[stating + 1], self._first_link + stated)
            held += np.concatenate(([0], np.cumsum(np.bincount(stating, minlength=len(candidates)))))
        weight = np.bincount(concept, weights=voters, minlength=len(telling)) * telling / votes.sum(dtype=np.float64)
        self._concept, self._held, self._weight = concept, held, weight
        self._holds = sparse.csr_matrix((np.ones(len(concept)), concept, held), shape=(len(candidates), len(weight)))
        self.gain = self._holds @ weight

    def cover(self, candidate: int) -> int:
        """Counts the candidate's concepts as covered; the weightiest link that it is the first to state, or -1."""
        concepts = self._concept[self._held[candidate] : self._held[candidate + 1]]
        worth = self._weight[concepts]
        self._weight[concepts] = 0
        self.gain = self._holds @ self._weight
        stems = self._stems[candidate]
        if not worth[stems:].any():
            return -1
        return int(self._links[concepts[stems + np.argmax(worth[stems:])] - self._first_link])


def _stated(passages: PassageArrays, candidates: Ints, links: Links) -> tuple[Ints, Ints, Ints, NDArray[np.float64]]:
    """The links that candidates state, each once; then per statement the place of its link and of the candidate.

    Last the strengths of the links, the greatest of which is 1.
    """
    place = np.full(len(passages.words), -1, dtype=np.int64)
    place[candidates] = np.arange(len(candidates))
    present = place[links.passage] >= 0
    names, number = np.unique(links.link[present], return_inverse=True)
    weight = np.zeros(len(names))
    np.maximum.at(weight, number, links.weight[present])
    return names, number, place[links.passage[present]], weight / np.max(weight, initial=1e-12)


def reading_order(rows: list[int], words: Ints) -> list[int]:
    """Chosen passages (best first) as they are read: blocks of about 750 words, each in document order.

    A model or a person that reads only the beginning has read the best of it, and within a block the text runs as in
    its documents. Returns places in `rows`.
    """
    ends = np.cumsum(words[rows]) if rows else np.empty(0, dtype=np.int64)
    return sorted(range(len(rows)), key=lambda place: (int(ends[place] - 1) // BLOCK_WORDS, rows[place]))
