"""Evidence up to a word budget."""

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import islice

import numpy as np

from hcg_pipeline.retrieval.graph_arrays import Ints
from hcg_pipeline.retrieval.retrieval import Evidence

_WORD = re.compile(r"\S+")


def within_budget(order: Ints, lengths: Ints, words: int) -> list[int]:
    """The longest beginning of `order` whose rows together have at most `words` words; the first row in any case."""
    if not len(order):
        return []
    total = np.cumsum(lengths[order])
    return [int(row) for row in order[: max(1, int(np.searchsorted(total, words, side="right")))]]


def cut_to_budget(pieces: Sequence[Evidence], words: int | None) -> tuple[Evidence, ...]:
    """The first `words` words of the pieces, all of them for None; the last piece ends where the budget does."""
    if words is None:
        return tuple(pieces)
    kept: list[Evidence] = []
    left = words
    for piece in pieces:
        # One word more than is left says whether the piece is cut.
        ends = [match.end() for match in islice(_WORD.finditer(piece.text), left + 1)]
        if len(ends) > left:
            if left:
                kept.append(replace(piece, text=piece.text[: ends[left - 1]], end=piece.start + ends[left - 1]))
            break
        kept.append(piece)
        left -= len(ends)
    return tuple(kept)
