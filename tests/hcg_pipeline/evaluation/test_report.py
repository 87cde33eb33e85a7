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
        "context_words": 2900.0, "tokens": 0.0, "milliseconds": None, "usd": None, "answered": 19.0, "model": None,
        "embedding_model": "vectors", "runs": 1, "asked": "same",
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
        "| ROUGE-L | graph | **beats** | hybrid | +0.200 | +0.200 to +0.200 | < 0.001 | < 0.001 | 0.510 | 0.310 | 20 |"
        in lines
    )
    tie = "| ROUGE-L | hybrid | ties with | naive | +0.000 | +0.000 to +0.000 | 1.000 | 1.000 | 0.310 | 0.310 | 20 |"
    assert tie in lines
    assert "- graph beats hybrid (+0.200, 95 % +0.200 to +0.200, q < 0.001, 20 questions)" in text


def test_under_every_table_of_numbers_stands_the_command_that_makes_it():
    scores = pa.concat_tables([twenty("graph", 0.5), twenty("hybrid", 0.3)])
    text = render_report("roads", scores, systems(system("graph"), system("hybrid")), plots="p.svg")
    sections = text.split("\n## ")[1:]
    assert [section.splitlines()[0] for section in sections] == [
        *("In short", "Systems", "Summary", "Quality, size and cost", "Modes compared", "Questions to look at"),
        "ROUGE-L",
    ]
    assert all(COMMAND in section for section in sections[2:])
    assert "![ROUGE-L against size and cost](p.svg)" in text


def test_tiers_are_compared_with_each_other_and_built_by_the_command():
    scores = pa.concat_tables([twenty("graph", 0.3), twenty("graph", 0.5, tier="M")])
    text = render_report("roads", scores, systems(system("graph"), system("graph", "M", variables=200)))
    assert "## Tiers compared" in text and "## Modes compared" not in text
    assert "| ROUGE-L | graph, tier M | **beats** | graph, tier S | +0.200 |" in text
    again = "hcg build roads --tier $tier && hcg evaluate roads --mode graph --budget 3000"
    assert f"Again: `for tier in S M; do {again}; done`" in text


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
    assert "| system | answers | mild | stern |" in text and "| graph | 20 | 0.610 | 0.510 |" in text
    assert "| mild | stern | 2 | 40 | +1.00 | +1.00 | -0.100 |" in text
    assert "| a | b | mild | stern |" in text and "| graph | hybrid | win (+0.200) | win (+0.200) |" in text
    assert "Judged by mild, stern (`HCG_JUDGE_MODEL`). The command takes" in text


def test_missing_judge_scores_are_counted_by_reason():
    row = {"question_set": "s", "question_type": "", "mode": "graph", "measure": "coverage[j]", "reason": "no reply"}
    missing = pa.Table.from_pylist([{**row, "id": "1"}, {**row, "id": "2"}], schema=MISSING)
    text = render_report("roads", twenty("graph", 0.5), systems(system("graph")), missing)
    assert "| graph | coverage\\[j\\] | no reply | 2 |" in text
    assert "**2 judged scores are missing**" in text


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
    assert b">1  graph</text>" in svg and b">2  hybrid</text>" in svg
    assert b"Quality and tokens" not in svg, "without a model there are no tokens to plot"
    asked = systems(system("graph", tokens=2000.0), system("hybrid", tokens=1000.0))
    assert b"Quality and tokens" in draw_plots(merge_systems(asked), quality, measure)
    page = as_html("roads", render_report("roads", scores, known, plots="p.svg"), "p.svg", svg)
    assert 'src="data:image/svg+xml;base64,' in page
    assert "http" not in page.split("<body>")[1].split("base64")[0]


def test_nothing_scored_is_said():
    assert "No question of this corpus has a reference answer" in render_report("roads", table())


def test_what_a_system_is_and_costs_stands_in_one_row():
    rows = systems(
        system("graph", backend="llm", model="a_model", tokens=1500.0, usd=0.00125, failed=2, milliseconds=4.25),
        system("hybrid", backend="none", answered=None, tokens=0.0, usd=0.0),
    )
    scores = pa.concat_tables([twenty("graph", 0.5, backend="llm"), twenty("hybrid", 0.3, backend="none")])
    text = render_report("roads", scores, rows)
    assert "| graph, llm backend | S | a\\_model | 100 / 50 | 20 | 2 | 19 | 2,900 | 1,500 | 0.00125 | 4.2 |" in text
    assert "| hybrid, evidence alone | S | nobody | 100 / 50 | 20 | 0 |  | 2,900 | 0 | 0 |  |" in text
    assert "Graphs: sS (tier S)." in text and "similarities of texts, are by vectors." in text
    assert "Answered by a\\_model (`HCG_LLM_MODEL`)." in text


def test_measures_that_no_run_changes_are_not_listed_under_runs():
    parts = [twenty("graph", value, run=run) for run, value in ((1, 0.2), (2, 0.4))]
    parts += [twenty("graph", 0.5, "reference_recall@750", run=run) for run in (1, 2)]
    runs = render_report("roads", pa.concat_tables(parts), systems(system("graph", runs=2))).split("## Runs")[1]
    assert "| graph | ROUGE-L | 2 |" in runs and "Reference-term recall" not in runs
    assert "--budget 3000 --runs 2`" in runs


def test_a_page_lists_its_sections_and_links_to_them():
    page = as_html("roads", "# Scores\n\n## First\n\ntext\n\n## Second & last\n")
    assert '<a href="#s1">First</a>\n<a href="#s2">Second &amp; last</a>' in page
    assert '<h2 id="s2">Second &amp; last</h2>' in page
    assert page.index("<nav>") < page.index('<h2 id="s1">')
    assert "<nav>" not in as_html("roads", "# Scores\n\n## Alone\n")


def test_questions_on_which_two_systems_differ_most_are_named():
    graph = {"q1": 0.9, "q2": 0.5, "q3": 0.25, "q4": 0.75, "q5": 0.0}
    hybrid = {"q1": 0.1, "q2": 0.5, "q3": 0.75, "q4": 0.5, "q6": 1.0}
    rows = [
        ("s", question, "Why", mode, "rouge_l", value)
        for mode, values in (("graph", graph), ("hybrid", hybrid))
        for question, value in values.items()
    ]
    scores = table(*rows, tier="S", backend="rules", words=3000)
    text = render_report("roads", scores, systems(system("graph"), system("hybrid")))
    section = text.split("## Questions to look at\n")[1].split("\n## ")[0]
    # q2 is a tie, q5 and q6 were not answered by both
    assert [line for line in section.splitlines() if line.startswith("| q")] == [
        "| question | question set | question type | graph | hybrid | difference |",
        "| q1 | s | Why | 0.900 | 0.100 | +0.800 |",
        "| q4 | s | Why | 0.750 | 0.500 | +0.250 |",
        "| q3 | s | Why | 0.250 | 0.750 | -0.500 |",
    ]


def test_systems_with_other_budgets_stand_in_one_plot_each_with_its_own_recall():
    parts = [twenty("graph", 0.4, "reference_recall@750", words=750)]
    parts += [twenty("graph", value, f"reference_recall@{b}") for b, value in ((750, 0.41), (1500, 0.5), (3000, 0.6))]
    scores = pa.concat_tables(parts)
    measure, quality = quality_of(named_scores(scores))
    assert measure == "reference_recall"
    # the mean of 0, 1, …, 19 over 950 is 0.01
    assert {name: round(value, 6) for name, value in quality.items()} == {
        "graph, 750 words": 0.41,
        "graph, 3,000 words": 0.61,
    }
    text = render_report("roads", scores, systems(system("graph"), system("graph", words=750, context_words=740.0)))
    assert "Recall is that within each system's own budget of words." in text
    assert "| graph, 750 words | 100 | 740 | 0.410 |" in text
    assert quality_of(named_scores(parts[-1]))[0] == "reference_recall@3000"
