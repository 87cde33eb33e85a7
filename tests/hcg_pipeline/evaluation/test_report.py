"""The Markdown report: which tables it has and what stands in their cells."""

import pyarrow as pa

from hcg_pipeline.evaluation.report import render_report
from hcg_pipeline.tables import SCORES


def table(*rows):
    names = ("question_set", "id", "question_type", "mode", "measure", "value")
    return pa.Table.from_pylist([dict(zip(names, row, strict=True)) for row in rows], schema=SCORES)


def test_means_by_type_and_mode_with_their_counts():
    text = render_report(
        "roads",
        table(
            ("s", "1", "Fact", "graph", "rouge_l", 0.5),
            ("s", "2", "Fact", "graph", "rouge_l", 0.25),
            ("s", "3", "Why", "fallback", "rouge_l", 1.0),
            ("s", "1", "Fact", "hybrid", "rouge_l", 0.125),
        ),
    )
    assert "# Scores of roads\n" in text
    assert "| question type | graph | fallback | graph + fallback | hybrid |" in text
    assert "| Fact | 0.375 (2) |  | 0.375 (2) | 0.125 (1) |" in text
    assert "| Why |  | 1.000 (1) | 1.000 (1) |  |" in text
    assert "| all | 0.375 (2) | 1.000 (1) | 0.583 (3) | 0.125 (1) |" in text


def test_measures_stand_in_their_order_under_readable_titles():
    text = render_report(
        "roads",
        table(
            ("s", "1", "", "graph", "rouge_l", 0.5),
            ("s", "1", "", "graph", "another", 0.5),
            ("s", "1", "", "graph", "reference_recall@3000", 0.5),
        ),
    )
    titles = [line for line in text.splitlines() if line.startswith("## ")]
    assert titles == ["## Reference-term recall at 3,000 words", "## ROUGE-L", "## another"]
    # One type alone needs no row for all.
    assert "| untyped | 0.500 (1) |" in text
    assert "| all |" not in text


def test_names_from_files_bring_no_markup():
    text = render_report("a|b", table(("s", "1", "x | <script> *y*", "graph", "rouge_l", 0.5)))
    assert "# Scores of a\\|b\n" in text
    assert "| x \\| &lt;script&gt; \\*y\\* | 0.500 (1) |" in text


def test_nothing_scored_is_said():
    assert "No question of this corpus has a reference answer" in render_report("roads", table())
