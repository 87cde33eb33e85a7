"""Documents come, change, move and go, in real runs: the graph equals one built from nothing with the same pin."""

import shutil

import pytest
from fresh_definitions import forget_definitions
from test_building import build
from tiny_corpus import write_tiny_corpus

from hcg_pipeline.graph.snapshot import SnapshotStore

pytestmark = pytest.mark.xdist_group("building")


def published(data):
    snapshot = SnapshotStore(data / "store" / "infections").current()
    files = ("nodes.parquet", "edges.parquet", "evidence.parquet", "graph_spec.yaml", "graph.json")
    return snapshot.snapshot_id, {name: (snapshot.folder / name).read_bytes() for name in files}


def test_a_grown_graph_equals_one_from_nothing(data, tmp_path, monkeypatch):
    folder = write_tiny_corpus(data)
    assert build().success
    (folder / "more.txt").write_text("Measles causes fever. Smoking increases the risk of influenza.")
    assert build().success
    (folder / "infections.md").write_text((folder / "infections.md").read_text().replace("Malaria", "Measles"))
    (folder / "prevention.txt").rename(folder / "drugs" / "z prevention.txt")
    (folder / "drugs" / "relief.txt").unlink()
    assert build().success
    grown = published(data)

    other = tmp_path / "other"
    shutil.copytree(data / "corpora", other / "corpora")
    shutil.copytree(data / "store" / "infections" / "pins", other / "store" / "infections" / "pins")
    monkeypatch.setenv("HCG_DATA", str(other))
    forget_definitions()
    assert build().success
    assert published(other) == grown
