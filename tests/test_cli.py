"""`hcg`: what it prints, what it writes, and its errors, each in one line."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from command_line import CliRunner
from fresh_definitions import forget_definitions
from tiny_corpus import QUESTIONS, TEXTS, write_tiny_corpus

from assets.standing import standing_build, versions_now
from hcg import app
from resources.workspace import Workspace

pytestmark = pytest.mark.xdist_group("cli")

HCG = str(Path(sys.executable).parent / "hcg")


def hcg(*arguments):
    """Run a command in this process. Its result has `exit_code`, `stdout` and `stderr`."""
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def error_of(*arguments):
    """The one line of a command that fails."""
    result = hcg(*arguments)
    assert result.exit_code == 1, result.output
    assert result.stdout == ""
    lines = result.stderr.splitlines()
    assert lines[-1].startswith("error: "), result.stderr
    assert "Traceback" not in result.stderr
    return lines[-1].removeprefix("error: ")


@pytest.fixture(scope="module")
def template(tmp_path_factory):
    """A data folder whose corpus `hcg build` has built. Not to be changed."""
    folder = tmp_path_factory.mktemp("template")
    write_tiny_corpus(folder)
    environment = os.environ | {
        "HCG_DATA": str(folder),
        "DAGSTER_HOME": "",
        "OPENAI_API_KEY": "",
        "HCG_LLM_BASE_URL": "",
    }
    done = subprocess.run([HCG, "build", "infections"], env=environment, capture_output=True, text=True, check=False)
    return folder, done


@pytest.fixture
def built(template, data):
    """A copy of that data folder."""
    shutil.copytree(template[0], data, dirs_exist_ok=True)
    return data


def test_build_says_what_was_built_where_it_lies_and_what_to_do_next(template):
    folder, done = template
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0] == "infections: 3 documents in 3 chunks"
    assert lines[1].startswith("  by the rules backend, offline, tier S, vectors by wordllama-")
    assert re.fullmatch(r"  \d+ dimensions, \d+ metrics, \d+ variables", lines[2])
    assert re.fullmatch(r"  \d+ edges, 100\.0% of them with evidence \(\d+ pieces, each at its characters\)", lines[3])
    assert lines[5] == "1 file not read:"
    assert lines[6].startswith("  broken.pdf: it is damaged")
    assert f"The graph lies in {folder}/store/infections/snapshots/s" in done.stdout
    assert "hcg ask infections" in lines[-1] and "hcg show infections" in lines[-1]
    assert "\x1b" not in done.stdout + done.stderr
    assert "reading: 3 of 3" in done.stderr.splitlines()
    assert "dagster" not in done.stderr.lower()
    assert "Warning" not in done.stderr
    assert sorted(path.name for path in folder.iterdir()) == ["corpora", "questions", "store"]


def test_a_build_stands_until_something_that_it_read_or_made_is_another(built):
    runs = built / "store" / "dagster" / "history" / "runs"
    before = sorted(runs.iterdir())
    result = hcg("build", "infections")
    assert result.exit_code == 0, result.output
    assert re.match(r"Nothing has changed since run [0-9a-f]{8} \(\d{4}-.*\): its graph stands\.\n", result.stdout)
    assert "infections: 3 documents in 3 chunks" in result.stdout
    assert sorted(runs.iterdir()) == before, "no run was made"

    workspace = Workspace.from_environment()

    def stands(tier: str | None = None) -> bool:
        return standing_build(workspace, "infections", versions_now(workspace, "infections", tier)) is not None

    assert stands()
    assert not stands("XS")
    corpus, store = built / "corpora" / "infections", built / "store" / "infections"
    snapshot = store / "snapshots" / (store / "CURRENT").read_text().strip()
    for file in (
        *(
            corpus / name
            for name in ("infections.md", "new.txt", "corrections.yaml", "graph_spec.yaml", "outcomes.yaml")
        ),
        *(store / "assets" / "metrics.parquet", store / "pins" / "rules-S.yaml", store / "CURRENT"),
        *(snapshot / "edges.parquet", snapshot / "index" / "manifest.json", store / "last_build.json"),
    ):
        there = file.exists()
        kept = file.with_name("kept-aside")
        if there:
            file.rename(kept)
        file.write_text("corrections: []\n")
        assert not stands(), file
        file.unlink()
        if there:
            kept.rename(file)
        assert stands(), file
    assert (built / "questions" / "infections" / "small.json").write_text("[]")
    assert stands(), "questions are not what a graph is built from"


def test_show(built):
    summary = json.loads(hcg("show", "infections", "--json").stdout)
    assert (summary["corpus"], summary["documents"], summary["chunks"]) == ("infections", 3, 3)
    assert summary["share_with_evidence"] == 1.0
    assert summary["edges"] == summary["edges_with_evidence"] > 5
    assert {metric["metric"] for metric in summary["top_metrics"]} >= {"DiseaseOccurrence", "DrugUse"}
    assert Path(summary["folder"], "graph_spec.yaml").is_file()
    text = hcg("show", "infections").stdout
    assert f"{summary['edges']} edges, 100.0% of them with evidence" in text
    assert re.search(r"DiseaseOccurrence +outcome|DiseaseOccurrence +driver", text)


def test_corpora(built):
    write_tiny_corpus(built, "not yet")
    (built / "corpora" / "a*b").mkdir()
    listed = json.loads(hcg("corpora", "--json").stdout)
    assert [(row["corpus"], row["built"]) for row in listed["corpora"]] == [("infections", True), ("not yet", False)]
    assert listed["corpora"][0]["documents"] == 3
    assert [row["folder"] for row in listed["refused"]] == ["a*b"]
    result = hcg("corpora")
    assert re.search(r"infections +3 +\d+ +\d+", result.stdout)
    assert re.search(r"not yet +not built", result.stdout)
    assert "not a corpus: 'a*b' cannot name a corpus" in result.stderr


def test_ask_prints_the_answer_and_opens_its_evidence(built):
    asked = json.loads(hcg("ask", "infections", "What causes pneumonia?", "--json").stdout)
    assert "Influenza causes pneumonia" in asked["answer"]
    assert (asked["backend"], asked["answered"]) == ("rules", True)
    for piece, context in zip(asked["evidence"], asked["contexts"], strict=True):
        assert piece["document"] in TEXTS
        assert piece["quote"] == context
        assert piece["end"] - piece["start"] == len(piece["quote"])
    assert asked["cited"] and max(asked["cited"]) < len(asked["evidence"])
    text = hcg("ask", "infections", "What causes pneumonia?").stdout
    assert text.startswith(asked["answer"])
    first = asked["evidence"][0]
    assert f"{first['document']} [{first['start']}:{first['end']}]" in text
    assert " ".join(first["quote"].split()) in text


def test_ask_explains_how_its_evidence_was_found(built):
    asked = json.loads(hcg("ask", "infections", "What causes pneumonia?", "--explain", "--json").stdout)
    explained = asked["explained"]
    assert "DiseaseOccurrence" in explained["matched_metrics"]
    assert len(explained["why"]) == len(asked["evidence"]) > 0
    assert {outcome for cone in explained["cones"] for outcome in cone["outcomes"]} == set(explained["hops"])
    assert list(explained["seconds"]) == ["embed", "match", "search", "traverse", "cones", "evidence"]
    text = hcg("ask", "infections", "What causes pneumonia?", "--explain").stdout
    for heading in ("How it was found", "1. Matched ", "2. Reached ", "3. ", "Why each piece", "Time\n  embed "):
        assert heading in text
    searched = hcg("ask", "infections", "What causes pneumonia?", "--explain", "--mode", "hybrid").stdout
    assert "hybrid search, rank 1" in searched


def test_ask_in_another_mode_and_budget(built):
    asked = json.loads(hcg("ask", "infections", "What causes pneumonia?", "--mode", "hybrid", "--json").stdout)
    assert asked["mode"] == "hybrid"
    small = json.loads(hcg("ask", "infections", "What causes fever?", "--budget", "10", "--json").stdout)
    large = json.loads(hcg("ask", "infections", "What causes fever?", "--json").stdout)
    assert sum(len(text.split()) for text in small["contexts"]) < sum(len(text.split()) for text in large["contexts"])


@pytest.mark.parametrize("ending", ["json", "jsonl", "csv"])
def test_answer_takes_every_format_and_writes_one_object_a_line(built, tmp_path, ending):
    file, out = tmp_path / f"asked.{ending}", tmp_path / "deep" / "answers.jsonl"
    if ending == "json":
        file.write_text(json.dumps(QUESTIONS))
    elif ending == "jsonl":
        file.write_text("\n".join(json.dumps(question) for question in QUESTIONS))
    else:
        file.write_text("id,question\n" + "\n".join(f'{q["id"]},"{q["question"]}"' for q in QUESTIONS))
    result = hcg("answer", "infections", file, "--out", out)
    assert result.exit_code == 0, result.output
    assert re.fullmatch(
        rf"4 questions in \d+\.\d s, 4 with evidence, \d answered: {re.escape(str(out))}\n", result.stdout
    )
    rows = [json.loads(line) for line in out.read_text().splitlines()]
    assert [row["id"] for row in rows] == ["q1", "q2", "q3", "q4"]
    for row, question in zip(rows, QUESTIONS, strict=True):
        assert row["question"] == question["question"]
        assert row["mode"] in ("graph", "fallback")
        assert row["contexts"] == [piece["quote"] for piece in row["evidence"]]
        assert {"document", "start", "end", "quote"} <= set(row["evidence"][0])
    assert "Quinine cures malaria." in rows[3]["answer"]


def test_retrieve_only_leaves_the_answers_empty(built, tmp_path):
    out = tmp_path / "x.jsonl"
    questions = built / "questions" / "infections" / "small.json"
    assert hcg("answer", "infections", questions, "--out", out, "--retrieve-only").exit_code == 0
    rows = [json.loads(line) for line in out.read_text().splitlines()]
    assert [row["answer"] for row in rows] == [""] * 4
    assert all(row["contexts"] for row in rows)


def test_answers_without_a_place_go_to_the_store(built):
    result = hcg("answer", "infections", built / "questions" / "infections" / "small.json", "--mode", "naive")
    place = built / "store" / "infections" / "answers" / "small.naive.jsonl"
    assert result.stdout.endswith(f": {place}\n")
    assert len(place.read_text().splitlines()) == 4


def test_answer_without_a_file_answers_every_file_as_a_run(built):
    forget_definitions()
    result = hcg("answer", "infections")
    assert result.exit_code == 0, result.output
    assets = built / "store" / "infections" / "assets"
    assert f"4 questions answered (small.json): {assets / 'answers.parquet'}" in result.stdout
    assert f"Scores: {built / 'store' / 'infections' / 'reports' / 'benchmark_report.md'}" in result.stdout


def test_demo_builds_answers_and_says_what_to_try(data):
    write_tiny_corpus(data)
    result = hcg("demo", "infections")
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith("infections: 3 documents in 3 chunks\n")
    assert "4 questions answered (small.json)" in result.stdout
    assert "For example: How can influenza lead to respiratory failure?" in result.stdout, "a chain of causes"
    assert re.search(r"infections\.md \[\d+:\d+\]\n    “", result.stdout)
    assert 'hcg ask infections "…"' in result.stdout


def test_a_tier_for_one_build_is_said_to_be_for_one_build(built):
    result = hcg("build", "infections", "--tier", "XS")
    assert result.exit_code == 0, result.output
    assert "Tier XS holds for this build; `tier: XS` in the corpus's corpus.yaml keeps it." in result.stdout


def test_unknown_corpora_and_bad_names(built):
    for command in (["build"], ["show"], ["ask", "q"], ["answer"]):
        where = [command[0], "nix", *command[1:]]
        assert re.fullmatch(r"There is no corpus 'nix' in .*/corpora\. There are: infections\.", error_of(*where))
    assert error_of("build", "../infections").startswith("'../infections' cannot name a corpus: it holds '/'")
    assert error_of("show", "..").startswith("'..' cannot name a corpus")


def test_what_is_not_built_yet_says_how(data):
    write_tiny_corpus(data, "two words")
    for command in (["show"], ["ask", "q"], ["answer"]):
        line = error_of(command[0], "two words", *command[1:])
        assert line == "Corpus 'two words' has not been built yet: hcg build 'two words'"


def test_without_any_corpus(data):
    assert hcg("corpora").stdout == f"No corpora in {data / 'corpora'}: make a folder there with documents in it.\n"
    assert "There are: none yet: make" in error_of("build", "first")


def test_question_files_that_are_wrong_name_the_row(built, tmp_path):
    bad = tmp_path / "bad.jsonl"
    bad.write_text('{"id": "1", "question": "What?"}\n{"id": "2"}\n')
    assert error_of("answer", "infections", bad).startswith(f"{bad}, line 2: no 'question'.")
    assert error_of("answer", "infections", tmp_path / "none.json").startswith(
        f"{tmp_path / 'none.json'}: cannot be read"
    )
    assert "is no question format" in error_of("answer", "infections", tmp_path / "x.docx")
    assert "need a FILE" in error_of("answer", "infections", "--retrieve-only")
    assert error_of("ask", "infections", "  ").startswith("The question is empty")
    shutil.rmtree(built / "questions")
    assert error_of("answer", "infections").startswith(f"There are no question files in {built / 'questions'}")


def test_a_failing_stage_is_one_line_and_verbose_shows_the_rest(data):
    corpus = write_tiny_corpus(data)
    (corpus / "corpus.yaml").write_text("tier: XXL\n")
    assert error_of("build", "infections").startswith(f"{corpus / 'corpus.yaml'}:1: tier:")
    (corpus / "corpus.yaml").write_text("backend: llm\n")
    line = error_of("build", "infections")
    assert line.startswith("The llm backend needs an endpoint: set OPENAI_API_KEY, or HCG_LLM_BASE_URL")
    verbose = hcg("build", "infections", "--verbose")
    assert verbose.exit_code == 1
    assert "Traceback" in verbose.stderr and "STEP_FAILURE" in verbose.stderr
    assert verbose.stderr.splitlines()[-1] == f"error: {line}"


def test_a_wrong_option_is_told_by_its_name(built):
    result = hcg("build", "infections", "--tier", "Q")
    assert result.exit_code == 2
    assert "--tier" in result.stderr and "XS" in result.stderr


def test_help_has_examples_and_version_is_the_packages():
    overview = hcg("--help").stdout
    for command in ("build", "ask", "answer", "corpora", "show", "ui", "demo"):
        assert re.search(rf"\b{command}\b", overview)
        assert f"Example:  hcg {command}" in hcg(command, "--help").stdout
    assert re.fullmatch(r"hcg \d+\.\d+\.\d+\n", hcg("--version").stdout)


def test_output_can_be_cut_short(built):
    environment = os.environ | {"HCG_DATA": str(built)}
    command = f"{HCG} ask infections 'What causes pneumonia?' --json | head -c 1"
    done = subprocess.run(["bash", "-c", command], env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "{", "")


def test_a_terminal_gets_bars_and_colours_and_a_pipe_gets_neither(data):
    pty = pytest.importorskip("pty")
    write_tiny_corpus(data)
    main, follower = pty.openpty()
    environment = os.environ | {"HCG_DATA": str(data), "TERM": "xterm-256color", "COLUMNS": "100", "LINES": "40"}
    with subprocess.Popen(
        [HCG, "build", "infections"], env=environment, stdout=subprocess.PIPE, stderr=follower, stdin=subprocess.DEVNULL
    ) as process:
        os.close(follower)
        seen = b""
        while True:
            try:
                piece = os.read(main, 4096)
            except OSError:
                break
            if not piece:
                break
            seen += piece
        out = process.stdout.read()
    assert process.returncode == 0, seen
    assert b"3/3" in seen and "━".encode() in seen and b"\x1b[" in seen
    assert b"\x1b" not in out
