"""`hcg evaluate`, the scores asset and the report: several modes, tiers and judges, over a real endpoint."""

import json

import pytest
from command_line import CliRunner
from fake_openai import WRONG_WORDS, FakeOpenAI, Fault
from scripted_judge import scripted_judge
from test_building import build, content, table
from tiny_corpus import QUESTIONS, write_tiny_corpus

from assets.evaluations import published_tier, read_evaluations
from hcg import app
from resources.published import open_snapshot
from resources.workspace import Workspace

pytestmark = pytest.mark.xdist_group("building")
WITH_REFERENCE = {question["id"] for question in QUESTIONS if "answer" in question}


def hcg(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


@pytest.fixture
def corpus(data):
    write_tiny_corpus(data)
    return data


@pytest.fixture
def judge(monkeypatch):
    with FakeOpenAI(reply=scripted_judge) as fake:
        monkeypatch.setenv("HCG_JUDGE_BASE_URL", fake.base_url)
        monkeypatch.setenv("HCG_JUDGE_MODEL", "judge-1")
        yield fake


def test_modes_are_answered_scored_and_compared_in_one_report(corpus):
    build()
    result = hcg("evaluate", "infections", "--mode", "graph", "--mode", "hybrid", "--budget", "20", "--json")
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    means = {row["measure"]: row["systems"] for row in found["means"]}
    assert {name: row["questions"] for name, row in means["rouge_l"].items()} == {"graph": 3, "hybrid": 3}
    assert "reference_recall@750" in means and "reference_recall@1500" not in means
    [comparison] = found["comparisons"]
    assert (comparison["a"], comparison["b"], comparison["n"]) == ("graph", "hybrid", 3)
    kept = read_evaluations(Workspace.from_environment(), "infections")
    assert set(kept.scores["id"].to_pylist()) == WITH_REFERENCE
    assert set(kept.systems["words"].to_pylist()) == {20}
    text = (corpus / "store" / "infections" / "reports" / "benchmark_report.md").read_text()
    assert "Again: `hcg evaluate infections --mode graph --mode hybrid --budget 20`" in text
    page = (corpus / "store" / "infections" / "reports" / "benchmark_report.html").read_text()
    assert "data:image/svg+xml;base64," in page and "<td>hybrid</td>" in page


def test_tiers_stand_side_by_side_once_both_were_built(corpus):
    build()
    workspace = Workspace.from_environment()
    snapshot = open_snapshot(workspace, "infections")
    assert published_tier(workspace, "infections", snapshot) == "S"
    assert hcg("evaluate", "infections", "--mode", "graph", "--retrieve-only").exit_code == 0
    # The same graph as if it had been built at another tier, which is known by the specification that it left.
    pins = corpus / "store" / "infections" / "pins"
    (pins / "rules-S.yaml").rename(pins / "rules-M.yaml")
    assert published_tier(workspace, "infections", snapshot) == "M"
    assert hcg("evaluate", "infections", "--mode", "graph", "--retrieve-only").exit_code == 0
    kept = read_evaluations(workspace, "infections")
    assert kept.systems["tier"].to_pylist() == ["M", "S"]
    assert set(kept.systems["backend"].to_pylist()) == {"none"}
    text = (corpus / "store" / "infections" / "reports" / "benchmark_report.md").read_text()
    assert "## Tiers compared" in text and "| graph, tier M | graph, tier S | 3 |" in text
    assert "| tie |" in text, "the same graph is no better than itself"


def test_judged_scores_stand_beside_the_others(corpus, judge):
    run = build("everything")
    assert (run.success, run.error) == (True, "")
    scores = table("scores").to_pylist()
    judged = {row["id"] for row in scores if row["measure"] == "correctness[judge-1]"}
    assert judged == WITH_REFERENCE
    assert run.metadata["scores"]["judges"][0].startswith("judge-1/")
    assert run.metadata["scores"]["llm_calls"] == judge.chat_calls > 0
    assert {row["tier"] for row in scores} == {"S"}
    report = run.metadata["benchmark_report"]["report"]
    assert "Answer correctness (judge-1)" in str(report)


def test_replies_that_no_judge_score_came_of_are_counted_and_no_zero(corpus, judge):
    judge.always(lambda body: WRONG_WORDS if "Which drug cures malaria?" in str(body["messages"]) else Fault())
    run = build("everything")
    assert run.success, run.error
    [check] = [check for check in run.failed_checks if check.name == "judged_in_full"]
    assert "could not be used" in check.about
    judged = [row for row in table("scores").to_pylist() if row["measure"].startswith("correctness[")]
    assert {row["id"] for row in judged} == WITH_REFERENCE - {"q4"}
    kept = read_evaluations(Workspace.from_environment(), "infections").missing.to_pylist()
    assert ("q4", "correctness[judge-1]") in {(row["id"], row["measure"]) for row in kept}
    report = (corpus / "store" / "infections" / "reports" / "benchmark_report.md").read_text()
    assert "## Judged scores that are missing" in report


def test_a_rebuild_asks_no_judge_again_and_leaves_the_same_files(corpus, judge):
    build("everything")
    store = corpus / "store" / "infections"
    before, calls = content(store), judge.chat_calls
    build("everything")
    assert judge.chat_calls == calls
    assert content(store) == before


def test_runs_differ_by_seed_and_show_their_spread(corpus, judge):
    build()
    result = hcg("evaluate", "infections", "--mode", "graph", "--runs", "2")
    assert result.exit_code == 0, result.output
    report = (corpus / "store" / "infections" / "reports" / "benchmark_report.md").read_text()
    assert "## Runs" in report
    assert {body["seed"] for body in judge.requests} == {7, 8}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--runs", "3"), "--runs needs an LLM that answers or judges"),
        (("no-such.json",), "no-such.json"),
    ],
)
def test_what_cannot_be_evaluated_is_said_in_one_line(corpus, arguments, message):
    build()
    result = hcg("evaluate", "infections", *arguments)
    assert result.exit_code == 1
    assert message in result.stderr.splitlines()[-1]


def test_questions_without_references_are_not_scored(corpus):
    build()
    file = corpus / "plain.csv"
    file.write_text("id,question\n1,What causes fever?\n")
    result = hcg("evaluate", "infections", file)
    assert result.exit_code == 1
    assert "None of the questions has a reference `answer`" in result.stderr
