"""Dagster says of each asset whether it is up to date, and it is true: a change marks what it concerns, no more."""

import shutil

import dagster as dg
import pytest
from dagster._core.definitions.data_version import CachingStaleStatusResolver
from dagster._core.loader import LoadingContextForTest
from fresh_definitions import forget_definitions
from tiny_corpus import write_tiny_corpus

from assets.inputs import INPUTS
from assets.job_run import run_job
from resources.dagster_home import open_instance
from resources.workspace import Workspace

pytestmark = pytest.mark.xdist_group("staleness")


@pytest.fixture(scope="module")
def template(tmp_path_factory):
    """The tiny corpus with everything built. Not to be changed."""
    folder = tmp_path_factory.mktemp("stale")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HCG_DATA", str(folder))
        for name in ("DAGSTER_HOME", "OPENAI_API_KEY", "HCG_LLM_BASE_URL", "HCG_EMBEDDER", "HCG_EMBEDDING_MODEL"):
            patch.setenv(name, "")
        forget_definitions()
        write_tiny_corpus(folder)
        build("everything")
    return folder


@pytest.fixture
def corpus(template, data):
    shutil.copytree(template, data, dirs_exist_ok=True)
    return data / "corpora" / "infections"


def build(job):
    with open_instance() as instance:
        run = run_job(instance, Workspace.from_environment(), job, "infections", config={}, log_level="CRITICAL")
    assert run.success, run.error


def stale(monkeypatch):
    """The assets that the UI shows as stale, after the sensor has looked, and the inputs that it found changed."""
    import definitions

    clock = [1_900_000_000.0]
    monkeypatch.setattr("assets.automation.time.time", lambda: clock[0])
    sensor = definitions.defs.resolve_sensor_def("corpora_noticed")
    found = {name: definitions.defs.resources[name] for name in ("workspace", "language", "embedding")}
    cursor, changed = None, set()
    with open_instance() as instance:
        for _ in range(2):
            result = sensor(dg.build_sensor_context(instance=instance, cursor=cursor, resources=found))
            cursor = result.cursor
            clock[0] += 60
            for event in result.asset_events:
                instance.report_runless_asset_event(event)
                changed.add(event.asset_key.to_user_string())
        graph = definitions.defs.resolve_asset_graph()
        resolver = CachingStaleStatusResolver(instance, graph, LoadingContextForTest(instance))
        statuses = {key.to_user_string(): resolver.get_status(key, "infections") for key in graph.get_all_asset_keys()}
    assert all(status.value != "MISSING" for status in statuses.values())
    return {name for name, status in statuses.items() if status.value == "STALE"}, changed


def test_after_a_build_everything_is_fresh_and_stays_so(corpus, monkeypatch):
    assert stale(monkeypatch) == (set(), set())


@pytest.mark.parametrize(
    ("file", "text", "changed", "concerned"),
    [
        ("corpus.yaml", "description: only words\n", set(), set()),
        ("corpus.yaml", "chunking: {target_words: 60}\n", {"chunking"}, {"chunks"}),
        (
            "corpus.yaml",
            "tier: XS\n",
            {"tier"},
            {"dimensions", "metrics", "entities", "metric_templates", "node_edges"},
        ),
        ("corpus.yaml", "retrieval: {metrics: 3}\n", {"retrieval_settings"}, {"answers"}),
        ("corpus.yaml", "retrieval: {tau_e: 0.9}\n", {"evidence_threshold"}, {"evidence_links"}),
        ("outcomes.yaml", "outcomes: [DiseaseOccurrence]\n", {"outcomes_file"}, {"outcomes"}),
        ("corrections.yaml", "[]\n", {"corrections_file"}, {"corrections"}),
        ("graph_spec.yaml", "x: 1\n", {"pinned_specification"}, {"ranked_dimensions", "metrics", "graph"}),
        ("more.txt", "Measles causes fever.", {"document_files"}, {"documents", "rejected"}),
        ("../../questions/infections/more.json", "[]", {"question_files"}, {"answers"}),
    ],
)
def test_a_change_marks_what_it_concerns(corpus, monkeypatch, file, text, changed, concerned):
    """What follows is marked once these were made anew and are not the same as before."""
    (corpus / file).write_text(text)
    found, noticed = stale(monkeypatch)
    assert noticed == changed
    assert found == concerned


def test_a_rebuild_makes_the_graph_fresh_and_what_was_made_of_the_old_one_stale(corpus, monkeypatch):
    (corpus / "corpus.yaml").write_text("chunking: {target_words: 20}\n")
    assert stale(monkeypatch)[0] == {"chunks"}
    build("build_graph")
    assert stale(monkeypatch) == ({"answers", "scores"}, set()), "made of the new graph and of the new chunks"


def test_new_rules_mark_what_they_read(corpus, monkeypatch):
    monkeypatch.setattr("hcg_pipeline.backends.rules.backend.RulesBackend.version", property(lambda _: "another"))
    found, noticed = stale(monkeypatch)
    assert noticed == {"language_backend"}
    judged = {"metric_templates", "node_edges"}
    assert found == {"ranked_dimensions", "metrics", "entities", "answers"} | judged


def test_another_embedding_model_marks_what_holds_its_vectors(corpus, monkeypatch):
    monkeypatch.setattr("hcg_pipeline.embedding.wordllama.WordLlamaEmbedder.model", "another", raising=False)
    found, noticed = stale(monkeypatch)
    assert noticed == {"embedding_model"}
    assert found == {"embeddings", "evidence_links", "graph_index"}


def test_inputs_hold_no_data(corpus, data):
    assets = {path.stem for path in (data / "store" / "infections" / "assets").iterdir()}
    assert assets & set(INPUTS) == set()
