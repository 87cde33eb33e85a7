"""Runs whose `hcg` process was killed: nobody else would end them, and each holds up its corpus in the run queue."""

import os
import socket

import dagster as dg

PROCESS_TAG = "hcg/process"
_UNFINISHED = [dg.DagsterRunStatus.STARTING, dg.DagsterRunStatus.STARTED, dg.DagsterRunStatus.CANCELING]


def this_process() -> str:
    """What a run is tagged with while this process works on it: `<host>:<pid>`."""
    return f"{socket.gethostname()}:{os.getpid()}"


def fail_dead_runs(instance: dg.DagsterInstance) -> list[str]:
    """Mark as failed every unfinished run of a process of this host that is no more. Returns their ids."""
    dead = [run for run in instance.get_runs(dg.RunsFilter(statuses=_UNFINISHED)) if _is_dead(run)]
    for run in dead:
        instance.report_run_failed(run, "The process that ran it was killed. What it finished is kept: run it again.")
        instance.event_log_storage.free_concurrency_slots_for_run(run.run_id)
    return [run.run_id for run in dead]


def _is_dead(run: dg.DagsterRun) -> bool:
    host, _, pid = run.tags.get(PROCESS_TAG, "").rpartition(":")
    if host != socket.gethostname() or not pid.isdecimal():
        return False
    try:
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        return False  # somebody else's process, and alive
    return False
