"""The sensor that builds, through what people do to folders: add, edit, delete, copy slowly, go back, start anew."""

import json
import os
import shutil
from pathlib import Path

import dagster as dg
import pytest
from sensor_daemon import ANYWHERE
from tiny_corpus import write_tiny_corpus

from assets.run_content import DOCUMENTS_TAG
from assets.watching import QUIET_SECONDS
from resources.workspace import Workspace


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


def _remove(folder):
    """The folder and all that is in it."""
    if isinstance(folder, Path):
        shutil.rmtree(folder)
    else:
        folder.rmdir(recursive=True)


def _materialized(instance, asset, version, corpus="infections"):
    tags = {"dagster/data_version": version}
    instance.report_runless_asset_event(dg.AssetMaterialization(asset, partition=corpus, tags=tags))
