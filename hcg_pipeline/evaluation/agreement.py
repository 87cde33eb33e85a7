"""Several judges side by side, and several runs: do they rank the systems alike, and how far do scores vary?

After the paper's Appendix I (Spearman's ρ and Kendall's τ of per-system means, mean shift) and Tables 1 to 3 (mean ±
sample standard deviation over runs).
"""

from collections.abc import Mapping, Sequence
from itertools import combinations
from statistics import fmean, stdev

import pyarrow as pa

from hcg_pipeline.errors import EvaluationError
from hcg_pipeline.evaluation.judging.naming import split_judged_name

AGREEMENT = pa.schema(
    [
        pa.field("judge_a", pa.string(), nullable=False, metadata={"description": "a judge"}),
        pa.field("judge_b", pa.string(), nullable=False, metadata={"description": "the judge it is held against"}),
        pa.field("systems", pa.int64(), nullable=False, metadata={"description": "systems that both have scored"}),
        pa.field("answers", pa.int64(), nullable=False, metadata={"description": "answers that both have scored"}),
        pa.field(
            "spearman", pa.float64(), metadata={"description": "ρ of the systems' means; null if a judge ranks nothing"}
        ),
        pa.field("kendall", pa.float64(), metadata={"description": "τ-b of the same"}),
        pa.field("shift", pa.float64(), nullable=False, metadata={"description": "mean of b's means less a's"}),
    ]
)
JUDGE_MEANS = pa.schema(
    [
        pa.field("system", pa.string(), nullable=False, metadata={"description": "the system that answered"}),
        pa.field("judge", pa.string(), nullable=False, metadata={"description": "the judge"}),
        pa.field("n", pa.int64(), nullable=False, metadata={"description": "questions that every judge has scored"}),
        pa.field("mean", pa.float64(), nullable=False, metadata={"description": "mean score over those questions"}),
    ]
)
RUN_SPREAD = pa.schema(
    [
        pa.field("system", pa.string(), nullable=False, metadata={"description": "the system that answered"}),
        pa.field("measure", pa.string(), nullable=False, metadata={"description": "what was measured"}),
        pa.field("runs", pa.int64(), nullable=False, metadata={"description": "runs that have scores of it"}),
        pa.field("mean", pa.float64(), nullable=False, metadata={"description": "mean of the runs' means"}),
        pa.field(
            "deviation", pa.float64(), metadata={"description": "sample standard deviation of them; null for one run"}
        ),
    ]
)

_Answer = tuple[str, str, str]
"""System, question set, question id."""


def judge_agreement(scores: pa.Table, measure: str, *, by: str = "mode") -> pa.Table:
    """Every pair of judges of `measure` (such as 'correctness'), by name: an AGREEMENT table.

    `scores` is like SCORES with measures named as `judging.naming` does; `by` is the column that names the systems.
    Means are taken over the answers that both judges have scored (runs averaged first), so that a judge whose replies
    are missing for the hard questions does not look generous. Raises `EvaluationError` for fewer than two judges, or
    two that have scored no answer in common.
    """
    from scipy.stats import kendalltau, spearmanr  # half a second that only those wait for who compare judges

    judges = _answers_by_judge(scores, measure, by)
    if len(judges) < 2:
        raise EvaluationError(f"{measure}: agreement needs two judges, and there is only {', '.join(judges)}")
    rows = []
    for a, b in combinations(judges, 2):
        common = sorted(judges[a].keys() & judges[b].keys())
        if not common:
            raise EvaluationError(f"{measure}: {a!r} and {b!r} have scored no answer in common")
        first, second = _system_means(judges[a], common), _system_means(judges[b], common)
        means_a, means_b = list(first.values()), [second[system] for system in first]
        ranked = len(set(means_a)) > 1 and len(set(means_b)) > 1
        rows.append(
            {
                "judge_a": a,
                "judge_b": b,
                "systems": len(first),
                "answers": len(common),
                "spearman": float(spearmanr(means_a, means_b).statistic) if ranked else None,
                "kendall": float(kendalltau(means_a, means_b).statistic) if ranked else None,
                "shift": fmean(y - x for x, y in zip(means_a, means_b, strict=True)),
            }
        )
    return pa.Table.from_pylist(rows, schema=AGREEMENT)


def judge_means(scores: pa.Table, measure: str, *, by: str = "mode") -> pa.Table:
    """Each system's mean under each judge of `measure`, over the answers that all judges scored: JUDGE_MEANS.

    Sorted by system, then judge. A system of which no answer was scored by all judges has no rows.
    """
    judges = _answers_by_judge(scores, measure, by)
    common = sorted(set.intersection(*(set(answers) for answers in judges.values())))
    counts: dict[str, int] = {}
    for system, _, _ in common:
        counts[system] = counts.get(system, 0) + 1
    means = {judge: _system_means(answers, common) for judge, answers in judges.items()}
    rows = [
        {"system": system, "judge": judge, "n": count, "mean": means[judge][system]}
        for system, count in counts.items()
        for judge in judges
    ]
    return pa.Table.from_pylist(rows, schema=JUDGE_MEANS)


def spread_over_runs(runs: Sequence[pa.Table], *, by: str = "mode") -> pa.Table:
    """Mean and sample standard deviation over `runs`, each a table like SCORES: RUN_SPREAD, by system and measure.

    Each run counts with its mean over its own questions. The deviation is noise of decoding and of the endpoint, not a
    test of significance over questions: that is `significance.compare`.
    """
    means: dict[tuple[str, str], list[float]] = {}
    for run in runs:
        _check_column(run, by)
        table = run.group_by([by, "measure"], use_threads=False).aggregate([("value", "mean")])
        columns = (table[name].to_pylist() for name in (by, "measure", "value_mean"))
        for system, measure, mean in zip(*columns, strict=True):
            means.setdefault((system, measure), []).append(mean)
    rows = [
        {
            "system": system,
            "measure": measure,
            "runs": len(values),
            "mean": fmean(values),
            "deviation": stdev(values) if len(values) > 1 else None,
        }
        for (system, measure), values in sorted(means.items())
    ]
    return pa.Table.from_pylist(rows, schema=RUN_SPREAD)


def _answers_by_judge(scores: pa.Table, measure: str, by: str) -> dict[str, dict[_Answer, float]]:
    """By judge (alphabetical), the score of each answer, runs averaged. `EvaluationError` if no judge has any."""
    _check_column(scores, by)
    table = scores.group_by(["measure", by, "question_set", "id"], use_threads=False).aggregate([("value", "mean")])
    columns = (table[name].to_pylist() for name in ("measure", by, "question_set", "id", "value_mean"))
    judges: dict[str, dict[_Answer, float]] = {}
    for name, system, question_set, question, value in zip(*columns, strict=True):
        judged = split_judged_name(name)
        if judged is not None and judged[0] == measure:
            judges.setdefault(judged[1], {})[system, question_set, question] = value
    if not judges:
        known = ", ".join(sorted(set(table["measure"].to_pylist()))) or "none at all"
        raise EvaluationError(f"no judge has scored {measure!r}; the measures are {known}")
    return dict(sorted(judges.items()))


def _system_means(answers: Mapping[_Answer, float], chosen: Sequence[_Answer]) -> dict[str, float]:
    """By system, in the order of `chosen`, the mean over its chosen answers."""
    values: dict[str, list[float]] = {}
    for answer in chosen:
        values.setdefault(answer[0], []).append(answers[answer])
    return {system: fmean(scores) for system, scores in values.items()}


def _check_column(scores: pa.Table, by: str) -> None:
    if by not in scores.column_names:
        raise EvaluationError(f"scores have no column {by!r}; they have {', '.join(scores.column_names)}")
