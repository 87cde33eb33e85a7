"""deploy/: the production instance, as far as it runs in one process. S3 is moto's, Postgres is Debian's.

Skipped without the `production` extra and a Postgres server binary (Debian: `apt-get install postgresql`). The three
services themselves are started by tests/test_services.py.
"""

import shutil
import string

import dagster as dg
import pyarrow as pa
import pytest
import yaml
from fresh_definitions import forget_definitions
from object_store import BUCKET, empty_bucket
from postgres_server import postgres_server, server_binaries
from tiny_corpus import write_tiny_corpus

from assets.job_run import run_job
from hcg_pipeline.answering.questions import Question
from resources.asking import answer_published
from resources.dagster_home import open_instance
from resources.places import CHECKOUT
from resources.run_progress import Listened
from resources.table_files import TableFilesResource
from resources.workspace import Workspace

DEPLOY = CHECKOUT / "deploy"
CORPUS = "Ünï infections"
STORE = "some/prefix/store/%C3%9Cn%C3%AF infections"


@pytest.fixture(scope="module")
def postgres():
    pytest.importorskip("psycopg2")
    binaries = server_binaries()
    if binaries is None:
        pytest.skip("no Postgres server binary")
    with postgres_server(binaries, "psycopg2") as url:
        yield url


@pytest.fixture
def bucket(monkeypatch):
    monkeypatch.setenv("HCG_LOG_BUCKET", BUCKET)
    return empty_bucket(monkeypatch)


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


@pytest.fixture
def machine(bucket, tmp_path, monkeypatch):
    """The workspace of another machine, each with a cache folder of its own: all the rest is on S3."""

    def of(name):
        monkeypatch.setenv("HCG_DATA", f"s3://{BUCKET}/some/prefix")
        monkeypatch.setenv("HCG_CACHE", str(tmp_path / name))
        forget_definitions()
        return Workspace.from_environment()

    return of


def build(workspace, job):
    with open_instance() as instance:
        run = run_job(instance, workspace, job, CORPUS, config={}, log_level="CRITICAL")
    assert run.success, run.trace
    return run


def ask(workspace, question):
    done = answer_published(workspace, CORPUS, "ask", [Question("1", question)], "graph", None, Listened())
    return done.answers["answer"][0].as_py()


@dg.asset(partitions_def=dg.DynamicPartitionsDefinition(name="corpora"), pool="llm")
def upstream(context: dg.AssetExecutionContext) -> pa.Table:
    return pa.table({"key": [context.partition_key]})


def test_runs_are_in_postgres_and_tables_and_logs_on_s3(instance, bucket):
    assert type(instance.run_storage).__name__ == "PostgresRunStorage"
    assert type(instance.event_log_storage).__name__ == "PostgresEventLogStorage"
    instance.add_dynamic_partitions("corpora", [CORPUS])
    io_manager = TableFilesResource(store=f"s3://{BUCKET}/some/prefix/store")
    result = dg.materialize([upstream], partition_key=CORPUS, instance=instance, resources={"io_manager": io_manager})
    with dg.DagsterInstance.get() as another:
        assert [run.run_id for run in another.get_runs()] == [result.run_id]
        assert another.get_materialized_partitions(dg.AssetKey("upstream")) == {CORPUS}
    keys = {entry.key for entry in bucket.objects.all()}
    assert f"{STORE}/assets/upstream.parquet" in keys
    logs = [key for key in keys if key.startswith(f"hcg/storage/{result.run_id}/") and key.endswith(".err")]
    assert b"STEP_SUCCESS" in bucket.Object(logs[0]).get()["Body"].read()


def test_a_corpus_on_s3_is_built_asked_edited_and_built_again(bucket, machine, tmp_path, monkeypatch):
    monkeypatch.setenv("DAGSTER_HOME", str(tmp_path / "home"))
    for file in write_tiny_corpus(tmp_path / "mine", CORPUS).parents[1].rglob("*"):
        if file.is_file():
            bucket.upload_file(str(file), f"some/prefix/{file.relative_to(tmp_path / 'mine').as_posix()}")
    builder = machine("builder")
    assert builder.corpora() == [CORPUS]
    run = build(builder, "everything")
    there = {entry.key for entry in bucket.objects.all()}
    assert {f"{STORE}/assets/{name}.parquet" for name in ("documents", "node_edges", "graph_index", "answers")} <= there
    assert {f"{STORE}/CURRENT", f"{STORE}/pins/rules-S.yaml", f"{STORE}/reports/benchmark_report.html"} <= there
    first = builder.snapshots(CORPUS).published_id()
    assert {f"{STORE}/snapshots/{first}/{name}" for name in ("manifest.json", "index/manifest.json")} <= there
    assert run.metadata["answers"]["path"] == f"s3://{BUCKET}/{STORE}/assets/answers.parquet"

    # Another machine asks; nothing but S3 is between them.
    asker = machine("asker")
    assert "Influenza causes pneumonia" in ask(asker, "What causes pneumonia?")

    # One document is edited: it alone is fetched, and the asker sees the new graph.
    copies = builder.cache / "copies"
    before = {path for path in copies.rglob("*") if path.is_file() and "snapshots" not in path.parts}
    edited = "Vaccination causes immunity. Smoking increases the risk of pneumonia."
    bucket.put_object(Key=f"some/prefix/corpora/{CORPUS}/prevention.txt", Body=edited.encode())
    build(machine("builder"), "build_graph")
    after = {path for path in copies.rglob("*") if path.is_file() and "snapshots" not in path.parts}
    assert [path.read_text() for path in after - before] == [edited]
    assert asker.snapshots(CORPUS).published_id() != first
    assert "Vaccination causes immunity" in ask(asker, "What causes immunity?")


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


def test_every_variable_of_deploy_is_explained_in_its_readme():
    readme = (DEPLOY / "README.md").read_text()
    asked = set(string.Template((DEPLOY / "Procfile").read_text()).get_identifiers())
    for name in ("dagster.yaml", "workspace.yaml"):
        asked |= {
            line.split("env:")[1].split()[0] for line in (DEPLOY / name).read_text().splitlines() if "env:" in line
        }
    assert {name for name in asked if f"`{name}`" not in readme} == set()
