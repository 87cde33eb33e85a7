"""The expert's commands: what they print and write, and their errors, each in one line."""

import csv
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import networkx as nx
import pytest
from command_line import CliRunner
from fresh_definitions import forget_definitions
from tiny_corpus import write_tiny_corpus

from hcg import app
from hcg_pipeline.graph.snapshot import SnapshotStore
from hcg_pipeline.specification.corrections import parse_corrections
from hcg_pipeline.specification.outcomes import read_outcomes

pytestmark = pytest.mark.xdist_group("cli")

FLU, LUNGS = "DiseaseOccurrence(influenza)", "DiseaseOccurrence(pneumonia)"


def hcg(*arguments):
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert result.exit_code == 0, result.output
    return result.stdout


def error_of(*arguments):
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert result.exit_code == 1, result.output
    [*_, line] = result.stderr.splitlines()
    assert "Traceback" not in result.stderr
    return line.removeprefix("error: ")


@pytest.fixture(scope="module")
def template(tmp_path_factory):
    folder = tmp_path_factory.mktemp("template")
    write_tiny_corpus(folder)
    keys = ("DAGSTER_HOME", "OPENAI_API_KEY", "HCG_LLM_BASE_URL")
    environment = os.environ | {"HCG_DATA": str(folder)} | dict.fromkeys(keys, "")
    command = [str(Path(sys.executable).parent / "hcg"), "build", "infections"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture
def built(template, data):
    shutil.copytree(template, data, dirs_exist_ok=True)
    forget_definitions()
    return data / "corpora" / "infections"


def published(data):
    return SnapshotStore(data / "store" / "infections").current()


def test_an_edge_is_shown_with_the_place_of_its_words(built, data):
    shown = hcg("edge", "infections", FLU, LUNGS)
    lines = shown.splitlines()
    assert lines[0] == f"{FLU} → {LUNGS}"
    assert lines[1].startswith("  sign +, confidence 0.")
    documents = published(data).table("documents").to_pylist()
    [text] = [row["text"] for row in documents if row["path"] == "infections.md"]
    place = next(line for line in lines if line.startswith("  infections.md ["))
    start, end = place.split("[")[1].split("]")[0].split(":")
    assert lines[lines.index(place) + 1].strip() == text[int(start) : int(end)]
    [row] = json.loads(hcg("edge", "infections", FLU, LUNGS, "--json"))
    assert row["evidence"][0]["document"] == "infections.md"
    assert len(json.loads(hcg("edge", "infections", LUNGS, "--json"))) > 1
    assert f"Variables close to 'DiseaseOccurrence(flu)': {FLU}" in error_of(
        "edge", "infections", "DiseaseOccurrence(flu)"
    )


def test_a_correction_is_tried_and_appended_and_listed(built):
    file = built / "corrections.yaml"
    file.write_text("# What we agreed on.\n")
    hcg("correct", "infections", "drop-edge", FLU, LUNGS, "--note", "only in the old")
    hcg("correct", "infections", "rename-entity", "disease", "influenza", "flu", "--note", "shorter: 'flu'")
    text = file.read_text()
    assert text.startswith('# What we agreed on.\ncorrections:\n- action: "drop_edge"\n')
    drop, rename = (correction.edit for correction in parse_corrections(text, "c"))
    assert (drop.source, drop.target, drop.note) == (FLU, LUNGS, "only in the old")
    assert (rename.entity, rename.to, rename.note) == ("influenza", "flu", "shorter: 'flu'")
    listed = hcg("correct", "infections")
    assert f"corrections.yaml:3  {drop.date}  drop_edge {FLU}, {LUNGS}\n    only in the old" in listed
    # The name that an earlier edit left is the one that a later edit meets.
    why = error_of("correct", "infections", "drop-entity", "disease", "influenza", "--note", "x")
    assert why.startswith("Nothing was written: drop_entity 'influenza': there is no such entity on disease.")
    assert file.read_text() == text


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("explode", "--note", "x"), "'explode' is no edit: choose one of rename_entity, "),
        (("drop-edge", "a", "--note", "x"), "drop_edge takes SOURCE, TARGET; 1 given"),
        (("drop-edge", FLU, LUNGS), "An edit needs a reason that others can read: add --note"),
        (("drop-edge", FLU, LUNGS, "--sign", "+", "--note", "x"), "drop_edge: sign: Extra inputs are not permitted"),
        (("set-role", "DrugUse", "boss", "--note", "x"), "set_role: role: Input should be 'terminal', 'outcome' or"),
    ],
)
def test_a_correction_that_is_wrong_is_one_line_and_writes_nothing(built, arguments, message):
    assert error_of("correct", "infections", *arguments).startswith(message)
    assert not (built / "corrections.yaml").exists()


def test_a_new_vocabulary_is_shown_before_it_replaces_the_old_one(built, data):
    pin = data / "store" / "infections" / "pins" / "rules-S.yaml"
    before = pin.read_bytes()
    assert hcg("respec", "infections").splitlines() == ["What would be proposed today is what is pinned."]
    (built / "metal.txt").write_text("Rust damages bridges. Frost damages bridges. Salt causes rust.\n" * 4)
    shown = hcg("respec", "infections")
    assert "+ dimension" in shown or "~ dimension" in shown
    assert "Nothing was replaced: --yes pins what is proposed" in shown
    assert pin.read_bytes() == before
    changes = json.loads(hcg("respec", "infections", "--json"))
    assert {change["kind"] for change in changes} <= {"added", "removed", "changed"}
    assert f"Pinned in {pin}" in hcg("respec", "infections", "--yes")
    assert pin.read_bytes() != before
    assert json.loads(hcg("respec", "infections", "--json")) == []


def test_a_persons_own_specification_is_never_overwritten(built, data):
    own = shutil.copy(published(data).folder / "graph_spec.yaml", built)
    text = Path(own).read_text()
    assert error_of("respec", "infections", "--yes").endswith(
        "is your own specification and stays: move it away, then ask again."
    )
    assert Path(own).read_text() == text


def test_outcomes_are_shown_and_written_once(built, data):
    shown = hcg("outcomes", "infections")
    assert (published(data).folder / "outcomes.yaml").read_text() == shown
    hcg("outcomes", "infections", "--write")
    assert (built / "outcomes.yaml").read_text() == shown
    assert "DiseaseOccurrence" in read_outcomes(built).outcomes
    assert "is there already and stays as it is" in error_of("outcomes", "infections", "--write")


def test_exports_open_in_their_tools(built, tmp_path):
    out = tmp_path / "new folder"
    hcg("export", "infections", "--out", out / "g.graphml")
    hcg("export", "infections", "--format", "json", "--out", out / "g.json")
    hcg("export", "infections", "--format", "cypher", "--out", out / "g.cypher")
    hcg("export", "infections", "--format", "csv", "--out", out / "csv")
    network = nx.read_graphml(out / "g.graphml")
    assert nx.node_link_graph(json.loads((out / "g.json").read_text()), edges="edges").edges == network.edges
    assert (out / "g.cypher").read_text().count("UNWIND") == 2
    with (out / "csv" / "edges.csv").open(newline="", encoding="utf-8") as file:
        assert {(row["source"], row["target"]) for row in csv.DictReader(file)} == set(network.edges)
    assert sorted(path.name for path in (out / "csv").iterdir()) == ["edges.csv", "evidence.csv", "nodes.csv"]


def test_pictures(built, tmp_path):
    hcg("picture", "infections", "--out", tmp_path / "g.svg")
    hcg("picture", "infections", "--out", tmp_path / "g.PNG", "--edges", "5")
    assert b"<svg" in (tmp_path / "g.svg").read_bytes()
    assert (tmp_path / "g.PNG").read_bytes()[:4] == b"\x89PNG"
    assert error_of("picture", "infections", "--out", "g.gif") == "g.gif: a picture ends in .svg or .png"
