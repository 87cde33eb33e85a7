"""What a retrieval mode is: one way from a batch of questions to their evidence."""

from collections.abc import Callable, Iterator
from time import perf_counter

from hcg_pipeline.retrieval.index import GraphIndex
from hcg_pipeline.retrieval.questions import QuestionBatch
from hcg_pipeline.retrieval.retrieval import Evidence, Retrieval
from hcg_pipeline.retrieval.settings import RetrievalSettings

Strategy = Callable[[GraphIndex, QuestionBatch, RetrievalSettings], Iterator[Retrieval]]
"""One retrieval per question, in their order. A retrieval depends on its own question alone, not on the batch."""


def passage_evidence(index: GraphIndex, row: int, why: str) -> Evidence:
    """A passage of the index as evidence."""
    table = index.passages.table
    document_id = table["document_id"][row].as_py()
    return Evidence(
        chunk_id=table["chunk_id"][row].as_py(),
        document_id=document_id,
        path=index.paths[document_id],
        start=table["start"][row].as_py(),
        end=table["end"][row].as_py(),
        text=table["text"][row].as_py(),
        why=why,
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
