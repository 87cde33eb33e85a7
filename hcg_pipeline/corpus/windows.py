"""Chunks to extraction windows: what a language backend reads at a time."""

from collections.abc import Iterator
from itertools import groupby, pairwise

import pyarrow as pa

from hcg_pipeline.corpus.cuts import cut_points, text_key
from hcg_pipeline.corpus.identity import content_id
from hcg_pipeline.corpus.window import Passage, Window
from hcg_pipeline.corpus.words import reading_length

_SMALLEST = 0.5
"""Least share of the budget. On a 1 MB textbook 0.5 fills three quarters of the budget, and a new sentence changes 1.2
windows on average; at 0.7 it fills 0.85, but one edit in twenty changes ten windows or more."""


def pack_windows(chunks: pa.Table, budget_words: int) -> list[Window]:
    """Windows of at most `budget_words` (`words.reading_length`) over a table of chunks (CHUNKS), in its order.

    A window holds consecutive chunks of one document, or a single chunk that is longer than the budget. Cuts are
    content-defined (`cuts.cut_points` over the chunks' texts), so an edit changes the windows around it alone. The
    window's id is a hash of its chunks' texts: the same passages have the same id wherever they stand.
    """
    return [window for document in _documents(chunks) for window in _pack(document, budget_words)]


def _documents(chunks: pa.Table) -> Iterator[list[Passage]]:
    names = ("chunk_id", "document_id", "start", "end", "text")
    columns = [chunks.column(name).to_pylist() for name in names]
    passages = (Passage(*row) for row in zip(*columns, strict=True))
    for _, group in groupby(passages, key=lambda passage: passage.document_id):
        yield list(group)


def _pack(passages: list[Passage], budget: int) -> Iterator[Window]:
    lengths = [reading_length(passage.text) for passage in passages]
    keys = [text_key(passage.text) for passage in passages]
    starts = cut_points(lengths, keys, round(budget * _SMALLEST), budget)
    for first, stop in pairwise([*starts, len(passages)]):
        held = tuple(passages[first:stop])
        yield Window(content_id("w", *(passage.text for passage in held)), held)
