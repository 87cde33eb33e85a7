"""An expert's edits reach the specification, the graph, the index and the answers, and hold over rebuilds."""

import pytest
from fake_openai import FakeOpenAI
from test_building import build, content, table
from tiny_corpus import write_tiny_corpus

from hcg_pipeline.answering.questions import Question
from hcg_pipeline.graph.snapshot import SnapshotStore
from resources.asking import retrieve_published
from resources.workspace import Workspace

pytestmark = pytest.mark.xdist_group("building")

DISEASE, DRUG = "DiseaseOccurrence", "DrugUse"
EDITS = """\
# Agreed in March.
corrections:
- {action: rename_entity, dimension: disease, entity: influenza, to: flu, note: shorter, date: 2026-03-01}
- action: drop_edge
  source: DiseaseOccurrence(measles)
  target: DiseaseOccurrence(pneumonia)
  note: a slip
  date: 2026-03-01
- action: add_edge
  source: DrugUse(penicillin)
  target: DiseaseOccurrence(flu)
  mechanism: treats the infections that follow it
  sign: "-"
  quote: Penicillin cures pneumonia.
  note: known from practice
  date: 2026-03-02
- {action: set_role, metric: DrugUse, role: outcome, note: asked about, date: 2026-03-02}
- {action: drop_entity, dimension: disease, entity: plague, note: not here, date: 2026-03-02}
"""
LAST = "corrections.yaml:18: drop_entity 'plague': there is no such entity on disease"


def pairs(rows):
    return {(row["source"], row["target"]) for row in rows.to_pylist()}


def assert_corrected(data):
    snapshot = SnapshotStore(data / "store" / "infections").current()
    edges = {(row["source"], row["target"]): row for row in snapshot.table("edges").to_pylist()}
    assert (f"{DISEASE}(flu)", f"{DISEASE}(pneumonia)") in edges
    assert (f"{DISEASE}(measles)", f"{DISEASE}(pneumonia)") not in edges
    added = edges[f"{DRUG}(penicillin)", f"{DISEASE}(flu)"]
    assert (added["origin"], added["sign"], added["evidence"] > 0) == ("expert", "-", True)
    for text in (snapshot.spec_text, (snapshot.folder / "graph.json").read_text()):
        assert f"{DISEASE}(flu)" in text
        assert f"{DISEASE}(influenza)" not in text
    [names] = [
        row["aliases"]
        for dimension in snapshot.table("dimensions").to_pylist()
        for row in dimension["entities"]
        if row["name"] == "flu"
    ]
    assert "influenza" in names
    roles = {row["metric"]: row["role"] for row in snapshot.table("metrics").to_pylist()}
    assert roles[DRUG] == "outcome"

    questions = [
        Question(id="1", question="What does the flu cause?"),
        Question(id="2", question="Is penicillin used?"),
    ]
    found = retrieve_published(Workspace.from_environment(), "infections", "q", questions, "graph", None).to_pylist()
    matched = {row["variable"] for answer in found for row in answer["matched"]}
    assert {f"{DISEASE}(flu)", f"{DRUG}(penicillin)"} <= matched
    assert not any("influenza" in name for name in matched)
    # The quote of the edge that the expert added is evidence like any other.
    assert any("Penicillin cures pneumonia." in text for text in found[1]["contexts"])
    assert any("Influenza causes pneumonia" in text for text in found[0]["contexts"])


def test_edits_reach_everything_and_hold(data):
    folder = write_tiny_corpus(data)
    build()
    asked = table("node_edges")
    (folder / "corrections.yaml").write_text(EDITS)

    run = build()
    assert run.success
    assert [(c.asset, c.about) for c in run.failed_checks if c.name == "corrections_match"] == [
        ("corrected_edges", LAST)
    ]
    assert table("node_edges").equals(asked), "what backends are asked about stays as it was"
    assert_corrected(data)

    before = content(data / "store" / "infections")
    build()
    assert content(data / "store" / "infections") == before

    (folder / "more.txt").write_text("Influenza causes weakness. Measles causes pneumonia in children.")
    build()
    assert_corrected(data)
    assert (f"{DISEASE}(measles)", f"{DISEASE}(pneumonia)") in pairs(table("node_edges"))

    run = build(tier="XS")
    assert run.success, run.error
    assert_corrected(data)

    (folder / "corrections.yaml").unlink()
    run = build()
    assert "corrections_match" not in [check.name for check in run.failed_checks]
    assert (f"{DISEASE}(influenza)", f"{DISEASE}(pneumonia)") in pairs(
        SnapshotStore(data / "store" / "infections").current().table("edges")
    )


def test_with_a_model_an_edit_makes_no_call(data, monkeypatch):
    folder = write_tiny_corpus(data)
    with FakeOpenAI() as fake:
        monkeypatch.setenv("HCG_LLM_BASE_URL", fake.base_url)
        build()
        metric = table("metrics")["metric"][0].as_py()
        calls = fake.chat_calls
        (folder / "corrections.yaml").write_text(
            f"corrections:\n- {{action: rename_metric, metric: {metric}, to: Renamed, note: n, date: 2026-03-01}}\n"
        )
        run = build()
        assert run.success, run.error
        assert fake.chat_calls == calls
        published = SnapshotStore(data / "store" / "infections").current().table("metrics")["metric"].to_pylist()
        assert "Renamed" in published and metric not in published


def test_outcomes_yaml_gives_the_roles(data):
    folder = write_tiny_corpus(data)
    (folder / "outcomes.yaml").write_text("terminals: [DrugUse]\noutcomes: ['Symptom*']\n")
    build()
    roles = dict(zip(*(table("metrics")[name].to_pylist() for name in ("metric", "role")), strict=True))
    assert roles["DrugUse"] == "terminal"
    assert {role for metric, role in roles.items() if metric.startswith("Symptom")} == {"outcome"}
    assert roles["DiseaseOccurrence"] == "driver"
    assert not any(source.startswith("DrugUse") for source, _ in pairs(table("corrected_edges")))


def test_the_quality_report_is_written_beside_the_snapshots(data):
    folder = write_tiny_corpus(data)
    run = build()
    reports = data / "store" / "infections" / "reports"
    page = (reports / "quality_report.md").read_text()
    assert page.startswith("# Quality of the graph of infections\n")
    assert "](quality_report.svg)" in page
    assert (reports / "quality_report.svg").read_bytes().startswith(b"<?xml")
    assert "data:image/svg+xml;base64," in run.metadata["quality_report"]["report"]
    assert "No document came after the vocabulary was made" in page
    assert run.metadata["quality_report"]["drift"] == 0.0

    new = "Rust damages bridges. Frost damages roads. Salt causes rust on bridges. Oil prevents rust.\n\n" * 30
    (folder / "metal.txt").write_text(new)
    run = build()
    [check] = [check for check in run.failed_checks if check.name == "vocabulary_fits"]
    assert "`hcg respec` shows what a new one would change" in check.about
    assert "bridge (" in (reports / "quality_report.md").read_text()
