"""The door of retrieval: a batch of questions in, their evidence out."""

from collections.abc import Iterator, Sequence

from hcg_pipeline.errors import SettingsError
from hcg_pipeline.retrieval.index import GraphIndex
from hcg_pipeline.retrieval.modes import MODES
from hcg_pipeline.retrieval.questions import question_batch
from hcg_pipeline.retrieval.retrieval import Retrieval
from hcg_pipeline.retrieval.settings import RetrievalSettings


def retrieve(index: GraphIndex, questions: Sequence[str], mode: str, settings: RetrievalSettings) -> list[Retrieval]:
    """One retrieval per question, in their order. All are embedded and matched in one pass.

    Mode `graph` gives `fallback` for a question that matches nothing. Raises `SettingsError` for an unknown mode and
    `EmbeddingError` when the questions cannot be embedded.
    """
    return list(iterate(index, questions, mode, settings))


def iterate(index: GraphIndex, questions: Sequence[str], mode: str, settings: RetrievalSettings) -> Iterator[Retrieval]:
    """As `retrieve`, one at a time, for batches whose evidence should not be held at once."""
    strategy = MODES.get(mode)
    if strategy is None:
        raise SettingsError(f"no retrieval mode '{mode}'. Choose one of {', '.join(MODES)}.")
    if not questions:
        return iter(())
    return strategy(index, question_batch(questions, index.embedder), settings)
