"""What the asset checks find: exactly the rows that are wrong."""

import dagster as dg
import pyarrow as pa
import pytest

from assets import checks
from hcg_pipeline.specification.vocabulary import Dimension, Metric, Vocabulary

WARN, ERROR = dg.AssetCheckSeverity.WARN, dg.AssetCheckSeverity.ERROR
DOCUMENTS = pa.table({"document_id": ["d1", "d2"], "text": ["Rain causes floods.", "Ünïcode 💧 text"]})
VOCABULARY = Vocabulary(
    (Dimension("event", "what happens"), Dimension("place", "where")),
    (Metric("Risk", ("event", "place"), "", "x"), Metric("Level", ("event",), "", "x")),
)


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
    assert str(row[1]) in result.metadata["rows"].value


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
    result = checks.failed_windows("variables", failed, asked, allowed)
    assert (result.passed, result.severity) == (passed, WARN)


def test_edges_without_evidence_are_listed():
    edges = pa.table(
        {"edge_id": ["e1", "e2"], "source": ["A(a)", "B(b)"], "target": ["C(c)"] * 2, "mechanism": ["m"] * 2}
    )
    result = checks.edges_have_evidence(edges, pa.table({"edge_id": ["e1", "e1"]}))
    assert (result.passed, result.severity) == (False, WARN)
    assert result.metadata["share_with_evidence"].value == 0.5
    assert "B\\(b\\)" in result.metadata["rows"].value and "A\\(a\\)" not in result.metadata["rows"].value
    assert checks.edges_have_evidence(edges, pa.table({"edge_id": ["e2", "e1"]})).passed
    assert checks.edges_have_evidence(edges.slice(0, 0), pa.table({"edge_id": pa.array([], pa.string())})).passed


def test_answers_without_evidence_are_listed():
    answers = pa.table(
        {
            "question_set": ["s", "s"],
            "id": ["q1", "q2"],
            "question": ["What?", "Why?"],
            "mode": ["graph", "fallback"],
            "contexts": pa.array([["text"], []], pa.list_(pa.string())),
        }
    )
    result = checks.answers_have_evidence(answers)
    assert (result.passed, result.metadata["without_evidence"].value) == (False, 1)
    assert "q2" in result.metadata["rows"].value and "q1" not in result.metadata["rows"].value


def test_rejected_files_are_listed_with_their_reasons():
    rejected = pa.table({"path": ["a.pdf"], "media_type": ["application/pdf"], "bytes": [3], "reason": ["it is empty"]})
    result = checks.no_rejected_files(rejected)
    assert (result.passed, result.severity) == (False, WARN)
    assert "a.pdf" in result.metadata["rows"].value and "it is empty" in result.metadata["rows"].value
    assert checks.no_rejected_files(rejected.slice(0, 0)).passed
