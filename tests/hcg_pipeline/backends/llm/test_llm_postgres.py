"""The cache, the ledger and the batch jobs in Postgres, by URL. Needs a server binary and psycopg; skipped without.

Debian: `apt-get install postgresql`; `pip install 'psycopg[binary]'`.
"""

import multiprocessing
import os
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
import sqlalchemy as sa
from fake_openai import FakeOpenAI
from postgres_server import postgres_server, server_binaries

from hcg_pipeline.backends.llm.assembling import build_llm_backend
from hcg_pipeline.backends.llm.batch_jobs import JobBook
from hcg_pipeline.backends.llm.budget import read_prices
from hcg_pipeline.backends.llm.cache import CachedChat, cache_stats, create_table, good_reply, open_cache, prune_cache
from hcg_pipeline.backends.llm.chat import ChatReply, ChatRequest, Message, ReplySchema
from hcg_pipeline.backends.llm.ledger import SqlLedger, forget_calls, recorded_calls
from hcg_pipeline.backends.llm.settings import BatchSettings, EndpointSettings
from hcg_pipeline.backends.protocol import Usage
from hcg_pipeline.corpus.window import Window
from hcg_pipeline.errors import BackendError
from hcg_pipeline.progress import Silent

pytest.importorskip("psycopg")
REQUEST = ChatRequest("m", (Message("user", "u"),), ReplySchema("r", {}), 0.0, 7, 10, "variables", "w1")


BINARIES = server_binaries()
pytestmark = pytest.mark.skipif(BINARIES is None, reason="no Postgres server binary")


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    assert BINARIES is not None
    with postgres_server(BINARIES, "psycopg") as found:
        yield found


@pytest.fixture
def database(url: str) -> Iterator[sa.Engine]:
    engine = open_cache(url)
    yield engine
    with engine.begin() as connection:
        for table in ("llm_replies", "llm_calls", "llm_batch_jobs"):
            connection.execute(sa.text(f"DROP TABLE IF EXISTS {table}"))
    engine.dispose()


class Counting:
    calls = 0

    def complete(self, request: ChatRequest) -> ChatReply:
        self.calls += 1
        return ChatReply(f"reply {self.calls} \x00 \ud800 ü", "stop", tokens_in=3, tokens_out=2)


def test_replies_are_kept_accepted_forgotten_and_pruned(database: sa.Engine) -> None:
    inner = Counting()
    chat = CachedChat(inner, database)
    first = chat.complete(REQUEST)
    assert (first.text, chat.complete(REQUEST).cached, inner.calls) == ("reply 1 \ufffd ? ü", True, 1)
    assert good_reply(database, REQUEST) is None
    chat.accept(REQUEST, first)
    kept = good_reply(database, REQUEST)
    assert kept is not None
    assert (kept.text, kept.good) == (first.text, True)
    assert (cache_stats(database).replies, cache_stats(database).pending) == (1, 0)
    chat.forget(REQUEST)
    assert chat.complete(REQUEST).text.startswith("reply 2")
    assert prune_cache(database, unused_days=1) == 0
    assert prune_cache(database) == 1


def test_threads_make_one_call(database: sa.Engine) -> None:
    inner = Counting()
    chat = CachedChat(inner, database)
    with ThreadPoolExecutor(16) as executor:
        list(executor.map(lambda n: chat.complete(replace(REQUEST, seed=n % 4)), range(64)))
    assert inner.calls == 4


def _first_wins(url: str, results: "multiprocessing.Queue[str]") -> None:
    engine = sa.create_engine(url)
    create_table(engine)

    class Named:
        def complete(self, request: ChatRequest) -> ChatReply:
            time.sleep(0.05)
            return ChatReply(f"of {os.getpid()}", "stop")

    for seed in range(5):
        results.put(f"{seed}:{CachedChat(Named(), engine).complete(replace(REQUEST, seed=seed)).text}")


@pytest.mark.skipif(sys.platform == "win32", reason="fork")
def test_processes_agree_on_one_reply(url: str, database: sa.Engine) -> None:
    with database.begin() as connection:
        connection.execute(sa.text("DROP TABLE llm_replies"))  # so that they also make the table at once
    context = multiprocessing.get_context("spawn")
    results: multiprocessing.Queue[str] = context.Queue()
    processes = [context.Process(target=_first_wins, args=(url, results)) for _ in range(2)]
    for process in processes:
        process.start()
    found = [results.get(timeout=60) for _ in range(10)]
    for process in processes:
        process.join(10)
    assert [process.exitcode for process in processes] == [0, 0]
    assert len(set(found)) == 5


def test_a_build_with_ledger_and_batch(database: sa.Engine, make_windows: Callable[[int], list[Window]]) -> None:
    with FakeOpenAI() as fake:
        settings = EndpointSettings(
            model="gpt-4.1-mini", base_url=fake.base_url, batch=BatchSettings(fewest=2, poll=0.01)
        )
        ledger = SqlLedger(database, "corpus", "run", read_prices(None))
        backend = build_llm_backend(settings, database).in_batches().recording(ledger)
        outcome = backend.propose_dimensions(make_windows(12), Silent())
        assert outcome.failures == ()
        assert (fake.chat_calls, len(fake.batches.lines)) == (5, 7)
        calls = recorded_calls(database, "corpus")
        assert sorted(set(calls["outcome"].to_pylist())) == ["batch", "cached", "ok"]
        forget_calls(database, calls)
        assert recorded_calls(database, "corpus").num_rows == 0
        assert JobBook(database, fake.base_url).open_jobs() == []
        again = build_llm_backend(settings, database).propose_dimensions(make_windows(12), Silent())
        assert (again.results, again.usage) == (outcome.results, Usage(cached=12))


def test_a_server_that_is_gone_is_named_without_its_password(url: str) -> None:
    gone = url.replace("hcg@", "hcg:secret@").rsplit(":", 1)[0] + ":1/postgres"
    with pytest.raises(BackendError, match="cannot be used") as caught:
        open_cache(gone)
    assert "secret" not in str(caught.value)
