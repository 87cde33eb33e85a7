"""Tables come back as they went in, under keys of any kind, and a crash leaves the old file."""

import os
import signal
import subprocess
import sys
import textwrap

import dagster as dg
import pyarrow as pa
import pytest

from hcg_pipeline.errors import HcgError
from resources.table_files import TableFilesResource, read_table, replace_table

KEYS = ["..", ".", "a b", "Ünïcode", "a*b", "a", "cache", "x/../../y", "%2E%2E"]
PARTITIONS = dg.DynamicPartitionsDefinition(name="corpora")


@dg.asset(partitions_def=PARTITIONS)
def upstream(context: dg.AssetExecutionContext) -> pa.Table:
    return pa.table({"key": [context.partition_key], "vector": pa.array([[1.0, 2.0]], pa.list_(pa.float32(), 2))})


@dg.asset(partitions_def=PARTITIONS)
def downstream(upstream: pa.Table) -> pa.Table:
    return upstream.append_column("seen", upstream["key"])


def test_every_key_keeps_its_own_table_inside_the_store(tmp_path):
    store = tmp_path / "inside" / "store"
    with dg.DagsterInstance.ephemeral() as instance:
        instance.add_dynamic_partitions("corpora", KEYS)
        for key in KEYS:
            assert dg.materialize(
                [upstream, downstream],
                partition_key=key,
                instance=instance,
                resources={"io_manager": TableFilesResource(store=str(store))},
            ).success
    files = sorted(path for path in tmp_path.rglob("*") if path.is_file())
    assert len(files) == 2 * len(KEYS)
    assert all(path.is_relative_to(store) and path.parent.name == "assets" for path in files)
    seen = sorted(read_table(path)["seen"].to_pylist()[0] for path in files if path.stem == "downstream")
    assert seen == sorted(KEYS)


def test_a_table_that_was_never_made_is_one_clear_line(tmp_path):
    with dg.DagsterInstance.ephemeral() as instance:
        instance.add_dynamic_partitions("corpora", ["a"])
        with pytest.raises(HcgError, match=r"upstream of this corpus has not been made yet .*materialize it first"):
            dg.materialize(
                [upstream, downstream],
                selection=["downstream"],
                partition_key="a",
                instance=instance,
                resources={"io_manager": TableFilesResource(store=str(tmp_path))},
            )


def test_schema_and_metadata_survive(tmp_path):
    schema = pa.schema(
        [
            pa.field("text", pa.large_string(), nullable=False, metadata={"description": "the text"}),
            pa.field("places", pa.list_(pa.struct([pa.field("start", pa.int64())]))),
        ]
    )
    table = pa.Table.from_pylist(
        [{"text": "a\nb", "places": [{"start": 3}]}, {"text": "", "places": []}], schema=schema
    )
    replace_table(tmp_path / "t.parquet", table)
    back = read_table(tmp_path / "t.parquet")
    assert back.schema.equals(schema, check_metadata=True)
    assert back.equals(table)


def test_the_same_table_gives_the_same_bytes(tmp_path):
    table = pa.table({"x": list(range(1000)), "s": [f"{i % 7}" for i in range(1000)]})
    replace_table(tmp_path / "one.parquet", table)
    replace_table(tmp_path / "two.parquet", pa.concat_tables([table.slice(0, 400), table.slice(400)]).combine_chunks())
    assert (tmp_path / "one.parquet").read_bytes() == (tmp_path / "two.parquet").read_bytes()


def test_a_writer_killed_midway_leaves_the_old_file(tmp_path):
    path = tmp_path / "t.parquet"
    replace_table(path, pa.table({"x": [1]}))
    program = textwrap.dedent(
        """
        import os, signal, sys
        from pathlib import Path
        import pyarrow as pa
        from resources import table_files

        def write_half(table, file, **options):
            file.write(b"PAR1 half a file")
            file.flush()
            os.kill(os.getpid(), signal.SIGKILL)

        table_files.pq.write_table = write_half
        table_files.replace_table(Path(sys.argv[1]), pa.table({"x": [2]}))
        """
    )
    done = subprocess.run([sys.executable, "-c", program, str(path)], check=False)
    assert done.returncode == -signal.SIGKILL
    assert read_table(path)["x"].to_pylist() == [1]
    leftovers = list(tmp_path.glob(".t.parquet.*.tmp"))
    assert len(leftovers) == 1
    replace_table(path, pa.table({"x": [3]}))
    assert leftovers[0].exists(), "another writer may still be at work on it"
    os.utime(leftovers[0], (0, 0))
    replace_table(path, pa.table({"x": [4]}))
    assert [path.name for path in tmp_path.iterdir()] == ["t.parquet"]
    assert read_table(path)["x"].to_pylist() == [4]


def test_a_failed_write_leaves_the_old_file_and_no_other(tmp_path, monkeypatch):
    path = tmp_path / "t.parquet"
    replace_table(path, pa.table({"x": [1]}))

    def full(*_arguments, **_options):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("resources.table_files.pq.write_table", full)
    with pytest.raises(OSError, match="No space left"):
        replace_table(path, pa.table({"x": [2]}))
    assert [file.name for file in tmp_path.iterdir()] == ["t.parquet"]
    assert read_table(path)["x"].to_pylist() == [1]


def test_what_is_no_parquet_file_is_one_clear_line(tmp_path):
    (tmp_path / "t.parquet").write_bytes(b"not parquet")
    with pytest.raises(HcgError, match=r"t\.parquet is not a parquet file .* materialize the asset again"):
        read_table(tmp_path / "t.parquet")
