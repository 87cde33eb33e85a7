"""The ledger: what every call was for, what it took, what it cost, and what came of it.

It is no layer of the chain but an observer of `asking`, the one place that knows what came of a reply. Each call is
committed to a table beside the cache's as soon as its reply is judged, so a kill loses the record of no more than the
replies that are in flight; whoever runs a build moves the rows on to parquet (`recorded_calls`, `forget_calls`).
"""

import uuid
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal, Protocol

import pyarrow as pa
import pyarrow.compute as pc
import sqlalchemy as sa
from sqlalchemy.schema import CreateTable

from hcg_pipeline.backends.llm.budget import PriceList, billed_tokens
from hcg_pipeline.backends.llm.cache import connected
from hcg_pipeline.backends.llm.chat import CallError, ChatReply, ChatRequest
from hcg_pipeline.tables import LEDGER

CallOutcome = Literal["ok", "cached", "invalid", "repaired", "failed", "divided", "unanswered", "batch"]

EMBEDDINGS = "embeddings"
"""The stage under which calls for vectors are noted, whoever needs them."""

_AT_ONCE = 500

CALLS = sa.Table(
    "llm_calls",
    sa.MetaData(),
    sa.Column("call_id", sa.String(32), primary_key=True),
    sa.Column("corpus", sa.Text, nullable=False, index=True),
    sa.Column("run", sa.Text, nullable=False),
    sa.Column("at", sa.Float, nullable=False),
    sa.Column("stage", sa.Text, nullable=False),
    sa.Column("key", sa.Text, nullable=False),
    sa.Column("model", sa.Text, nullable=False),
    sa.Column("tokens_in", sa.Integer, nullable=False),
    sa.Column("tokens_cached", sa.Integer, nullable=False),
    sa.Column("tokens_out", sa.Integer, nullable=False),
    sa.Column("counted", sa.Boolean, nullable=False),
    sa.Column("seconds", sa.Float, nullable=False),
    sa.Column("retries", sa.Integer, nullable=False),
    sa.Column("usd", sa.Float, nullable=True),
    sa.Column("outcome", sa.Text, nullable=False),
)


@dataclass(frozen=True, slots=True)
class EmbeddingCall:
    """A request for the vectors of `texts` texts, of about `tokens` tokens (`counted`: by the endpoint)."""

    model: str
    texts: int
    tokens: int
    counted: bool
    seconds: float
    retries: int
    answered: bool


class Ledger(Protocol):
    """Takes note of calls. Thread-safe."""

    def replied(self, request: ChatRequest, reply: ChatReply, outcome: CallOutcome) -> None:
        """`request` got `reply`, and `outcome` came of it; a reply from the cache is noted as that."""

    def unanswered(self, request: ChatRequest, error: Exception) -> None:
        """`request` got no reply."""

    def embedded(self, call: EmbeddingCall) -> None:
        """Vectors were asked for."""


class Unrecorded:
    """Takes no note."""

    def replied(self, request: ChatRequest, reply: ChatReply, outcome: CallOutcome) -> None:
        """Ignore the call."""

    def unanswered(self, request: ChatRequest, error: Exception) -> None:
        """Ignore the call."""

    def embedded(self, call: EmbeddingCall) -> None:
        """Ignore the call."""


class SqlLedger:
    """A `Ledger` of one run on one corpus, in `engine`'s database. `prices` says what calls cost."""

    def __init__(self, engine: sa.Engine, corpus: str, run: str, prices: PriceList) -> None:
        self._engine = engine
        self._corpus = corpus
        self._run = run
        self._prices = prices
        create_calls(engine)

    def replied(self, request: ChatRequest, reply: ChatReply, outcome: CallOutcome) -> None:
        """See `Ledger.replied`. The row is committed when this returns. Raises `BackendError` where that fails."""
        if reply.cached:
            self._insert(request, {"outcome": "cached", "usd": 0.0})
            return
        tokens_in, tokens_out = billed_tokens(request, reply)
        price = self._prices.price(request.model)
        share = self._prices.batch if outcome == "batch" else 1.0
        self._insert(
            request,
            {
                "tokens_in": tokens_in,
                "tokens_cached": min(reply.tokens_cached, tokens_in),
                "tokens_out": tokens_out,
                "counted": bool(reply.tokens_in and (reply.tokens_out or not reply.text)),
                "seconds": reply.seconds,
                "retries": reply.retries,
                "usd": price.usd(tokens_in, reply.tokens_cached, tokens_out) * share if price else None,
                "outcome": outcome,
            },
        )

    def unanswered(self, request: ChatRequest, error: Exception) -> None:
        """See `Ledger.unanswered`. What the endpoint may charge for it all the same is not known here."""
        tried = (error.seconds, error.retries) if isinstance(error, CallError) else (0.0, 0)
        self._insert(request, {"seconds": tried[0], "retries": tried[1], "usd": 0.0, "outcome": "unanswered"})

    def embedded(self, call: EmbeddingCall) -> None:
        """See `Ledger.embedded`."""
        price = self._prices.price(call.model)
        usd = price.usd(call.tokens, 0, 0) if price else None
        self._note(
            EMBEDDINGS,
            f"{call.texts:,} texts",
            call.model,
            {
                "tokens_in": call.tokens if call.answered else 0,
                "counted": call.counted,
                "seconds": call.seconds,
                "retries": call.retries,
                "usd": usd if call.answered else 0.0,
                "outcome": "ok" if call.answered else "unanswered",
            },
        )

    def _insert(self, request: ChatRequest, facts: dict[str, Any]) -> None:
        key = request.key.replace("\x00", "\ufffd").encode("utf-8", "replace").decode("utf-8")
        self._note(request.stage, key, request.model, facts)

    def _note(self, stage: str, key: str, model: str, facts: dict[str, Any]) -> None:
        row = {
            "call_id": uuid.uuid4().hex,
            "corpus": self._corpus,
            "run": self._run,
            "at": datetime.now(UTC).timestamp(),
            "stage": stage,
            "key": key,
            "model": model,
            "tokens_in": 0,
            "tokens_cached": 0,
            "tokens_out": 0,
            "counted": True,
            "seconds": 0.0,
            "retries": 0,
            **facts,
        }
        with connected(self._engine) as connection:
            connection.execute(sa.insert(CALLS).values(row))


def create_calls(engine: sa.Engine) -> None:
    """Make the ledger's table in `engine`'s database unless it is there."""
    with suppress(sa.exc.IntegrityError), connected(engine) as connection:  # another session is making it just now
        connection.execute(CreateTable(CALLS, if_not_exists=True))


def recorded_calls(engine: sa.Engine, corpus: str, run: str | None = None) -> pa.Table:
    """The calls on `corpus` (of one run, if given) that were not moved on yet, as LEDGER in the order of their ends."""
    create_calls(engine)
    query = sa.select(CALLS).where(CALLS.c.corpus == corpus).order_by(CALLS.c.at, CALLS.c.call_id)
    if run is not None:
        query = query.where(CALLS.c.run == run)
    with connected(engine) as connection:
        rows = [dict(row) for row in connection.execute(query).mappings()]
    for row in rows:
        row["at"] = datetime.fromtimestamp(row["at"], UTC)
    return pa.Table.from_pylist(rows, schema=LEDGER)


def forget_calls(engine: sa.Engine, calls: pa.Table) -> None:
    """Delete the rows of `calls` (LEDGER), which are safe elsewhere now."""
    names = calls["call_id"].to_pylist()
    with connected(engine) as connection:
        for start in range(0, len(names), _AT_ONCE):
            connection.execute(sa.delete(CALLS).where(CALLS.c.call_id.in_(names[start : start + _AT_ONCE])))


@dataclass(frozen=True, slots=True)
class StageCost:
    """What the calls of one stage came to. `usd` is None where a call's model has no price.

    `batched` of the calls went through the batch endpoint. `cached` are replies that were there before: when a stage
    reads what a batch brought, the ledger has another row for it, which does not count.
    """

    stage: str
    calls: int
    batched: int
    cached: int
    invalid: int
    unanswered: int
    retries: int
    tokens_in: int
    tokens_cached: int
    tokens_out: int
    seconds: float
    usd: float | None


def stage_costs(ledger: pa.Table) -> list[StageCost]:
    """The totals of each stage of LEDGER rows, in the order of first appearance; copies of a row count once."""
    rows = {row["call_id"]: row for row in ledger.to_pylist()}.values()
    stages = dict.fromkeys(row["stage"] for row in rows)
    return [total_cost([row for row in rows if row["stage"] == stage], stage) for stage in stages]


def total_cost(rows: Sequence[dict[str, Any]], stage: str = "all") -> StageCost:
    """The totals of rows of a ledger, under the name `stage`."""
    prices = [row["usd"] for row in rows]

    def count(*outcomes: str) -> int:
        return sum(row["outcome"] in outcomes for row in rows)

    def total(column: str) -> int:
        return sum(row[column] for row in rows)

    return StageCost(
        stage=stage,
        calls=len(rows) - count("cached"),
        batched=count("batch"),
        cached=max(0, count("cached") - count("batch")),
        invalid=count("invalid", "failed"),
        unanswered=count("unanswered"),
        retries=total("retries"),
        tokens_in=total("tokens_in"),
        tokens_cached=total("tokens_cached"),
        tokens_out=total("tokens_out"),
        seconds=round(sum(row["seconds"] for row in rows), 3),
        usd=None if None in prices else round(sum(prices), 6),
    )


def without_copies(ledger: pa.Table) -> pa.Table:
    """LEDGER rows with each call once, in the order of their ends."""
    seen: set[str] = set()
    fresh = [not (name in seen or seen.add(name)) for name in ledger["call_id"].to_pylist()]  # type: ignore[func-returns-value]
    kept = ledger.filter(pa.array(fresh, pa.bool_()))
    return kept.take(pc.sort_indices(kept, sort_keys=[("at", "ascending"), ("call_id", "ascending")]))
