"""The budget layer: what a build may spend, in calls, tokens and USD.

It lies under the cache, so an answer that is kept costs nothing, and above the limiter, so a call that is not allowed
waits for nobody. A call is counted when it starts and its tokens when it ends; so many tokens as its prompt is
estimated at are held back meanwhile, and the bound is overshot by no more than the replies that are in flight.
"""

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from functools import cache
from importlib.resources import files
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from hcg_pipeline.backends.llm.chat import ChatCall, ChatReply, ChatRequest, estimate_input_tokens, estimate_tokens
from hcg_pipeline.backends.llm.settings import BudgetSettings
from hcg_pipeline.errors import BackendError, SettingsError


class BudgetError(BackendError):
    """The build has spent what it may. What was done is kept; a run with a higher budget goes on from there."""


class Price(BaseModel):
    """USD per million tokens. `cached` is the rate for input that the endpoint had in its prompt cache."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    input: float = Field(ge=0)
    cached: float | None = Field(default=None, ge=0)
    output: float = Field(default=0.0, ge=0)

    def usd(self, tokens_in: int, tokens_cached: int, tokens_out: int) -> float:
        """What a call costs; `tokens_cached` of `tokens_in` are billed at the cached rate."""
        cached = min(tokens_cached, tokens_in)
        rate = self.input if self.cached is None else self.cached
        return ((tokens_in - cached) * self.input + cached * rate + tokens_out * self.output) / 1e6


class PriceList(BaseModel):
    """Prices by model, as of a date; `batch` is the share of them that a call through the batch endpoint costs."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    as_of: date
    batch: float = Field(default=0.5, ge=0, le=1)
    models: dict[str, Price]

    def price(self, model: str) -> Price | None:
        """The price of `model`; a dated name such as `gpt-5.4-mini-2026-03-17` has the price of its family."""
        known = [name for name in self.models if model == name or model.startswith(f"{name}-20")]
        return self.models[max(known, key=len)] if known else None


def read_prices(path: Path | None) -> PriceList:
    """The price list in `path`, or the one that comes with the package. `SettingsError` says what is wrong with it."""
    if path is None:
        return _packaged_prices()
    try:
        return _parse_prices(path.read_text(encoding="utf-8"))
    except (OSError, YAMLError, ValidationError) as error:
        raise SettingsError(f"{path}: not a price list ({' '.join(str(error).split())[:200]})") from error


@cache
def _packaged_prices() -> PriceList:
    return _parse_prices(files(__package__).joinpath("prices.yaml").read_text(encoding="utf-8"))


def _parse_prices(text: str) -> PriceList:
    return PriceList.model_validate(YAML(typ="safe", pure=True).load(text))


def billed_tokens(request: ChatRequest, reply: ChatReply) -> tuple[int, int]:
    """Tokens in and out that `reply` is counted with: the endpoint's counts, or estimates where it gives none."""
    return reply.tokens_in or estimate_input_tokens(request), reply.tokens_out or estimate_tokens(reply.text)


@dataclass(frozen=True, slots=True)
class Spent:
    """What was spent so far. `usd` is None where the model has no price."""

    calls: int
    tokens_in: int
    tokens_out: int
    usd: float | None

    def __str__(self) -> str:
        money = "" if self.usd is None else f", {self.usd:.4f} USD"
        return f"{self.calls:,} calls, {self.tokens_in + self.tokens_out:,} tokens{money}"


class Budget:
    """Counts what is spent, and says no. One object for a build, shared by its workers."""

    def __init__(self, settings: BudgetSettings, model: str) -> None:
        self._settings = settings
        prices = read_prices(settings.prices)
        self._price = prices.price(model)
        self.batch_share = prices.batch
        if settings.max_usd is not None and self._price is None:
            raise SettingsError(
                f"a budget in USD needs a price for {model!r}, and the price list of {prices.as_of} has none: "
                "add it to a price file, or bound calls or tokens instead"
            )
        self._lock = threading.Lock()
        self._calls = 0
        self._tokens_in = 0
        self._tokens_out = 0
        self._usd = 0.0
        self._held_tokens = 0

    @property
    def spent(self) -> Spent:
        """What was spent so far."""
        usd = None if self._price is None else self._usd
        return Spent(self._calls, self._tokens_in, self._tokens_out, usd)

    def hold(self, tokens: int) -> None:
        """Allow one more call with a prompt of about `tokens` tokens, or raise `BudgetError`."""
        with self._lock:
            bounds = self._settings
            tokens_then = self._tokens_in + self._tokens_out + self._held_tokens + tokens
            price = self._price
            usd_then = self._usd + (price.usd(self._held_tokens + tokens, 0, 0) if price else 0.0)
            if bounds.max_calls is not None and self._calls >= bounds.max_calls:
                raise self._reached(f"{bounds.max_calls:,} calls", "max_calls")
            if bounds.max_tokens is not None and tokens_then > bounds.max_tokens:
                raise self._reached(f"{bounds.max_tokens:,} tokens", "max_tokens")
            if bounds.max_usd is not None and usd_then > bounds.max_usd:
                raise self._reached(f"{bounds.max_usd:g} USD", "max_usd")
            self._calls += 1
            self._held_tokens += tokens

    def settle(self, held: int, reply: ChatReply | None) -> None:
        """The call for which `held` tokens were held back is over; without a reply it cost nothing that we know of.

        Where the endpoint gives no counts, estimates stand in: a budget must not be void for want of them.
        """
        with self._lock:
            self._held_tokens -= held
            if reply is not None:
                tokens_in = reply.tokens_in or held
                tokens_out = reply.tokens_out or estimate_tokens(reply.text)
                self._tokens_in += tokens_in
                self._tokens_out += tokens_out
                if self._price:
                    self._usd += self._price.usd(tokens_in, reply.tokens_cached, tokens_out)

    def affordable(self, prompts: Sequence[int], share: float) -> int:
        """How many of the prompts, so many tokens each and in this order, may be sent at `share` of the price."""
        with self._lock:
            bounds, price = self._settings, self._price
            most = len(prompts) if bounds.max_calls is None else max(0, bounds.max_calls - self._calls)
            tokens = self._tokens_in + self._tokens_out + self._held_tokens
            usd = self._usd
            for place, prompt in enumerate(prompts[:most]):
                tokens += prompt
                usd += price.usd(prompt, 0, 0) * share if price else 0.0
                over = bounds.max_tokens is not None and tokens > bounds.max_tokens
                if over or (bounds.max_usd is not None and usd > bounds.max_usd):
                    return place
            return min(most, len(prompts))

    def charge(self, request: ChatRequest, reply: ChatReply, share: float) -> None:
        """Count a call that was made by another way than this chain, at `share` of the price."""
        tokens_in, tokens_out = billed_tokens(request, reply)
        with self._lock:
            self._calls += 1
            self._tokens_in += tokens_in
            self._tokens_out += tokens_out
            if self._price:
                self._usd += self._price.usd(tokens_in, reply.tokens_cached, tokens_out) * share

    def _reached(self, bound: str, setting: str) -> BudgetError:
        return BudgetError(
            f"the budget of {bound} is reached; spent: {self.spent}. Finished calls are kept: raise {setting} and run "
            "again to go on from here"
        )


class BudgetedChat:
    """The budget layer of the chain."""

    def __init__(self, inner: ChatCall, budget: Budget) -> None:
        self._inner = inner
        self._budget = budget

    def complete(self, request: ChatRequest) -> ChatReply:
        """See `ChatCall.complete`; raises `BudgetError`."""
        tokens = estimate_input_tokens(request)
        self._budget.hold(tokens)
        reply = None
        try:
            reply = self._inner.complete(request)
        finally:
            self._budget.settle(tokens, reply)
        return reply
