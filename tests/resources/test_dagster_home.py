"""The UI, Dagster's commands and `hcg` share one instance, and nothing is written beside it."""

import fcntl
import threading
from pathlib import Path

import dagster as dg
import pytest
from dagster._core.instance.ref import InstanceRef

from hcg_pipeline.errors import SettingsError
from resources.dagster_home import open_instance
from resources.places import CHECKOUT


def test_without_dagster_home_hcg_and_dagster_dev_use_the_data_folder(monkeypatch, tmp_path):
    monkeypatch.delenv("DAGSTER_HOME", raising=False)
    monkeypatch.setenv("HCG_DATA", str(tmp_path / "data"))
    home = tmp_path / "data" / "store" / "dagster"
    with open_instance() as instance:
        instance.add_dynamic_partitions("corpora", ["a"])
        assert Path(instance.root_directory) == home
        assert not instance.telemetry_enabled
    # What `dagster dev` does in a checkout when DAGSTER_HOME is unset.
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    with dg.DagsterInstance.from_ref(InstanceRef.from_dir(str(temporary), config_dir=str(CHECKOUT))) as instance:
        assert Path(instance.root_directory) == home
        assert instance.get_dynamic_partitions("corpora") == ["a"]
    assert list(temporary.iterdir()) == []


def test_with_dagster_home_that_is_the_instance(monkeypatch, tmp_path):
    home = tmp_path / "home"
    monkeypatch.setenv("DAGSTER_HOME", str(home))
    monkeypatch.setenv("HCG_DATA", str(tmp_path / "data"))
    with open_instance() as instance:
        instance.add_dynamic_partitions("corpora", ["a"])
        assert Path(instance.root_directory) == home
    assert (home / "dagster.yaml").read_bytes() == (CHECKOUT / "dagster.yaml").read_bytes()
    with dg.DagsterInstance.get() as instance:
        assert instance.get_dynamic_partitions("corpora") == ["a"]
    assert not (tmp_path / "data").exists()


def test_a_dagster_yaml_that_is_there_is_kept(monkeypatch, tmp_path):
    (tmp_path / "dagster.yaml").write_text("telemetry: {enabled: false}\n")
    monkeypatch.setenv("DAGSTER_HOME", str(tmp_path))
    open_instance().dispose()
    assert (tmp_path / "dagster.yaml").read_text() == "telemetry: {enabled: false}\n"


def test_a_relative_dagster_home_is_refused_in_one_line(monkeypatch):
    monkeypatch.setenv("DAGSTER_HOME", "somewhere")
    with pytest.raises(SettingsError, match="DAGSTER_HOME is 'somewhere': it must be an absolute path"):
        open_instance()
    assert not Path("somewhere").exists()


def test_processes_that_open_a_new_instance_at_once_take_turns(monkeypatch, tmp_path):
    monkeypatch.setenv("DAGSTER_HOME", str(tmp_path))
    opened = threading.Event()

    def open_it():
        open_instance().dispose()
        opened.set()

    with (tmp_path / ".opening").open("w") as first:
        fcntl.flock(first, fcntl.LOCK_EX)
        second = threading.Thread(target=open_it)
        second.start()
        assert not opened.wait(0.3)
        assert not (tmp_path / "history").exists()
    second.join(30)
    assert opened.is_set()
