"""deploy/: the production instance, as far as it runs on one machine. S3 is moto's, Postgres is Debian's.

Skipped without the `production` extra and a Postgres server binary (Debian: `apt-get install postgresql`).
"""

import shutil

import dagster as dg
import pyarrow as pa
import pytest
import yaml
from postgres_server import postgres_server, server_binaries

from resources.places import CHECKOUT
from resources.table_files import TableFilesResource

DEPLOY = CHECKOUT / "deploy"
BUCKET = "hcg-test"
PARTITIONS = dg.DynamicPartitionsDefinition(name="corpora")


@dg.asset(partitions_def=PARTITIONS, pool="llm")
def upstream(context: dg.AssetExecutionContext) -> pa.Table:
    return pa.table({"key": [context.partition_key]})


@dg.asset(partitions_def=PARTITIONS)
def downstream(upstream: pa.Table) -> pa.Table:
    return upstream.append_column("seen", upstream["key"])


@pytest.fixture
def postgres():
    pytest.importorskip("psycopg2")
    binaries = server_binaries()
    if binaries is None:
        pytest.skip("no Postgres server binary")
    with postgres_server(binaries, "psycopg2") as url:
        yield url


@pytest.fixture
def bucket(monkeypatch):
    """A bucket on a local S3."""
    pytest.importorskip("moto.server")
    boto3 = pytest.importorskip("boto3")
    from moto.server import ThreadedMotoServer

    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0)
    server.start()
    url = "http://{}:{}".format(*server.get_host_and_port())
    for name, value in (
        ("AWS_ACCESS_KEY_ID", "test"),
        ("AWS_SECRET_ACCESS_KEY", "test"),
        ("AWS_DEFAULT_REGION", "us-east-1"),
        ("AWS_ENDPOINT_URL", url),
        ("HCG_S3_ENDPOINT", url),
        ("HCG_LOG_BUCKET", BUCKET),
    ):
        monkeypatch.setenv(name, value)
    found = boto3.resource("s3").Bucket(BUCKET)
    found.create()
    yield found
    server.stop()


@pytest.fixture
def instance(postgres, bucket, tmp_path, monkeypatch):
    """An instance by deploy/dagster.yaml."""
    pytest.importorskip("dagster_postgres")
    pytest.importorskip("dagster_aws")
    home = tmp_path / "home"
    home.mkdir()
    shutil.copy(DEPLOY / "dagster.yaml", home)
    monkeypatch.setenv("DAGSTER_HOME", str(home))
    monkeypatch.setenv("HCG_DAGSTER_POSTGRES_URL", postgres)
    with dg.DagsterInstance.get() as instance:
        yield instance


def test_runs_are_in_postgres_tables_and_logs_in_s3(instance, bucket, tmp_path):
    assert type(instance.run_storage).__name__ == "PostgresRunStorage"
    assert type(instance.event_log_storage).__name__ == "PostgresEventLogStorage"
    corpus = "heart failure"
    instance.add_dynamic_partitions("corpora", [corpus])
    result = dg.materialize(
        [upstream, downstream],
        partition_key=corpus,
        instance=instance,
        resources={"io_manager": TableFilesResource(store=f"s3://{BUCKET}/store")},
    )
    assert result.success
    assert result.output_for_node("downstream")["seen"].to_pylist() == [corpus]
    with dg.DagsterInstance.get() as another:
        assert [run.run_id for run in another.get_runs()] == [result.run_id]
        assert another.get_materialized_partitions(dg.AssetKey("downstream")) == {corpus}
    keys = {entry.key for entry in bucket.objects.all()}
    assert {f"store/{corpus}/assets/{name}.parquet" for name in ("upstream", "downstream")} <= keys
    logs = [key for key in keys if key.startswith(f"hcg/storage/{result.run_id}/") and key.endswith(".err")]
    assert b"STEP_SUCCESS" in bucket.Object(logs[0]).get()["Body"].read()


def test_limits_are_what_the_file_says(instance):
    assert instance.global_op_concurrency_default_limit == 4
    limits = instance.get_concurrency_config().run_queue_config
    assert limits.max_concurrent_runs == 8
    [limit] = limits.tag_concurrency_limits
    assert (limit["key"], limit["limit"]) == ("dagster/partition", 1)
    assert (instance.run_retries_enabled, instance.run_retries_max_retries) == (True, 2)
    assert not instance.run_retries_retry_on_asset_or_op_failure
    assert not instance.telemetry_enabled


def test_the_workspace_names_the_same_code_location_as_the_laptops():
    def locations(path):
        return [entry for loaded in yaml.safe_load(path.read_text())["load_from"] for entry in loaded.values()]

    [production], [laptop] = locations(DEPLOY / "workspace.yaml"), locations(CHECKOUT / "workspace.yaml")
    assert production["location_name"] == laptop["location_name"] == "hcg"
