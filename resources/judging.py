"""The judges of answers as a Dagster resource: none, one or several models, under settings of their own."""

from functools import lru_cache
from pathlib import Path

import dagster as dg
from pydantic import Field, SecretStr, ValidationError
from sqlalchemy import Engine

from hcg_pipeline.backends.llm.settings import (
    OPENAI_URL,
    BudgetSettings,
    EndpointSettings,
    RateSettings,
    SettingNames,
    Timeouts,
)
from hcg_pipeline.errors import BackendError, SettingsError
from hcg_pipeline.evaluation.judging.judge import Judge, build_judge
from resources import environment
from resources.bounds import bounds_of

PREFIX = "HCG_JUDGE"
_FIRST_SEED = 7


class JudgeEndpoint(dg.Config):
    """One endpoint and the models that judge there. The key is never part of the configuration."""

    models: list[str] = Field(description="Models that judge, each by itself.")
    base_url: str | None = Field(default=None, description="OpenAI-compatible endpoint; null: OpenAI's own.")
    key_variable: str = Field(default=f"{PREFIX}_API_KEY", description="The environment variable that holds the key.")


class Judges(dg.ConfigurableResource[None]):
    """Who judges answers. Without an endpoint nobody does, and the measures that need no judge stand alone."""

    endpoints: list[JudgeEndpoint] = Field(default=[], description="HCG_JUDGE_…, HCG_JUDGE_2_…, HCG_JUDGE_3_…")
    concurrency: int = Field(default=8, description="Calls in flight per judge.")
    requests_per_minute: int | None = None
    tokens_per_minute: int | None = None
    seconds_per_call: float | None = Field(default=None, description="The longest that one call may take.")
    reply_tokens: int | None = Field(default=None, description="The most tokens of one reply.")
    max_calls: int | None = Field(default=None, description="Calls that each judge may make, all runs together.")
    max_tokens: int | None = Field(default=None, description="Tokens that each judge may use, all runs together.")
    max_usd: float | None = Field(default=None, description="US dollars that each judge may cost, all runs together.")
    prices: str | None = Field(default=None, description="A price list; null: the one that comes with the package.")

    @classmethod
    def from_environment(cls) -> "Judges":
        """The models that HCG_JUDGE_MODEL names (commas between), at HCG_JUDGE_BASE_URL; HCG_JUDGE_2_… adds others.

        Raises `SettingsError` for an address or a key without a model.
        """
        endpoints = []
        for number in range(1, 10):
            prefix = PREFIX if number == 1 else f"{PREFIX}_{number}"
            named = environment.text(f"{prefix}_MODEL")
            base_url = environment.text(f"{prefix}_BASE_URL")
            if named is None:
                if base_url or environment.text(f"{prefix}_API_KEY"):
                    raise SettingsError(f"{prefix}_MODEL is not set: name the model that judges, or unset {prefix}_….")
                continue
            models = list(dict.fromkeys(model.strip() for model in named.split(",") if model.strip()))
            endpoints.append(JudgeEndpoint(models=models, base_url=base_url, key_variable=f"{prefix}_API_KEY"))
        return cls(
            endpoints=endpoints,
            concurrency=environment.whole_number(f"{PREFIX}_CONCURRENCY") or 8,
            requests_per_minute=environment.whole_number(f"{PREFIX}_REQUESTS_PER_MINUTE"),
            tokens_per_minute=environment.whole_number(f"{PREFIX}_TOKENS_PER_MINUTE"),
            seconds_per_call=environment.number(f"{PREFIX}_TIMEOUT"),
            reply_tokens=environment.whole_number(f"{PREFIX}_REPLY_TOKENS"),
            max_calls=environment.whole_number(f"{PREFIX}_MAX_CALLS"),
            max_tokens=environment.whole_number(f"{PREFIX}_MAX_TOKENS"),
            max_usd=environment.number(f"{PREFIX}_MAX_USD"),
            prices=environment.text("HCG_LLM_PRICES"),
        )

    def judges(self, cache: Engine, run: int = 1) -> list[Judge]:
        """The judges, in the order of their settings, with replies kept in `cache`; each `run` has a seed of its own.

        Opens no connection. Raises `BackendError` for OpenAI's own endpoint without a key, `SettingsError` for settings
        that are wrong or a model that is named twice.
        """
        found: list[Judge] = []
        for endpoint in self.endpoints:
            for model in endpoint.models:
                if any(judge.name == model for judge in found):
                    raise SettingsError(
                        f"The judge {model!r} is named twice in {PREFIX}_…: scores are told apart by it."
                    )
                found.append(_judge(self._settings(endpoint, model, _FIRST_SEED + run - 1), cache))
        return found

    def _settings(self, endpoint: JudgeEndpoint, model: str, seed: int) -> EndpointSettings:
        key = environment.text(endpoint.key_variable)
        own = endpoint.key_variable.endswith("_API_KEY")
        prefix = endpoint.key_variable.removesuffix("_API_KEY") if own else PREFIX
        if key is None and endpoint.base_url is None:
            raise BackendError(
                f"The judge {model!r} needs an endpoint: set {endpoint.key_variable}, or {prefix}_BASE_URL for a "
                f"server of your own, or unset {prefix}_MODEL to go without a judge."
            )
        seconds = self.seconds_per_call
        asked = {"max_tokens": self.reply_tokens} if self.reply_tokens else {}
        try:
            return EndpointSettings(
                model=model,
                base_url=endpoint.base_url or OPENAI_URL,
                api_key=SecretStr(key) if key else None,
                seed=seed,
                timeouts=Timeouts(read=seconds, total=seconds) if seconds else Timeouts(),
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
                names=SettingNames(
                    model=f"{prefix}_MODEL", base_url=f"{prefix}_BASE_URL", api_key=endpoint.key_variable
                ),
                **asked,
            )
        except ValidationError as error:
            problems = "; ".join(f"{'.'.join(map(str, item['loc']))}: {item['msg']}" for item in error.errors())
            raise SettingsError(f"The judge's settings ({PREFIX}_…) are wrong: {problems}.") from error


@lru_cache
def _judge(settings: EndpointSettings, cache: Engine) -> Judge:
    """One judge for all that a process asks of it under one seed; all seeds share limiter and budget."""
    limiter, budget = bounds_of(settings)
    return build_judge(settings, cache, limiter=limiter, budget=budget)
