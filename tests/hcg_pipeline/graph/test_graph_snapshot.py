import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path

import pyarrow as pa
import pytest
from graph_builders import METRICS, graph_of
from graph_builders import SNAPSHOT_TABLES as TABLES

from hcg_pipeline.errors import SnapshotError
from hcg_pipeline.graph.snapshot import KEPT, SnapshotStore

GRAPH = graph_of(("Output(farming)", "Price(farming)"))
OTHER = graph_of(("Output(mining)", "Price(mining)"))


def _files(folder: Path) -> dict[str, bytes]:
    return {str(f.relative_to(folder)): f.read_bytes() for f in sorted(folder.rglob("*")) if f.is_file()}


def test_nothing_is_current_before_the_first_publication(tmp_path):
    store = SnapshotStore(tmp_path / "store")
    assert store.current() is None
    snapshot_id = store.write(GRAPH, TABLES, "spec: 1\n", "model")
    assert store.current() is None
    store.publish(snapshot_id)
    current = store.current()
    assert current is not None and current.snapshot_id == snapshot_id


def test_a_snapshot_gives_back_what_was_written(tmp_path):
    store = SnapshotStore(tmp_path)
    snapshot = store.open(store.write(GRAPH, TABLES, "spec: ü\n", "model-1"))
    assert snapshot.graph() == GRAPH
    assert snapshot.spec_text == "spec: ü\n"
    assert snapshot.manifest["embedding_model"] == "model-1"
    assert snapshot.manifest["rows"] == {
        "nodes": 2,
        "edges": 1,
        "evidence": 0,
        "metrics": 4,
        "dimensions": 2,
        "documents": 1,
        "chunks": 1,
    }
    for name, table in TABLES.items():
        assert snapshot.table(name).equals(table)
        assert [field.metadata for field in snapshot.table(name).schema] == [field.metadata for field in table.schema]
    assert sorted(_files(snapshot.folder)) == sorted(
        [f"{n}.parquet" for n in ("nodes", "edges", "evidence", *TABLES)]
        + ["graph.graphml", "graph.json", "graph_spec.yaml", "manifest.json", "outcomes.yaml"]
    )
    with pytest.raises(SnapshotError, match="no table 'secrets'"):
        snapshot.table("secrets")


def test_same_content_has_the_same_id_and_bytes_anywhere(tmp_path):
    one, two = SnapshotStore(tmp_path / "one"), SnapshotStore(tmp_path / "two")
    first = one.write(GRAPH, TABLES, "s", "m")
    assert two.write(GRAPH, TABLES, "s", "m") == first
    assert _files(one.open(first).folder) == _files(two.open(first).folder)
    assert one.write(GRAPH, TABLES, "s", "m") == first
    assert len(list((tmp_path / "one" / "snapshots").iterdir())) == 1
    others = {
        one.write(OTHER, TABLES, "s", "m"),
        one.write(GRAPH, TABLES, "t", "m"),
        one.write(GRAPH, TABLES, "s", "n"),
    }
    assert len(others | {first}) == 4


def test_index_written_into_the_staging_folder_is_in_the_snapshot(tmp_path):
    store = SnapshotStore(tmp_path)
    staging = store.staging(GRAPH, TABLES, "s", "m")
    (staging / "index" / "chunks.lance").mkdir(parents=True)
    (staging / "index" / "chunks.lance" / "data").write_bytes(b"vectors")
    snapshot = store.open(store.commit(staging))
    assert (snapshot.index / "chunks.lance" / "data").read_bytes() == b"vectors"
    assert not staging.exists()


def _publish(store: SnapshotStore, spec: str) -> str:
    snapshot_id = store.write(GRAPH, TABLES, spec, "m")
    store.publish(snapshot_id)
    return snapshot_id


def _kept(root: Path) -> set[str]:
    return {folder.name for folder in (root / "snapshots").iterdir()}


def test_the_last_few_published_are_kept(tmp_path):
    store = SnapshotStore(tmp_path)
    ids = [_publish(store, f"spec {n}") for n in range(KEPT + 3)]
    assert _kept(tmp_path) == set(ids[-KEPT:])
    current = store.current()
    assert current is not None and current.snapshot_id == ids[-1]


def test_going_back_to_an_old_snapshot_makes_it_recent(tmp_path):
    store = SnapshotStore(tmp_path)
    first = _publish(store, "first")
    second = _publish(store, "second")
    store.publish(first)
    later = [_publish(store, f"later {n}") for n in range(KEPT - 1)]
    assert _kept(tmp_path) == {first, *later}
    assert second not in _kept(tmp_path)


def test_the_current_one_is_never_pruned(tmp_path):
    store = SnapshotStore(tmp_path)
    first = _publish(store, "first")
    for n in range(KEPT + 2):
        store.write(GRAPH, TABLES, f"unpublished {n}", "m")
    os.utime(tmp_path / "snapshots" / first, (0, 0))
    store._prune(first)
    assert first in _kept(tmp_path)
    assert len(_kept(tmp_path)) == KEPT


@pytest.mark.parametrize("name", ["../../etc", "s123", "", "s" + "g" * 16, "s" + "0" * 16])
def test_a_pointer_to_nowhere_is_an_error_not_an_empty_graph(tmp_path, name):
    store = SnapshotStore(tmp_path)
    (tmp_path / "CURRENT").write_text(name + "\n")
    with pytest.raises(SnapshotError, match="build the graph again"):
        store.current()


def test_publishing_what_is_not_there_changes_nothing(tmp_path):
    store = SnapshotStore(tmp_path)
    first = store.write(GRAPH, TABLES, "s", "m")
    store.publish(first)
    with pytest.raises(SnapshotError, match="build the graph first"):
        store.publish("s" + "0" * 16)
    current = store.current()
    assert current is not None and current.snapshot_id == first


def test_tables_must_be_complete(tmp_path):
    with pytest.raises(SnapshotError, match="a snapshot consists of"):
        SnapshotStore(tmp_path).staging(GRAPH, {"metrics": METRICS}, "s", "m")


def test_readers_see_one_snapshot_or_the_other_while_a_writer_publishes(tmp_path):
    store = SnapshotStore(tmp_path)
    ids = [store.write(GRAPH, TABLES, "s", "m"), store.write(OTHER, TABLES, "s", "m")]
    expected = dict(zip(ids, (GRAPH, OTHER), strict=True))
    store.publish(ids[0])
    stop = threading.Event()

    def flip():
        while not stop.is_set():
            for snapshot_id in ids:
                store.publish(snapshot_id)

    writer = threading.Thread(target=flip)
    writer.start()
    try:
        seen = set()
        for _ in range(60):
            snapshot = SnapshotStore(tmp_path).current()
            assert snapshot is not None
            assert snapshot.graph() == expected[snapshot.snapshot_id]
            seen.add(snapshot.snapshot_id)
    finally:
        stop.set()
        writer.join()
    assert seen == set(ids)


WRITER = """
    import sys, pathlib
    sys.path.insert(0, {here!r})
    from test_graph_snapshot import GRAPH, TABLES
    from hcg_pipeline.graph.snapshot import SnapshotStore
    store = SnapshotStore(pathlib.Path({root!r}))
    print("ready", flush=True)
    number = 0
    while True:
        store.publish(store.write(GRAPH, TABLES, f"spec {{number}}", "m"))
        number += 1
"""


def test_a_kill_leaves_no_half_written_snapshot_and_the_next_writer_clears_up(tmp_path):
    code = textwrap.dedent(WRITER).format(here=str(Path(__file__).parent), root=str(tmp_path))
    store = SnapshotStore(tmp_path)
    for pause in (0.05, 0.11, 0.17):
        process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
        assert process.stdout is not None and process.stdout.readline() == "ready\n"
        while store.current() is None:
            time.sleep(0.01)
        time.sleep(pause)
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        process.stdout.close()
        current = store.current()
        assert current is not None
        assert current.graph() == GRAPH
        for folder in (tmp_path / "snapshots").iterdir():
            if not folder.name.startswith(".staging-"):
                assert store.open(folder.name).graph() == GRAPH
    store.write(GRAPH, TABLES, "after", "m")
    assert [f.name for f in (tmp_path / "snapshots").glob(".staging-*")] == []


def test_a_table_that_cannot_be_read_says_so(tmp_path):
    store = SnapshotStore(tmp_path)
    snapshot = store.open(store.write(GRAPH, TABLES, "s", "m"))
    (snapshot.folder / "nodes.parquet").write_bytes(b"PAR1 no")
    with pytest.raises(SnapshotError, match=r"nodes\.parquet cannot be read"):
        snapshot.graph()


def test_equal_graphs_are_equal():
    assert graph_of(("Output(farming)", "Price(farming)")) == GRAPH
    assert GRAPH != OTHER
    assert isinstance(GRAPH.nodes, pa.Table)
