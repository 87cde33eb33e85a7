"""Snapshots in an object store: whatever happens while one is published, readers see the old one or the new one."""

import itertools
import shutil
from contextlib import suppress
from pathlib import Path

import pytest
from graph_builders import SNAPSHOT_TABLES as TABLES
from graph_builders import graph_of
from object_store import BUCKET, empty_bucket
from upath import UPath

from hcg_pipeline.errors import SnapshotError
from hcg_pipeline.graph.remote_snapshots import RemoteSnapshotStore
from hcg_pipeline.graph.snapshot import KEPT, SnapshotStore

OLD = graph_of(("Output(farming)", "Price(farming)"))
NEW = graph_of(("Output(mining)", "Price(mining)"))


@pytest.fixture
def bucket(monkeypatch):
    return empty_bucket(monkeypatch)


@pytest.fixture
def machine(bucket, tmp_path):
    """The store as another machine sees it, each with a folder of its own."""
    names = itertools.count()

    def of():
        remote = UPath(f"s3://{BUCKET}/store/heart %C3%BC", use_listings_cache=False)
        return RemoteSnapshotStore(remote, tmp_path / str(next(names)))

    return of


def keys(bucket):
    return {entry.key.removeprefix("store/heart %C3%BC/") for entry in bucket.objects.all()}


def write(store, graph, spec="spec: 1\n"):
    """A snapshot with a file where its index would be."""
    staging = store.staging(graph, TABLES, spec, "model")
    (staging / "index" / "chunks.lance" / "data").mkdir(parents=True)
    (staging / "index" / "chunks.lance" / "data" / "1.lance").write_bytes(b"vectors")
    return store.commit(staging)


def publish(store, graph, spec="spec: 1\n"):
    snapshot_id = write(store, graph, spec)
    store.publish(snapshot_id)
    return snapshot_id


def test_another_machine_reads_what_was_published(machine):
    writer, reader = machine(), machine()
    assert reader.current() is None and reader.published_id() is None
    snapshot_id = write(writer, OLD)
    assert reader.current() is None
    writer.publish(snapshot_id)
    found = reader.current()
    assert found.snapshot_id == snapshot_id
    assert found.graph() == OLD
    assert (found.index / "chunks.lance" / "data" / "1.lance").read_bytes() == b"vectors"
    assert found.place == f"s3://{BUCKET}/store/heart %C3%BC/snapshots/{snapshot_id}"
    assert reader.manifest_of(snapshot_id) == found.manifest


def test_a_snapshot_has_the_same_id_here_and_there(machine, tmp_path):
    local = SnapshotStore(tmp_path / "local")
    assert machine().write(OLD, TABLES, "s", "m") == local.write(OLD, TABLES, "s", "m")


def test_a_writer_that_dies_at_any_moment_leaves_the_old_one(machine, monkeypatch):
    old = publish(machine(), OLD)
    pointed, at = False, 0
    while not pointed:
        writer = machine()
        with monkeypatch.context() as patch:
            _die_after(patch, writer, at)
            with suppress(ConnectionError):
                publish(writer, NEW)
                pointed = True
        found = machine().current()
        assert (found.snapshot_id == old) is not pointed
        assert found.graph() == (NEW if pointed else OLD)
        at += 1
    assert at > len(TABLES), "each put was a moment to die at"


def _die_after(monkeypatch, writer, puts):
    """No more than so many objects can be put."""
    fs, left = writer._remote.fs, itertools.count(puts, -1)
    for name in ("_put_file", "_pipe_file"):
        whole = getattr(type(fs), name)

        async def limited(self, *arguments, _whole=whole, **options):
            if next(left) <= 0:
                raise ConnectionError("the network is gone")
            return await _whole(self, *arguments, **options)

        monkeypatch.setattr(type(fs), name, limited)


def test_what_was_fetched_once_is_not_fetched_again(machine, monkeypatch):
    publish(machine(), OLD)
    reader = machine()
    reader.current()
    monkeypatch.setattr(RemoteSnapshotStore, "_fetch", None)
    assert reader.current().graph() == OLD


def test_a_copy_of_a_snapshot_that_is_gone_is_none(machine, bucket):
    store = machine()
    snapshot_id = publish(store, OLD)
    bucket.objects.filter(Prefix="store/heart %C3%BC/snapshots/").delete()
    with pytest.raises(SnapshotError, match=rf"snapshot {snapshot_id} is not in s3://"):
        store.open(snapshot_id)
    assert publish(store, OLD) == snapshot_id, "so going back to it puts all of it"
    assert "snapshots/" + snapshot_id + "/index/chunks.lance/data/1.lance" in keys(bucket)


def test_what_a_dead_writer_put_is_no_part_of_the_snapshot(machine, bucket):
    store = machine()
    snapshot_id = write(store, OLD)
    bucket.Object(f"store/heart %C3%BC/snapshots/{snapshot_id}/manifest.json").delete()
    bucket.put_object(Key=f"store/heart %C3%BC/snapshots/{snapshot_id}/index/chunks.lance/data/2.lance", Body=b"half")
    assert write(machine(), OLD) == snapshot_id
    assert f"snapshots/{snapshot_id}/index/chunks.lance/data/2.lance" not in keys(bucket)


def test_the_same_content_is_put_once(machine, bucket):
    first = publish(machine(), OLD)
    made = {entry.key: entry.last_modified for entry in bucket.objects.all()}
    bucket.put_object(Key=f"store/heart %C3%BC/snapshots/{first}/nodes.parquet", Body=b"kept as it is")
    assert publish(machine(), OLD) == first
    assert {entry.key for entry in bucket.objects.all()} == set(made)
    assert bucket.Object(f"store/heart %C3%BC/snapshots/{first}/nodes.parquet").get()["Body"].read() == b"kept as it is"


def test_a_damaged_file_is_noticed_before_it_is_read(machine, bucket):
    first = publish(machine(), OLD)
    bucket.put_object(Key=f"store/heart %C3%BC/snapshots/{first}/edges.parquet", Body=b"rot")
    reader = machine()
    with pytest.raises(SnapshotError, match=rf"edges.parquet of s3://.*/snapshots/{first} is damaged: build it again"):
        reader.current()
    assert not any(Path(reader.root, "snapshots").iterdir()), "and nothing of it is kept"


def test_only_the_last_few_published_are_kept(machine, bucket):
    store = machine()
    ids = [publish(store, OLD, f"spec {number}") for number in range(KEPT + 1)]
    bucket.put_object(Key="store/heart %C3%BC/snapshots/s0123456789abcdef/nodes.parquet", Body=b"being written")
    ids.append(publish(store, OLD, "the last"))
    there = {key.split("/")[1] for key in keys(bucket) if key.startswith("snapshots/")}
    assert len(there) == KEPT + 1 and {ids[-1], "s0123456789abcdef"} <= there
    assert machine().published_id() == ids[-1]
    assert len(list((store.root / "snapshots").iterdir())) == KEPT


def test_a_reader_of_one_that_is_removed_meanwhile_gets_the_new_one(machine, bucket, monkeypatch):
    first = publish(machine(), OLD)
    reader, whole = machine(), RemoteSnapshotStore._fetch

    def fetch(self, snapshot_id):
        if snapshot_id == first:
            publish(machine(), NEW)
            bucket.objects.filter(Prefix=f"store/heart %C3%BC/snapshots/{first}/").delete()
        whole(self, snapshot_id)

    monkeypatch.setattr(RemoteSnapshotStore, "_fetch", fetch)
    assert reader.current().graph() == NEW


def test_what_is_not_there_is_one_clear_line(machine):
    store = machine()
    with pytest.raises(SnapshotError, match=r"snapshot s0123456789abcdef is not in s3://.*: build the graph again"):
        store.open("s0123456789abcdef")
    with pytest.raises(SnapshotError, match=r"there is no snapshot s0123456789abcdef in s3://"):
        store.publish("s0123456789abcdef")
    with pytest.raises(SnapshotError, match="is no snapshot id"):
        store.open("../../secrets")


def test_a_lost_folder_of_copies_is_fetched_anew(machine):
    publish(machine(), OLD)
    reader = machine()
    reader.current()
    shutil.rmtree(reader.root)
    assert reader.current().graph() == OLD
