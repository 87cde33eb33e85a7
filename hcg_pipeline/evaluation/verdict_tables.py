"""The comparisons of a report: which pairs of systems, on which measures, with what came of each."""

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any, Literal

import pyarrow as pa
import pyarrow.compute as pc

from hcg_pipeline.evaluation.measures import ROUGE, WORD_BUDGETS, recall_measure
from hcg_pipeline.evaluation.significance import compare, compare_by_type
from hcg_pipeline.evaluation.systems import System

Part = Literal["mode", "tier", "backend", "words"]
PARTS: tuple[Part, ...] = ("mode", "tier", "backend", "words")

_TIERS = {"L": 0, "M": 1, "S": 2, "XS": 3}
_MODES = ("graph", "hybrid", "naive", "in_context", "nodes_only")


def pairs_that_differ_in(part: Part, systems: Sequence[System]) -> list[tuple[str, str]]:
    """Names of the pairs of systems that have all but `part` in common; graph and larger tiers stand first."""
    others = [name for name in PARTS if name != part]
    ranked = sorted(systems, key=lambda one: (_rank(one), one.name))
    return [
        (a.name, b.name)
        for a, b in combinations(ranked, 2)
        if getattr(a, part) != getattr(b, part) and all(getattr(a, name) == getattr(b, name) for name in others)
    ]


def headline(measures: Sequence[str]) -> str | None:
    """The measure that plots and tables by type show: judged correctness, else recall at 3,000 words, else ROUGE-L."""
    judged = sorted(name for name in measures if name.startswith("correctness["))
    preferred = [*judged, recall_measure(3000), recall_measure(1500), recall_measure(750), ROUGE]
    return next((name for name in preferred if name in measures), min(measures, default=None))


def chief_measures(measures: Sequence[str]) -> list[str]:
    """At most five of `measures`, in their order: judged correctness, reference-term recall, ROUGE-L."""
    wanted = {*map(recall_measure, WORD_BUDGETS), ROUGE}
    return [name for name in measures if name in wanted or name.startswith("correctness[")][:5]


def comparisons(scores: pa.Table, measures: Sequence[str], pairs: Sequence[tuple[str, str]]) -> list[dict[str, Any]]:
    """COMPARISONS rows with their `measure`, for the pairs that have questions in common. A measure is one family."""
    rows: list[dict[str, Any]] = []
    for measure in measures:
        asked = _questions(scores.filter(pc.equal(scores["measure"], measure)))
        possible = [(a, b) for a, b in pairs if asked.get(a, set()) & asked.get(b, set())]
        if possible:
            table = compare(scores, measure, by="system", pairs=possible)
            rows += [{"measure": measure, **row} for row in table.to_pylist()]
    return rows


def comparisons_of(scores: pa.Table, measure: str, systems: Sequence[System]) -> list[dict[str, Any]]:
    """COMPARISONS rows of one measure for all systems that differ in one part; each part is a family, as in tables."""
    parts = (pairs_that_differ_in(part, systems) for part in PARTS)
    return [row for pairs in parts for row in comparisons(scores, [measure], pairs)]


def comparisons_by_type(scores: pa.Table, measure: str, pairs: Sequence[tuple[str, str]]) -> list[dict[str, Any]]:
    """COMPARISONS_BY_TYPE rows of one measure, all types and pairs one family; none where there is but one type."""
    of_measure = scores.filter(pc.equal(scores["measure"], measure))
    there = set(of_measure["system"].to_pylist())
    possible = [(a, b) for a, b in pairs if a in there and b in there]
    if not possible or len(set(of_measure["question_type"].to_pylist())) < 2:
        return []
    rows = compare_by_type(scores, measure, by="system", pairs=possible).to_pylist()
    return [row for row in rows if row["n"]]


def verdict_sentence(row: Mapping[str, Any]) -> str:
    """A row of `comparisons` in words."""
    words = {"win": "beats", "loss": "loses to", "tie": "ties with"}[row["verdict"]]
    interval = f"{row['difference']:+.3f}, 95 % {row['low']:+.3f} to {row['high']:+.3f}"
    chance = "q < 0.001" if row["q"] < 0.001 else f"q {row['q']:.3f}"
    return f"{row['a']} {words} {row['b']} ({interval}, {chance}, {row['n']:,} questions)"


def _questions(scores: pa.Table) -> dict[str, set[tuple[str, str]]]:
    found: dict[str, set[tuple[str, str]]] = {}
    columns = (scores[name].to_pylist() for name in ("system", "question_set", "id"))
    for system, question_set, question in zip(*columns, strict=True):
        found.setdefault(system, set()).add((question_set, question))
    return found


def _rank(system: System) -> tuple[int, int, int]:
    mode = _MODES.index(system.mode) if system.mode in _MODES else len(_MODES)
    return mode, _TIERS.get(system.tier, len(_TIERS)), -system.words
