"""Mode `in_context`: no retrieval; the whole corpus is the context (paper, Section 6)."""

from collections.abc import Iterator

from hcg_pipeline.retrieval.budget import cut_to_budget
from hcg_pipeline.retrieval.index import GraphIndex
from hcg_pipeline.retrieval.questions import QuestionBatch
from hcg_pipeline.retrieval.retrieval import Evidence, Retrieval
from hcg_pipeline.retrieval.settings import RetrievalSettings


def in_context(index: GraphIndex, batch: QuestionBatch, settings: RetrievalSettings) -> Iterator[Retrieval]:
    """Every document in the order of its path, the same for each question; a word budget that was set cuts it."""
    documents = (
        Evidence(
            chunk_id="",
            document_id=row["document_id"],
            path=row["path"],
            start=0,
            end=len(row["text"]),
            text=row["text"],
            why="the whole corpus" if settings.wanted_words is None else "the corpus, up to the budget",
        )
        for row in index.documents.select(["document_id", "path", "text"]).to_pylist()
    )
    passages = cut_to_budget(list(documents), settings.wanted_words)
    for _ in batch.texts:
        yield Retrieval(mode="in_context", passages=passages)
