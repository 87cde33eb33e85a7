"""Dagster says of each asset whether it is up to date, and it is true: a change marks what it concerns, no more."""

import shutil
import time

import dagster as dg
import pytest
from dagster._core.definitions.data_version import CachingStaleStatusResolver
from dagster._core.loader import LoadingContextForTest
from fresh_definitions import forget_definitions
from tiny_corpus import write_tiny_corpus

from assets.inputs import INPUTS
from assets.job_run import run_job
from assets.respecifying import pin_proposed, propose_anew
from hcg_pipeline.progress import Silent
from hcg_pipeline.specification.spec_file import parse_spec, render_spec
from hcg_pipeline.specification.specification import Specification
from resources.dagster_home import open_instance
from resources.language import LanguageModel
from resources.workspace import Workspace

pytestmark = pytest.mark.xdist_group("staleness")

CORRECTION = """corrections:
- action: "drop_edge"
  source: "DrugUse(aspirin)"
  target: "SymptomOccurrence(fever)"
  note: "a trial"
  date: "2026-01-01"
"""
READ_BY_A_BACKEND = {"ranked_dimensions", "metrics", "entities", "metric_templates", "node_edges", "answers"}


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


def stale(monkeypatch, **others):
    """The assets that the UI shows as stale, after the sensor has looked, and the inputs that it found changed.

    `others` are resources in place of those of the definitions.
    """
    import definitions

    clock = [1_900_000_000.0]
    monkeypatch.setattr(time, "time", lambda: clock[0])
    sensor = definitions.defs.resolve_sensor_def("corpora_noticed")
    found = {name: definitions.defs.resources[name] for name in ("workspace", "language", "embedding")} | others
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
        (
            "graph_spec.yaml",
            "x: 1\n",
            {"pinned_specification"},
            {"ranked_dimensions", "metrics", "corrected_variables", "corrected_edges", "graph"},
        ),
        ("corrections.yaml", CORRECTION, {"corrections_file"}, {"corrections"}),
        ("more.txt", "Measles causes fever.", {"document_files"}, {"documents", "rejected"}),
        ("prevention.txt", "Vaccination prevents mumps.", {"document_files"}, {"documents", "rejected"}),
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
    assert stale(monkeypatch) == (READ_BY_A_BACKEND, {"language_backend"})


def test_another_model_and_another_prompt_mark_what_a_backend_reads(corpus, data, monkeypatch):
    cache = str(data / "store" / "cache")
    asked = {"backend": "llm", "base_url": "http://127.0.0.1:9/v1", "cache": cache}
    for name in ("one", "two"):
        assert stale(monkeypatch, language=LanguageModel(model=name, **asked)) == (
            READ_BY_A_BACKEND,
            {"language_backend"},
        )
    monkeypatch.setattr("hcg_pipeline.backends.llm.backend.LlmBackend.version", property(lambda _: "another prompt"))
    assert stale(monkeypatch, language=LanguageModel(model="two", **asked))[1] == {"language_backend"}


def test_a_vocabulary_that_is_pinned_anew_marks_what_is_made_of_it(corpus, data, monkeypatch):
    [pin] = (data / "store" / "infections" / "pins").iterdir()
    workspace = Workspace.from_environment()
    same = propose_anew(workspace, "infections", None, Silent())
    pin_proposed(workspace, same)
    assert stale(monkeypatch) == (set(), set()), "the same vocabulary again concerns nothing"

    _without_last_metric(pin)
    other = propose_anew(workspace, "infections", None, Silent())
    assert other.changes
    pin_proposed(workspace, other)
    assert stale(monkeypatch) == ({"ranked_dimensions", "metrics"}, {"replaced_vocabulary"})


def test_another_embedding_model_marks_what_holds_its_vectors(corpus, monkeypatch):
    monkeypatch.setattr("hcg_pipeline.embedding.wordllama.WordLlamaEmbedder.model", "another", raising=False)
    found, noticed = stale(monkeypatch)
    assert noticed == {"embedding_model"}
    assert found == {"embeddings", "evidence_links", "graph_index"}


def test_inputs_hold_no_data(corpus, data):
    assets = {path.stem for path in (data / "store" / "infections" / "assets").iterdir()}
    assert assets & set(INPUTS) == set()


def _without_last_metric(pin):
    """As if the vocabulary had been another one when it was first pinned."""
    text = pin.read_text(encoding="utf-8")
    specification = parse_spec(text, pin)
    fewer = Specification(specification.dimensions, specification.metrics[:-1])
    pin.write_text(render_spec(fewer), encoding="utf-8")
