"""The tiny corpus built through a real HTTP endpoint: what it costs, what is cached, what is quarantined."""

import pytest
from fake_openai import WRONG_WORDS, FakeOpenAI, Fault
from test_building import build, content, table
from tiny_corpus import write_tiny_corpus

from hcg_pipeline.graph.snapshot import SnapshotStore
from resources.ledgers import ledger_totals
from resources.table_files import read_table

pytestmark = pytest.mark.xdist_group("building")


@pytest.fixture
def endpoint(data, monkeypatch):
    with FakeOpenAI() as fake:
        monkeypatch.setenv("HCG_LLM_BASE_URL", fake.base_url)
        write_tiny_corpus(data)
        yield fake


def test_the_endpoint_builds_and_what_it_cost_is_shown(endpoint):
    run = build("everything")
    assert (run.success, run.error) == (True, "")
    assert run.metadata["variables"]["backend"].startswith("llm (fake-model/")
    asked = sum(metadata.get("llm_calls", 0) for metadata in run.metadata.values())
    assert asked == endpoint.chat_calls > 0
    assert sum(metadata.get("tokens_in", 0) for metadata in run.metadata.values()) > 0
    assert endpoint.embedding_calls == 0, "a server of one's own may serve no embeddings"
    assert table("node_edges").num_rows > 0


def without_ledger(files):
    """All but the record of what was asked, which grows with every run."""
    return {path: digest for path, digest in files.items() if not path.startswith("ledger/")}


def test_a_rebuild_with_nothing_changed_asks_nothing_and_gives_the_same_bytes(endpoint, data):
    build("everything")
    store = data / "store" / "infections"
    before, calls = content(store), endpoint.chat_calls
    run = build("everything")
    assert endpoint.chat_calls == calls
    assert without_ledger(content(store)) == without_ledger(before)
    assert sum(metadata.get("llm_calls", 0) for metadata in run.metadata.values()) == 0
    assert run.metadata["variables"]["llm_calls_from_cache"] > 0


def test_embeddings_of_the_endpoint_where_its_model_is_named(endpoint, data, monkeypatch):
    monkeypatch.setenv("HCG_EMBEDDING_MODEL", "fake-embedding")
    run = build()
    assert run.success
    assert run.metadata["graph_index"]["dimension"] == endpoint.dimension
    assert table("graph_index")["embedding_model"].to_pylist() == ["fake-embedding"]
    calls = endpoint.embedding_calls
    assert calls > 0
    [noted] = [cost for cost in ledger_totals(data / "store" / "infections" / "ledger") if cost.stage == "embeddings"]
    assert noted.calls == calls == sum(metadata.get("embedding_calls", 0) for metadata in run.metadata.values())
    build()
    assert endpoint.embedding_calls == calls


def test_replies_that_cannot_be_used_are_kept_shown_and_fail_a_check(endpoint, data):
    def reading_of_drugs_goes_wrong(body):
        reading = body["response_format"]["json_schema"]["name"] == "variables"
        return WRONG_WORDS if reading and "Quinine" in str(body["messages"]) else Fault()

    endpoint.always(reading_of_drugs_goes_wrong)
    run = build()
    assert run.success, run.error
    [check] = [check for check in run.failed_checks if check.name == "failed_windows"]
    assert (check.asset, check.about) == ("variables", "1 of 3 got no usable reply; 5% is allowed.")
    path = data / "store" / "infections" / "failures" / "variables.parquet"
    assert run.metadata["variables"]["failed_calls_file"] == str(path)
    assert run.metadata["variables"]["failed_calls"] == 1
    [failure] = read_table(path).to_pylist()
    assert "lorem banana" in failure["raw"]
    assert not any("Quinine" in quote for quote in table("seed_relations")["quote"].to_pylist())

    endpoint.heal()
    healed = build()
    assert [check.name for check in healed.failed_checks] == ["no_rejected_files"]
    assert read_table(path).num_rows == 0


def test_a_model_that_cannot_do_the_task_is_one_line_and_publishes_nothing(endpoint, data):
    endpoint.always(WRONG_WORDS)
    run = build()
    assert not run.success
    assert run.error.startswith("dimensions: the model cannot do this task")
    assert "HCG_LLM_MODEL" in run.error and "\n" not in run.error
    assert SnapshotStore(data / "store" / "infections").current() is None


def test_a_corpus_that_asks_for_rules_makes_no_call(endpoint, data):
    (data / "corpora" / "infections" / "corpus.yaml").write_text("backend: rules\n")
    run = build()
    assert run.success
    assert endpoint.chat_calls == 0
    assert [path.name for path in (data / "store" / "infections" / "pins").iterdir()] == ["rules-S.yaml"]
