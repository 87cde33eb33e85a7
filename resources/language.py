"""The language backend as a Dagster resource: the rules, or an OpenAI-compatible endpoint where one is configured."""

from functools import lru_cache
from pathlib import Path
from typing import Any

import dagster as dg
import openai
from pydantic import Field, SecretStr, ValidationError
from sqlalchemy import Engine
from sqlalchemy.exc import ArgumentError, NoSuchModuleError

from hcg_pipeline.backends.kept_readings import KeptReadings
from hcg_pipeline.backends.llm.assembling import build_llm_backend
from hcg_pipeline.backends.llm.budget import PriceList, read_prices
from hcg_pipeline.backends.llm.cache import open_cache
from hcg_pipeline.backends.llm.endpoint import open_client, public_url, without_keys
from hcg_pipeline.backends.llm.settings import (
    OPENAI_URL,
    BatchSettings,
    BudgetSettings,
    EndpointSettings,
    RateSettings,
    Timeouts,
)
from hcg_pipeline.backends.protocol import LanguageBackend
from hcg_pipeline.backends.rules.backend import RulesBackend
from hcg_pipeline.embedding.cache import sqlite_engine
from hcg_pipeline.errors import BackendError, SettingsError
from hcg_pipeline.specification.tiers import VOCABULARY_WINDOWS
from resources import environment
from resources.bounds import bounds_of

OPENAI_MODEL = "gpt-4.1-mini"
CACHE_URL = "HCG_LLM_CACHE_URL"


class LanguageModel(dg.ConfigurableResource[None]):
    """Which backend reads and answers, and how an endpoint is asked. The key is never part of the configuration."""

    backend: str = Field(
        default="rules", description="`rules` or `llm`: for a corpus whose corpus.yaml names no backend."
    )
    base_url: str | None = Field(default=None, description="OpenAI-compatible endpoint; null: OpenAI's own.")
    model: str | None = Field(default=None, description="Null: the only model that the endpoint serves.")
    key_variable: str = Field(default="OPENAI_API_KEY", description="The environment variable that holds the key.")
    concurrency: int = Field(default=8, description="Calls in flight, over all workers of a process.")
    requests_per_minute: int | None = None
    tokens_per_minute: int | None = None
    seconds_per_call: float | None = Field(default=None, description="The longest that one call may take.")
    reply_tokens: int | None = Field(default=None, description="The most tokens of one reply.")
    answer_words: int | None = Field(default=None, description="Words of evidence that an answer is given; null: all.")
    max_calls: int | None = Field(default=None, description="Calls that one build may make.")
    max_tokens: int | None = Field(default=None, description="Tokens that one build may use.")
    max_usd: float | None = Field(default=None, description="US dollars that one build may cost.")
    prices: str | None = Field(default=None, description="A price list; null: the one that comes with the package.")
    batch_calls: int | None = Field(default=None, description="The most calls of one batch job; null: OpenAI's limit.")
    batch_poll: float | None = Field(default=None, description="Seconds between two looks at a batch job.")
    transcript: str | None = Field(default=None, description="A file that takes every prompt and reply; null: none.")
    cache: str = Field(description="Folder of the reply cache, unless HCG_LLM_CACHE_URL names a database.")

    @classmethod
    def from_environment(cls, cache: Path) -> "LanguageModel":
        """`llm` if OPENAI_API_KEY or HCG_LLM_BASE_URL is set, else `rules`. Raises `SettingsError`."""
        base_url = environment.text("HCG_LLM_BASE_URL")
        configured = bool(base_url or environment.text("OPENAI_API_KEY"))
        return cls(
            backend="llm" if configured else "rules",
            base_url=base_url,
            model=environment.text("HCG_LLM_MODEL") or (None if base_url else OPENAI_MODEL),
            concurrency=environment.whole_number("HCG_LLM_CONCURRENCY") or 8,
            requests_per_minute=environment.whole_number("HCG_LLM_REQUESTS_PER_MINUTE"),
            tokens_per_minute=environment.whole_number("HCG_LLM_TOKENS_PER_MINUTE"),
            seconds_per_call=environment.number("HCG_LLM_TIMEOUT"),
            reply_tokens=environment.whole_number("HCG_LLM_REPLY_TOKENS"),
            answer_words=environment.whole_number("HCG_LLM_ANSWER_WORDS"),
            max_calls=environment.whole_number("HCG_LLM_MAX_CALLS"),
            max_tokens=environment.whole_number("HCG_LLM_MAX_TOKENS"),
            max_usd=environment.number("HCG_LLM_MAX_USD"),
            prices=environment.text("HCG_LLM_PRICES"),
            batch_calls=environment.whole_number("HCG_LLM_BATCH_CALLS"),
            batch_poll=environment.number("HCG_LLM_BATCH_POLL"),
            transcript=environment.text("HCG_LLM_TRANSCRIPT"),
            cache=str(cache),
        )

    def backend_for(self, wanted: str | None, run: int = 1) -> LanguageBackend:
        """The backend that a corpus asks for (`rules`, `llm`), or the configured one; a later `run` has another seed.

        Raises `BackendError` where `llm` is asked for and no endpoint is configured, or the endpoint serves no model.
        """
        if (wanted or self.backend) == "rules":
            return _rules(Path(self.cache))
        if self.base_url is None and environment.text(self.key_variable) is None:
            raise BackendError(
                f"The llm backend needs an endpoint: set {self.key_variable}, or HCG_LLM_BASE_URL for a server of your "
                "own, or write `backend: rules` in corpus.yaml."
            )
        endpoint = self.endpoint()
        return _llm(endpoint.model_copy(update={"seed": endpoint.seed + run - 1}), self.cache_engine())

    def asks_for_model(self) -> bool:
        """Whether the endpoint is asked which model it serves: a call over the network, each time."""
        return self.base_url is not None and self.model is None

    def cache_engine(self) -> Engine:
        """The database of replies, calls and batch jobs: HCG_LLM_CACHE_URL, or a SQLite file in the cache folder.

        The URL is read here and now and is no part of the configuration: it may hold a password.
        """
        url = environment.text(CACHE_URL)
        if url is None:
            Path(self.cache).mkdir(parents=True, exist_ok=True)
            url = f"sqlite:///{Path(self.cache) / 'llm.sqlite'}"
        return _cache_engine(url)

    def has_cache(self) -> bool:
        """Whether the database of `cache_engine` may hold anything: where it is a file, whether that is there."""
        return environment.text(CACHE_URL) is not None or (Path(self.cache) / "llm.sqlite").is_file()

    def price_list(self) -> PriceList:
        """The prices that calls are counted at. Raises `SettingsError`."""
        return read_prices(Path(self.prices) if self.prices else None)

    def window_sample(self, wanted: str | None) -> int | None:
        """From how many windows the backend for `wanted` proposes a vocabulary: each is a call; the rules read all."""
        return VOCABULARY_WINDOWS if (wanted or self.backend) == "llm" else None

    def endpoint(self) -> EndpointSettings:
        """How the endpoint is asked. Raises `SettingsError`, and `BackendError` where it does not say its model."""
        key = environment.text(self.key_variable)
        secret = SecretStr(key) if key else None
        base_url = self.base_url or OPENAI_URL
        seconds = self.seconds_per_call
        asked: dict[str, Any] = {"max_tokens": self.reply_tokens} if self.reply_tokens else {}
        if seconds:
            asked["timeouts"] = Timeouts(read=seconds, total=seconds)
        batch = {"requests_per_job": self.batch_calls, "poll": self.batch_poll}
        try:
            return EndpointSettings(
                model=self.model or _served_model(base_url, secret),
                base_url=base_url,
                api_key=secret,
                answer_words=self.answer_words,
                transcript=Path(self.transcript) if self.transcript else None,
                rate=RateSettings(
                    concurrency=self.concurrency,
                    requests_per_minute=self.requests_per_minute,
                    tokens_per_minute=self.tokens_per_minute,
                ),
                budget=BudgetSettings(
                    max_calls=self.max_calls,
                    max_tokens=self.max_tokens,
                    max_usd=self.max_usd,
                    prices=Path(self.prices) if self.prices else None,
                ),
                batch=BatchSettings.model_validate({name: value for name, value in batch.items() if value is not None}),
                **asked,
            )
        except ValidationError as error:
            problems = "; ".join(f"{'.'.join(map(str, item['loc']))}: {item['msg']}" for item in error.errors())
            raise SettingsError(f"The endpoint's settings (HCG_LLM_…) are wrong: {problems}.") from error


@lru_cache
def _rules(cache: Path) -> LanguageBackend:
    """The rules, with what they read kept beside the other caches."""
    cache.mkdir(parents=True, exist_ok=True)
    return KeptReadings(RulesBackend(), sqlite_engine(str(cache / "readings.sqlite")))


@lru_cache
def _llm(settings: EndpointSettings, cache: Engine) -> LanguageBackend:
    """One backend for all that a process asks of an endpoint under one seed; all seeds share limiter and budget."""
    limiter, budget = bounds_of(settings)
    return build_llm_backend(settings, cache, limiter=limiter, budget=budget)


@lru_cache
def _cache_engine(url: str) -> Engine:
    try:
        return open_cache(url)
    except (ArgumentError, NoSuchModuleError, ModuleNotFoundError) as error:
        raise SettingsError(
            f"{CACHE_URL} is no database that can be used here ({type(error).__name__}): it is a URL such as "
            "postgresql+psycopg://user:password@host/hcg, and its driver must be installed (pip install "
            "'psycopg[binary]')."
        ) from None


def _served_model(base_url: str, key: SecretStr | None) -> str:
    """The model that an endpoint serves, if it is one. Raises `BackendError`, which lists them otherwise."""
    try:
        served = sorted(model.id for model in open_client(base_url, key, Timeouts()).models.list())
    except openai.OpenAIError as error:
        raise BackendError(
            f"{public_url(base_url)} does not say which models it serves ({without_keys(str(error))}): start it if it "
            "is down, correct HCG_LLM_BASE_URL (it usually ends in /v1), or set HCG_LLM_MODEL."
        ) from error
    if len(served) != 1:
        listed = f"{', '.join(served[:20])}{' …' if len(served) > 20 else ''}" if served else "none"
        raise BackendError(f"{public_url(base_url)} serves these models: {listed}. Set HCG_LLM_MODEL to one of them.")
    return served[0]
