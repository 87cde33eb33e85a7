"""deploy/ as it is meant to run: its three services on Postgres and S3, asked through the webserver as the UI does.

It takes minutes, so it runs on request: HCG_TEST_SERVICES=1 pytest -n 0 tests/test_services.py
"""

import json
import os
import shutil
import signal
import socket
import string
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

import pytest
from object_store import BUCKET, empty_bucket
from postgres_server import postgres_server, server_binaries
from sqlalchemy import NullPool, create_engine, text
from tiny_corpus import write_tiny_corpus

from resources.places import CHECKOUT, place

pytestmark = pytest.mark.skipif(not os.environ.get("HCG_TEST_SERVICES"), reason="on request: HCG_TEST_SERVICES=1")

CORPUS = "infections"
BINARIES = Path(sys.executable).parent
SELECTOR = {"repositoryLocationName": "hcg", "repositoryName": "__repository__"}


@pytest.fixture(scope="module")
def patch():
    with pytest.MonkeyPatch.context() as patch:
        yield patch


@pytest.fixture(scope="module")
def services(patch, tmp_path_factory):
    """Webserver's address, bucket, database, folder of logs, and the daemon: the services of deploy/Procfile run."""
    binaries = server_binaries()
    if binaries is None:
        pytest.skip("no Postgres server binary")
    folder, ports = tmp_path_factory.mktemp("services"), _free_ports(2)
    bucket = empty_bucket(patch)
    with postgres_server(binaries, "psycopg2") as url:
        chosen = {
            "DAGSTER_HOME": str(folder / "home"),
            "HCG_DAGSTER_POSTGRES_URL": url,
            "HCG_LOG_BUCKET": BUCKET,
            "HCG_DATA": f"s3://{BUCKET}/data",
            "HCG_CACHE": str(folder / "cache"),
            "HCG_SECONDS_BETWEEN_LOOKS": "5",
            "HCG_CODE_HOST": "127.0.0.1",
            "HCG_CODE_PORT": str(ports[0]),
            "HCG_WEB_HOST": "127.0.0.1",
            "HCG_WEB_PORT": str(ports[1]),
            "PATH": f"{BINARIES}:{os.environ['PATH']}",
        }
        for name, value in chosen.items():
            patch.setenv(name, value)
        (folder / "home").mkdir()
        for name in ("dagster.yaml", "workspace.yaml"):
            shutil.copy(CHECKOUT / "deploy" / name, folder / "home")
        procfile = (CHECKOUT / "deploy" / "Procfile").read_text().splitlines()
        started = {
            name: Service(name, command, folder) for name, _, command in (line.partition(": ") for line in procfile)
        }
        web = f"http://127.0.0.1:{ports[1]}"
        try:
            _until(lambda: _location(web) == "RepositoryLocation", 120, lambda: _logs(folder))
            yield web, bucket, url, folder, started["daemon"]
        finally:
            for service in started.values():
                service.stop()


class Service:
    """One line of deploy/Procfile, running."""

    def __init__(self, name, command, folder):
        self.environment = dict(os.environ)
        self._command = string.Template(command).substitute(self.environment).split()
        self._log = (folder / f"{name}.log").open("ab")
        self.start()

    def start(self):
        how = {"cwd": CHECKOUT, "env": self.environment, "stdout": self._log, "stderr": self._log}
        self._process = subprocess.Popen(self._command, start_new_session=True, **how)

    def stop(self):
        self._process.send_signal(signal.SIGINT)
        try:
            self._process.wait(30)
        except subprocess.TimeoutExpired:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait(30)


def test_what_is_put_on_s3_is_built_answered_and_kept_up_to_date(services, tmp_path):
    web, bucket, url, folder, daemon = services
    write_tiny_corpus(tmp_path, CORPUS)
    for file in tmp_path.rglob("*"):
        if file.is_file():
            bucket.upload_file(str(file), f"data/{file.relative_to(tmp_path).as_posix()}")

    # The daemon sees the prefix, makes it a partition, builds it and answers its questions.
    _until(lambda: _ended(web) == ["answer_questions SUCCESS", "build_graph SUCCESS"], 240, lambda: _logs(folder))
    first = _published()

    # A run launched through the webserver, terminated midway, goes on where it was.
    run = _launch(web, "everything")
    _until(lambda: len(_done_steps(web, run)) >= 5, 120, lambda: _logs(folder))
    _ask(web, "mutation($run: String!) {terminateRun(runId: $run) {__typename}}", {"run": run})
    _until(lambda: _status(web, run) == "CANCELED", 60, lambda: _logs(folder))
    done = _done_steps(web, run)
    resumed = _resume(web, run)
    _until(lambda: _status(web, resumed) == "SUCCESS", 240, lambda: _logs(folder))
    assert not done & _done_steps(web, resumed), "what was done is not done again"
    assert _published() == first, "the same documents give the same graph"

    # A daemon that starts anew asks for nothing again.
    runs = len(_ended(web))
    daemon.stop()
    daemon.start()
    time.sleep(40)
    assert len(_ended(web)) == runs

    # An edit is built by the sensor; the answers follow, as that is switched on now.
    selector = SELECTOR | {"sensorName": "answers_follow_the_graph"}
    started = _ask(web, "mutation($s: SensorSelector!) {startSensor(sensorSelector: $s) {__typename}}", {"s": selector})
    assert started["startSensor"]["__typename"] == "Sensor"
    time.sleep(35)  # its first look takes the graph as it is
    before = len(_ended(web))
    bucket.put_object(
        Key=f"data/corpora/{CORPUS}/prevention.txt", Body=b"Vaccination causes immunity. Smoking causes cancer."
    )
    _until(lambda: len(_ended(web)) >= before + 2, 240, lambda: _logs(folder))
    newest = _ended(web)[: len(_ended(web)) - before]
    assert "build_graph SUCCESS" in newest
    assert any(run.startswith("__ASSET_JOB") and run.endswith("SUCCESS") for run in newest), (newest, _logs(folder))
    assert _published() != first

    # Where things are.
    logs = [entry.key for entry in bucket.objects.filter(Prefix="hcg/storage/")]
    assert any(key.startswith(f"hcg/storage/{resumed}/") for key in logs)
    with create_engine(url, poolclass=NullPool).connect() as database:
        events = database.execute(
            text("select count(*) from event_logs where run_id = :run"), {"run": resumed}
        ).scalar()
    assert events > 100
    command = [BINARIES / "hcg", "ask", CORPUS, "What causes immunity?"]
    asked = subprocess.run(command, env=daemon.environment, capture_output=True, text=True, check=False)
    assert "Vaccination causes immunity." in asked.stdout, asked.stderr


def _published():
    return place(f"s3://{BUCKET}/data/store/{CORPUS}/CURRENT").read_text()


def _free_ports(count):
    taken = [socket.socket() for _ in range(count)]
    for one in taken:
        one.bind(("127.0.0.1", 0))
    ports = [one.getsockname()[1] for one in taken]
    for one in taken:
        one.close()
    return ports


def _ask(web, query, variables=None):
    body = json.dumps({"query": query, "variables": variables or {}}).encode()
    request = urllib.request.Request(f"{web}/graphql", body, {"content-type": "application/json"})
    with urllib.request.urlopen(request, timeout=60) as reply:
        found = json.load(reply)
    assert "errors" not in found, found["errors"]
    return found["data"]


def _location(web):
    query = "{workspaceOrError {... on Workspace {locationEntries {locationOrLoadError {__typename}}}}}"
    try:
        entries = _ask(web, query)["workspaceOrError"]["locationEntries"]
    except (urllib.error.URLError, ConnectionError, TimeoutError):
        return None
    return entries[0]["locationOrLoadError"]["__typename"] if entries and entries[0]["locationOrLoadError"] else None


def _ended(web):
    """Job and status of every run that ended, the newest first."""
    runs = _ask(web, "{runsOrError {... on Runs {results {jobName status}}}}")["runsOrError"]["results"]
    return [f"{run['jobName']} {run['status']}" for run in runs if run["status"] in ("SUCCESS", "FAILURE", "CANCELED")]


def _status(web, run):
    found = _ask(web, "query($run: ID!) {runOrError(runId: $run) {... on Run {status}}}", {"run": run})
    return found["runOrError"]["status"]


def _done_steps(web, run):
    query = "query($run: ID!) {runOrError(runId: $run) {... on Run {stepStats {stepKey status}}}}"
    steps = _ask(web, query, {"run": run})["runOrError"]["stepStats"]
    return {step["stepKey"] for step in steps if step["status"] == "SUCCESS"}


def _launch(web, job):
    query = (
        "mutation($p: ExecutionParams!) {launchRun(executionParams: $p) "
        "{__typename ... on LaunchRunSuccess {run {id}} ... on PythonError {message}}}"
    )
    tags = [{"key": "dagster/partition", "value": CORPUS}]
    asked = {"selector": SELECTOR | {"jobName": job}, "runConfigData": {}, "executionMetadata": {"tags": tags}}
    launched = _ask(web, query, {"p": asked})["launchRun"]
    assert launched["__typename"] == "LaunchRunSuccess", launched
    return launched["run"]["id"]


def _resume(web, run):
    query = (
        "mutation($p: ReexecutionParams!) {launchRunReexecution(reexecutionParams: $p) "
        "{__typename ... on LaunchRunSuccess {run {id}} ... on PythonError {message}}}"
    )
    launched = _ask(web, query, {"p": {"parentRunId": run, "strategy": "FROM_FAILURE"}})["launchRunReexecution"]
    assert launched["__typename"] == "LaunchRunSuccess", launched
    return launched["run"]["id"]


def _logs(folder):
    return "\n".join(f"--- {log.name}\n{log.read_text()[-4000:]}" for log in sorted(folder.glob("*.log")))


def _until(true, seconds, about):
    ends = time.monotonic() + seconds
    while not true():
        if time.monotonic() > ends:
            pytest.fail(f"not within {seconds} s: {about()}")
        time.sleep(1)
