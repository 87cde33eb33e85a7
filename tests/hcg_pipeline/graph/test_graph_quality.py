import re

import pyarrow as pa
from graph_builders import graph_of

from hcg_pipeline.graph.drift import Drift, Fit
from hcg_pipeline.graph.quality import measure_quality, quality_table
from hcg_pipeline.graph.quality_page import draw_quality, render_quality
from hcg_pipeline.specification.merges import APART
from hcg_pipeline.tables import MERGES, QUALITY_REPORT

A, B, C = "Price(farming)", "Output(farming)", "Output(mining)"
GRAPH = graph_of((A, B), (B, C), (C, A), ("Price(trade)", "Price(mining)"), extra=("Output(trade)",))
OLDER, NEWEST = Fit(2, 10, 9, 8, 4), Fit(1, 4, 1, 4, 0)
DRIFT = Drift(Fit(3, 14, 10, 12, 4), OLDER, NEWEST, (("lithium", 3),))
MERGED = pa.Table.from_pylist(
    [
        {"scope": "entity:sector", "kept": "farming", "merged": "farm", "reason": "stated as another name"},
        *(
            {
                "scope": "entity:sector",
                "kept": kept,
                "merged": "FT",
                "reason": f"{APART}farming trade and for free trade",
            }
            for kept in ("farming trade", "free trade")
        ),
    ],
    schema=MERGES,
)
COUNTS = {"relations_read": 9, "dropped_arity": 2, "repaired_entity": 1, "something_new": 4}


def quality(graph=GRAPH, drift=DRIFT):
    return measure_quality(graph, COUNTS, MERGED, drift)


def test_structure_is_measured():
    found = quality()
    assert found.cycles == ((B, C, A),)
    assert found.isolated == ("Output(trade)",)
    assert len(found.bare) == 4
    assert (found.merges, found.apart) == (1, ("FT",))
    assert list(found.counts) == ["relations_read", "repaired_entity", "dropped_arity", "something_new"]


def test_the_shortest_cycle_of_a_group_is_shown():
    pairs = [(A, B), (B, C), (C, A), (B, A)]
    assert quality(graph_of(*pairs)).cycles == ((B, A),)


def test_numbers_as_a_table():
    table = quality_table(quality())
    assert table.schema.equals(QUALITY_REPORT)
    values = {(row["section"], row["item"]): row["value"] for row in table.to_pylist()}
    assert values["size", "variables"] == 6
    assert values["variables by metric", "Output"] == 3
    assert values["share of edges with evidence", "any"] == 0.0
    assert values["reading", "dropped_arity"] == 2
    assert values["structure", "longest chain"] == 2
    assert values["unfit share of the text", "passages, newest"] == 0.75
    assert values["drift", "excess"] == 0.65
    assert ("unfit share of the text", "passages, older") not in {
        (row["section"], row["item"]) for row in quality_table(quality(drift=Drift(OLDER, None, None, ()))).to_pylist()
    }


def test_the_page_says_it_in_words_and_carries_no_markup_of_the_corpus():
    page = render_quality("<b>x</b>", quality(), "quality.svg")
    assert page.startswith("# Quality of the graph of \\<b\\>x\\</b\\>\n")
    assert "![Plots of sizes, degrees and evidence](quality.svg)" in page
    assert f"- {B} → {C} → {A} → {B}" in page
    assert "| 2 | references with more or fewer entities than the signature, dropped |" in page
    assert "| newest | 1 | 4 | 75.0% | 4 | 100.0% |" in page
    assert "lithium (3)" in page
    assert "- Output(trade)" in page


def test_an_empty_graph_has_a_page_and_plots():
    empty = measure_quality(graph_of(), {}, MERGES.empty_table(), Drift(Fit(0, 0, 0, 0, 0), None, None, ()))
    assert "0 variables of 0 metrics, 0 edges" in render_quality("x", empty, "p.svg")
    assert draw_quality(empty).startswith(b"<?xml")


def test_plots_are_the_same_bytes_every_time():
    first, second = draw_quality(quality()), draw_quality(quality())
    assert first == second
    assert {"Price", "Output"} <= set(re.findall(r">([A-Za-z]+)</text>", first.decode()))
    assert draw_quality(quality(), "png")[:4] == b"\x89PNG"
