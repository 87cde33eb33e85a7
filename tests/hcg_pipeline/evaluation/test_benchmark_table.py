"""The benchmark's own table: each measure is averaged over the question types that it is for."""

import pyarrow as pa
import pytest
from test_report import system, systems, table

from hcg_pipeline.evaluation.benchmark_table import types_of
from hcg_pipeline.evaluation.report import render_report

TYPES = ["Complex Reasoning", "Contextual Summarize", "Creative Generation", "Fact Retrieval"]


@pytest.mark.parametrize(
    ("measure", "expected"),
    [
        ("correctness[j]", TYPES),
        ("rouge_l", ["Complex Reasoning", "Fact Retrieval"]),
        ("coverage[j]", ["Contextual Summarize", "Creative Generation"]),
        ("faithfulness[j]", ["Creative Generation"]),
        ("embedding_similarity", []),
        ("reference_recall@3000", []),
    ],
)
def test_types_of_graphrag_bench(measure: str, expected: list[str]) -> None:
    assert types_of(measure, TYPES) == expected


def test_types_of_epilepsyqa() -> None:
    types = ["Mechanistic", "Synthesis"]
    assert types_of("rouge_l", types) == ["Mechanistic"]
    assert types_of("coverage[j]", types) == ["Synthesis"]


def test_means_are_over_questions_of_those_types() -> None:
    common = {"tier": "S", "backend": "rules", "words": 3000}
    rows = [
        ("s", "1", "Fact Retrieval", "graph", "rouge_l", 0.25),
        ("s", "2", "Complex Reasoning", "graph", "rouge_l", 0.5),
        ("s", "3", "Complex Reasoning", "graph", "rouge_l", 0.75),
        ("s", "4", "Creative Generation", "graph", "rouge_l", 0.0),
        ("s", "1", "Fact Retrieval", "graph", "correctness[j]", 0.5),
        ("s", "4", "Creative Generation", "graph", "correctness[j]", 1.0),
        ("s", "4", "Creative Generation", "graph", "faithfulness[j]", 0.125),
        ("s", "1", "Fact Retrieval", "graph", "faithfulness[j]", 1.0),
    ]
    scores: pa.Table = table(*rows, **common)
    text = render_report("roads", scores, systems(system("graph")))
    section = text.split("## As GraphRAG-Bench has it\n")[1].split("\n## ")[0]
    assert "| measure | question types | graph |" in section
    assert "| Variables read |  | 100 |" in section
    assert "| Answer correctness (j) | all | 0.750 (2) |" in section
    assert "| Faithfulness (j) | Creative Generation | 0.125 (1) |" in section
    # without the summary: (0.25 + 0.5 + 0.75) / 3
    assert "| ROUGE-L | Complex Reasoning, Fact Retrieval | 0.500 (3) |" in section


def test_questions_of_other_types_have_no_such_table() -> None:
    scores: pa.Table = table(("s", "1", "Why", "graph", "rouge_l", 0.5), tier="S", backend="rules", words=3000)
    assert "As GraphRAG-Bench" not in render_report("roads", scores, systems(system("graph")))
