"""A data folder here or on S3, and the daemon that watches it."""

import dagster as dg
import pytest
from fresh_definitions import forget_definitions
from object_store import BUCKET, empty_bucket
from sensor_daemon import Clock, Daemon
from tiny_corpus import write_tiny_corpus

from resources.places import data_folder
from resources.workspace import Workspace


@pytest.fixture
def data(request, tmp_path, monkeypatch):
    """An empty data folder, which is a prefix on S3 where a test asks for that."""
    monkeypatch.setenv("HCG_CACHE", str(tmp_path / "cache"))
    if getattr(request, "param", "here") == "here":
        (tmp_path / "data").mkdir()
        monkeypatch.setenv("HCG_DATA", str(tmp_path / "data"))
    else:
        empty_bucket(monkeypatch)
        monkeypatch.setenv("HCG_DATA", f"s3://{BUCKET}/some/data")
    return data_folder()


@pytest.fixture
def instance():
    with dg.DagsterInstance.ephemeral() as instance:
        yield instance


@pytest.fixture
def daemon(data, instance, monkeypatch):
    """The daemon for a sensor of definitions.py, by name."""
    forget_definitions()
    import definitions

    clock = Clock()
    monkeypatch.setattr("assets.automation.time.time", lambda: clock.now)
    workspace = {"workspace": Workspace.from_environment()}
    more = {name: definitions.defs.resources[name] for name in ("language", "embedding")}

    def of(name):
        sensor = definitions.defs.resolve_sensor_def(name)
        return Daemon(sensor, instance, clock, workspace | (more if name == "corpora_noticed" else {}))

    return of


@pytest.fixture
def corpus(data):
    return write_tiny_corpus(data)
