"""The cache: one call per request, whatever the threads, processes and kills; only good replies pass as good."""

import multiprocessing
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest
import sqlalchemy as sa

from hcg_pipeline.backends.llm.cache import (
    REPLIES,
    CachedChat,
    cache_stats,
    open_cache,
    prune_cache,
    request_key,
)
from hcg_pipeline.backends.llm.chat import CallError, ChatReply, ChatRequest, Message, ReplySchema
from hcg_pipeline.errors import BackendError

REQUEST = ChatRequest(
    model="m",
    messages=(Message("system", "s"), Message("user", "u")),
    schema=ReplySchema("r", {"type": "object", "properties": {"a": {"type": "string"}}}),
    temperature=0.0,
    seed=7,
    max_tokens=100,
    stage="variables",
    key="w1",
)


class Counting:
    """Replies with the number of the call."""

    def __init__(self, gate: threading.Event | None = None) -> None:
        self.calls = 0
        self.gate = gate

    def complete(self, request: ChatRequest) -> ChatReply:
        if self.gate:
            self.gate.wait(5)
        self.calls += 1
        return ChatReply(f"reply {self.calls}", "stop", tokens_in=3, tokens_out=2, tokens_cached=1)


def test_second_time_the_reply_comes_from_the_cache(engine: sa.Engine) -> None:
    inner = Counting()
    first = CachedChat(inner, engine).complete(REQUEST)
    again = CachedChat(inner, engine).complete(REQUEST)  # another object, as after a restart
    assert (first.text, first.cached, first.good) == ("reply 1", False, False)
    assert again == replace(first, cached=True)
    assert inner.calls == 1


def test_only_an_accepted_reply_is_good(engine: sa.Engine) -> None:
    chat = CachedChat(Counting(), engine)
    reply = chat.complete(REQUEST)
    assert not chat.complete(REQUEST).good
    chat.accept(REQUEST, reply)
    assert chat.complete(REQUEST).good


def test_a_repaired_reply_takes_the_place_of_the_bad_one(engine: sa.Engine) -> None:
    inner = Counting()
    chat = CachedChat(inner, engine)
    chat.complete(REQUEST)
    chat.accept(REQUEST, ChatReply("repaired", "stop"))
    assert (chat.complete(REQUEST).text, inner.calls) == ("repaired", 1)


def test_a_forgotten_reply_is_never_served_again(engine: sa.Engine) -> None:
    inner = Counting()
    chat = CachedChat(inner, engine)
    chat.complete(REQUEST)
    chat.forget(REQUEST)
    assert chat.complete(REQUEST).text == "reply 2"


@pytest.mark.parametrize(
    "other",
    [
        replace(REQUEST, model="m2"),
        replace(REQUEST, messages=(*REQUEST.messages, Message("user", "more"))),
        replace(REQUEST, messages=(Message("user", "s"), Message("user", "u"))),
        replace(REQUEST, messages=(Message("system", "su"), Message("user", ""))),
        replace(REQUEST, schema=ReplySchema("r", {"type": "object", "properties": {"b": {"type": "string"}}})),
        replace(REQUEST, temperature=0.1),
        replace(REQUEST, seed=8),
        replace(REQUEST, max_tokens=101),
    ],
)
def test_everything_that_decides_a_reply_is_in_the_key(other: ChatRequest) -> None:
    assert request_key(other) != request_key(REQUEST)


def test_what_a_request_is_for_and_the_order_of_keys_are_not_in_the_key() -> None:
    schema = {"properties": {"a": {"type": "string"}}, "type": "object"}
    same = replace(REQUEST, stage="other", key="other", schema=ReplySchema("r", schema))
    assert request_key(same) == request_key(REQUEST)
    assert request_key(REQUEST) == request_key(replace(REQUEST, temperature=0))


def test_identical_requests_in_flight_are_one_call(engine: sa.Engine) -> None:
    gate = threading.Event()
    inner = Counting(gate)
    chat = CachedChat(inner, engine)
    with ThreadPoolExecutor(8) as executor:
        futures = [executor.submit(chat.complete, REQUEST) for _ in range(8)]
        gate.set()
        replies = [future.result() for future in futures]
    assert inner.calls == 1
    assert {reply.text for reply in replies} == {"reply 1"}
    assert sum(not reply.cached for reply in replies) == 1


def test_a_failure_is_shared_but_not_kept(engine: sa.Engine) -> None:
    class Failing:
        calls = 0

        def complete(self, request: ChatRequest) -> ChatReply:
            self.calls += 1
            raise CallError("no")

    inner = Failing()
    chat = CachedChat(inner, engine)
    for _ in range(2):
        with pytest.raises(CallError):
            chat.complete(REQUEST)
    assert inner.calls == 2
    assert cache_stats(engine).replies == 0


def _fill(url: str, worker: int) -> None:
    class Own:
        def complete(self, request: ChatRequest) -> ChatReply:
            return ChatReply(f"from {worker}", "stop")

    chat = CachedChat(Own(), open_cache(url))
    for number in range(60):
        request = replace(REQUEST, seed=number)
        chat.accept(request, chat.complete(request))


def test_several_processes_write_one_cache(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/shared.db"
    context = multiprocessing.get_context("spawn")
    processes = [context.Process(target=_fill, args=(url, worker)) for worker in range(3)]
    for process in processes:
        process.start()
    for process in processes:
        process.join(60)
    assert [process.exitcode for process in processes] == [0, 0, 0]
    stats = cache_stats(open_cache(url))
    assert (stats.replies, stats.pending) == (60, 0)


def test_the_first_of_two_processes_wins_and_the_other_uses_its_reply(engine: sa.Engine) -> None:
    class Overtaken:
        """While this call is under way, another process stores a reply to the same request."""

        def complete(self, request: ChatRequest) -> ChatReply:
            CachedChat(Counting(), engine).complete(request)
            return ChatReply("too late", "stop")

    assert CachedChat(Overtaken(), engine).complete(REQUEST).text == "reply 1"


def test_no_text_of_a_prompt_is_stored(tmp_path: Path) -> None:
    engine = open_cache(f"sqlite:///{tmp_path}/private.db")
    secret = replace(REQUEST, messages=(Message("user", "patient Meier"),))
    CachedChat(Counting(), engine).complete(secret)
    engine.dispose()
    stored = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert b"reply 1" in stored
    assert b"Meier" not in stored


def test_text_that_databases_refuse_is_stored_and_served_alike(engine: sa.Engine) -> None:
    class Odd:
        def complete(self, request: ChatRequest) -> ChatReply:
            return ChatReply("a\x00b\ud800c", "stop")

    first = CachedChat(Odd(), engine).complete(REQUEST)
    assert first.text == "a\ufffdb?c"
    assert CachedChat(Counting(), engine).complete(REQUEST).text == first.text


def test_stats_and_prune(engine: sa.Engine) -> None:
    chat = CachedChat(Counting(), engine)
    for model, stage in (("m1", "dimensions"), ("m1", "variables"), ("m2", "variables")):
        request = replace(REQUEST, model=model, stage=stage, seed=len(stage))
        reply = chat.complete(request)
        if model == "m1":
            chat.accept(request, reply)
    stats = cache_stats(engine)
    assert (stats.replies, stats.pending, stats.characters) == (3, 1, 3 * len("reply 1"))
    assert (stats.tokens_in, stats.tokens_out) == (9, 6)
    assert stats.by_model == (("m1", 2), ("m2", 1))
    assert stats.by_stage == (("dimensions", 1), ("variables", 2))
    assert prune_cache(engine, unused_days=1) == 0
    assert prune_cache(engine, model="m2") == 1
    assert prune_cache(engine, unused_days=0) == 2
    assert cache_stats(engine).replies == 0


def test_use_keeps_an_old_reply_from_being_pruned(engine: sa.Engine) -> None:
    chat = CachedChat(Counting(), engine)
    chat.complete(REQUEST)
    chat.complete(replace(REQUEST, seed=1))
    with engine.begin() as connection:
        connection.execute(sa.update(REPLIES).values(used_on=sa.func.date("2020-01-01")))
    chat.complete(REQUEST)
    assert prune_cache(engine, unused_days=30) == 1
    assert cache_stats(engine).replies == 1


def test_the_log_is_written_ahead(engine: sa.Engine) -> None:
    with engine.connect() as connection:
        assert connection.execute(sa.text("PRAGMA journal_mode")).scalar_one() == "wal"
        assert connection.execute(sa.text("PRAGMA busy_timeout")).scalar_one() == 60_000


def test_a_database_that_cannot_be_used_is_one_clear_line(tmp_path: Path) -> None:
    path = tmp_path / "broken.db"
    path.write_bytes(b"this is no database" * 100)
    with pytest.raises(
        BackendError, match=r"the LLM cache sqlite:.*broken\.db cannot be used \(.*not a database"
    ) as info:
        open_cache(f"sqlite:///{path}")
    assert "\n" not in str(info.value)
