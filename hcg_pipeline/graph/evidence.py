"""Evidence links: where the corpus bears an edge out (paper, Appendix B), each at characters that can be opened."""

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hcg_pipeline.corpus.sentences import sentence_spans
from hcg_pipeline.embedding.embedder import Embedder, Vectors
from hcg_pipeline.errors import EmbeddingError
from hcg_pipeline.graph.substrings import SubstringIndex
from hcg_pipeline.specification.names import singular
from hcg_pipeline.tables import EVIDENCE_LINKS

PREFIX = 200
MINIMUM_PREFIX = 30
TEXT_LINKS = 5
SEMANTIC_LINKS = 2

_BLOCK = 1_024
# float32 products may differ in their last digits with the shape of a block: look a little below the threshold and at
# a few more than are wanted, then decide on products in double precision, row by row.
_SLACK = 1e-4
_SHORTLIST = SEMANTIC_LINKS + 6


@dataclass(frozen=True, slots=True)
class _Chunk:
    chunk_id: str
    document_id: str
    start: int
    text: str


def link_evidence(
    edges: pa.Table,
    documents: pa.Table,
    chunks: pa.Table,
    embeddings: pa.Table,
    embedder: Embedder,
    threshold: float,
) -> pa.Table:
    """EVIDENCE_LINKS of NODE_EDGES: in the order of the edges; per edge `quote`, `text`, `semantic`; each by place.

    - `quote`: the edge's own quotes.
    - `text`: other chunks that contain the first 200 characters of one of its quotes or of its mechanism, where that is
      at least 30 characters; at most 5 a edge.
    - `semantic`: the chunks closest to 'source → target: mechanism', cosine at least `threshold`, at most 2 a edge and
      none that is linked already; the quote is the chunk's sentence with most of the edge's words.

    `embeddings` holds the chunks' vectors (chunk_id, vector), made by `embedder`. In every row
    `document[start:end] == quote`: a quote whose document has gone or reads otherwise is left out, and an edge that
    keeps none has no row. Raises `EmbeddingError` where vectors are missing or of another length.
    """
    rows = _chunks(chunks)
    linker = _Linker(rows, dict(zip(*_columns(documents, "document_id", "text"), strict=True)))
    found = edges.to_pylist()
    near = _nearest(found, rows, embeddings, embedder, threshold)
    links: list[dict[str, Any]] = []
    for edge, semantic in zip(found, near, strict=True):
        links.extend(linker.links(edge, semantic))
    return pa.Table.from_pylist(links, schema=EVIDENCE_LINKS)


def edge_text(edge: dict[str, Any]) -> str:
    """What stands for an edge when it is compared with passages: 'source → target: mechanism' (Appendix B)."""
    return f"{edge['source']} → {edge['target']}: {edge['mechanism']}"


class _Linker:
    def __init__(self, chunks: Sequence[_Chunk], documents: dict[str, str]) -> None:
        self._chunks = chunks
        self._documents = documents
        self._index = SubstringIndex([chunk.text for chunk in chunks])
        self._found: dict[str, list[tuple[int, int]]] = {}
        self._sentences: dict[int, list[tuple[tuple[int, int], frozenset[str]]]] = {}
        self._holders: Counter[str] = Counter()
        for chunk in chunks:
            self._holders.update(_words(chunk.text))

    def links(self, edge: dict[str, Any], semantic: Sequence[tuple[int, float]]) -> list[dict[str, Any]]:
        own = [
            _row(edge, quote["chunk_id"], quote["document_id"], quote["start"], quote["end"], quote["quote"], "quote")
            for quote in edge["quotes"]
        ]
        rows = [row for row in own if self._stands(row)]
        linked = {row["chunk_id"] for row in rows}
        for place, at, text in self._text_matches(edge, linked):
            linked.add(self._chunks[place].chunk_id)
            rows.append(self._link(edge, place, (at, at + len(text)), "text"))
        for place, similarity in semantic:
            if self._chunks[place].chunk_id not in linked:
                row = self._link(edge, place, self._best_sentence(edge, place), "semantic")
                rows.append({**row, "similarity": similarity})
        return [row for row in rows if self._stands(row)]

    def _stands(self, row: dict[str, Any]) -> bool:
        text = self._documents.get(row["document_id"])
        return text is not None and bool(row["quote"]) and text[row["start"] : row["end"]] == row["quote"]

    def _text_matches(self, edge: dict[str, Any], linked: set[str]) -> list[tuple[int, int, str]]:
        prefixes = {text[:PREFIX].strip() for text in [edge["mechanism"], *(q["quote"] for q in edge["quotes"])]}
        matches: dict[int, tuple[int, str]] = {}
        for prefix in sorted(prefixes, key=lambda text: (-len(text), text)):
            if len(prefix) < MINIMUM_PREFIX:
                continue
            if prefix not in self._found:
                self._found[prefix] = self._index.find(prefix)
            for place, at in self._found[prefix]:
                if self._chunks[place].chunk_id not in linked:
                    matches.setdefault(place, (at, prefix))
        return [(place, *matches[place]) for place in sorted(matches)[:TEXT_LINKS]]

    def _link(self, edge: dict[str, Any], place: int, span: tuple[int, int], kind: str) -> dict[str, Any]:
        chunk = self._chunks[place]
        start, end = span
        return _row(
            edge, chunk.chunk_id, chunk.document_id, chunk.start + start, chunk.start + end, chunk.text[start:end], kind
        )

    def _best_sentence(self, edge: dict[str, Any], place: int) -> tuple[int, int]:
        """The sentence with most of the edge's words, rare words counting more; the whole chunk if none has any."""
        if place not in self._sentences:
            text = self._chunks[place].text
            self._sentences[place] = [(span, _words(text[span[0] : span[1]])) for span in sentence_spans(text)]
        wanted = _words(edge_text(edge))
        best, chosen = 0.0, (0, len(self._chunks[place].text))
        for span, words in self._sentences[place]:
            score = sum(math.log1p(len(self._chunks) / self._holders[word]) for word in sorted(words & wanted))
            if score > best + 1e-12:
                best, chosen = score, span
        return chosen


def _words(text: str) -> frozenset[str]:
    return frozenset(singular(word) for word in re.findall(r"[^\W\d_]{3,}", text.lower()))


def _row(
    edge: dict[str, Any], chunk_id: str, document_id: str, start: int, end: int, quote: str, kind: str
) -> dict[str, Any]:
    return {
        "edge_id": edge["edge_id"],
        "chunk_id": chunk_id,
        "document_id": document_id,
        "start": start,
        "end": end,
        "quote": quote,
        "kind": kind,
        "similarity": None,
    }


def _nearest(
    edges: Sequence[dict[str, Any]],
    chunks: Sequence[_Chunk],
    embeddings: pa.Table,
    embedder: Embedder,
    threshold: float,
) -> list[list[tuple[int, float]]]:
    """Per edge the (place of the chunk, cosine) of its nearest chunks that reach the threshold, nearest first."""
    if not edges or not chunks:
        return [[] for _ in edges]
    passages = _vectors(chunks, embeddings, embedder.dimension)
    contexts = embedder.embed([edge_text(edge) for edge in edges])
    near: list[list[tuple[int, float]]] = []
    for start in range(0, len(edges), _BLOCK):
        block = contexts[start : start + _BLOCK]
        products = block @ passages.T
        for row, vector in zip(products, block, strict=True):
            near.append(_top(row, vector, passages, threshold))
    return near


def _top(
    products: NDArray[np.float32], vector: NDArray[np.float32], passages: Vectors, threshold: float
) -> list[tuple[int, float]]:
    above = np.flatnonzero(products >= threshold - _SLACK)
    if len(above) > _SHORTLIST:
        cut = np.partition(products[above], -_SHORTLIST)[-_SHORTLIST]
        above = above[products[above] >= cut - _SLACK]
    exact = (passages[above].astype(np.float64) * vector.astype(np.float64)).sum(axis=1)
    scored = [(int(place), round(float(value), 6)) for place, value in zip(above, exact, strict=True)]
    reaching = [item for item in scored if item[1] >= threshold]
    return sorted(reaching, key=lambda item: (-item[1], item[0]))[:SEMANTIC_LINKS]


def _vectors(chunks: Sequence[_Chunk], embeddings: pa.Table, dimension: int) -> Vectors:
    places = {chunk_id: place for place, chunk_id in enumerate(embeddings.column("chunk_id").to_pylist())}
    missing = [chunk.chunk_id for chunk in chunks if chunk.chunk_id not in places]
    if missing:
        raise EmbeddingError(f"{len(missing)} chunks have no vector, {missing[0]} first: build the embeddings again")
    column = embeddings.column("vector").combine_chunks()
    matrix = np.asarray(column.flatten(), dtype=np.float32).reshape(len(column), -1)
    if matrix.shape[1] != dimension:
        raise EmbeddingError(
            f"the chunks' vectors have length {matrix.shape[1]}, the embedder's {dimension}: build the embeddings again"
        )
    return matrix[[places[chunk.chunk_id] for chunk in chunks]]


def _chunks(chunks: pa.Table) -> list[_Chunk]:
    return [_Chunk(*row) for row in zip(*_columns(chunks, "chunk_id", "document_id", "start", "text"), strict=True)]


def _columns(table: pa.Table, *names: str) -> list[list[Any]]:
    return [table.column(name).to_pylist() for name in names]
