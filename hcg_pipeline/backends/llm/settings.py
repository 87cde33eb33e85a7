"""Everything about an endpoint that a person may set. Reading it from the environment is the caller's business."""

from pathlib import Path
from typing import Annotated
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, SecretStr

OPENAI_URL = "https://api.openai.com/v1"


def _check_url(url: str) -> str:
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError(f"{url!r} is not an http(s) URL such as {OPENAI_URL} or http://127.0.0.1:11434/v1")
    return url.rstrip("/")


EndpointUrl = Annotated[str, AfterValidator(_check_url)]


class _Settings(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Timeouts(_Settings):
    """Seconds. `read` is the longest silence, `total` the longest call (a server may drip a byte a minute)."""

    connect: float = Field(default=10.0, gt=0)
    read: float = Field(default=180.0, gt=0)
    total: float = Field(default=600.0, gt=0)


class BudgetSettings(_Settings):
    """The most that one build may spend; None is no bound. `prices` is a file like the package's `prices.yaml`."""

    max_calls: int | None = Field(default=None, ge=0)
    max_tokens: int | None = Field(default=None, ge=0)
    max_usd: float | None = Field(default=None, ge=0)
    prices: Path | None = None


class RetrySettings(_Settings):
    """How long one call is tried, in seconds.

    `attempts` bounds failures (a timeout counts as two); being throttled is waited out for `patience` in all.
    """

    attempts: int = Field(default=6, ge=1)
    first_wait: float = Field(default=1.0, gt=0)
    longest_wait: float = Field(default=60.0, gt=0)
    patience: float = Field(default=900.0, ge=0)


class RateSettings(_Settings):
    """How fast an endpoint may be asked: calls in flight, and requests and tokens a minute (None: no bound)."""

    concurrency: int = Field(default=8, ge=1, le=512)
    requests_per_minute: int | None = Field(default=None, ge=1)
    tokens_per_minute: int | None = Field(default=None, ge=1)


class BatchSettings(_Settings):
    """How calls go through the Batch API. The limits of a job are OpenAI's; fewer calls than `fewest` make none.

    `poll` is the time between two looks at a job, in seconds.
    """

    fewest: int = Field(default=10, ge=1)
    requests_per_job: int = Field(default=50_000, ge=1, le=50_000)
    bytes_per_job: int = Field(default=190_000_000, ge=1)
    poll: float = Field(default=20.0, gt=0)


class SettingNames(_Settings):
    """What a person sets to reach an endpoint in another way, as error messages call it."""

    model: str = "HCG_LLM_MODEL"
    base_url: str = "HCG_LLM_BASE_URL"
    api_key: str = "OPENAI_API_KEY"


class EndpointSettings(_Settings):
    """A chat model at an OpenAI-compatible endpoint.

    `api_key` may be None: local servers want none. `answer_words` trims the contexts of a question to so many words,
    for a model with a small context window; None sends them all. `transcript` is a file that takes every prompt and
    reply; None, as it mostly should be, logs none.
    """

    model: str = Field(min_length=1)
    base_url: EndpointUrl = OPENAI_URL
    api_key: SecretStr | None = None
    temperature: float = Field(default=0.0, ge=0, le=2)
    seed: int = 7
    max_tokens: int = Field(default=16_384, ge=1)
    metrics_shown: int = Field(default=64, ge=1)
    answer_words: int | None = Field(default=None, ge=1)
    timeouts: Timeouts = Timeouts()
    retry: RetrySettings = RetrySettings()
    rate: RateSettings = RateSettings()
    budget: BudgetSettings = BudgetSettings()
    batch: BatchSettings = BatchSettings()
    transcript: Path | None = None
    names: SettingNames = SettingNames()


class EmbeddingSettings(_Settings):
    """An embedding model at an OpenAI-compatible endpoint. The limits are those of OpenAI's; lower them for others.

    `dimension` asks the endpoint for shorter vectors (text-embedding-3 models can); None takes the model's own.
    """

    model: str = Field(default="text-embedding-3-small", min_length=1)
    base_url: EndpointUrl = OPENAI_URL
    api_key: SecretStr | None = None
    dimension: int | None = Field(default=None, ge=1)
    inputs_per_request: int = Field(default=256, ge=1, le=2048)
    tokens_per_request: int = Field(default=200_000, ge=1)
    tokens_per_input: int = Field(default=8_000, ge=1)
    timeouts: Timeouts = Timeouts(read=60.0, total=180.0)
    retry: RetrySettings = RetrySettings()
    rate: RateSettings = RateSettings(concurrency=4)
    names: SettingNames = SettingNames(
        model="HCG_EMBEDDING_MODEL", base_url="HCG_EMBEDDING_BASE_URL or HCG_LLM_BASE_URL"
    )
