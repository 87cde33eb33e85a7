"""The cache layer: replies by the content of their request, in one SQL table, committed call by call.

A reply is kept as soon as it arrives, so that a killed build repeats no call, and marked good once whoever validates
it has said so (`accept`). What failed validation for good is deleted (`forget`), so that the next build asks afresh.
Every reply that is served is validated again by its reader: one that is not marked good can never pass as good.

The messages themselves are not stored, only the hash of the request, and no key comes near this table.
"""

import hashlib
import json
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any

import sqlalchemy as sa
from sqlalchemy.schema import CreateTable

from hcg_pipeline.backends.llm.chat import ChatCall, ChatReply, ChatRequest
from hcg_pipeline.errors import BackendError

CACHE_VERSION = 1
_AT_ONCE = 500

_METADATA = sa.MetaData()

REPLIES = sa.Table(
    "llm_replies",
    _METADATA,
    sa.Column("key", sa.String(64), primary_key=True),
    sa.Column("model", sa.Text, nullable=False),
    sa.Column("stage", sa.Text, nullable=False),
    sa.Column("text", sa.Text, nullable=False),
    sa.Column("finish_reason", sa.Text, nullable=False),
    sa.Column("refusal", sa.Text, nullable=False),
    sa.Column("tokens_in", sa.Integer, nullable=False),
    sa.Column("tokens_out", sa.Integer, nullable=False),
    sa.Column("tokens_cached", sa.Integer, nullable=False),
    sa.Column("good", sa.Boolean, nullable=False),
    sa.Column("used_on", sa.Date, nullable=False),
)


def open_cache(url: str, *, busy_seconds: float = 60.0) -> sa.Engine:
    """An engine for `url` (any SQLAlchemy URL) with the cache's table in it.

    On SQLite: write-ahead log, so that readers and one writer do not wait for each other, and writers of several
    processes wait `busy_seconds` for their turn instead of failing.
    """
    engine = sa.create_engine(url)
    if engine.dialect.name == "sqlite":

        def set_pragmas(connection: Any, _record: object) -> None:
            connection.execute(f"PRAGMA busy_timeout = {int(busy_seconds * 1000)}")
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = NORMAL")

        sa.event.listen(engine, "connect", set_pragmas)
    create_table(engine)
    return engine


def create_table(engine: sa.Engine) -> None:
    """Make the cache's table in `engine`'s database unless it is there; several processes may do so at once."""
    # Postgres reports a table that another session is making just now as a duplicate key of its catalogue.
    with suppress(sa.exc.IntegrityError), connected(engine) as connection:
        connection.execute(CreateTable(REPLIES, if_not_exists=True))


@contextmanager
def connected(engine: sa.Engine) -> Iterator[sa.Connection]:
    """A short transaction on the cache's database, also for the tables beside the cache's own.

    A database that cannot be used is a `BackendError`; a key that is there stays what it is.
    """
    try:
        with engine.begin() as connection:
            yield connection
    except sa.exc.IntegrityError:
        raise
    except sa.exc.SQLAlchemyError as error:
        cause = " ".join(str(error.__cause__ or error).split())[:200]
        raise BackendError(
            f"the LLM cache {engine.url.render_as_string(hide_password=True)} cannot be used ({cause}): check that it "
            "can be written, or move it away: what it kept is asked again"
        ) from error


def request_key(request: ChatRequest) -> str:
    """The 64 hex digits by which a request is known: BLAKE2b over canonical JSON of all that decides its reply."""
    content = {
        "version": CACHE_VERSION,
        "model": request.model,
        "messages": [[message.role, message.content] for message in request.messages],
        "schema": [request.schema.name, request.schema.schema],
        "parameters": {
            "temperature": float(request.temperature),
            "seed": request.seed,
            "max_tokens": request.max_tokens,
        },
    }
    canonical = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.blake2b(canonical.encode(), digest_size=32).hexdigest()


class CachedChat:
    """The outermost layer of the chain. Identical requests in flight at once are one call."""

    def __init__(self, inner: ChatCall, engine: sa.Engine) -> None:
        self._inner = inner
        self._engine = engine
        self._lock = threading.Lock()
        self._in_flight: dict[str, Future[ChatReply]] = {}
        create_table(engine)

    def complete(self, request: ChatRequest) -> ChatReply:
        """See `ChatCall.complete`. A kept reply has `cached` set, and so has one shared with an identical request."""
        key = request_key(request)
        with self._lock:
            shared = self._in_flight.get(key)
            mine: Future[ChatReply] = Future()
            if shared is None:
                self._in_flight[key] = mine
        if shared is not None:
            return replace(shared.result(), cached=True)
        try:
            reply = self._kept(key) or self._ask(key, request)
        except BaseException as error:
            mine.set_exception(error)
            raise
        else:
            mine.set_result(reply)
            return reply
        finally:
            with self._lock:
                del self._in_flight[key]

    def accept(self, request: ChatRequest, reply: ChatReply) -> None:
        """Keep `reply` as the good answer to `request`, in place of whatever was kept for it."""
        row = _row(request, reply, good=True)
        key = row.pop("key")
        with connected(self._engine) as connection:
            found = connection.execute(sa.update(REPLIES).where(REPLIES.c.key == key).values(row)).rowcount
        if not found:
            self._insert({"key": key, **row})

    def forget(self, request: ChatRequest) -> None:
        """Delete what is kept for `request`."""
        with connected(self._engine) as connection:
            connection.execute(sa.delete(REPLIES).where(REPLIES.c.key == request_key(request)))

    def keep(self, key: str, request: ChatRequest, reply: ChatReply) -> bool:
        """Keep `reply`, which came by another way than this chain, under `key`, unless one is kept; whether it is new.

        `request` says the model and the stage.
        """
        return self._insert(_row(request, reply, good=False) | {"key": key})

    def lacking(self, requests: Sequence[ChatRequest]) -> dict[str, ChatRequest]:
        """Those of `requests` for which nothing is kept, each once, by `request_key`, in order."""
        by_key = {request_key(request): request for request in requests}
        kept = kept_keys(self._engine, list(by_key))
        return {key: request for key, request in by_key.items() if key not in kept}

    def _kept(self, key: str) -> ChatReply | None:
        with connected(self._engine) as connection:
            row = connection.execute(sa.select(REPLIES).where(REPLIES.c.key == key)).one_or_none()
        if row is None:
            return None
        if row.used_on != _today():  # at most one write a day for an entry, so that reading stays cheap
            with connected(self._engine) as connection:
                connection.execute(sa.update(REPLIES).where(REPLIES.c.key == key).values(used_on=_today()))
        return _reply(row)

    def _ask(self, key: str, request: ChatRequest) -> ChatReply:
        fresh = self._inner.complete(request)
        reply = replace(fresh, text=_storable(fresh.text), refusal=_storable(fresh.refusal))
        if self._insert(_row(request, reply, good=False)):
            return reply
        # another process asked the same and was first: use its reply, so that both go on with the same words
        return self._kept(key) or reply

    def _insert(self, row: dict[str, Any]) -> bool:
        """Insert `row` unless its key is there; whether it was inserted."""
        try:
            with connected(self._engine) as connection:
                connection.execute(sa.insert(REPLIES).values(row))
        except sa.exc.IntegrityError:
            return False
        return True


def kept_keys(engine: sa.Engine, keys: Sequence[str]) -> set[str]:
    """Those of `keys` under which a reply is kept."""
    kept: set[str] = set()
    with connected(engine) as connection:
        for start in range(0, len(keys), _AT_ONCE):
            part = sa.select(REPLIES.c.key).where(REPLIES.c.key.in_(keys[start : start + _AT_ONCE]))
            kept.update(connection.execute(part).scalars())
    return kept


def good_reply(engine: sa.Engine, request: ChatRequest) -> ChatReply | None:
    """The good reply that is kept for `request`, if there is one; changes nothing. The cache's table must be there."""
    query = sa.select(REPLIES).where(REPLIES.c.key == request_key(request), REPLIES.c.good)
    with connected(engine) as connection:
        row = connection.execute(query).one_or_none()
    return None if row is None else _reply(row)


def _reply(row: Any) -> ChatReply:
    return ChatReply(
        text=row.text,
        finish_reason=row.finish_reason,
        refusal=row.refusal,
        tokens_in=row.tokens_in,
        tokens_out=row.tokens_out,
        tokens_cached=row.tokens_cached,
        cached=True,
        good=row.good,
    )


def _row(request: ChatRequest, reply: ChatReply, *, good: bool) -> dict[str, Any]:
    return {
        "key": request_key(request),
        "model": request.model,
        "stage": request.stage,
        "text": _storable(reply.text),
        "finish_reason": reply.finish_reason,
        "refusal": _storable(reply.refusal),
        "tokens_in": reply.tokens_in,
        "tokens_out": reply.tokens_out,
        "tokens_cached": reply.tokens_cached,
        "good": good,
        "used_on": _today(),
    }


def _storable(text: str) -> str:
    """`text` as any database takes it: no NUL (Postgres refuses it) and no lone surrogate (UTF-8 has none)."""
    return text.replace("\x00", "\ufffd").encode("utf-8", "replace").decode("utf-8")


def _today() -> Any:
    return datetime.now(UTC).date()


@dataclass(frozen=True, slots=True)
class CacheStats:
    """What is in a cache. `pending` replies have not been found good: their build was killed, or is still running."""

    replies: int
    pending: int
    characters: int
    tokens_in: int
    tokens_out: int
    by_model: tuple[tuple[str, int], ...]
    by_stage: tuple[tuple[str, int], ...]


def cache_stats(engine: sa.Engine) -> CacheStats:
    """Counts over the whole cache; models and stages by name."""
    create_table(engine)
    column = REPLIES.c
    with connected(engine) as connection:
        total = connection.execute(
            sa.select(
                sa.func.count(),
                sa.func.coalesce(sa.func.sum(sa.case((column.good, 0), else_=1)), 0),
                sa.func.coalesce(sa.func.sum(sa.func.length(column.text)), 0),
                sa.func.coalesce(sa.func.sum(column.tokens_in), 0),
                sa.func.coalesce(sa.func.sum(column.tokens_out), 0),
            )
        ).one()
        models, stages = (
            connection.execute(sa.select(part, sa.func.count()).group_by(part).order_by(part)).all()
            for part in (column.model, column.stage)
        )
    replies, pending, characters, tokens_in, tokens_out = (int(value) for value in total)
    return CacheStats(
        replies=replies,
        pending=pending,
        characters=characters,
        tokens_in=tokens_in,
        tokens_out=tokens_out,
        by_model=tuple((name, count) for name, count in models),
        by_stage=tuple((name, count) for name, count in stages),
    )


def prune_cache(engine: sa.Engine, *, unused_days: int | None = None, model: str | None = None) -> int:
    """Delete replies that no build has used for `unused_days` days and (if given) that are `model`'s; how many went.

    With neither, everything goes. On SQLite the file shrinks, too.
    """
    create_table(engine)
    statement = sa.delete(REPLIES)
    if unused_days is not None:
        statement = statement.where(REPLIES.c.used_on <= _today() - timedelta(days=unused_days))
    if model is not None:
        statement = statement.where(REPLIES.c.model == model)
    with connected(engine) as connection:
        deleted = connection.execute(statement).rowcount
    if engine.dialect.name == "sqlite":
        with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            connection.execute(sa.text("VACUUM"))
    return deleted
