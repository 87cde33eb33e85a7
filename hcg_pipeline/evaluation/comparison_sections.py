"""Sections of a report that compare: which difference is more than chance, how far runs vary, whether judges agree."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from hcg_pipeline.errors import EvaluationError
from hcg_pipeline.evaluation.agreement import judge_agreement, judge_means, spread_over_runs
from hcg_pipeline.evaluation.judging.naming import split_judged_name
from hcg_pipeline.evaluation.markdown import measure_title, plain, table
from hcg_pipeline.evaluation.systems import System
from hcg_pipeline.evaluation.verdict_tables import (
    PARTS,
    comparisons,
    comparisons_by_type,
    headline,
    pairs_that_differ_in,
)

_TITLES = {
    "mode": "Modes compared",
    "tier": "Tiers compared",
    "backend": "Backends compared",
    "words": "Budgets compared",
}
_COMPARED = ("measure", "a", "b", "questions", "mean a", "mean b", "a − b", "95 % interval", "p", "q", "verdict")
_TEST = (
    "Paired bootstrap over questions (10,000 resamples, seed 42): p is two-sided, q is p after Benjamini and Hochberg "
    "within a measure. The verdict is a's; a *tie* is a difference with q ≥ 0.05, which chance may explain."
)


def compared_sections(
    named: pa.Table, measures: Sequence[str], compared: Sequence[System], command: Sequence[str]
) -> Iterator[str]:
    """Per part in which systems differ alone (mode, tier, …), every measure, and the headline by question type."""
    shown = headline(measures)
    for part in PARTS:
        pairs = pairs_that_differ_in(part, compared)
        rows = comparisons(named, measures, pairs)
        if not rows:
            continue
        yield from (f"## {_TITLES[part]}", "", _TEST, "")
        yield from table(_COMPARED, [[measure_title(row["measure"])[0], *_verdict(row)] for row in rows])
        yield from command
        if part in ("mode", "tier") and shown:
            yield from _compared_by_type(named, shown, pairs, part, command)


def _compared_by_type(
    named: pa.Table, measure: str, pairs: Sequence[tuple[str, str]], part: str, command: Sequence[str]
) -> Iterator[str]:
    rows = comparisons_by_type(named, measure, pairs)
    if rows:
        yield from (f"### {_TITLES[part]}, {measure_title(measure)[0]}, by question type", "")
        header = ("question type", *_COMPARED[1:])
        yield from table(header, [[plain(row["question_type"] or "untyped"), *_verdict(row)] for row in rows])
        yield from command


def _verdict(row: Mapping[str, Any]) -> list[str]:
    return [
        row["a"],
        row["b"],
        f"{row['n']:,}",
        f"{row['mean_a']:.3f}",
        f"{row['mean_b']:.3f}",
        f"{row['difference']:+.3f}",
        f"{row['low']:+.3f} to {row['high']:+.3f}",
        _chance(row["p"]),
        _chance(row["q"]),
        row["verdict"],
    ]


def _chance(value: float) -> str:
    return "< 0.001" if value < 0.001 else f"{value:.3f}"


def runs_section(named: pa.Table, command: Sequence[str]) -> Iterator[str]:
    """Mean and deviation over runs, where there are several."""
    numbers = sorted({run for run in named["run"].to_pylist() if run is not None})
    if len(numbers) < 2:
        return
    runs = [named.filter(pc.equal(named["run"], number)) for number in numbers]
    yield from ("## Runs", "", "Mean of the runs' means ± their sample standard deviation.", "")
    rows = [
        [
            row["system"],
            measure_title(row["measure"])[0],
            f"{row['runs']}",
            f"{row['mean']:.3f}" + ("" if row["deviation"] is None else f" ± {row['deviation']:.3f}"),
        ]
        for row in spread_over_runs(runs, by="system").to_pylist()
    ]
    yield from table(("system", "measure", "runs", "mean ± deviation"), rows)
    yield from command


def judges_section(named: pa.Table, command: Sequence[str]) -> Iterator[str]:
    """Each judge's means, and how far judges agree, where several have judged the same measure."""
    by_measure: dict[str, set[str]] = defaultdict(set)
    for name in sorted(set(named["measure"].to_pylist())):
        judged = split_judged_name(name)
        if judged:
            by_measure[judged[0]].add(judged[1])
    for measure, judges in by_measure.items():
        if len(judges) < 2:
            continue
        yield from (f"## Judges of {measure}", "")
        try:
            pairs = judge_agreement(named, measure, by="system").to_pylist()
        except EvaluationError as error:
            yield from (f"{plain(str(error))}.", "")
            continue
        means = judge_means(named, measure, by="system").to_pylist()
        yield from table(
            ("system", "judge", "answers", "mean"),
            [[row["system"], plain(row["judge"]), f"{row['n']:,}", f"{row['mean']:.3f}"] for row in means],
        )
        rows = [
            [
                plain(row["judge_a"]),
                plain(row["judge_b"]),
                f"{row['systems']:,}",
                f"{row['answers']:,}",
                *("" if row[name] is None else f"{row[name]:+.2f}" for name in ("spearman", "kendall")),
                f"{row['shift']:+.3f}",
            ]
            for row in pairs
        ]
        yield from table(("judge", "other judge", "systems", "answers", "Spearman ρ", "Kendall τ", "shift"), rows)
        yield from command
