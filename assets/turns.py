"""One run at a time works on a corpus, however it was started."""

import time

import dagster as dg
from dagster._core.storage.tags import PARTITION_NAME_TAG

from hcg_pipeline.errors import HcgError

_AT_WORK = [dg.DagsterRunStatus.STARTED, dg.DagsterRunStatus.CANCELING]


class BusyCorpusError(HcgError):
    """Another run works on the same corpus."""


def refuse_if_busy(instance: dg.DagsterInstance, corpus: str) -> None:
    """Before a run is made: raises `BusyCorpusError` if one works on the corpus, or is being started for it."""
    statuses = [*_AT_WORK, dg.DagsterRunStatus.STARTING]
    records = instance.get_run_records(dg.RunsFilter(statuses=statuses, tags={PARTITION_NAME_TAG: corpus}), limit=1)
    if records:
        raise BusyCorpusError(_says(records[0], corpus))


def take_turn(instance: dg.DagsterInstance, run_id: str, corpus: str) -> None:
    """Inside a run: raises `BusyCorpusError` if another run, which began earlier, works on the same corpus.

    The run queue of the UI holds such a run back; this is for runs that are started around it. Of two that see each
    other, the one that began first goes on. Where a run began is in Dagster's database, so this holds over machines.
    """
    records = instance.get_run_records(dg.RunsFilter(statuses=_AT_WORK, tags={PARTITION_NAME_TAG: corpus}))
    mine = [record for record in records if record.dagster_run.run_id == run_id]
    if not mine:
        return  # materialized outside of a run that the instance knows, as in a test
    for record in records:
        if record.dagster_run.run_id != run_id and _began(record) < _began(mine[0]):
            raise BusyCorpusError(_says(record, corpus))


def _began(record: dg.RunRecord) -> tuple[float, str]:
    return (record.start_time if record.start_time is not None else float("inf"), record.dagster_run.run_id)


def _says(record: dg.RunRecord, corpus: str) -> str:
    since = f" for {time.time() - record.start_time:.0f} s" if record.start_time else ""
    run = record.dagster_run
    return (
        f"Run {run.run_id[:8]} ({run.job_name.strip('_')}) has been at work on {corpus!r}{since}: wait until it is "
        "done, or terminate it in the UI, and run this again."
    )
