"""Sections of a report on noise: how far runs vary, and whether judges agree."""

from collections import defaultdict
from collections.abc import Iterator, Sequence

import pyarrow as pa
import pyarrow.compute as pc

from hcg_pipeline.errors import EvaluationError
from hcg_pipeline.evaluation.agreement import judge_agreement, judge_means, spread_over_runs
from hcg_pipeline.evaluation.judging.naming import judged_name, split_judged_name
from hcg_pipeline.evaluation.markdown import measure_title, plain, table
from hcg_pipeline.evaluation.systems import System
from hcg_pipeline.evaluation.verdict_tables import comparisons_of


def runs_section(named: pa.Table, command: Sequence[str]) -> Iterator[str]:
    """Mean and deviation over runs, where there are several, of the measures that vary."""
    numbers = sorted({run for run in named["run"].to_pylist() if run is not None})
    if len(numbers) < 2:
        return
    runs = [named.filter(pc.equal(named["run"], number)) for number in numbers]
    spread = spread_over_runs(runs, by="system").to_pylist()
    varies = {row["measure"] for row in spread if row["deviation"]}
    yield from ("## Runs", "")
    yield from ("Mean of the runs' means ± their sample standard deviation. What is not listed did not vary.", "")
    rows = [
        [
            row["system"],
            measure_title(row["measure"])[0],
            f"{row['runs']}",
            f"{row['mean']:.3f}" + ("" if row["deviation"] is None else f" ± {row['deviation']:.3f}"),
        ]
        for row in spread
        if row["measure"] in varies
    ]
    if rows:
        yield from table(("system", "measure", "runs", "mean ± deviation"), rows)
    yield from command


def judges_section(named: pa.Table, compared: Sequence[System], command: Sequence[str]) -> Iterator[str]:
    """Where several have judged a measure: each judge's means, how far they rank alike, and which verdicts both give.

    As in the paper's Appendix I.
    """
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
        yield from _means(named, measure, sorted(judges))
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
        yield from _verdicts(named, measure, sorted(judges), compared)
        yield from command


def _means(named: pa.Table, measure: str, judges: Sequence[str]) -> Iterator[str]:
    means: dict[str, dict[str, str]] = defaultdict(dict)
    for row in judge_means(named, measure, by="system").to_pylist():
        means[row["system"]] |= {"answers": f"{row['n']:,}", row["judge"]: f"{row['mean']:.3f}"}
    yield from ("Means over the answers that all of them scored:", "")
    rows = [[system, found["answers"], *(found[judge] for judge in judges)] for system, found in means.items()]
    yield from table(("system", "answers", *map(plain, judges)), rows)


def _verdicts(named: pa.Table, measure: str, judges: Sequence[str], compared: Sequence[System]) -> Iterator[str]:
    """What each judge's scores say of each pair of systems that differ in one part."""
    found: dict[tuple[str, str], dict[str, str]] = defaultdict(dict)
    for judge in judges:
        for row in comparisons_of(named, judged_name(measure, judge), compared):
            found[row["a"], row["b"]][judge] = f"{row['verdict']} ({row['difference']:+.3f})"
    rows = [[a, b, *(verdicts.get(judge, "") for judge in judges)] for (a, b), verdicts in found.items()]
    if rows:
        yield from ("Verdict on a against b, by judge:", "")
        yield from table(("a", "b", *map(plain, judges)), rows)
