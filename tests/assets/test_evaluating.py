"""`hcg evaluate`, the scores asset and the report: several modes, tiers and judges, over a real endpoint."""

import json

import pytest
from command_line import CliRunner
from fake_openai import WRONG_WORDS, FakeOpenAI, Fault
from scripted_judge import scripted_judge
from test_building import build, content, table
from tiny_corpus import QUESTIONS, write_tiny_corpus

from assets.evaluation import scores
from assets.evaluations import read_evaluations
from assets.spending import corpus_costs
from hcg import app
from resources.table_files import read_table, replace_table
from resources.workspace import Workspace

pytestmark = pytest.mark.xdist_group("building")
WITH_REFERENCE = {question["id"] for question in QUESTIONS if "answer" in question}


def _without_ledger(files):
    """What a run leaves but for its ledger, which says of each run what it asked the cache."""
    return {name: found for name, found in files.items() if not name.startswith("ledger/")}


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


def test_modes_are_answered_scored_and_compared_in_one_report(built):
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
    answers = read_table(next((built / "store" / "infections" / "evaluations").glob("*graph*/answers.parquet")))
    assert (answers.num_rows, set(answers["run"].to_pylist())) == (4, {1})
    assert set(kept.systems["words"].to_pylist()) == {20}
    text = (built / "store" / "infections" / "reports" / "benchmark_report.md").read_text()
    assert "Again: `hcg evaluate infections --mode graph --mode hybrid --budget 20`" in text
    page = (built / "store" / "infections" / "reports" / "benchmark_report.html").read_text()
    assert "data:image/svg+xml;base64," in page and "<td>hybrid</td>" in page


def test_tiers_stand_side_by_side_once_both_were_built(corpus):
    for tier in ("S", "M"):
        build(tier=tier)
        assert hcg("evaluate", "infections", "--mode", "graph", "--retrieve-only").exit_code == 0
    kept = read_evaluations(Workspace.from_environment(), "infections")
    assert kept.systems["tier"].to_pylist() == ["M", "S"]
    assert len(set(kept.systems["snapshot_id"].to_pylist())) == 2
    assert set(kept.systems["backend"].to_pylist()) == {"none"}
    text = (corpus / "store" / "infections" / "reports" / "benchmark_report.md").read_text()
    assert "## Tiers compared" in text and "| graph, tier M | ties with | graph, tier S |" in text
    evaluate = "hcg evaluate infections --mode graph --budget 3000 --retrieve-only"
    assert f"for tier in S M; do hcg build infections --tier $tier && {evaluate}; done" in text


def test_judged_scores_stand_beside_the_others(built, judge):
    run = build("answer_questions")
    assert (run.success, run.error) == (True, "")
    scores = table("scores").to_pylist()
    judged = {row["id"] for row in scores if row["measure"] == "correctness[judge-1]"}
    assert judged == WITH_REFERENCE
    assert run.metadata["scores"]["judges"][0].startswith("judge-1/")
    assert run.metadata["scores"]["llm_calls"] == judge.chat_calls > 0
    assert run.metadata["scores"]["tokens_in"] > 0
    costs = {cost["stage"]: cost for cost in corpus_costs(Workspace.from_environment(), "infections")}
    assert set(costs) == {"judge_statements", "judge_verdicts"}
    assert sum(cost["calls"] for cost in costs.values()) == judge.chat_calls
    assert {row["tier"] for row in scores} == {"S"}
    report = run.metadata["benchmark_report"]["report"]
    assert "Answer correctness (judge-1)" in str(report)


def test_corpora_share_what_the_judges_endpoints_are_asked_at_once():
    assert scores.op.pool == "judges"


def test_answers_that_cite_nothing_are_counted(built, monkeypatch):
    def without_a_citation(body):
        return json.dumps({"answer": "It is so.", "answered": "malaria" in str(body["messages"][1]), "cited": []})

    with FakeOpenAI(reply=without_a_citation) as fake:
        monkeypatch.setenv("HCG_LLM_BASE_URL", fake.base_url)
        file = built / "questions" / "infections" / "small.json"
        result = hcg("answer", "infections", file, "--budget", "8", "--out", built / "answers.jsonl")
    assert result.exit_code == 0, result.output
    answers = [json.loads(line) for line in (built / "answers.jsonl").read_text().splitlines()]
    bare = sum(row["answered"] and not row["cited"] for row in answers)
    assert 1 <= bare == sum(row["answered"] for row in answers) < 4
    assert f"{bare} answered ({bare} of them without citing any evidence)" in result.stdout


def test_replies_that_no_judge_score_came_of_are_counted_and_no_zero(built, judge):
    judge.always(lambda body: WRONG_WORDS if "Which drug cures malaria?" in str(body["messages"]) else Fault())
    run = build("answer_questions")
    assert run.success, run.error
    [check] = [check for check in run.failed_checks if check.name == "judged_in_full"]
    assert "could not be used" in check.about
    judged = [row for row in table("scores").to_pylist() if row["measure"].startswith("correctness[")]
    assert {row["id"] for row in judged} == WITH_REFERENCE - {"q4"}
    kept = read_evaluations(Workspace.from_environment(), "infections").missing.to_pylist()
    assert ("q4", "correctness[judge-1]") in {(row["id"], row["measure"]) for row in kept}
    [file] = (built / "store" / "infections" / "evaluations").glob("*/failures.parquet")
    assert {row["raw"][:12] for row in read_table(file).to_pylist()} == {"lorem banana"}
    report = (built / "store" / "infections" / "reports" / "benchmark_report.md").read_text()
    assert "## Judged scores that are missing" in report


def test_a_rebuild_asks_no_judge_again_and_leaves_the_same_files(built, judge):
    build("answer_questions")
    store = built / "store" / "infections"
    before, calls = _without_ledger(content(store)), judge.chat_calls
    build("answer_questions")
    assert judge.chat_calls == calls
    assert _without_ledger(content(store)) == before


def test_runs_differ_by_seed_and_show_their_spread(built, judge):
    result = hcg("evaluate", "infections", "--mode", "graph", "--runs", "2")
    assert result.exit_code == 0, result.output
    report = (built / "store" / "infections" / "reports" / "benchmark_report.md").read_text()
    assert "## Runs" in report
    assert {body["seed"] for body in judge.requests} == {7, 8}
    assert "--budget 3000 --runs 2`" in report
    assert f"Calls at most, less those whose replies are kept: judge judge-1 {judge.chat_calls}\n" in result.stderr
    assert f"Asked: {judge.chat_calls} calls, " in result.stdout
    again = hcg("evaluate", "infections", "--mode", "graph", "--runs", "2", "--json")
    cost, _vectors = json.loads(again.stdout)["costs"]
    assert (cost["calls"], cost["cached"]) == (0, judge.chat_calls)
    shown = json.loads(hcg("show", "infections", "--json").stdout)["ledger"]
    assert sum(stage["calls"] for stage in shown) == judge.chat_calls


def test_a_judges_budget_is_for_all_runs_together(built, judge, monkeypatch):
    monkeypatch.setenv("HCG_JUDGE_MAX_CALLS", "14")
    result = hcg("evaluate", "infections", "--mode", "graph", "--runs", "3")
    assert result.exit_code == 1
    line = result.stderr.splitlines()[-1]
    assert "judge judge-1: judge_" in line and "HCG_JUDGE_MAX_CALLS" in line and "14 calls" in line
    assert judge.chat_calls == 14
    [spent] = [sum(cost["calls"] for cost in corpus_costs(Workspace.from_environment(), "infections"))]
    assert spent == 14


def test_systems_of_an_older_version_are_read_as_they_are(built):
    assert hcg("evaluate", "infections", "--mode", "graph", "--retrieve-only").exit_code == 0
    [file] = (built / "store" / "infections" / "evaluations").glob("*/systems.parquet")
    newer = ["usd", "answered", "model", "embedding_model", "runs", "asked"]
    replace_table(file, read_table(file).drop_columns(newer))
    assert hcg("evaluate", "infections", "--mode", "hybrid", "--retrieve-only").exit_code == 0
    kept = read_evaluations(Workspace.from_environment(), "infections")
    assert kept.systems["runs"].to_pylist() == [None, 1]


def test_many_systems_are_shown_a_line_each(built):
    budgets = [word for words in (10, 20, 30) for word in ("--budget", words)]
    result = hcg("evaluate", "infections", "--mode", "graph", "--mode", "hybrid", *budgets, "--retrieve-only")
    lines = result.stdout.splitlines()
    assert lines[0].split() == ["system", "reference_recall@750"]
    assert [line.split("words")[0].strip() for line in lines[1:7]] == [
        *("graph, 10", "graph, 20", "graph, 30", "hybrid, 10", "hybrid, 20", "hybrid, 30"),
    ]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--runs", "3"), "--runs needs an LLM that answers or judges"),
        (("no-such.json",), "no-such.json"),
    ],
)
def test_what_cannot_be_evaluated_is_said_in_one_line(built, arguments, message):
    result = hcg("evaluate", "infections", *arguments)
    assert result.exit_code == 1
    assert message in result.stderr.splitlines()[-1]


def test_questions_without_references_are_not_scored(built):
    file = built / "plain.csv"
    file.write_text("id,question\n1,What causes fever?\n")
    result = hcg("evaluate", "infections", file)
    assert result.exit_code == 1
    assert "None of the questions has a reference `answer`" in result.stderr
