"""A corpus's ledger on disk: nothing is lost and nothing counts twice, whatever is killed in between."""

from pathlib import Path

import pytest
from fake_openai import FakeOpenAI

from hcg_pipeline.backends.llm.budget import read_prices
from hcg_pipeline.backends.llm.cache import open_cache
from hcg_pipeline.backends.llm.chat import ChatReply, ChatRequest, Message, ReplySchema
from hcg_pipeline.backends.llm.ledger import EmbeddingCall, SqlLedger, recorded_calls
from hcg_pipeline.errors import SettingsError
from hcg_pipeline.tables import LEDGER
from resources import ledgers
from resources.language import LanguageModel
from resources.ledgers import RunCalls, ledger_totals, move_calls, read_ledger

REQUEST = ChatRequest("gpt-4.1-mini", (Message("user", "u"),), ReplySchema("r", {}), 0.0, 7, 10, "variables", "w1")

VECTORS = EmbeddingCall("text-embedding-3-small", 32, 1000, counted=True, seconds=0.1, retries=0, answered=True)


@pytest.fixture
def engine(tmp_path):
    return open_cache(f"sqlite:///{tmp_path}/llm.sqlite")


def note(engine, run, count, corpus="pumps"):
    ledger = SqlLedger(engine, corpus, run, read_prices(None))
    for _ in range(count):
        ledger.replied(REQUEST, ChatReply("x", "stop", tokens_in=1000, tokens_out=100, retries=1), "ok")


def test_calls_move_to_parquet_and_add_up(engine, tmp_path):
    folder = tmp_path / "ledger"
    assert read_ledger(folder).num_rows == 0
    note(engine, "killed", 2)
    note(engine, "other corpus", 1, corpus="epilepsy")
    calls = RunCalls(engine, folder, "pumps", "second", read_prices(None))
    note(engine, "second", 3)
    SqlLedger(engine, "pumps", "second", read_prices(None)).embedded(VECTORS)
    cost, vectors = calls.settle()
    assert (cost.calls, cost.tokens_in, cost.retries) == (3, 3000, 3)
    assert cost.usd == pytest.approx(3 * (1000 * 0.4 + 100 * 1.6) / 1e6)
    assert (vectors.calls, vectors.tokens_in, vectors.usd) == (1, 1000, pytest.approx(0.02 * 1000 / 1e6))
    assert [cost.calls for cost in calls.settle()] == [0, 0]
    table = read_ledger(folder)
    assert table.schema.equals(LEDGER, check_metadata=False)
    assert table["run"].to_pylist() == ["killed"] * 2 + ["second"] * 4
    assert [(total.stage, total.calls) for total in ledger_totals(folder)] == [("variables", 5), ("embeddings", 1)]
    assert recorded_calls(engine, "pumps").num_rows == 0
    assert recorded_calls(engine, "epilepsy").num_rows == 1


def test_a_run_knows_what_it_has_spent_over_its_stages_and_whoever_moves_its_calls(engine, tmp_path):
    folder = tmp_path / "ledger"
    note(engine, "another run", 5)
    stage = RunCalls(engine, folder, "pumps", "run", read_prices(None))
    note(engine, "run", 2)
    assert (stage.so_far().calls, stage.so_far().tokens_in) == (2, 2000)
    stage.settle()
    SqlLedger(engine, "pumps", "run", read_prices(None)).embedded(VECTORS)  # no call of a language model
    following = RunCalls(engine, folder, "pumps", "run", read_prices(None))
    assert following.so_far().calls == 2
    note(engine, "run", 3)
    assert following.so_far().calls == 5
    move_calls(engine, folder, "pumps")  # as `hcg show` does
    note(engine, "run", 1)
    assert following.so_far().calls == 6


def test_a_kill_between_writing_and_deleting_counts_nothing_twice(engine, tmp_path, monkeypatch):
    folder = tmp_path / "ledger"
    note(engine, "run", 4)

    def die(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(ledgers, "forget_calls", die)
        move_calls(engine, folder, "pumps")
    move_calls(engine, folder, "pumps")
    assert len(list(folder.glob("*.parquet"))) == 2
    assert read_ledger(folder).num_rows == 4
    assert ledger_totals(folder)[0].calls == 4


def test_a_cache_elsewhere_by_url(tmp_path, monkeypatch):
    language = LanguageModel.from_environment(tmp_path / "cache")
    assert not language.has_cache()
    monkeypatch.setenv("HCG_LLM_CACHE_URL", f"sqlite:///{tmp_path}/shared.db")
    assert language.has_cache()
    language.cache_engine()
    assert (tmp_path / "shared.db").is_file()
    assert "shared.db" not in language.model_dump_json()
    for wrong in ("nonsense", "oracle+nodriver://hcg:secret@host/db"):
        monkeypatch.setenv("HCG_LLM_CACHE_URL", wrong)
        with pytest.raises(SettingsError, match="HCG_LLM_CACHE_URL is no database") as caught:
            language.cache_engine()
        assert "secret" not in str(caught.value)


def test_prices_of_ones_own(tmp_path, monkeypatch):
    mine = tmp_path / "prices.yaml"
    mine.write_text("as_of: 2026-10-01\nbatch: 0.4\nmodels: {mine: {input: 2.0, output: 4.0}}\n", encoding="utf-8")
    monkeypatch.setenv("HCG_LLM_PRICES", str(mine))
    prices = LanguageModel.from_environment(tmp_path).price_list()
    assert (prices.batch, prices.price("mine").usd(1_000_000, 0, 0)) == (0.4, 2.0)
    monkeypatch.setenv("HCG_LLM_PRICES", str(tmp_path / "none.yaml"))
    with pytest.raises(SettingsError, match="not a price list"):
        LanguageModel.from_environment(tmp_path).price_list()


def test_batch_settings_come_from_the_environment(tmp_path, monkeypatch):
    monkeypatch.setenv("HCG_LLM_BATCH_CALLS", "500")
    monkeypatch.setenv("HCG_LLM_BATCH_POLL", "3.5")
    with FakeOpenAI() as fake:
        monkeypatch.setenv("HCG_LLM_BASE_URL", fake.base_url)
        batch = LanguageModel.from_environment(Path(tmp_path)).endpoint().batch
    assert (batch.requests_per_job, batch.poll) == (500, 3.5)
