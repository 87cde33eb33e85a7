"""Mode `in_context`: no retrieval; the whole corpus is the context (paper, Section 6)."""

from collections.abc import Iterator

from hcg_pipeline.retrieval.index import GraphIndex
from hcg_pipeline.retrieval.questions import QuestionBatch
from hcg_pipeline.retrieval.retrieval import Evidence, Retrieval
from hcg_pipeline.retrieval.settings import RetrievalSettings


def in_context(index: GraphIndex, batch: QuestionBatch, _settings: RetrievalSettings) -> Iterator[Retrieval]:
    """Every document in the order of its path, the same for each question, whatever the word budget."""
    passages = tuple(
        Evidence(
            chunk_id="",
            document_id=row["document_id"],
            path=row["path"],
            start=0,
            end=len(row["text"]),
            text=row["text"],
            why="the whole corpus",
        )
        for row in index.documents.select(["document_id", "path", "text"]).to_pylist()
    )
    for _ in batch.texts:
        yield Retrieval(mode="in_context", passages=passages)
