"""Each sensor, driven through what people do to folders: add, edit, delete, copy slowly, go back, start anew."""

import datetime
import json
import os
import shutil
from pathlib import Path

import dagster as dg
import pytest
from fresh_definitions import forget_definitions
from object_store import BUCKET, empty_bucket
from tiny_corpus import write_tiny_corpus

from assets.inputs import INPUTS
from assets.run_content import DOCUMENTS_TAG, QUESTIONS_TAG
from assets.watching import QUIET_SECONDS
from hcg_pipeline.graph.remote_snapshots import RemoteSnapshotStore
from hcg_pipeline.graph.snapshot import SnapshotStore
from resources import folder_scans
from resources.dagster_home import open_instance
from resources.places import data_folder
from resources.workspace import Workspace


class Daemon:
    """Dagster's daemon, as far as one sensor is concerned: it keeps the cursor, and drops run keys that it had."""

    def __init__(self, sensor, instance, clock, resources):
        self._sensor, self._instance, self._clock, self._resources = sensor, instance, clock, resources
        self._run_keys = set()
        self.cursor = None
        self.said = ""

    def tick(self, after=QUIET_SECONDS):
        """One tick so many seconds later: the corpora for which runs are started."""
        self._clock.now += after
        context = dg.build_sensor_context(instance=self._instance, cursor=self.cursor, resources=self._resources)
        self.result = self._sensor(context)
        self.cursor = self.result.cursor
        self.said = self.result.skip_reason.skip_message if self.result.skip_reason else ""
        for request in self.result.dynamic_partitions_requests or []:
            self._instance.add_dynamic_partitions("corpora", list(request.partition_keys))
        for event in self.result.asset_events:
            self._instance.report_runless_asset_event(event)
        new = [request for request in self.result.run_requests or [] if request.run_key not in self._run_keys]
        self._run_keys |= {request.run_key for request in new}
        return [request.partition_key for request in new]

    def settle(self):
        """Two ticks, the second after the folders were left alone for long enough."""
        return self.tick() + self.tick()


class Clock:
    now = 1_800_000_000.0


ANYWHERE = pytest.mark.parametrize("data", ["here", "on S3"], indirect=True)


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


@ANYWHERE
def test_a_new_folder_becomes_a_partition_at_once_and_a_build_when_it_is_left_alone(daemon, instance, corpus):
    builds = daemon("changed_corpora")
    assert builds.tick() == []
    assert instance.get_dynamic_partitions("corpora") == ["infections"]
    assert "'infections' is new: waiting until it is left alone" in builds.said
    assert builds.tick(QUIET_SECONDS - 1) == []
    assert builds.tick(1) == ["infections"]
    assert builds.result.run_requests[0].tags[DOCUMENTS_TAG]
    assert [builds.tick() for _ in range(3)] == [[], [], []]


@pytest.mark.parametrize(
    "change",
    [
        lambda folder: (folder / "more.txt").write_text("Measles causes fever."),
        lambda folder: (folder / "prevention.txt").write_text("Vaccination prevents measles."),
        lambda folder: (folder / "drugs" / "relief.txt").unlink(),
        lambda folder: (folder / "prevention.txt").rename(folder / "avoidance.txt"),
        lambda folder: (folder / "corpus.yaml").write_text("tier: XS\n"),
        lambda folder: (folder / "corrections.yaml").write_text("- drop_metric: X\n"),
    ],
    ids=["added", "edited", "deleted", "renamed", "settings", "corrections"],
)
def test_a_change_rebuilds_that_corpus_alone(daemon, data, corpus, change):
    write_tiny_corpus(data, "other")
    builds = daemon("changed_corpora")
    assert builds.settle() == ["infections", "other"]
    change(corpus)
    assert builds.settle() == ["infections"]


@pytest.mark.parametrize("data", ["on S3"], indirect=True)
def test_a_change_on_s3_rebuilds_that_corpus_alone(daemon, data, corpus):
    write_tiny_corpus(data, "other")
    builds = daemon("changed_corpora")
    assert builds.settle() == ["infections", "other"]
    for change in (
        lambda: (corpus / "more.txt").write_text("Measles causes fever."),
        lambda: (corpus / "prevention.txt").write_text("Vaccination prevents measles."),
        (corpus / "drugs" / "relief.txt").unlink,
        lambda: (corpus / "corpus.yaml").write_text("tier: XS\n"),
    ):
        change()
        assert builds.settle() == ["infections"]


@ANYWHERE
def test_while_files_are_being_written_nothing_is_built(daemon, corpus):
    builds = daemon("changed_corpora")
    builds.settle()
    for size in range(1, 6):
        (corpus / "copied.txt").write_text("Influenza causes fever. " * size)
        if isinstance(corpus, Path):
            os.utime(corpus / "copied.txt", (1, 1))  # `cp --preserve` and unzip keep the old time while they write
        assert builds.tick() == []
        assert "'infections' is changing" in builds.said
    assert builds.tick() == ["infections"]


@ANYWHERE
def test_a_file_that_was_only_touched_or_hidden_builds_nothing(daemon, corpus):
    builds = daemon("changed_corpora")
    builds.settle()
    (corpus / "prevention.txt").write_text((corpus / "prevention.txt").read_text())
    (corpus / ".prevention.txt.swp").write_text("x")
    assert builds.settle() == []
    assert ("touched, but the same" in builds.said) is isinstance(corpus, Path), "S3's tags are of the content"
    assert builds.tick() == []
    assert builds.said == "nothing changed"


@ANYWHERE
def test_going_back_to_an_old_content_is_a_change_like_any_other(daemon, corpus):
    builds = daemon("changed_corpora")
    old = (corpus / "prevention.txt").read_text()
    built = [builds.settle()]
    for text in ("Vaccination prevents measles.", old, "Vaccination prevents measles.", old):
        (corpus / "prevention.txt").write_text(text)
        built.append(builds.settle())
    assert built == [["infections"]] * 5


@ANYWHERE
def test_a_restart_repeats_nothing_and_misses_nothing(daemon, data, corpus, tmp_path):
    builds = daemon("changed_corpora")
    builds.settle()
    shutil.rmtree(tmp_path / "cache", ignore_errors=True)
    again = daemon("changed_corpora")
    again.cursor, again._run_keys = builds.cursor, builds._run_keys
    assert again.settle() == []
    (corpus / "more.txt").write_text("Measles causes fever.")
    once_more = daemon("changed_corpora")
    once_more.cursor = again.cursor
    assert once_more.settle() == ["infections"]


@pytest.mark.parametrize("cursor", [None, "not json", '{"version": 99}'])
def test_a_lost_cursor_does_not_build_again_what_the_latest_run_was_asked_for(daemon, instance, corpus, cursor):
    builds = daemon("changed_corpora")
    builds.settle()
    content = json.loads(builds.cursor)["folders"]["infections"]["content"]
    tags = {"dagster/partition": "infections", DOCUMENTS_TAG: content}
    instance.add_run(dg.DagsterRun(job_name="build_graph", status=dg.DagsterRunStatus.SUCCESS, tags=tags))
    lost = daemon("changed_corpora")
    lost.cursor = cursor
    assert lost.settle() == []
    assert "a run for this content is there already" in lost.said
    (corpus / "more.txt").write_text("Measles causes fever.")
    assert lost.settle() == ["infections"]


def test_a_build_by_hcg_is_not_repeated_and_a_failed_one_is(daemon, instance, corpus):
    from assets.run_content import content_tags

    instance.add_dynamic_partitions("corpora", ["infections"])
    tags = content_tags(Workspace.from_environment(), "infections", "build_graph")
    assert list(tags) == [DOCUMENTS_TAG]
    run = dg.DagsterRun(
        job_name="build_graph", status=dg.DagsterRunStatus.STARTED, tags=tags | {"dagster/partition": "infections"}
    )
    instance.add_run(run)
    assert daemon("changed_corpora").settle() == []
    instance.report_run_failed(run)
    assert daemon("changed_corpora").settle() == ["infections"]


def test_an_empty_corpus_is_waited_for(daemon, data, instance):
    (data / "corpora" / "bare").mkdir(parents=True)
    (data / "corpora" / "bare" / "corpus.yaml").write_text("tier: XS\n")
    builds = daemon("changed_corpora")
    assert builds.settle() == []
    assert "'bare' is empty: put documents in it" in builds.said
    assert instance.get_dynamic_partitions("corpora") == ["bare"]


@ANYWHERE
def test_a_removed_corpus_is_reported_once_on_its_asset_and_kept(daemon, data, instance, corpus):
    noticed = daemon("corpora_noticed")
    noticed.settle()
    _materialized(instance, "document_files", "1")
    _remove(corpus)
    noticed.tick()
    [event] = [event for event in noticed.result.asset_events if isinstance(event, dg.AssetObservation)]
    assert (event.asset_key, event.partition) == (dg.AssetKey("document_files"), "infections")
    assert event.description == "corpus 'infections' has no folder any more: its graph is kept"
    noticed.tick()
    assert noticed.result.asset_events == []
    assert "corpus 'infections' has no folder any more" in noticed.said
    assert instance.get_dynamic_partitions("corpora") == ["infections"]
    assert daemon("changed_corpora").settle() == []
    write_tiny_corpus(data)
    noticed.settle()
    assert "folder any more" not in noticed.said


def test_noticing_builds_nothing_and_reports_what_is_in_the_way(daemon, data, instance, corpus):
    (data / "corpora" / "a*b").mkdir()
    (corpus / "corpus.yaml").write_text("tier: XXL\n")
    noticed = daemon("corpora_noticed")
    assert noticed.settle() == []
    assert instance.get_dynamic_partitions("corpora") == ["infections"]
    noticed.tick()
    assert "'a*b' cannot name a corpus" in noticed.said
    assert "corpus.yaml:1: tier:" in noticed.said


@ANYWHERE
def test_a_changed_setting_of_a_built_corpus_gets_a_new_data_version(daemon, data, instance, corpus):
    noticed = daemon("corpora_noticed")
    noticed.settle()
    assert noticed.result.asset_events == [], "nothing was built, so nothing can be stale"
    for name in INPUTS:
        _materialized(instance, name, "before")
    noticed.tick()
    folders = {"document_files", "question_files"}
    assert _names(noticed.result.asset_events) == set(INPUTS) - folders, "unchanged folders are not read again"
    (corpus / "corpus.yaml").write_text("chunking: {target_words: 100}\n")
    noticed.settle()
    assert _names(noticed.result.asset_events) == {"chunking"} | folders
    noticed.tick()
    assert noticed.result.asset_events == []
    (corpus / "corpus.yaml").write_text("chunking: {target_words: 120}\n")
    noticed.settle()
    assert _names(noticed.result.asset_events) == {"chunking"}


@ANYWHERE
def test_a_changed_question_file_alone_gets_a_new_data_version(daemon, data, instance, corpus):
    noticed = daemon("corpora_noticed")
    noticed.settle()
    for name in INPUTS:
        _materialized(instance, name, "before")
    (data / "questions" / "infections" / "more.json").write_text('[{"id": "1", "question": "What causes fever?"}]')
    noticed.settle()
    noticed.tick()
    before = noticed.result.asset_events
    (data / "questions" / "infections" / "more.json").unlink()
    noticed.settle()
    assert before == [] and _names(noticed.result.asset_events) == {"question_files"}


def test_a_folder_that_takes_long_to_read_is_read_over_several_looks(daemon, instance, corpus, monkeypatch):
    noticed, builds = daemon("corpora_noticed"), daemon("changed_corpora")
    for module in ("noticing", "automation"):
        monkeypatch.setattr(f"assets.{module}.READING_SECONDS", 0.0)
    assert builds.settle() == [] and noticed.settle() == []
    assert builds.said == "'infections': still reading its 4 files"
    assert noticed.said == "'infections': still reading its files"
    for name in INPUTS:
        _materialized(instance, name, "before")
    for module in ("noticing", "automation"):
        monkeypatch.setattr(f"assets.{module}.READING_SECONDS", 60.0)
    assert builds.tick() == ["infections"]
    noticed.tick()
    assert "document_files" in _names(noticed.result.asset_events)


def test_each_file_is_read_once_for_all_sensors(daemon, corpus, monkeypatch):
    opened, digest = [], folder_scans._file_digest

    def noting(path):
        opened.append(path.name)
        return digest(path)

    monkeypatch.setattr(folder_scans, "_file_digest", noting)
    noticed, builds = daemon("corpora_noticed"), daemon("changed_corpora")
    noticed.settle()
    builds.settle()
    documents = ["broken.pdf", "infections.md", "prevention.txt", "relief.txt"]
    assert sorted(name for name in opened if name != "small.json") == documents


@ANYWHERE
def test_questions_wait_for_the_graph_and_are_answered_without_building(daemon, data, instance, corpus, monkeypatch):
    instance.add_dynamic_partitions("corpora", ["infections"])
    answers = daemon("changed_questions")
    assert answers.settle() == []
    assert "the questions of 'infections' wait for its graph" in answers.said
    _has_graph(monkeypatch)
    assert answers.tick() == ["infections"]
    assert list(answers.result.run_requests[0].tags) == [QUESTIONS_TAG]
    assert answers.settle() == []
    (data / "questions" / "infections" / "more.json").write_text('[{"id": "1", "question": "What causes fever?"}]')
    assert answers.settle() == ["infections"]
    (data / "questions" / "infections" / "more.json").unlink()
    assert answers.settle() == ["infections"]
    (corpus / "more.txt").write_text("Measles causes fever.")
    assert answers.settle() == []


def test_a_corpus_without_questions_is_left_alone(daemon, data, instance, monkeypatch):
    (data / "corpora" / "quiet").mkdir(parents=True)
    instance.add_dynamic_partitions("corpora", ["quiet"])
    _has_graph(monkeypatch)
    assert daemon("changed_questions").settle() == []


def test_nightly_asks_for_a_run_of_each_corpus_that_holds_documents(data, corpus):
    forget_definitions()
    import definitions

    write_tiny_corpus(data, "other")
    (data / "corpora" / "bare").mkdir()
    schedule = definitions.defs.resolve_schedule_def("nightly")
    night = datetime.datetime(2026, 12, 1, 2, tzinfo=datetime.UTC)
    with (
        open_instance() as instance,
        dg.build_schedule_context(
            instance=instance,
            scheduled_execution_time=night,
            resources={"workspace": Workspace.from_environment()},
            repository_def=definitions.defs.get_repository_def(),
        ) as context,
    ):
        instance.add_dynamic_partitions("corpora", ["infections", "other", "bare", "gone"])
        asked = schedule.evaluate_tick(context).run_requests
    assert [(request.run_key, request.partition_key) for request in asked] == [
        ("infections:2026-12-01", "infections"),
        ("other:2026-12-01", "other"),
    ]


@pytest.mark.parametrize(("key", "status"), [("", "RUNNING"), ("sk-test", "STOPPED")])
def test_what_costs_money_does_not_run_by_itself(data, monkeypatch, key, status):
    monkeypatch.setenv("OPENAI_API_KEY", key)
    forget_definitions()
    import definitions

    found = {one.name: one.default_status.value for one in definitions.defs.sensors}
    assert found == {
        "corpora_noticed": "RUNNING",
        "changed_corpora": status,
        "changed_questions": status,
        "answers_follow_the_graph": "STOPPED",
    }
    assert definitions.defs.resolve_schedule_def("nightly").default_status == dg.DefaultScheduleStatus.STOPPED
    forget_definitions()


def _has_graph(monkeypatch):
    for store in (SnapshotStore, RemoteSnapshotStore):
        monkeypatch.setattr(store, "published_id", lambda self: "a graph")


def _remove(folder):
    """The folder and all that is in it."""
    if isinstance(folder, Path):
        shutil.rmtree(folder)
    else:
        folder.rmdir(recursive=True)


def _names(events):
    return {event.asset_key.to_user_string() for event in events}


def _materialized(instance, asset, version, corpus="infections"):
    tags = {"dagster/data_version": version}
    instance.report_runless_asset_event(dg.AssetMaterialization(asset, partition=corpus, tags=tags))
