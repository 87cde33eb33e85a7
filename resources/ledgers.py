"""The ledger of a corpus: `<corpus store>/ledger/*.parquet`, one file for each time that calls were moved there.

A call is committed to the database of the reply cache first; the end of a stage, or whoever reads the ledger, moves
what lies there on. The file is written before the rows are deleted, so a kill in between leaves a call in both places:
rows are told apart by their `call_id`, and none is ever lost.
"""

import uuid
from pathlib import Path

import pyarrow as pa
import sqlalchemy as sa

from hcg_pipeline.backends.llm.backend import LlmBackend
from hcg_pipeline.backends.llm.budget import PriceList
from hcg_pipeline.backends.llm.ledger import (
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


class RunCalls:
    """The calls that one run makes on one corpus. `folder` is where its parquet files go."""

    def __init__(self, engine: sa.Engine, folder: Path, corpus: str, run: str, prices: PriceList) -> None:
        self._engine = engine
        self._folder = folder
        self._corpus = corpus
        self._run = run
        self._ledger = SqlLedger(engine, corpus, run, prices)

    def of(self, backend: LlmBackend) -> LlmBackend:
        """The backend, with each of its calls noted."""
        return backend.recording(self._ledger)

    def settle(self) -> StageCost:
        """Move the calls to parquet; what those that this run made since the last time came to."""
        cost = total_cost(recorded_calls(self._engine, self._corpus, self._run).to_pylist())
        move_calls(self._engine, self._folder, self._corpus)
        return cost


def move_calls(engine: sa.Engine, folder: Path, corpus: str) -> None:
    """Move all calls on `corpus` from the database to a new parquet file in `folder`, those of killed runs too."""
    calls = recorded_calls(engine, corpus)
    if calls.num_rows:
        first = calls["at"][0].as_py().strftime("%Y%m%dT%H%M%S")
        replace_table(folder / f"{first}-{uuid.uuid4().hex[:8]}.parquet", calls)
        forget_calls(engine, calls)


def read_ledger(folder: Path) -> pa.Table:
    """All calls in `folder`'s files, as LEDGER in the order of their ends; no rows where there is no such folder."""
    tables = [read_table(path).cast(LEDGER) for path in sorted(folder.glob("*.parquet"))]
    return without_copies(pa.concat_tables([LEDGER.empty_table(), *tables]))


def ledger_totals(folder: Path) -> list[StageCost]:
    """What each stage's calls came to, over all runs."""
    return stage_costs(read_ledger(folder))
