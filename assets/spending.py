"""What builds cost: an estimate before one is made, and the ledger of those that were."""

from dataclasses import asdict, replace
from typing import Any

import pyarrow as pa

from assets.pins import read_pin
from hcg_pipeline.backends.llm.backend import LlmBackend
from hcg_pipeline.backends.llm.budget import PriceList
from hcg_pipeline.backends.llm.cache import good_reply
from hcg_pipeline.corpus.chunks import split_documents
from hcg_pipeline.corpus.documents import read_files
from hcg_pipeline.errors import HcgError
from hcg_pipeline.estimation.estimate import BuildEstimate, estimate_build
from hcg_pipeline.estimation.rehearsal import PlannedBuild
from hcg_pipeline.estimation.typical import token_count
from hcg_pipeline.progress import Progress
from hcg_pipeline.specification.outcomes import read_outcomes
from resources.embedding import EmbeddingModel
from resources.language import LanguageModel
from resources.ledgers import ledger_totals, move_calls
from resources.workspace import Workspace


def estimate_corpus(workspace: Workspace, corpus: str, tier: str | None, progress: Progress) -> BuildEstimate:
    """The estimate for a build of `corpus` at `tier` (None: its own) by the configured endpoint.

    Raises `HcgError` where the corpus is built by the rules, which cost nothing, or without an endpoint.
    """
    folder = workspace.corpus_folder(corpus)
    settings = workspace.settings(corpus)
    language = LanguageModel.from_environment(workspace.cache)
    backend = language.backend_for(settings.backend)
    if not isinstance(backend, LlmBackend):
        raise HcgError(
            f"{corpus!r} is built by the rules backend, which makes no call and costs nothing. To estimate a build by "
            "a model, set HCG_LLM_BASE_URL or OPENAI_API_KEY (and HCG_LLM_MODEL), and `backend: llm` in corpus.yaml."
        )
    tier = tier or settings.tier
    outcomes = read_outcomes(folder)
    documents, _ = read_files(workspace.document_files(corpus), progress)
    pin = read_pin(workspace, corpus, backend.name, tier)
    build = PlannedBuild(
        chunks=split_documents(documents, settings.chunking, progress),
        tier=tier,
        window_words=settings.window_words,
        outcomes=outcomes,
        pinned=None if pin is None else (pin.dimensions, pin.metrics(outcomes)),
    )
    engine = language.cache_engine()
    stand_in = language.backend_for("rules")
    prices = language.price_list()
    found = estimate_build(build, backend, lambda request: good_reply(engine, request), stand_in, prices, progress)
    note = _embedding_note(workspace, build.chunks, prices)
    return replace(found, notes=(*found.notes, *note))


def _embedding_note(workspace: Workspace, chunks: pa.Table, prices: PriceList) -> list[str]:
    """What embedding comes to where an endpoint does it, whatever of it is cached."""
    embedding = EmbeddingModel.from_environment(workspace.cache)
    if embedding.kind != "openai":
        return []
    tokens = sum(map(token_count, chunks["text"].to_pylist()))
    price = prices.price(embedding.model)
    usd = "" if price is None else f", {price.usd(tokens, 0, 0):.4f} USD"
    return [f"Embeddings by {embedding.model} come on top: about {tokens:,} tokens{usd} for the chunks alone."]


def corpus_costs(workspace: Workspace, corpus: str) -> list[dict[str, Any]]:
    """What each stage's calls on a corpus came to so far, over all runs, as plain data; [] if there were none."""
    folder = workspace.corpus_store(corpus) / "ledger"
    language = LanguageModel.from_environment(workspace.cache)
    if language.has_cache():
        move_calls(language.cache_engine(), folder, corpus)
    return [asdict(cost) for cost in ledger_totals(folder)]
