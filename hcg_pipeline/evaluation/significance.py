"""Which of two systems answers better, and whether that is more than chance: the paired bootstrap over questions.

The procedure is the paper's (Appendix H): per question the difference of the two systems' scores, several runs averaged
first; resample the questions; report the mean difference, its 2.5 and 97.5 percentiles, and a two-sided p. Within a
family of comparisons, Benjamini and Hochberg's q values bound the false discovery rate (Appendix I). A tie says that no
difference was found, not that there is none: the interval's width says how large one might be.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from hcg_pipeline.errors import EvaluationError

RESAMPLES = 10_000
SEED = 42
SIGNIFICANT = 0.05
_BLOCK_CELLS = 1_000_000
_FINEST = -40

COMPARISONS = pa.schema(
    [
        pa.field("a", pa.string(), nullable=False, metadata={"description": "a system"}),
        pa.field("b", pa.string(), nullable=False, metadata={"description": "the system it is compared with"}),
        pa.field("n", pa.int64(), nullable=False, metadata={"description": "questions that both have a score for"}),
        pa.field("mean_a", pa.float64(), metadata={"description": "mean score of a over those questions"}),
        pa.field("mean_b", pa.float64(), metadata={"description": "mean score of b over those questions"}),
        pa.field("difference", pa.float64(), metadata={"description": "mean of a less b, question by question"}),
        pa.field("low", pa.float64(), metadata={"description": "2.5 percentile of the resampled mean difference"}),
        pa.field("high", pa.float64(), metadata={"description": "97.5 percentile of the same"}),
        pa.field("p", pa.float64(), metadata={"description": "two-sided; 0 means less than 2 / resamples"}),
        pa.field("q", pa.float64(), metadata={"description": "p, adjusted for the other comparisons of the family"}),
        pa.field(
            "verdict", pa.string(), nullable=False, metadata={"description": "a's: 'win', 'loss', 'tie' or 'no data'"}
        ),
    ]
)
COMPARISONS_BY_TYPE = pa.schema(
    [
        pa.field("question_type", pa.string(), nullable=False, metadata={"description": "the slice of questions"}),
        *COMPARISONS,
    ]
)

Pairs = Sequence[tuple[str, str]]
_Scores = dict[tuple[str, str], float]
"""One system's score by (question set, question id)."""


@dataclass(frozen=True, slots=True)
class Bootstrap:
    """A mean of paired differences over `n` questions, its 95% percentile interval, and the two-sided p."""

    n: int
    difference: float
    low: float
    high: float
    p: float


def compare(
    scores: pa.Table,
    measure: str,
    *,
    by: str = "mode",
    pairs: Pairs | None = None,
    resamples: int = RESAMPLES,
    seed: int = SEED,
) -> pa.Table:
    """Every pair of systems on one measure, as one family: a COMPARISONS table.

    `scores` is like SCORES, with a column `by` that names the systems (mode, tier, …); rows of the same system and
    question are runs, and are averaged. By mode, give it `fallback_as_graph(scores)`. `pairs` are the comparisons to
    make, in order; by default all pairs of the names in alphabetical order. Raises `EvaluationError` when the measure
    or a system has no scores, a value is no number, or two systems have no question in common.
    """
    systems = _scores_by_system(_of_measure(scores, measure, by), by)
    chosen = _chosen(pairs, systems)
    for a, b in chosen:
        if not systems[a].keys() & systems[b].keys():
            raise EvaluationError(
                f"{measure}: {a!r} and {b!r} have no question in common, so they cannot be compared; "
                "answer the same question file with both"
            )
    rows = [(a, b, systems[a], systems[b]) for a, b in chosen]
    return pa.Table.from_pylist(_compared(rows, resamples, seed), schema=COMPARISONS)


def compare_by_type(
    scores: pa.Table,
    measure: str,
    *,
    by: str = "mode",
    pairs: Pairs | None = None,
    resamples: int = RESAMPLES,
    seed: int = SEED,
) -> pa.Table:
    """`compare` within each question type, types in alphabetical order: a COMPARISONS_BY_TYPE table.

    All rows are one family. Where two systems have no question of a type in common, n is 0 and the verdict 'no data'.
    """
    table = _of_measure(scores, measure, by)
    chosen = _chosen(pairs, _scores_by_system(table, by))
    types: list[str] = []
    rows: list[tuple[str, str, _Scores, _Scores]] = []
    for question_type in sorted(table["question_type"].unique().to_pylist()):
        systems = _scores_by_system(table.filter(pc.equal(table["question_type"], question_type)), by)
        for a, b in chosen:
            types.append(question_type)
            rows.append((a, b, systems.get(a, {}), systems.get(b, {})))
    compared = _compared(rows, resamples, seed)
    return pa.Table.from_pylist(
        [{"question_type": name, **row} for name, row in zip(types, compared, strict=True)], schema=COMPARISONS_BY_TYPE
    )


def fallback_as_graph(scores: pa.Table) -> pa.Table:
    """`scores` with the mode `fallback` under `graph`: they are one system, asked in one mode.

    `fallback` marks the questions of mode `graph` that matched nothing. Left apart, `graph` would be compared on the
    questions alone that suit it.
    """
    modes = pc.if_else(pc.equal(scores["mode"], "fallback"), "graph", scores["mode"])
    place = scores.schema.get_field_index("mode")
    return scores.set_column(place, scores.schema.field(place), modes)


def paired_bootstrap(
    differences: Sequence[NDArray[np.float64]], *, resamples: int = RESAMPLES, seed: int = SEED
) -> list[Bootstrap]:
    """The bootstrap of each array of per-question differences (finite, at least one value each), in their order.

    Raises `EvaluationError` for an array that is not so.

    Each array is resampled by a generator of its own, seeded with `seed`: a result does not depend on what else is
    compared. p is twice the smaller of the shares of resampled means that are ≤ 0 and ≥ 0, at most 1. For few questions
    it is not let below 2^(1-n), the smallest two-sided p that the signs of n differences can give: without that floor,
    a single question would be a significant win. The floor ends where it falls below 1 / `resamples`, at 15 questions.
    """
    by_length: dict[int, list[int]] = {}
    for place, values in enumerate(differences):
        if not len(values) or not np.isfinite(values).all():
            raise EvaluationError("differences to resample must be numbers, at least one; leave out what is missing")
        by_length.setdefault(len(values), []).append(place)
    results: dict[int, Bootstrap] = {}
    for length, places in by_length.items():
        columns = np.column_stack([_on_a_grid(differences[place]) for place in places])
        means = _resampled_means(columns, resamples, seed)
        least = 2.0 ** (1 - length) if 2.0 ** (1 - length) * resamples >= 1 else 0.0
        lows, highs = np.percentile(means, (2.5, 97.5), axis=0)
        tails = np.minimum((means <= 0).sum(axis=0), (means >= 0).sum(axis=0)) / resamples
        for column, place in enumerate(places):
            p = min(1.0, max(2.0 * float(tails[column]), least))
            mean = float(columns[:, column].sum() / length)
            results[place] = Bootstrap(length, mean, float(lows[column]), float(highs[column]), p)
    return [results[place] for place in range(len(differences))]


def q_values(p_values: Sequence[float]) -> list[float]:
    """Benjamini and Hochberg's adjusted p values (1995) of one family, in the same order."""
    from scipy.stats import false_discovery_control  # as in `agreement`

    if not p_values:
        return []
    return [float(q) for q in false_discovery_control(np.asarray(p_values, dtype=np.float64), method="bh")]


def verdict(difference: float, q: float) -> str:
    """'win' or 'loss' of the first system where q is below .05, else 'tie'."""
    if q >= SIGNIFICANT or difference == 0:
        return "tie"
    return "win" if difference > 0 else "loss"


def _on_a_grid(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """`values` rounded to a power of two (2^-40 or so) that makes every sum of them exact.

    Exact sums do not depend on the order of summation, so results are the same on every machine; a and b change
    places by changing the sign; and a resampled mean that is 0 is 0, not 1e-18, so ties are counted as such.
    """
    largest = float(np.abs(values).max())
    exponent = np.ceil(np.log2(largest * len(values))) - 52 if largest else _FINEST
    step = 2.0 ** max(_FINEST, float(exponent))
    rounded: NDArray[np.float64] = np.round(values / step) * step
    return rounded


def _resampled_means(columns: NDArray[np.float64], resamples: int, seed: int) -> NDArray[np.float64]:
    """Means (resamples, k) of the k `columns` (n, k) over the same resampled rows, in blocks of bounded memory."""
    n = len(columns)
    generator = np.random.default_rng(seed)
    block = max(1, _BLOCK_CELLS // n)
    means = np.empty((resamples, columns.shape[1]))
    for start in range(0, resamples, block):
        size = min(block, resamples - start)
        drawn = generator.integers(0, n, (size, n))
        drawn += np.arange(size)[:, np.newaxis] * n
        times = np.bincount(drawn.ravel(), minlength=size * n).reshape(size, n)
        means[start : start + size] = times.astype(np.float64) @ columns / n
    return means


def _compared(
    rows: Sequence[tuple[str, str, _Scores, _Scores]], resamples: int, seed: int
) -> list[dict[str, str | int | float | None]]:
    """One COMPARISONS row for each (a, b, scores of a, scores of b); q over all of them."""
    common = [sorted(first.keys() & second.keys()) for _, _, first, second in rows]
    paired = [
        (_values(first, keys), _values(second, keys))
        for (_, _, first, second), keys in zip(rows, common, strict=True)
        if keys
    ]
    tests = paired_bootstrap([first - second for first, second in paired], resamples=resamples, seed=seed)
    found = iter(zip(paired, tests, q_values([test.p for test in tests]), strict=True))
    result: list[dict[str, str | int | float | None]] = []
    for (a, b, _, _), keys in zip(rows, common, strict=True):
        if not keys:
            result.append({"a": a, "b": b, "n": 0, "verdict": "no data"})
            continue
        (first, second), test, q = next(found)
        result.append(
            {
                "a": a,
                "b": b,
                "n": test.n,
                "mean_a": float(first.mean()),
                "mean_b": float(second.mean()),
                "difference": test.difference,
                "low": test.low,
                "high": test.high,
                "p": test.p,
                "q": q,
                "verdict": verdict(test.difference, q),
            }
        )
    return result


def _values(scores: _Scores, keys: Iterable[tuple[str, str]]) -> NDArray[np.float64]:
    return np.array([scores[key] for key in keys], dtype=np.float64)


def _chosen(pairs: Pairs | None, systems: dict[str, _Scores]) -> Pairs:
    if pairs is None:
        if len(systems) < 2:
            raise EvaluationError(f"there is only {next(iter(systems))!r} to compare; at least two systems are needed")
        return list(combinations(sorted(systems), 2))
    missing = sorted({name for pair in pairs for name in pair} - systems.keys())
    if missing:
        raise EvaluationError(f"no scores of {', '.join(map(repr, missing))}; there are {', '.join(sorted(systems))}")
    return pairs


def _of_measure(scores: pa.Table, measure: str, by: str) -> pa.Table:
    """The rows of one measure."""
    if by not in scores.column_names:
        raise EvaluationError(f"scores have no column {by!r}; they have {', '.join(scores.column_names)}")
    table = scores.filter(pc.equal(scores["measure"], measure))
    if not len(table):
        known = ", ".join(sorted(scores["measure"].unique().to_pylist())) or "none at all"
        raise EvaluationError(f"no scores of the measure {measure!r}; there are {known}")
    bad = table.filter(pc.invert(pc.fill_null(pc.is_finite(table["value"]), False)))
    if len(bad):
        row = bad.slice(0, 1).to_pylist()[0]
        raise EvaluationError(
            f"{measure}: the value of question {row['id']!r} ({row[by]}) is {row['value']}, no number; "
            "leave out what was not measured"
        )
    return table


def _scores_by_system(table: pa.Table, by: str) -> dict[str, _Scores]:
    """Each system's scores by question, runs averaged."""
    means = table.group_by([by, "question_set", "id"], use_threads=False).aggregate([("value", "mean")])
    systems: dict[str, _Scores] = {}
    columns = (means[name].to_pylist() for name in (by, "question_set", "id", "value_mean"))
    for system, question_set, question, value in zip(*columns, strict=True):
        systems.setdefault(system, {})[question_set, question] = value
    return systems
