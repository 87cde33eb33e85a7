"""Which passages a question gets: each part of it and each link of the chain covered once before anything twice.

Choosing passages by score alone fills a budget with passages that say the same. Here the evidence is chosen as in
extractive summarisation (Takamura and Okumura, 2009; Lin and Bilmes, 2011): the words and links that the best
candidates share are concepts, each with a weight; a passage is worth the weight that it adds; a concept counts once.
The greedy choice by gain over cost is within a constant of the best one for such submodular functions.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hcg_pipeline.retrieval.graph_arrays import Floats, Ints
from hcg_pipeline.retrieval.index import PassageArrays

# Candidates are the best passages of this many times the budget's words.
_CANDIDATE_WORDS = 6.0
# Powers of a candidate's score: as a voter for concepts, and as a factor of its own gain.
_VOTE, _OWN = 4.0, 2.5
# Power of a passage's length by which its gain is divided: 0 prefers long passages, 1 short ones.
_COST = 0.5
# Power of a word's burstiness in its weight as a concept.
_BURST = 0.7
# What all links weigh beside all the words together.
_LINKS = 0.05
# Concepts are the words with the most weight, at most this many.
_CONCEPTS = 1500
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


def select(
    passages: PassageArrays,
    scores: Floats,
    links: Links,
    asked: NDArray[np.int32],
    words: int,
) -> list[Choice]:
    """Chooses passages for one question up to a budget of `words`; passages are kept whole.

    `scores` (P,) are from 0 to 1; `asked` are the columns of the question's own stems, which are no concepts: every
    candidate has them. At least one passage is chosen if there is any with a score, even above the budget.
    """
    candidates = _candidates(scores, passages.words, words)
    if not len(candidates):
        return []
    relevance = scores[candidates] / scores[candidates[0]]
    cost = passages.words[candidates].astype(np.float32)
    has, weight, owner = _concepts(passages, candidates, relevance**_VOTE, links, asked)
    factor = relevance**_OWN / np.maximum(cost, 1) ** _COST
    gain = has @ weight
    chosen: list[Choice] = []
    open_ = np.ones(len(candidates), dtype=bool)
    left = words
    while True:
        fitting = open_ & (cost <= left) if chosen else open_
        if not fitting.any():
            return chosen
        # A little more than nothing, so that the score decides once everything is covered.
        worth = np.where(fitting, factor * (gain + 1e-6), -1)
        best = int(np.argmax(worth))
        open_[best] = False
        left -= int(cost[best])
        fresh = np.flatnonzero((has[best] > 0) & (weight > 0))
        new_links = owner[fresh][owner[fresh] >= 0]
        chosen.append(Choice(int(candidates[best]), int(new_links[0]) if len(new_links) else -1))
        if len(fresh):
            gain = gain - has[:, fresh] @ weight[fresh]
            np.maximum(gain, 0, out=gain)
            weight[fresh] = 0


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


def _concepts(
    passages: PassageArrays, candidates: Ints, votes: Floats, links: Links, asked: NDArray[np.int32]
) -> tuple[NDArray[np.float64], NDArray[np.float64], Ints]:
    """Which concepts each candidate holds (C, K), their weights (K,), and the link that a concept is (or -1)."""
    counts = passages.terms.counts
    starts, ends = counts.indptr[candidates], counts.indptr[candidates + 1]
    lengths = ends - starts
    row = np.repeat(np.arange(len(candidates)), lengths)
    cells = np.repeat(starts - np.cumsum(lengths) + lengths, lengths) + np.arange(lengths.sum())
    column = counts.indices[cells]
    weight = np.bincount(column, weights=votes[row], minlength=counts.shape[1]) / votes.sum()
    weight *= passages.terms.idf * passages.terms.burstiness**_BURST
    weight[asked] = 0
    if np.count_nonzero(weight) > _CONCEPTS:
        kept = np.sort(np.argsort(-weight, kind="stable")[:_CONCEPTS])
    else:
        kept = np.flatnonzero(weight)
    place = np.full(counts.shape[1], -1, dtype=np.int64)
    place[kept] = np.arange(len(kept))
    known = place[column] >= 0

    rank = np.full(len(passages.words), -1, dtype=np.int64)
    rank[candidates] = np.arange(len(candidates))
    present = rank[links.passage] >= 0
    names, number = np.unique(links.link[present], return_inverse=True)
    link_weight = np.zeros(len(names))
    np.maximum.at(link_weight, number, links.weight[present])
    if link_weight.sum() > 0:
        link_weight *= _LINKS * weight[kept].sum() / link_weight.sum()

    # float64, so that a near tie is decided the same way however the product is computed.
    has = np.zeros((len(candidates), len(kept) + len(names)))
    has[row[known], place[column[known]]] = 1
    has[rank[links.passage[present]], len(kept) + number] = 1
    weights = np.concatenate([weight[kept], link_weight])
    return has, weights, np.concatenate([np.full(len(kept), -1, dtype=np.int64), names])


def reading_order(rows: list[int], words: Ints) -> list[int]:
    """Chosen passages (best first) as they are read: blocks of about 750 words, each in document order.

    A model or a person that reads only the beginning has read the best of it, and within a block the text runs as in
    its documents. Returns places in `rows`.
    """
    ends = np.cumsum(words[rows]) if rows else np.empty(0, dtype=np.int64)
    return sorted(range(len(rows)), key=lambda place: (int(ends[place] - 1) // BLOCK_WORDS, rows[place]))
