"""`hcg estimate`, `hcg cache`, `hcg build --batch` and `answer --batch`, and the ledger that `hcg show` sums up."""

import json
import shutil
from pathlib import Path

import pytest
from command_line import CliRunner
from fake_openai import FakeOpenAI
from fresh_definitions import forget_definitions
from tiny_corpus import write_tiny_corpus

from hcg import app
from resources.ledgers import read_ledger

pytestmark = pytest.mark.xdist_group("spending")
SAMPLES = Path(__file__).parents[2] / "data"


def hcg(*arguments):
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert result.exit_code == 0, result.output
    return result.stdout


def error_of(*arguments):
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert result.exit_code == 1
    return result.stderr.splitlines()[-1]


@pytest.fixture
def endpoint(data, monkeypatch):
    with FakeOpenAI() as fake:
        chosen = {"HCG_LLM_BASE_URL": fake.base_url, "HCG_LLM_MODEL": "gpt-4.1-mini", "HCG_LLM_BATCH_POLL": "0.01"}
        for name, value in chosen.items():
            monkeypatch.setenv(name, value)
        forget_definitions()
        yield fake


def test_estimate_build_show_and_cache(endpoint, data):
    write_tiny_corpus(data)
    before = json.loads(hcg("estimate", "infections", "--tier", "XS", "--json"))
    assert endpoint.chat_calls == 0
    stages = {stage["stage"]: stage for stage in before["stages"]}
    assert list(stages) == ["dimensions", "metrics", "variables", "metric_templates", "node_edges"]
    assert [stages[name]["calls"] for name in ("dimensions", "metrics", "variables")] == [3, 3, 3]
    assert before["total"]["usd"] == pytest.approx(sum(stage["usd"] for stage in before["stages"]))
    hcg("build", "infections", "--tier", "XS")
    calls = endpoint.chat_calls
    assert before["total"]["calls"] <= before["most_calls"]
    after = json.loads(hcg("estimate", "infections", "--tier", "XS", "--json"))
    assert (after["total"]["calls"], after["total"]["usd"]) == (0, 0.0)
    assert "cached" in hcg("estimate", "infections", "--tier", "XS")

    ledger = json.loads(hcg("show", "infections", "--json"))["ledger"]
    assert sum(cost["calls"] for cost in ledger) == calls
    assert all(cost["usd"] > 0 for cost in ledger if cost["calls"])
    assert "LLM calls so far:" in hcg("show", "infections")
    runs = read_ledger(data / "store" / "infections" / "ledger")
    assert len(set(runs["run"].to_pylist())) == 1

    stats = json.loads(hcg("cache", "stats", "--json"))
    assert (stats["replies"], stats["pending"], stats["by_model"]) == (calls, 0, {"gpt-4.1-mini": calls})
    assert "--unused-days" in error_of("cache", "prune")
    assert hcg("cache", "prune", "--unused-days", "1") == f"0 replies deleted, {calls} kept.\n"
    assert hcg("cache", "prune", "--model", "other") == f"0 replies deleted, {calls} kept.\n"
    assert hcg("cache", "prune", "--all") == f"{calls} replies deleted, 0 kept.\n"


def test_a_corpus_built_by_rules_costs_nothing_and_says_so(data):
    write_tiny_corpus(data)
    assert "makes no call and costs nothing" in error_of("estimate", "infections")


@pytest.mark.slow
def test_a_build_and_a_question_file_go_through_batches(endpoint, data):
    shutil.copytree(SAMPLES / "corpora" / "pumps", data / "corpora" / "pumps")
    hcg("build", "pumps", "--batch")
    jobs = len(endpoint.batches.jobs)
    sent = len(endpoint.batches.lines)
    assert jobs >= 1
    rows = read_ledger(data / "store" / "pumps" / "ledger").to_pylist()
    assert sum(row["outcome"] == "batch" for row in rows) == sent > 20
    assert sum(row["outcome"] == "ok" for row in rows) == endpoint.chat_calls
    assert max(endpoint.completed.values()) == 1
    price = next(row for row in rows if row["outcome"] == "batch")
    assert price["usd"] == pytest.approx((price["tokens_in"] * 0.4 + price["tokens_out"] * 1.6) / 2e6)
    questions = data / "more.json"
    asked = [{"id": f"q{n}", "question": f"What causes pump failure number {n}?"} for n in range(20)]
    questions.write_text(json.dumps(asked), encoding="utf-8")
    said = hcg("answer", "pumps", questions, "--batch")
    assert said.startswith("20 questions in ")
    assert (len(endpoint.batches.jobs), len(endpoint.batches.lines)) == (jobs + 1, sent + 15)
