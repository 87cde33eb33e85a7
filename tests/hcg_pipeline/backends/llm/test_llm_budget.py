"""The budget: it counts calls, tokens and USD, and stops before the call that would exceed it."""

from datetime import date
from pathlib import Path

import pytest

from hcg_pipeline.backends.llm.budget import Budget, BudgetedChat, BudgetError, Price, PriceList, read_prices
from hcg_pipeline.backends.llm.chat import CallError, ChatReply, ChatRequest, Message, ReplySchema, estimate_tokens
from hcg_pipeline.backends.llm.settings import BudgetSettings
from hcg_pipeline.errors import SettingsError

REQUEST = ChatRequest("m", (Message("user", "x" * 294),), ReplySchema("s", {}), 0.0, 1, 100)  # about 103 tokens


class Chat:
    """Replies with fixed token counts, or fails."""

    def __init__(self, reply: ChatReply | Exception) -> None:
        self.reply = reply
        self.calls = 0

    def complete(self, request: ChatRequest) -> ChatReply:
        self.calls += 1
        if isinstance(self.reply, Exception):
            raise self.reply
        return self.reply


REPLY = ChatReply("{}", "stop", tokens_in=100, tokens_out=50, tokens_cached=40)


def spend(settings: BudgetSettings, model: str = "gpt-5.4-mini", reply: ChatReply | Exception = REPLY) -> BudgetedChat:
    return BudgetedChat(Chat(reply), Budget(settings, model))


def test_price_of_a_call_takes_cached_input_at_its_rate() -> None:
    assert Price(input=1.0, cached=0.1, output=4.0).usd(1_000_000, 400_000, 500_000) == pytest.approx(0.6 + 0.04 + 2)
    assert Price(input=1.0).usd(2_000_000, 500_000, 7) == pytest.approx(2.0)


def test_calls_are_bounded_exactly() -> None:
    chat = spend(BudgetSettings(max_calls=2))
    chat.complete(REQUEST)
    chat.complete(REQUEST)
    with pytest.raises(BudgetError, match=r"budget of 2 calls is reached; spent: 2 calls, 300 tokens.*raise max_calls"):
        chat.complete(REQUEST)
    assert chat._inner.calls == 2  # type: ignore[attr-defined]


def test_tokens_are_bounded_before_the_call_that_would_exceed_them() -> None:
    chat = spend(BudgetSettings(max_tokens=400))
    chat.complete(REQUEST)
    chat.complete(REQUEST)  # 300 spent; a third would be about 403
    with pytest.raises(BudgetError, match=r"400 tokens is reached; spent: 2 calls, 300 tokens"):
        chat.complete(REQUEST)


def test_dollars_are_bounded_and_named() -> None:
    budget = Budget(BudgetSettings(max_usd=0.0005), "gpt-5.4-mini")
    chat = BudgetedChat(Chat(REPLY), budget)
    chat.complete(REQUEST)  # 60 * .75 + 40 * .075 + 50 * 4.5 = 273 millionths
    assert budget.spent.usd == pytest.approx(273e-6)
    chat.complete(REQUEST)
    with pytest.raises(BudgetError, match=r"0\.0005 USD is reached; spent: 2 calls, 300 tokens, 0\.0005 USD"):
        chat.complete(REQUEST)


def test_a_failed_call_counts_as_a_call_and_frees_what_was_held() -> None:
    budget = Budget(BudgetSettings(max_tokens=150), "other")
    chat = BudgetedChat(Chat(CallError("no")), budget)
    for _ in range(3):
        with pytest.raises(CallError):
            chat.complete(REQUEST)
    assert budget.spent.calls == 3
    assert budget.spent.tokens_in == 0


def test_estimates_stand_in_where_the_endpoint_gives_no_counts() -> None:
    budget = Budget(BudgetSettings(), "other")
    BudgetedChat(Chat(ChatReply("y" * 30, "stop")), budget).complete(REQUEST)
    assert (budget.spent.tokens_in, budget.spent.tokens_out) == (103, estimate_tokens("y" * 30))
    assert budget.spent.usd is None


def test_dollars_for_a_model_without_a_price_are_refused_at_the_start() -> None:
    with pytest.raises(SettingsError, match=r"needs a price for 'own-model'.*add it to a price file"):
        Budget(BudgetSettings(max_usd=1), "own-model")


def test_a_price_file_of_ones_own(tmp_path: Path) -> None:
    path = tmp_path / "prices.yaml"
    path.write_text("as_of: 2026-01-02\nmodels:\n  own-model: {input: 3, output: 4}\n")
    prices = read_prices(path)
    assert prices.as_of == date(2026, 1, 2)
    assert prices.price("own-model") == Price(input=3, output=4)
    assert prices.price("other") is None
    path.write_text("as_of: 2026-01-02\nmodels:\n  own-model: {inptu: 3}\n")
    with pytest.raises(SettingsError, match=r"prices\.yaml: not a price list .*inptu"):
        read_prices(path)
    with pytest.raises(SettingsError, match=r"missing\.yaml"):
        read_prices(tmp_path / "missing.yaml")


def test_a_dated_model_has_the_price_of_its_family_and_no_other() -> None:
    prices = PriceList(as_of=date(2026, 1, 1), models={"gpt-x": Price(input=1), "gpt-x-mini": Price(input=2)})
    assert prices.price("gpt-x-2026-03-17") == Price(input=1)
    assert prices.price("gpt-x-mini-2026-03-17") == Price(input=2)
    assert prices.price("gpt-x-nano") is None


def test_the_packaged_list_has_the_default_models() -> None:
    prices = read_prices(None)
    assert prices.price("gpt-5.4-mini") is not None
    assert prices.price("text-embedding-3-small") is not None
