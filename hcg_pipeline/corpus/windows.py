"""Chunks to extraction windows: what a language backend reads at a time."""

from collections.abc import Iterator
from itertools import groupby, pairwise

import pyarrow as pa

from hcg_pipeline.corpus.cuts import cut_points, fewest_groups, text_key
from hcg_pipeline.corpus.identity import content_id
from hcg_pipeline.corpus.window import Passage, Window
from hcg_pipeline.corpus.words import reading_length

_SHORTEST_SPAN = 0.5
_LONGEST_SPAN = 2.0
"""Spans of text between cuts that edits hardly move, as shares of the budget; each is then one or two windows.

Against cuts between half and all of the budget, which fill it as well (0.73 to 0.75), an edit changes more than four
windows a quarter as often. Longer spans fill it better (0.78 at 3, 0.79 at 4), but more windows change with an edit.
"""


def pack_windows(chunks: pa.Table, budget_words: int) -> list[Window]:
    """Windows of at most `budget_words` (`words.reading_length`) over a table of chunks (CHUNKS), in its order.

    A window holds consecutive chunks of one document, or a single chunk that is longer than the budget. Cuts are
    content-defined, by hashes of the chunks' texts: `cuts.cut_points` into spans, `cuts.fewest_groups` within each.
    So an edit changes the windows around it alone. The window's id is a hash of its chunks' texts: the same passages
    have the same id wherever they stand, also twice in one corpus.
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
    shortest, longest = round(budget * _SHORTEST_SPAN), round(budget * _LONGEST_SPAN)
    for first, stop in pairwise([*cut_points(lengths, keys, shortest, longest), len(passages)]):
        starts = [first + start for start in fewest_groups(lengths[first:stop], keys[first:stop], budget)]
        for begin, end in pairwise([*starts, stop]):
            held = tuple(passages[begin:end])
            yield Window(content_id("w", *(passage.text for passage in held)), held)
