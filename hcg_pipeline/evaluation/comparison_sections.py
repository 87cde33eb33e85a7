"""Sections of a report that compare systems: which difference is more than chance."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pyarrow as pa

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
_COMPARED = ("measure", "a", "verdict", "b", "a − b", "95 % interval", "p", "q", "mean a", "mean b", "questions")
_WORDS = {"win": "**beats**", "loss": "**loses to**", "tie": "ties with"}
_TEST = (
    "Paired bootstrap over questions (10,000 resamples, seed 42): p is two-sided, q is p after Benjamini and Hochberg "
    "within a measure. A *tie* is a difference with q ≥ 0.05, which chance may explain; that does not say "
    "that there is none."
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
        _WORDS[row["verdict"]],
        row["b"],
        f"{row['difference']:+.3f}",
        f"{row['low']:+.3f} to {row['high']:+.3f}",
        _chance(row["p"]),
        _chance(row["q"]),
        f"{row['mean_a']:.3f}",
        f"{row['mean_b']:.3f}",
        f"{row['n']:,}",
    ]


def _chance(value: float) -> str:
    return "< 0.001" if value < 0.001 else f"{value:.3f}"
