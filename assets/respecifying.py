"""A new specification for a corpus that has one: proposed, compared, and pinned when that is wanted."""

from collections.abc import Sequence
from dataclasses import dataclass

from assets.pins import note_replacement, read_pin, replace_pin
from hcg_pipeline.backends.llm.backend import LlmBackend
from hcg_pipeline.backends.protocol import Failure, LanguageBackend
from hcg_pipeline.corpus.chunks import split_documents
from hcg_pipeline.corpus.documents import read_files
from hcg_pipeline.corpus.windows import pack_windows
from hcg_pipeline.errors import CorpusError, SettingsError
from hcg_pipeline.progress import Progress
from hcg_pipeline.specification.difference import Change, compare
from hcg_pipeline.specification.dimensions import cut_dimensions, resolve_dimensions
from hcg_pipeline.specification.metrics import resolve_metrics
from hcg_pipeline.specification.outcomes import read_outcomes
from hcg_pipeline.specification.spec_file import FILE
from hcg_pipeline.specification.tiers import VOCABULARY_WINDOW_WORDS, sample_windows
from hcg_pipeline.specification.vocabulary import Vocabulary
from hcg_pipeline.specification.vocabulary_tables import to_vocabulary
from resources.language import LanguageModel
from resources.ledgers import RunCalls
from resources.workspace import Workspace


@dataclass(frozen=True)
class Respecification:
    """What is pinned (None: nothing yet), what would be, and what it was proposed from."""

    corpus: str
    backend: str
    tier: str
    pinned: Vocabulary | None
    proposed: Vocabulary
    documents: tuple[str, ...]
    failures: tuple[Failure, ...]

    @property
    def changes(self) -> Sequence[Change]:
        """From what is pinned to what is proposed."""
        return compare(self.pinned or Vocabulary(()), self.proposed)


def propose_anew(workspace: Workspace, corpus: str, tier: str | None, progress: Progress) -> Respecification:
    """Propose a vocabulary from the documents as they are now, as a first build would. Changes nothing.

    Asks the backend as often as a first build does for its vocabulary; what it answered before comes from the cache.
    Raises `CorpusError` where no document can be read, and `BackendError`.
    """
    settings = workspace.settings(corpus)
    chosen = tier or settings.tier
    documents, _ = read_files(workspace.document_files(corpus), progress)
    if documents.num_rows == 0:
        raise CorpusError(f"Corpus {corpus!r} has no document that can be read: nothing can be proposed.")
    chunks = split_documents(documents, settings.chunking, progress)
    language = LanguageModel.from_environment(workspace.cache)
    backend = language.backend_for(settings.backend)
    calls = None
    asked: LanguageBackend = backend
    if isinstance(backend, LlmBackend):
        folder = workspace.corpus_store(corpus) / "ledger"
        calls = RunCalls(language.cache_engine(), folder, corpus, "respec", language.price_list())
        asked = calls.of(backend)
    try:
        windows = pack_windows(chunks, VOCABULARY_WINDOW_WORDS)
        sample = language.window_sample(settings.backend)
        windows = windows if sample is None else sample_windows(windows, sample)
        axes = asked.propose_dimensions(windows, progress)
        ranked = resolve_dimensions(axes.results).table
        measured = asked.propose_metrics(windows, to_vocabulary(ranked).dimensions, progress)
    finally:
        if calls is not None:
            calls.settle()
    outcomes = read_outcomes(workspace.corpus_folder(corpus))
    metrics = resolve_metrics(measured.results, ranked, outcomes, chosen).table
    pin = read_pin(workspace, corpus, backend.name, chosen)
    return Respecification(
        corpus,
        backend.name,
        chosen,
        to_vocabulary(pin.dimensions, pin.metrics(outcomes)) if pin else None,
        to_vocabulary(cut_dimensions(ranked, chosen), metrics),
        tuple(documents["document_id"].to_pylist()),
        (*axes.failures, *measured.failures),
    )


def pin_proposed(workspace: Workspace, proposal: Respecification) -> str:
    """Pin what was proposed, for the next build. Returns the pin's path.

    Raises `SettingsError` where a person's own graph_spec.yaml is the pin (it is never overwritten), and where the
    proposal is empty.
    """
    own = workspace.corpus_folder(proposal.corpus) / FILE
    if own.is_file():
        raise SettingsError(f"{own} is your own specification and stays: move it away, then ask again.")
    if not proposal.proposed.dimensions or not proposal.proposed.metrics:
        raise SettingsError(f"Nothing was proposed for {proposal.corpus!r} that could replace its specification.")
    where = (workspace, proposal.corpus, proposal.backend, proposal.tier)
    path = replace_pin(*where, proposal.proposed, proposal.documents)
    if proposal.changes:
        note_replacement(*where)
    return str(path)
