"""Longer pieces of the documents as arrays: the chunks for `hybrid`, windows of 1,200 words for `naive`."""

import re
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa
from scipy import sparse

from hcg_pipeline.embedding.embedder import Embedder, Vectors
from hcg_pipeline.retrieval.graph_arrays import Ints
from hcg_pipeline.retrieval.retrieval import Evidence
from hcg_pipeline.retrieval.terms import TermMatrix, bm25_weights, count_terms

_WORD = re.compile(r"\S+")


@dataclass(frozen=True)
class ChunkArrays:
    """C pieces of text: `table` has chunk_id, document_id, start, end, text; `vectors` (C, d); `words` (C,)."""

    table: pa.Table
    paths: dict[str, str]
    vectors: Vectors
    words: Ints

    @cached_property
    def terms(self) -> TermMatrix:
        """The stems of each piece."""
        return count_terms(self.table["text"].to_pylist())

    @cached_property
    def bm25(self) -> sparse.csc_matrix:
        """(C, T): what each stem is worth in each piece."""
        return bm25_weights(self.terms)

    def evidence(self, row: int, why: str) -> Evidence:
        """A piece as evidence."""
        piece = self.table.slice(row, 1).to_pylist()[0]
        return Evidence(
            chunk_id=piece["chunk_id"],
            document_id=piece["document_id"],
            path=self.paths[piece["document_id"]],
            start=piece["start"],
            end=piece["end"],
            text=piece["text"],
            why=why,
        )


def cut_windows(documents: pa.Table, words: int, overlap: int, embedder: Embedder) -> ChunkArrays:
    """Cuts documents (document_id, path, text) into runs of `words` words that share `overlap` words with the next.

    Windows are cut by words alone, as a plain RAG system does, and belong to no chunk: their `chunk_id` is empty.
    """
    rows: list[tuple[str, str, int, int, str]] = []
    counts: list[int] = []
    for document_id, text in zip(documents["document_id"].to_pylist(), documents["text"].to_pylist(), strict=True):
        spans = [match.span() for match in _WORD.finditer(text)]
        for begin in range(0, max(1, len(spans) - overlap), words - overlap):
            run = spans[begin : begin + words]
            if run:
                start, end = run[0][0], run[-1][1]
                rows.append(("", document_id, start, end, text[start:end]))
                counts.append(len(run))
    columns = [list(column) for column in zip(*rows, strict=True)] or [[], [], [], [], []]
    names = ["chunk_id", "document_id", "start", "end", "text"]
    table = pa.table(dict(zip(names, columns, strict=True)))
    return ChunkArrays(
        table=table,
        paths=dict(zip(documents["document_id"].to_pylist(), documents["path"].to_pylist(), strict=True)),
        vectors=embedder.embed(table["text"].to_pylist()),
        words=np.array(counts, dtype=np.int64),
    )
