"""Ask the published graph of a corpus, with whatever backend and embedder are configured, outside of any run."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import pyarrow as pa

from hcg_pipeline.answering.answers import AnsweredQuestions, answer_questions, answer_retrieved, retrieve_questions
from hcg_pipeline.answering.questions import Question
from hcg_pipeline.backends.llm.backend import LlmBackend
from hcg_pipeline.backends.protocol import LanguageBackend
from hcg_pipeline.progress import Progress
from hcg_pipeline.retrieval.index import GraphIndex
from hcg_pipeline.retrieval.retrieval import Retrieval
from hcg_pipeline.retrieval.retrieve import retrieve
from hcg_pipeline.retrieval.settings import RetrievalSettings
from resources.embedding import EmbeddingModel
from resources.language import LanguageModel
from resources.ledgers import RunCalls
from resources.published import open_published
from resources.workspace import Workspace


def answer_published(
    workspace: Workspace,
    corpus: str,
    question_set: str,
    questions: Sequence[Question],
    mode: str,
    words: int | None,
    progress: Progress,
    *,
    batch: bool = False,
) -> AnsweredQuestions:
    """Answers by the corpus's backend and settings; `words` of evidence a question, None for the corpus's own budget.

    With `batch` an endpoint's calls go through its Batch API, which may take a day. All are in the corpus's ledger.

    Raises `SnapshotError` before the first build, `BackendError` and `EmbeddingError` where these cannot work.
    """
    with _opened(workspace, corpus, words) as (index, settings, calls):
        backend = _backend(workspace, corpus, calls, batch=batch)
        return answer_questions(index, backend, question_set, questions, mode, settings, progress)


def explain_published(
    workspace: Workspace, corpus: str, question: Question, mode: str, words: int | None, progress: Progress
) -> tuple[AnsweredQuestions, Retrieval]:
    """One answer, and the retrieval with everything that says how its evidence was found. As `answer_published`."""
    with _opened(workspace, corpus, words) as (index, settings, calls):
        found = retrieve(index, [question.question], mode, settings)
        backend = _backend(workspace, corpus, calls)
        return answer_retrieved(backend, "ask", [question], found, progress), found[0]


def retrieve_published(
    workspace: Workspace,
    corpus: str,
    question_set: str,
    questions: Sequence[Question],
    mode: str,
    words: int | None,
) -> pa.Table:
    """The evidence alone, as ANSWERS with empty answers: no backend is needed. Raises as `answer_published`."""
    with _opened(workspace, corpus, words) as (index, settings, _):
        return retrieve_questions(index, question_set, questions, mode, settings)


@contextmanager
def _opened(
    workspace: Workspace, corpus: str, words: int | None
) -> Iterator[tuple[GraphIndex, RetrievalSettings, RunCalls | None]]:
    """The published index, the settings for `words` of evidence, and what takes note of calls, if any are made.

    Calls are in the corpus's ledger once this ends.
    """
    settings = workspace.settings(corpus)
    language = LanguageModel.from_environment(workspace.cache)
    embedding = EmbeddingModel.from_environment(workspace.cache)
    calls = None
    if embedding.kind == "openai" or (settings.backend or language.backend) == "llm":
        folder = workspace.corpus_store(corpus) / "ledger"
        calls = RunCalls(language.cache_engine(), folder, corpus, "ask", language.price_list())
    retrieval = settings.retrieval if words is None else settings.retrieval.model_copy(update={"words": words})
    try:
        yield open_published(workspace, corpus, embedding, calls).index, retrieval, calls
    finally:
        if calls is not None:
            calls.settle()


def _backend(workspace: Workspace, corpus: str, calls: RunCalls | None, *, batch: bool = False) -> LanguageBackend:
    """The corpus's backend, its calls noted."""
    backend = LanguageModel.from_environment(workspace.cache).backend_for(workspace.settings(corpus).backend)
    if calls is None or not isinstance(backend, LlmBackend):
        return backend
    return calls.of(backend.in_batches() if batch else backend)
