"""One run at a time works on a corpus: a second one is refused in one line, and nothing of the first is lost."""

import subprocess
import sys
from pathlib import Path

import dagster as dg
import pytest
from tiny_corpus import write_tiny_corpus

from assets.dead_runs import fail_dead_runs
from assets.turns import BusyCorpusError, refuse_if_busy, take_turn
from resources.dagster_home import open_instance

HCG = str(Path(sys.executable).parent / "hcg")


@pytest.fixture
def instance():
    with dg.DagsterInstance.ephemeral() as instance:
        yield instance


def run(instance, corpus, *, started=True, job="build_graph"):
    """A run on a corpus: started, or not yet."""
    status = dg.DagsterRunStatus.STARTING if started else dg.DagsterRunStatus.NOT_STARTED
    made = dg.DagsterRun(job_name=job, status=status, tags={"dagster/partition": corpus})
    instance.add_run(made)
    if started:
        instance.report_dagster_event(
            dg.DagsterEvent(event_type_value="PIPELINE_START", job_name=job), run_id=made.run_id
        )
    return made


def test_of_two_runs_on_a_corpus_the_one_that_began_first_goes_on(instance):
    first, second = run(instance, "a"), run(instance, "a")
    take_turn(instance, first.run_id, "a")
    with pytest.raises(
        BusyCorpusError, match=rf"Run {first.run_id[:8]} \(build_graph\) has been at work on 'a' for 0 s"
    ):
        take_turn(instance, second.run_id, "a")
    instance.report_run_canceled(first)
    take_turn(instance, second.run_id, "a")


def test_other_corpora_and_runs_that_wait_are_in_nobodys_way(instance):
    mine = run(instance, "a")
    run(instance, "b")
    run(instance, "a", started=False)
    take_turn(instance, mine.run_id, "a")
    refuse_if_busy(instance, "c")


def test_a_new_run_is_refused_while_another_is_being_started(instance):
    instance.add_run(
        dg.DagsterRun(job_name="__ASSET_JOB", status=dg.DagsterRunStatus.STARTING, tags={"dagster/partition": "a"})
    )
    with pytest.raises(BusyCorpusError, match=r"\(ASSET_JOB\) has been at work on 'a': wait until it is done"):
        refuse_if_busy(instance, "a")


def test_hcg_refuses_in_one_line_until_the_other_run_is_over(data):
    write_tiny_corpus(data)
    with open_instance() as instance:
        other = run(instance, "infections")
    refused = subprocess.run([HCG, "build", "infections"], capture_output=True, text=True, check=False)
    assert refused.returncode == 1
    [line] = refused.stderr.strip().splitlines()
    assert f"Run {other.run_id[:8]} (build_graph) has been at work on 'infections'" in line
    assert "wait until it is done, or terminate it in the UI" in line
    with open_instance() as instance:
        assert [one.run_id for one in instance.get_runs()] == [other.run_id], "no second run was made"
        instance.report_run_canceled(other)
        refuse_if_busy(instance, "infections")


def test_a_dead_run_gives_back_its_place_in_the_pool(data):
    with open_instance() as instance:
        dead = dg.DagsterRun(
            job_name="build_graph",
            status=dg.DagsterRunStatus.STARTED,
            tags={"dagster/partition": "a", "hcg/process": _gone()},
        )
        instance.add_run(dead)
        storage = instance.event_log_storage
        storage.set_concurrency_slots("llm", 1)
        assert storage.claim_concurrency_slot("llm", dead.run_id, "metrics").is_claimed
        assert fail_dead_runs(instance) == [dead.run_id]
        assert storage.get_concurrency_info("llm").active_slot_count == 0


def _gone():
    from assets.dead_runs import this_process

    host, _, _ = this_process().rpartition(":")
    with subprocess.Popen([sys.executable, "-c", ""]) as process:
        process.wait()
    return f"{host}:{process.pid}"
