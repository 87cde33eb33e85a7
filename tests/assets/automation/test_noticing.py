"""What is noticed and reported, how little is read for it, and what else starts by itself: answers, nightly runs."""

import datetime

import dagster as dg
import pytest
from fresh_definitions import forget_definitions
from sensor_daemon import ANYWHERE
from tiny_corpus import write_tiny_corpus

from assets.inputs import INPUTS
from assets.run_content import QUESTIONS_TAG
from hcg_pipeline.graph.remote_snapshots import RemoteSnapshotStore
from hcg_pipeline.graph.snapshot import SnapshotStore
from resources import folder_scans
from resources.dagster_home import open_instance
from resources.workspace import Workspace


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


def _names(events):
    return {event.asset_key.to_user_string() for event in events}


def _materialized(instance, asset, version, corpus="infections"):
    tags = {"dagster/data_version": version}
    instance.report_runless_asset_event(dg.AssetMaterialization(asset, partition=corpus, tags=tags))
