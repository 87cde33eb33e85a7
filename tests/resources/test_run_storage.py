"""Dagster's databases kept open: other processes see the same events at once, and nothing is left behind."""

import dagster as dg
from dagster._core.instance.ref import InstanceRef
from dagster._core.storage.event_log import SqliteEventLogStorage

from resources.dagster_home import open_instance
from resources.run_storage import KeptOpenEventLog


@dg.asset
def one() -> int:
    return 1


def test_events_are_seen_by_others_while_the_database_is_open(monkeypatch, tmp_path):
    monkeypatch.setenv("DAGSTER_HOME", str(tmp_path))
    with open_instance() as instance:
        assert isinstance(instance.event_log_storage, KeptOpenEventLog)
        first, second = (dg.materialize([one], instance=instance).run_id for _ in range(2))
        others = SqliteEventLogStorage(str(tmp_path / "history" / "runs"))
        for run_id in (first, second):
            kept = [entry.message for entry in instance.all_logs(run_id)]
            assert [entry.message for entry in others.get_logs_for_run(run_id)] == kept
            assert kept[-1].startswith("Finished execution of run")
        file = tmp_path / "history" / "runs" / f"{second}.db"
        before, run = file.stat().st_mtime_ns, instance.get_run_by_id(second)
        assert run is not None
        instance.report_engine_event("more", run)
        assert file.stat().st_mtime_ns > before, "the UI looks when the file of a run is touched"
        assert others.get_materialized_partitions(dg.AssetKey("one")) == set()
        assert others.has_asset_key(dg.AssetKey("one"))
    assert sorted(path.name for path in (tmp_path / "history" / "runs").iterdir()) == sorted(
        ["index.db", f"{first}.db", f"{second}.db"]
    )
    with dg.DagsterInstance.from_ref(InstanceRef.from_dir(str(tmp_path))) as again:
        assert isinstance(again.event_log_storage, KeptOpenEventLog)
        assert {run.run_id for run in again.get_runs()} == {first, second}
        again.wipe()
        assert again.get_runs() == []
        assert list(again.all_logs(first)) == []
