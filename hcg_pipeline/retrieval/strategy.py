"""What a retrieval mode is: one way from a batch of questions to their evidence."""

from collections.abc import Callable, Iterator, Sequence
from time import perf_counter

import numpy as np

from hcg_pipeline.retrieval.index import GraphIndex
from hcg_pipeline.retrieval.questions import QuestionBatch
from hcg_pipeline.retrieval.retrieval import Evidence, Retrieval
from hcg_pipeline.retrieval.settings import RetrievalSettings

Strategy = Callable[[GraphIndex, QuestionBatch, RetrievalSettings], Iterator[Retrieval]]
"""One retrieval per question, in their order. A retrieval depends on its own question alone, not on the batch."""


def passages_as_evidence(index: GraphIndex, rows: Sequence[int], whys: Sequence[str]) -> tuple[Evidence, ...]:
    """Passages of the index as evidence, each with why it was taken."""
    return tuple(
        Evidence(
            chunk_id=passage["chunk_id"],
            document_id=passage["document_id"],
            path=index.paths[passage["document_id"]],
            start=passage["start"],
            end=passage["end"],
            text=passage["text"],
            why=why,
        )
        for passage, why in zip(
            index.passages.table.take(np.array(rows, dtype=np.int64)).to_pylist(), whys, strict=True
        )
    )


class Stopwatch:
    """Seconds per step since the last lap; `before` are steps that are over already."""

    def __init__(self, **before: float) -> None:
        self.seconds: dict[str, float] = dict(before)
        self._last = perf_counter()

    def lap(self, step: str) -> None:
        """Books the time since the last lap under `step`."""
        now = perf_counter()
        self.seconds[step] = self.seconds.get(step, 0.0) + now - self._last
        self._last = now
