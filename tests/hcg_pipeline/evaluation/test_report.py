"""The report: which tables it has, what stands in their cells, and the command under each."""

import pyarrow as pa

from hcg_pipeline.evaluation.judging.answers import MISSING
from hcg_pipeline.evaluation.page import as_html
from hcg_pipeline.evaluation.plots import draw_plots, frontier
from hcg_pipeline.evaluation.report import quality_of, render_report
from hcg_pipeline.evaluation.systems import SYSTEMS, merge_systems, named_scores
from hcg_pipeline.tables import SCORES

COMMAND = "Again: `hcg evaluate roads --mode graph --mode hybrid --budget 3000`"


def table(*rows, **common):
    names = ("question_set", "id", "question_type", "mode", "measure", "value")
    return pa.Table.from_pylist([{**dict(zip(names, row, strict=True)), **common} for row in rows], schema=SCORES)


def system(mode, tier="S", **values):
    row = {
        "question_set": "s", "file": "", "mode": mode, "tier": tier, "backend": "rules", "words": 3000,
        "snapshot_id": f"s{tier}", "variables": 100, "edges": 50, "questions": 20, "failed": 0,
        "context_words": 2900.0, "tokens": 0.0, "milliseconds": None,
    }  # fmt: skip
    return {**row, **values}


def systems(*rows):
    return pa.Table.from_pylist(list(rows), schema=SYSTEMS)


def twenty(mode, value, measure="rouge_l", kind="Fact", **common):
    """Scores of twenty questions that differ a little from one another."""
    rows = [("s", str(number), kind, mode, measure, value + number / 950) for number in range(20)]
    return table(*rows, **{"tier": "S", "backend": "rules", "words": 3000, **common})


def test_means_by_type_and_system_with_their_counts():
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
    assert "| question type | graph | hybrid |" in text
    assert "| Fact | 0.375 (2) | 0.125 (1) |" in text
    assert "| Why | 1.000 (1) |  |" in text, "fallback is what mode graph does where nothing matches"
    assert "| all | 0.583 (3) | 0.125 (1) |" in text


def test_measures_stand_in_their_order_under_readable_titles():
    text = render_report(
        "roads",
        table(
            ("s", "1", "", "graph", "rouge_l", 0.5),
            ("s", "1", "", "graph", "another", 0.5),
            ("s", "1", "", "graph", "reference_recall@3000", 0.5),
            ("s", "1", "", "graph", "correctness[a-model]", 0.5),
        ),
    )
    titles = [line for line in text.splitlines() if line.startswith("## ")]
    assert titles == [
        *("## Summary", "## Answer correctness (a-model)", "## Reference-term recall at 3,000 words"),
        *("## ROUGE-L", "## another"),
    ]
    # One type alone needs no row for all.
    assert "| untyped | 0.500 (1) |" in text
    assert "| all |" not in text


def test_a_win_and_a_tie_are_called_so():
    scores = pa.concat_tables([twenty("graph", 0.5), twenty("hybrid", 0.3), twenty("naive", 0.3)])
    text = render_report("roads", scores, systems(system("graph"), system("hybrid"), system("naive")))
    lines = [line for line in text.splitlines() if line.startswith("| ROUGE-L | ")]
    assert (
        "| ROUGE-L | graph | hybrid | 20 | 0.510 | 0.310 | +0.200 | +0.200 to +0.200 | < 0.001 | < 0.001 | win |"
        in lines
    )
    assert any("| hybrid | naive | 20 | 0.310 | 0.310 | +0.000 " in line and line.endswith("| tie |") for line in lines)


def test_under_every_table_of_numbers_stands_the_command_that_makes_it():
    scores = pa.concat_tables([twenty("graph", 0.5), twenty("hybrid", 0.3)])
    text = render_report("roads", scores, systems(system("graph"), system("hybrid")), plots="p.svg")
    sections = text.split("\n## ")[1:]
    assert [section.splitlines()[0] for section in sections] == [
        *("Systems", "Summary", "Quality, size and cost", "Modes compared", "ROUGE-L"),
    ]
    assert all(COMMAND in section for section in sections[1:])
    assert "![rouge" in text and "(p.svg)" in text


def test_tiers_are_compared_with_each_other_and_built_by_the_command():
    scores = pa.concat_tables([twenty("graph", 0.3), twenty("graph", 0.5, tier="M")])
    text = render_report("roads", scores, systems(system("graph"), system("graph", "M", variables=200)))
    assert "## Tiers compared" in text and "## Modes compared" not in text
    assert "| ROUGE-L | graph, tier M | graph, tier S | 20 | 0.510 | 0.310 |" in text
    again = "hcg build roads --tier $tier && hcg evaluate roads --mode graph --budget 3000"
    assert f"Again: `for tier in M S; do {again}; done`" in text


def test_the_frontier_holds_what_no_smaller_system_beats():
    rows = merge_systems(
        systems(
            system("graph", "S", variables=100),
            system("graph", "M", variables=200),
            system("graph", "L", variables=300),
            system("hybrid", "S"),
        )
    )
    quality = {"graph, tier S": 0.8, "graph, tier M": 0.7, "graph, tier L": 0.9, "hybrid, tier S": 0.5}
    assert frontier(rows, quality) == ["hybrid, tier S", "graph, tier S", "graph, tier L"]


def test_runs_of_a_question_are_averaged_and_their_spread_is_shown():
    scores = pa.concat_tables([twenty("graph", 0.2, run=1), twenty("graph", 0.4, run=2)])
    text = render_report("roads", scores, systems(system("graph")))
    assert "| Fact | 0.310 (20) |" in text
    assert "| graph | ROUGE-L | 2 | 0.310 ± 0.141 |" in text


def test_two_judges_stand_side_by_side():
    parts = [
        twenty(mode, value + shift, f"correctness[{judge}]")
        for mode, value in (("graph", 0.5), ("hybrid", 0.3))
        for judge, shift in (("mild", 0.1), ("stern", 0.0))
    ]
    text = render_report("roads", pa.concat_tables(parts), systems(system("graph"), system("hybrid")))
    assert "| graph | mild | 20 | 0.610 |" in text
    assert "| mild | stern | 2 | 40 | +1.00 | +1.00 | -0.100 |" in text


def test_missing_judge_scores_are_counted_by_reason():
    row = {"question_set": "s", "question_type": "", "mode": "graph", "measure": "coverage[j]", "reason": "no reply"}
    missing = pa.Table.from_pylist([{**row, "id": "1"}, {**row, "id": "2"}], schema=MISSING)
    text = render_report("roads", twenty("graph", 0.5), systems(system("graph")), missing)
    assert "| coverage\\[j\\] | no reply | 2 |" in text


def test_a_system_is_named_by_what_sets_it_apart():
    scores = pa.concat_tables([twenty("graph", 0.5), twenty("fallback", 0.1), twenty("hybrid", 0.3, words=750)])
    assert set(named_scores(scores)["system"].to_pylist()) == {"graph, 3,000 words", "hybrid, 750 words"}
    assert quality_of(named_scores(twenty("graph", 0.5)))[0] == "rouge_l"


def test_names_from_files_bring_no_markup():
    text = render_report("a|b", table(("s", "1", "x | <script> *y*", "graph", "rouge_l", 0.5)))
    assert "# Scores of a\\|b\n" in text
    assert "| x \\| &lt;script&gt; \\*y\\* | 0.500 (1) |" in text
    page = as_html("a<b", text)
    assert "<script>" not in page and "<td>x | &lt;script&gt; *y*</td>" in page
    assert "<title>a&lt;b</title>" in page


def test_page_and_plots_are_the_same_every_time_and_hold_all_that_they_need():
    scores = pa.concat_tables([twenty("graph", 0.5), twenty("hybrid", 0.3)])
    known = systems(system("graph"), system("hybrid"))
    measure, quality = quality_of(named_scores(scores))
    svg = draw_plots(merge_systems(known), quality, measure)
    assert svg == draw_plots(merge_systems(known), quality, measure)
    assert b">graph</text>" in svg and b">hybrid</text>" in svg
    page = as_html("roads", render_report("roads", scores, known, plots="p.svg"), "p.svg", svg)
    assert 'src="data:image/svg+xml;base64,' in page
    assert "http" not in page.split("<body>")[1].split("base64")[0]


def test_nothing_scored_is_said():
    assert "No question of this corpus has a reference answer" in render_report("roads", table())
