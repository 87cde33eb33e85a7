"""Passages: runs of whole sentences inside a chunk, the pieces in which evidence is ranked and packed."""

from collections.abc import Iterator

import numpy as np
import pyarrow as pa
from scipy import sparse

from hcg_pipeline.corpus.sentences import sentence_spans
from hcg_pipeline.retrieval.graph_arrays import Ints

# Measured on question files with references: shorter passages lose their context, longer ones waste the budget.
PASSAGE_WORDS = 75

PASSAGES = pa.schema(
    [
        pa.field("chunk_id", pa.string(), nullable=False),
        pa.field("document_id", pa.string(), nullable=False),
        pa.field("start", pa.int64(), nullable=False),
        pa.field("end", pa.int64(), nullable=False),
        pa.field("text", pa.large_string(), nullable=False),
        pa.field("words", pa.int32(), nullable=False),
    ]
)


def cut_passages(chunks: pa.Table, target_words: int = PASSAGE_WORDS) -> pa.Table:
    """Cuts each chunk (CHUNKS) between sentences into passages of about `target_words` words.

    Offsets count into the document. A sentence is never cut, so a long one is a passage by itself. Rows are in the
    order of the chunks, which callers give by document and position.
    """
    rows: list[tuple[str, str, int, int, str, int]] = []
    columns = ("chunk_id", "document_id", "start", "text")
    for chunk_id, document_id, start, text in zip(*(chunks[name].to_pylist() for name in columns), strict=True):
        for begin, end in _runs(text, target_words):
            piece = text[begin:end]
            rows.append((chunk_id, document_id, start + begin, start + end, piece, len(piece.split())))
    return pa.table([list(column) for column in zip(*rows, strict=True)] or [[]] * len(PASSAGES), schema=PASSAGES)


def _runs(text: str, target_words: int) -> Iterator[tuple[int, int]]:
    """Spans of consecutive sentences, as even in length as the sentences allow."""
    spans = [(begin, end, len(text[begin:end].split())) for begin, end in sentence_spans(text)]
    total = sum(words for _, _, words in spans)
    pieces = max(1, round(total / target_words))
    done, number, first = 0, 1, None
    for begin, end, words in spans:
        first = begin if first is None else first
        done += words
        if done * pieces >= number * total:
            yield first, end
            first, number = None, done * pieces // max(total, 1) + 1
    if first is not None:
        yield first, spans[-1][1]


def passages_of_spans(passages: pa.Table, document_ids: list[str], starts: Ints, ends: Ints) -> tuple[Ints, Ints]:
    """Which passages overlap each span of a document: (numbers of the spans, rows of the passages), sorted.

    Passages are sorted by document and start here, so each span is one binary search and a short run.
    """
    names = {name: number for number, name in enumerate(dict.fromkeys(passages["document_id"].to_pylist()))}
    document = np.array([names[name] for name in passages["document_id"].to_pylist()], dtype=np.int64)
    begin = passages["start"].to_numpy()
    finish = passages["end"].to_numpy()
    order = np.lexsort((begin, document))
    known = np.array([names.get(name, -1) for name in document_ids], dtype=np.int64)
    # One number per place of the corpus: documents are laid end to end.
    stride = int(max(np.max(finish, initial=0), np.max(ends, initial=0))) + 1
    first = np.searchsorted((document * stride + finish)[order], known * stride + starts, side="right")
    last = np.searchsorted((document * stride + begin)[order], known * stride + ends, side="left")
    counts = np.where(known >= 0, np.maximum(last - first, 0), 0)
    spans = np.repeat(np.arange(len(known)), counts)
    offsets = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
    return spans, order[np.repeat(first, counts) + offsets]


def neighbourhood(document: Ints, words: Ints, width: float) -> sparse.csr_matrix:
    """(P, P): how much each passage counts in the surroundings of another, rows summing to one.

    A Gaussian over the distance in words between the middles of two passages of the same document, cut at three widths
    (`width` is its standard deviation). `document` (P,) ascending; `words` (P,).
    """
    middle = np.cumsum(words) - words / 2
    # Documents are pushed apart, so that no neighbourhood reaches over.
    middle = middle + document * (6 * width + 1)
    low = np.searchsorted(middle, middle - 3 * width, side="left")
    high = np.searchsorted(middle, middle + 3 * width, side="right")
    counts = high - low
    rows = np.repeat(np.arange(len(middle)), counts)
    columns = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts) + np.repeat(low, counts)
    weights = np.exp(-0.5 * ((middle[rows] - middle[columns]) / width) ** 2)
    matrix = sparse.csr_matrix((weights, (rows, columns)), shape=(len(middle), len(middle)))
    totals = np.asarray(matrix.sum(axis=1)).ravel()
    return sparse.csr_matrix(sparse.diags_array(1 / totals) @ matrix)
