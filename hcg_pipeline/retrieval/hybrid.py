"""Mode `hybrid`: BM25 and cosine over the chunks, mixed by reciprocal rank fusion. No graph."""

from collections.abc import Iterator

import numpy as np

from hcg_pipeline.retrieval.budget import within_budget
from hcg_pipeline.retrieval.chunk_arrays import ChunkArrays
from hcg_pipeline.retrieval.cosine import cosines
from hcg_pipeline.retrieval.graph_arrays import Floats, Ints
from hcg_pipeline.retrieval.index import GraphIndex
from hcg_pipeline.retrieval.questions import QuestionBatch, block_size
from hcg_pipeline.retrieval.retrieval import Retrieval
from hcg_pipeline.retrieval.settings import RetrievalSettings
from hcg_pipeline.retrieval.strategy import Stopwatch

# The constant of Cormack, Clarke and Büttcher (2009).
_RANK_CONSTANT = 60


def hybrid(index: GraphIndex, batch: QuestionBatch, settings: RetrievalSettings) -> Iterator[Retrieval]:
    """The best chunks up to the word budget, best first; whole chunks, at least one."""
    chunks = index.chunks
    watch = Stopwatch(embed=batch.seconds)
    for vector, text in _scores(batch, chunks):
        order = fused_order(vector, text)
        rows = within_budget(order, chunks.words, settings.words)
        passages = tuple(chunks.evidence(row, f"hybrid search, rank {rank}") for rank, row in enumerate(rows, start=1))
        watch.lap("search")
        yield Retrieval(mode="hybrid", passages=passages, seconds=watch.seconds)
        watch = Stopwatch(embed=batch.seconds)


def _scores(batch: QuestionBatch, chunks: ChunkArrays) -> Iterator[tuple[Floats, Floats]]:
    asked = chunks.terms.rows(batch.texts)
    weights = chunks.bm25.T.tocsr()
    step = block_size(4 * len(chunks.words))
    for begin in range(0, len(batch.texts), step):
        vectors = cosines(batch.vectors[begin : begin + step], chunks.vectors)
        texts = np.asarray((asked[begin : begin + step] @ weights).todense(), dtype=np.float32)
        yield from zip(vectors, texts, strict=True)


def fused_order(*scores: Floats) -> Ints:
    """Rows by the sum of 1 / (60 + rank) over several scores; ties by row. Rows of equal score keep their order."""
    fused = np.zeros(len(scores[0]))
    for score in scores:
        order = np.argsort(-score, kind="stable")
        fused[order] += 1 / (_RANK_CONSTANT + 1 + np.arange(len(order)))
    return np.argsort(-fused, kind="stable")
