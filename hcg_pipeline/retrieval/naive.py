"""Mode `naive`: the five nearest windows of 1,200 words by cosine, the usual baseline (NaiveRAG)."""

from collections.abc import Iterator

import numpy as np

from hcg_pipeline.retrieval.budget import cut_to_budget
from hcg_pipeline.retrieval.cosine import cosines
from hcg_pipeline.retrieval.index import GraphIndex
from hcg_pipeline.retrieval.questions import QuestionBatch, block_size
from hcg_pipeline.retrieval.retrieval import Retrieval
from hcg_pipeline.retrieval.settings import RetrievalSettings
from hcg_pipeline.retrieval.strategy import Stopwatch

_TOP = 5


def naive(index: GraphIndex, batch: QuestionBatch, settings: RetrievalSettings) -> Iterator[Retrieval]:
    """Five windows, nearest first: that is the method. A word budget that was set cuts them off at its end."""
    windows = index.windows
    step = block_size(len(windows.words))
    for begin in range(0, len(batch.texts), step):
        for similarity in cosines(batch.vectors[begin : begin + step], windows.vectors):
            watch = Stopwatch(embed=batch.seconds)
            order = np.argsort(-similarity, kind="stable")[:_TOP]
            pieces = [windows.evidence(int(row), f"cosine {similarity[row]:.2f}") for row in order]
            passages = cut_to_budget(pieces, settings.wanted_words)
            watch.lap("search")
            yield Retrieval(mode="naive", passages=passages, seconds=watch.seconds)
