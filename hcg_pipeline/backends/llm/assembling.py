"""The chain and the backend, put together from settings."""

import sqlalchemy as sa

from hcg_pipeline.backends.llm.backend import LlmBackend
from hcg_pipeline.backends.llm.batch_endpoint import BatchEndpoint
from hcg_pipeline.backends.llm.batch_jobs import JobBook
from hcg_pipeline.backends.llm.batches import Batches
from hcg_pipeline.backends.llm.budget import Budget, BudgetedChat
from hcg_pipeline.backends.llm.cache import CachedChat
from hcg_pipeline.backends.llm.chat import ChatCall
from hcg_pipeline.backends.llm.endpoint import open_client
from hcg_pipeline.backends.llm.http import HttpChat
from hcg_pipeline.backends.llm.limiter import LimitedChat, Limiter
from hcg_pipeline.backends.llm.prompt import Sampling
from hcg_pipeline.backends.llm.retry import RetryingChat
from hcg_pipeline.backends.llm.settings import EndpointSettings
from hcg_pipeline.backends.llm.transcript import TranscribedChat


def build_chat(settings: EndpointSettings, cache_engine: sa.Engine, limiter: Limiter, budget: Budget) -> CachedChat:
    """The whole chain for the endpoint of `settings`: cache, budget, limiter, retry, HTTP. Opens no connection."""
    client = open_client(settings.base_url, settings.api_key, settings.timeouts)
    http = HttpChat(client, total_timeout=settings.timeouts.total, names=settings.names)
    return _chain(http, settings, cache_engine, limiter, budget)


def _chain(
    http: HttpChat, settings: EndpointSettings, cache_engine: sa.Engine, limiter: Limiter, budget: Budget
) -> CachedChat:
    limited = LimitedChat(RetryingChat(http, settings.retry, limiter), limiter)
    asked: ChatCall = BudgetedChat(limited, budget)
    if settings.transcript is not None:
        asked = TranscribedChat(asked, settings.transcript)
    return CachedChat(asked, cache_engine)


def build_llm_backend(
    settings: EndpointSettings,
    cache_engine: sa.Engine,
    *,
    limiter: Limiter | None = None,
    budget: Budget | None = None,
) -> LlmBackend:
    """An `LlmBackend` for the endpoint of `settings`, with its replies and batch jobs in `cache_engine`'s database.

    Opens no connection and makes no call, but makes its tables. Give
    every backend of a process the same `limiter`, and every stage of one build the same `budget`; by default each
    backend has its own. Raises `SettingsError` for a budget in USD on a model without a price.
    """
    budget = budget or Budget(settings.budget, settings.model)
    limiter = limiter or Limiter(settings.rate)
    client = open_client(settings.base_url, settings.api_key, settings.timeouts)
    http = HttpChat(client, total_timeout=settings.timeouts.total, names=settings.names)
    chat = _chain(http, settings, cache_engine, limiter, budget)
    endpoint = BatchEndpoint(client, settings.retry, settings.timeouts, limiter)
    book = JobBook(cache_engine, endpoint.url)
    return LlmBackend(
        chat,
        sampling_of(settings),
        workers=settings.rate.concurrency,
        metrics_shown=settings.metrics_shown,
        answer_words=settings.answer_words,
        batches=Batches(endpoint, book, chat, http, budget, settings.batch),
    )


def sampling_of(settings: EndpointSettings) -> Sampling:
    """The parameters that go with every request to the endpoint of `settings`."""
    return Sampling(settings.model, settings.temperature, settings.seed, settings.max_tokens)
