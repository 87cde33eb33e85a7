"""What the asset checks find: exactly the rows that are wrong."""

import dagster as dg
import pyarrow as pa
import pytest

from assets import asking_checks, checks
from assets.stage_run import failure_table
from hcg_pipeline.backends.protocol import Failure
from hcg_pipeline.specification.vocabulary import Dimension, Metric, Vocabulary

WARN, ERROR = dg.AssetCheckSeverity.WARN, dg.AssetCheckSeverity.ERROR
DOCUMENTS = pa.table({"document_id": ["d1", "d2"], "text": ["Rain causes floods.", "Ünïcode 💧 text"]})
VOCABULARY = Vocabulary(
    (Dimension("event", "what happens"), Dimension("place", "where")),
    (Metric("Risk", ("event", "place"), "", "x"), Metric("Level", ("event",), "", "x")),
)


def shown(result, name="rows"):
    """The rows that a check's metadata shows."""
    return [dict(record.data) for record in result.metadata[name].records]


def passages(*rows):
    names = ("document_id", "start", "end", "quote")
    return pa.Table.from_pylist([dict(zip(names, row, strict=True)) for row in rows])


def test_spans_are_counted_in_characters():
    good = passages(("d1", 0, 4, "Rain"), ("d2", 8, 9, "💧"), ("d2", 10, 14, "text"))
    result = checks.spans_exact("seed_relations", DOCUMENTS, good, "quote")
    assert (result.passed, result.severity, result.metadata["checked"].value) == (True, ERROR, 3)


@pytest.mark.parametrize(
    "row",
    [("d1", 1, 5, "Rain"), ("d1", 0, 5, "Rain"), ("d9", 0, 4, "Rain"), ("d1", 0, 4, "rain"), ("d1", 90, 94, "Rain")],
)
def test_a_span_that_is_not_exact_fails_and_is_shown(row):
    result = checks.spans_exact("seed_relations", DOCUMENTS, passages(("d1", 0, 4, "Rain"), row), "quote")
    assert not result.passed
    assert result.description == "1 of 2 are not the words at their place."
    assert [(found["document_id"], found["start"]) for found in shown(result)] == [(row[0], row[1])]


def test_a_vocabulary_is_closed_over_names_and_signatures():
    def found(*rows):
        table = pa.Table.from_pylist(
            [{"metric": metric, "entities": list(entities)} for metric, entities in rows],
            schema=pa.schema([("metric", pa.string()), ("entities", pa.list_(pa.string()))]),
        )
        return checks.vocabulary_closed("variables", table, VOCABULARY)

    assert found(("Risk", ("flood", "valley")), ("Level", ("flood",))).passed
    assert found().passed
    for wrong in (("Cost", ("flood",)), ("Risk", ("flood",)), ("Level", ("flood", "valley")), ("Level", ())):
        result = found(("Level", ("rain",)), wrong)
        assert (result.passed, result.metadata["wrong"].value, result.severity) == (False, 1, ERROR)


@pytest.mark.parametrize(
    ("failed", "asked", "allowed", "passed"),
    [(0, 0, 0.0, True), (0, 10, 0.0, True), (1, 10, 0.1, True), (1, 10, 0.05, False), (10, 10, 0.99, False)],
)
def test_the_share_of_failed_windows(failed, asked, allowed, passed):
    failures = failure_table([Failure("reading", f"w{number}", "no JSON", "lorem") for number in range(failed)])
    result = asking_checks.failed_windows("variables", failures, asked, allowed, "/store/failures/variables.parquet")
    assert (result.passed, result.severity) == (passed, WARN)
    if failed:
        assert shown(result)[0] == {"stage": "reading", "key": "w0", "reason": "no JSON", "raw": "lorem"}
        assert result.metadata["failed_calls_file"].value == "/store/failures/variables.parquet"


@pytest.mark.parametrize(
    ("spent", "bounds", "near"),
    [
        ({}, {}, None),
        ({"calls": 900, "USD": 3.0}, {}, None),
        ({"calls": 80, "USD": 0.5}, {"calls": 100, "USD": 1.0}, None),
        ({"calls": 81, "USD": 0.5}, {"calls": 100, "USD": 1.0}, "81% of the budget of 100 calls is spent"),
        ({"calls": 1, "USD": 2.0}, {"calls": 100, "USD": 1.5}, "133% of the budget of 1.5 USD is spent"),
        ({"calls": 1}, {"USD": 1.5}, None),
    ],
)
def test_a_budget_that_is_nearly_spent(spent, bounds, near):
    result = asking_checks.cost_within_budget("variables", spent, bounds)
    assert (result.passed, result.severity) == (near is None, WARN)
    assert (result.description or "").startswith(near or "")
    assert {name: value.value for name, value in result.metadata.items()} == {
        **{f"spent_{what}": amount for what, amount in spent.items()},
        **{f"budget_{what}": amount for what, amount in bounds.items()},
    }


def test_an_index_out_of_step_with_its_graph():
    assert checks.index_matches_graph("s1", "s1", []).passed
    result = checks.index_matches_graph("s1", "s1", [{"table": "edges", "row": "e1", "only": "graph"}])
    assert (result.passed, result.severity) == (False, ERROR)
    assert result.description.startswith("1 rows are in only one of graph and index: ")
    assert shown(result) == [{"table": "edges", "row": "e1", "only": "graph"}]
    assert checks.index_matches_graph("s1", "s0", []).description.startswith("readers see s0, not s1: ")


def test_edges_without_evidence_are_listed():
    edges = pa.table(
        {"edge_id": ["e1", "e2"], "source": ["A(a)", "B(b)"], "target": ["C(c)"] * 2, "mechanism": ["m"] * 2}
    )
    result = checks.edges_have_evidence(edges, pa.table({"edge_id": ["e1", "e1"]}))
    assert (result.passed, result.severity) == (False, WARN)
    assert result.metadata["share_with_evidence"].value == 0.5
    assert [row["source"] for row in shown(result)] == ["B(b)"]
    assert checks.edges_have_evidence(edges, pa.table({"edge_id": ["e2", "e1"]})).passed
    assert checks.edges_have_evidence(edges.slice(0, 0), pa.table({"edge_id": pa.array([], pa.string())})).passed


def test_answers_without_evidence_are_listed():
    answers = pa.table(
        {
            "question_set": ["s"] * 4,
            "id": ["q1", "q2", "q3", "q4"],
            "question": ["What?", "Why?", "Who?", "When?"],
            "mode": ["graph", "fallback", "graph", "graph"],
            "contexts": pa.array([["text"], [], ["text"], ["text"]], pa.list_(pa.string())),
            "answered": [True, False, True, False],
            "cited": pa.array([[0], [], [], []], pa.list_(pa.int64())),
        }
    )
    result = checks.answers_have_evidence(answers)
    assert not result.passed
    assert (result.metadata["without_evidence"].value, result.metadata["without_citation"].value) == (1, 1)
    assert [row["id"] for row in shown(result)] == ["q2", "q3"], "q4 is said to have no answer, which needs no citation"
    assert checks.answers_have_evidence(answers.slice(0, 1)).passed
    assert checks.answers_have_evidence(answers.slice(0, 0)).passed


def test_rejected_files_are_listed_with_their_reasons():
    rejected = pa.table({"path": ["a.pdf"], "media_type": ["application/pdf"], "bytes": [3], "reason": ["it is empty"]})
    result = checks.no_rejected_files(rejected)
    assert (result.passed, result.severity) == (False, WARN)
    assert [(row["path"], row["reason"]) for row in shown(result)] == [("a.pdf", "it is empty")]
    assert checks.no_rejected_files(rejected.slice(0, 0)).passed
