"""Ask the published graph of a corpus, with whatever backend and embedder are configured, outside of any run."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import pyarrow as pa

from hcg_pipeline.answering.answers import AnsweredQuestions, answer_questions, answer_retrieved, retrieve_questions
from hcg_pipeline.answering.questions import Question
from hcg_pipeline.backends.llm.assembling import build_llm_backend
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
    index, settings = _open(workspace, corpus, words)
    with answering_backend(workspace, corpus, batch=batch) as backend:
        return answer_questions(index, backend, question_set, questions, mode, settings, progress)


def explain_published(
    workspace: Workspace, corpus: str, question: Question, mode: str, words: int | None, progress: Progress
) -> tuple[AnsweredQuestions, Retrieval]:
    """One answer, and the retrieval with everything that says how its evidence was found. As `answer_published`."""
    index, settings = _open(workspace, corpus, words)
    found = retrieve(index, [question.question], mode, settings)
    with answering_backend(workspace, corpus) as backend:
        return answer_retrieved(backend, "ask", [question], found, progress), found[0]


@contextmanager
def answering_backend(
    workspace: Workspace, corpus: str, *, batch: bool = False, run: int = 1
) -> Iterator[LanguageBackend]:
    """The corpus's backend, its calls in the corpus's ledger once this ends; a later `run` asks under another seed."""
    language = LanguageModel.from_environment(workspace.cache)
    backend = language.backend_for(workspace.settings(corpus).backend)
    if not isinstance(backend, LlmBackend):
        yield backend
        return
    if run > 1:
        endpoint = language.endpoint()
        seeded = endpoint.model_copy(update={"seed": endpoint.seed + run - 1})
        backend = build_llm_backend(seeded, language.cache_engine())
    folder = workspace.corpus_store(corpus) / "ledger"
    calls = RunCalls(language.cache_engine(), folder, corpus, "ask", language.price_list())
    try:
        yield calls.of(backend.in_batches() if batch else backend)
    finally:
        calls.settle()


def retrieve_published(
    workspace: Workspace,
    corpus: str,
    question_set: str,
    questions: Sequence[Question],
    mode: str,
    words: int | None,
) -> pa.Table:
    """The evidence alone, as ANSWERS with empty answers: no backend is needed. Raises as `answer_published`."""
    index, settings = _open(workspace, corpus, words)
    return retrieve_questions(index, question_set, questions, mode, settings)


def _open(workspace: Workspace, corpus: str, words: int | None) -> tuple[GraphIndex, RetrievalSettings]:
    settings = workspace.settings(corpus).retrieval
    index = open_published(workspace, corpus, EmbeddingModel.from_environment(workspace.cache)).index
    return index, settings if words is None else settings.model_copy(update={"words": words})
