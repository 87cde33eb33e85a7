"""A tiny corpus built end to end by the rules backend, as a real run on a real instance."""

import hashlib
import shutil
import subprocess
import sys
from pathlib import Path

import dagster as dg
import pyarrow.compute as pc
import pytest
from dagster._core.storage.asset_check_execution_record import AssetCheckExecutionRecordStatus
from fresh_definitions import forget_definitions
from tiny_corpus import QUESTIONS, TEXTS, write_tiny_corpus

from assets.dead_runs import PROCESS_TAG, fail_dead_runs, this_process
from assets.inputs import INPUTS
from assets.job_run import run_job
from hcg_pipeline.graph.snapshot import SnapshotStore
from resources.dagster_home import open_instance
from resources.table_files import read_table
from resources.workspace import Workspace

pytestmark = pytest.mark.xdist_group("building")

STAGES = [
    *("documents", "chunks", "embeddings", "dimensions", "metrics", "variables", "seed_relations"),
    *("metric_templates", "node_edges", "evidence_links", "graph", "graph_index"),
    *("answers", "scores", "benchmark_report"),
]
BESIDE = [
    *("rejected", "ranked_dimensions", "entities", "outcomes", "corrections", "reading_counts", "merges"),
    *(f"corrected_{name}" for name in ("dimensions", "metrics", "variables", "edges")),
    "quality_report",
]


def build(job="build_graph", corpus="infections", tier=None):
    """Run a job of the real definitions; the run, and the instance's record of it afterwards."""
    config = {"resources": {"choices": {"config": {"tier": tier}}}} if tier else {}
    with open_instance() as instance:
        return run_job(instance, Workspace.from_environment(), job, corpus, config=config, log_level="CRITICAL")


def table(asset, corpus="infections"):
    return read_table(Workspace.from_environment().corpus_store(corpus) / "assets" / f"{asset}.parquet")


def edges(corpus="infections"):
    return {(row["source"], row["sign"], row["target"]) for row in table("node_edges", corpus).to_pylist()}


def content(folder: Path) -> dict[str, str]:
    return {
        str(path.relative_to(folder)): hashlib.blake2b(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


@pytest.fixture
def corpus(data):
    """The tiny corpus, not yet built."""
    return write_tiny_corpus(data)


@pytest.fixture(scope="module")
def template(tmp_path_factory):
    """The tiny corpus with everything built, and the run that built it. Not to be changed."""
    folder = tmp_path_factory.mktemp("template")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HCG_DATA", str(folder))
        for name in ("DAGSTER_HOME", "OPENAI_API_KEY", "HCG_LLM_BASE_URL", "HCG_EMBEDDER", "HCG_EMBEDDING_MODEL"):
            patch.setenv(name, "")
        forget_definitions()
        write_tiny_corpus(folder)
        return folder, build("everything")


@pytest.fixture
def built(template, data):
    """A copy of the corpus with everything built, to be changed at will."""
    shutil.copytree(template[0], data, dirs_exist_ok=True)
    return data / "corpora" / "infections"


def test_everything_is_built_and_can_be_opened(template, built, data):
    run = template[1]
    assert (run.success, run.error) == (True, "")
    assert sorted(run.metadata) == sorted([*STAGES, *BESIDE, *INPUTS])
    files = sorted(path.stem for path in (data / "store" / "infections" / "assets").iterdir())
    assert files == sorted(STAGES + BESIDE)

    documents = table("documents").to_pylist()
    assert [row["path"] for row in documents] == sorted(TEXTS)
    texts = {row["document_id"]: row["text"] for row in documents}
    [rejected] = table("rejected").to_pylist()
    assert rejected["path"] == "broken.pdf"

    found = edges()
    assert ("DiseaseOccurrence(influenza)", "+", "DiseaseOccurrence(pneumonia)") in found
    assert ("DrugUse(penicillin)", "-", "DiseaseOccurrence(pneumonia)") in found
    assert not any("autism" in source + target for source, _, target in found)
    for row in table("chunks").to_pylist():
        assert texts[row["document_id"]][row["start"] : row["end"]] == row["text"]
    links = table("evidence_links").to_pylist()
    assert {row["edge_id"] for row in links} == {row["edge_id"] for row in table("node_edges").to_pylist()}
    for row in links:
        assert texts[row["document_id"]][row["start"] : row["end"]] == row["quote"]

    snapshot = SnapshotStore(data / "store" / "infections").current()
    assert snapshot.table("edges").num_rows == len(found)
    assert table("graph_index")["snapshot_id"].to_pylist() == [snapshot.snapshot_id]
    assert (snapshot.index / "manifest.json").is_file()

    answers = {row["id"]: row for row in table("answers").to_pylist()}
    assert sorted(answers) == [question["id"] for question in QUESTIONS]
    assert "Influenza causes pneumonia" in answers["q1"]["answer"]
    assert "Quinine cures malaria." in answers["q4"]["answer"]
    report = (data / "store" / "infections" / "reports" / "benchmark_report.md").read_text()
    assert report.startswith("# Scores of infections")
    assert table("benchmark_report")["report"].to_pylist() == [report]


def test_the_run_its_materializations_and_checks_are_in_the_instance(template, built):
    run = template[1]
    with open_instance() as instance:
        [record] = instance.get_run_records()
        assert record.dagster_run.run_id == run.run_id
        assert record.dagster_run.status == dg.DagsterRunStatus.SUCCESS
        assert record.dagster_run.tags["dagster/partition"] == "infections"
        assert instance.get_dynamic_partitions("corpora") == ["infections"]
        for asset in ("documents", "variables", "graph_index"):
            assert instance.get_materialized_partitions(dg.AssetKey(asset)) == {"infections"}
        import definitions

        checks = {}
        for key in definitions.defs.resolve_asset_graph().asset_check_keys:
            [found] = instance.event_log_storage.get_asset_check_execution_history(key, limit=5)
            checks[key.asset_key.to_user_string(), key.name] = found.status == AssetCheckExecutionRecordStatus.SUCCEEDED
    assert [key for key, passed in checks.items() if not passed] == [("rejected", "no_rejected_files")]
    assert [(check.asset, check.name) for check in run.failed_checks] == [("rejected", "no_rejected_files")]


def test_every_materialization_shows_what_a_person_wants_to_see(template, built):
    run = template[1]
    for asset in STAGES + BESIDE:
        metadata = run.metadata[asset]
        assert metadata["dagster/row_count"] == table(asset).num_rows, asset
        assert len(metadata["preview"].records) == min(6, table(asset).num_rows), asset
        assert sorted(metadata["dagster/column_lineage"].deps_by_column) == sorted(table(asset).column_names), asset
        assert metadata["seconds"] >= 0, asset
        assert metadata["path"].endswith(f"/infections/assets/{asset}.parquet"), asset
    for asset in ("ranked_dimensions", "metrics", "variables", "metric_templates", "node_edges", "answers"):
        shown = run.metadata[asset]
        assert shown["backend"].startswith("rules ("), asset
        assert (shown["llm_calls"], shown["tokens_in"], shown["failed_calls"]) == (0, 0, 0), asset
    assert "wordllama" in run.metadata["embeddings"]["embedding_model"]
    assert run.metadata["graph"]["picture"].startswith("![graph](data:image/svg+xml;base64,")


def test_a_rebuild_with_nothing_changed_gives_the_same_bytes(built, data):
    store = data / "store" / "infections"
    before = content(store)
    run = build("everything")
    assert run.success
    assert content(store) == before
    assert run.metadata["embeddings"]["embedded"] == 0


def test_a_build_from_nothing_gives_the_same_graph(built, data):
    first = SnapshotStore(data / "store" / "infections").current().snapshot_id
    shutil.rmtree(data / "store" / "infections")
    shutil.rmtree(data / "store" / "cache")
    build()
    assert SnapshotStore(data / "store" / "infections").current().snapshot_id == first


def test_data_versions_follow_the_content(built):
    def versions():
        with open_instance() as instance:
            return {
                asset: instance.get_latest_materialization_event(dg.AssetKey(asset)).asset_materialization.tags[
                    "dagster/data_version"
                ]
                for asset in ("documents", "chunks", "metrics", "seed_relations", "graph")
            }

    before = versions()
    build()
    assert versions() == before
    (built / "more.txt").write_text("Measles causes fever and anaemia.")
    build()
    changed = versions()
    assert [asset for asset in before if changed[asset] == before[asset]] == ["metrics"]


def test_a_document_that_goes_takes_its_edges_with_it(built):
    with_drugs = edges()
    (built / "drugs" / "relief.txt").unlink()
    build()
    without = edges()
    assert ("DrugUse(penicillin)", "-", "DiseaseOccurrence(pneumonia)") in with_drugs - without
    assert ("DiseaseOccurrence(influenza)", "+", "DiseaseOccurrence(pneumonia)") in without
    assert not any(source.startswith("DrugUse") for source, _, _ in without)
    assert "DrugUse" in table("metrics")["metric"].to_pylist(), "the vocabulary is pinned"


def test_the_first_build_pins_its_vocabulary_and_a_later_one_keeps_to_it(template, built, data):
    first = template[1]
    pin = data / "store" / "infections" / "pins" / "rules-S.yaml"
    assert first.metadata["graph_index"]["pinned_specification"].endswith("/store/infections/pins/rules-S.yaml")
    assert "pinned_specification" not in first.metadata["metrics"]
    vocabulary = table("metrics")
    pinned = pin.read_bytes()
    (built / "oils.txt").write_text("Rust damages bridges. Frost damages bridges. Frost damages roads.\n" * 5)
    later = build()
    assert later.metadata["metrics"]["pinned_specification"] == str(pin)
    assert table("metrics").equals(vocabulary)
    assert pin.read_bytes() == pinned


def test_a_tier_of_the_run_has_a_pin_of_its_own(corpus, data):
    run = build(tier="XS")
    assert run.metadata["metrics"]["tier"] == "XS"
    assert [path.name for path in (data / "store" / "infections" / "pins").iterdir()] == ["rules-XS.yaml"]


def test_a_persons_specification_is_the_pin(corpus, data):
    (corpus / "graph_spec.yaml").write_text(
        "# What we look at.\n"
        "dimensions:\n- name: illness\n  entities: [influenza, pneumonia, measles, malaria, tuberculosis]\n"
        "metrics:\n- name: DiseaseOccurrence(illness)\n  description: how often it occurs\n"
    )
    run = build()
    assert run.metadata["metrics"]["pinned_specification"] == str(corpus / "graph_spec.yaml")
    assert table("metrics")["metric"].to_pylist() == ["DiseaseOccurrence"]
    assert table("dimensions")["dimension"].to_pylist() == ["illness"]
    assert ("DiseaseOccurrence(influenza)", "+", "DiseaseOccurrence(pneumonia)") in edges()
    assert not (data / "store" / "infections" / "pins").exists()
    assert "# What we look at." in SnapshotStore(data / "store" / "infections").current().spec_text


def test_a_corpus_that_says_nothing_of_causes_is_built_and_says_so(data):
    (data / "corpora" / "thin").mkdir(parents=True)
    (data / "corpora" / "thin" / "a.txt").write_text("Hello there. This is a note.")
    run = build(corpus="thin")
    assert run.success
    assert [check.name for check in run.failed_checks] == ["graph_not_empty"]
    assert not (data / "store" / "thin" / "pins").exists()
    assert build(corpus="thin").success


def test_an_empty_corpus_is_one_line(data):
    (data / "corpora" / "empty").mkdir(parents=True)
    run = build(corpus="empty")
    assert not run.success
    assert run.error == f"Corpus 'empty' is empty: put documents in {data / 'corpora' / 'empty'}."
    assert not SnapshotStore(data / "store" / "empty").root.joinpath("CURRENT").exists()


def test_a_corpus_of_which_nothing_can_be_read_keeps_the_published_graph_and_says_why(built, data):
    before = SnapshotStore(data / "store" / "infections").current().snapshot_id
    for path in TEXTS:
        (built / path).unlink()
    run = build()
    assert not run.success
    assert "has no document that can be read: all 1 files of" in run.error
    assert "the first, broken.pdf, because it is damaged" in run.error
    assert table("rejected")["path"].to_pylist() == ["broken.pdf"]
    assert SnapshotStore(data / "store" / "infections").current().snapshot_id == before


def test_a_wrong_settings_file_names_its_line(corpus):
    (corpus / "corpus.yaml").write_text("description: x\ntier: XXL\n")
    run = build()
    assert not run.success
    assert run.error.startswith(str(corpus / "corpus.yaml") + ":2: tier:")


def test_offsets_that_are_wrong_stop_the_build_before_anything_is_published(corpus, data, monkeypatch):
    from hcg_pipeline.corpus.chunks import split_documents

    def shifted(*arguments):
        chunks = split_documents(*arguments)
        place = chunks.schema.get_field_index("start")
        return chunks.set_column(place, chunks.schema.field("start"), pc.add(chunks["start"], 1))

    monkeypatch.setattr("assets.corpus.split_documents", shifted)
    run = build()
    assert not run.success
    assert run.error == "chunks: spans_exact: 3 of 3 are not the words at their place."
    assert "embeddings" not in run.metadata
    assert not (data / "store" / "infections" / "CURRENT").exists()


def test_two_corpora_keep_apart(built, data):
    write_tiny_corpus(data, "in fections ü")
    before = content(data / "store" / "infections")
    assert build(corpus="in fections ü").success
    assert content(data / "store" / "infections") == before
    assert edges() == edges("in fections ü")


def test_a_killed_build_is_told_as_such_and_the_next_one_finishes_it(data):
    corpus = write_tiny_corpus(data)
    (corpus / "long.txt").write_text("Influenza causes pneumonia. Aspirin reduces fever.\n" * 20_000)
    hcg = [str(Path(sys.executable).parent / "hcg"), "build", "infections"]
    with subprocess.Popen(hcg, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as process:
        seen = process.stderr.readline()
        while "chunks" not in seen:
            seen = process.stderr.readline()
            assert seen, "the build ended before it could be killed"
        process.kill()
    (corpus / "long.txt").unlink()
    with open_instance() as instance:
        assert [run.status for run in instance.get_runs()] == [dg.DagsterRunStatus.STARTED]
    assert build().success
    with open_instance() as instance:
        assert [run.status.value for run in instance.get_runs()] == ["SUCCESS", "FAILURE"]
        assert fail_dead_runs(instance) == []
    assert ("DiseaseOccurrence(influenza)", "+", "DiseaseOccurrence(pneumonia)") in edges()


def test_a_run_of_a_living_process_is_left_alone(built):
    with open_instance() as instance:
        run = dg.DagsterRun(
            job_name="build_graph", status=dg.DagsterRunStatus.STARTED, tags={PROCESS_TAG: this_process()}
        )
        instance.add_run(run)
        other = dg.DagsterRun(
            job_name="build_graph", status=dg.DagsterRunStatus.STARTED, tags={PROCESS_TAG: "elsewhere:1"}
        )
        instance.add_run(other)
        assert fail_dead_runs(instance) == []
