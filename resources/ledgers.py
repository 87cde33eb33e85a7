"""The ledger of a corpus: `<corpus store>/ledger/*.parquet`, one file for each time that calls were moved there.

A call is committed to the database of the reply cache first; the end of a stage, or whoever reads the ledger, moves
what lies there on. The file is written before the rows are deleted, so a kill in between leaves a call in both places:
rows are told apart by their `call_id`, and none is ever lost.
"""

import uuid
from typing import Any, Protocol, Self, TypeVar

import pyarrow as pa
import pyarrow.compute as pc
import sqlalchemy as sa

from hcg_pipeline.any_path import AnyPath
from hcg_pipeline.backends.llm.budget import PriceList
from hcg_pipeline.backends.llm.ledger import (
    EMBEDDINGS,
    Ledger,
    SqlLedger,
    StageCost,
    forget_calls,
    recorded_calls,
    stage_costs,
    total_cost,
    without_copies,
)
from hcg_pipeline.tables import LEDGER
from resources.table_files import read_table, replace_table


class Caller(Protocol):
    """Who makes calls: an LLM backend, or a judge."""

    def recording(self, ledger: Ledger) -> Self:
        """The same, with each of its calls noted in `ledger`."""


C = TypeVar("C", bound=Caller)


class RunCalls:
    """The calls that one run makes on one corpus. `folder` is where its parquet files go."""

    def __init__(self, engine: sa.Engine, folder: AnyPath, corpus: str, run: str, prices: PriceList) -> None:
        self._engine = engine
        self._folder = folder
        self._corpus = corpus
        self._run = run
        self._ledger = SqlLedger(engine, corpus, run, prices)
        self._moved: tuple[list[str], list[dict[str, Any]]] | None = None  # files in `folder`, this run's calls in them

    def of(self, caller: C) -> C:
        """The backend or judge, with each of its calls noted."""
        return caller.recording(self._ledger)

    def settle(self) -> tuple[StageCost, StageCost]:
        """Move the calls to parquet; what those since the last time came to: of the language model, and for vectors."""
        rows = recorded_calls(self._engine, self._corpus, self._run).to_pylist()
        move_calls(self._engine, self._folder, self._corpus)
        for_vectors = [row["stage"] == EMBEDDINGS for row in rows]
        return (
            total_cost([row for row, vectors in zip(rows, for_vectors, strict=True) if not vectors]),
            total_cost([row for row, vectors in zip(rows, for_vectors, strict=True) if vectors], EMBEDDINGS),
        )

    def so_far(self) -> StageCost:
        """What this run's calls of a language model came to by now, those of its earlier stages too."""
        files = sorted(str(path) for path in self._folder.glob("*.parquet"))
        if self._moved is None or self._moved[0] != files:  # somebody who reads the ledger moves calls meanwhile
            ledger = read_ledger(self._folder)
            self._moved = files, ledger.filter(pc.equal(ledger["run"], self._run)).to_pylist()
        rows = [*self._moved[1], *recorded_calls(self._engine, self._corpus, self._run).to_pylist()]
        return total_cost(list({row["call_id"]: row for row in rows if row["stage"] != EMBEDDINGS}.values()))


def move_calls(engine: sa.Engine, folder: AnyPath, corpus: str) -> None:
    """Move all calls on `corpus` from the database to a new parquet file in `folder`, those of killed runs too."""
    calls = recorded_calls(engine, corpus)
    if calls.num_rows:
        first = calls["at"][0].as_py().strftime("%Y%m%dT%H%M%S")
        replace_table(folder / f"{first}-{uuid.uuid4().hex[:8]}.parquet", calls)
        forget_calls(engine, calls)


def read_ledger(folder: AnyPath) -> pa.Table:
    """All calls in `folder`'s files, as LEDGER in the order of their ends; no rows where there is no such folder."""
    tables = [read_table(path).cast(LEDGER) for path in sorted(folder.glob("*.parquet"), key=str)]
    return without_copies(pa.concat_tables([LEDGER.empty_table(), *tables]))


def ledger_totals(folder: AnyPath) -> list[StageCost]:
    """What each stage's calls came to, over all runs."""
    return stage_costs(read_ledger(folder))
