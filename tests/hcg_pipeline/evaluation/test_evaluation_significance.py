"""The paired bootstrap by hand on small cases, and against scipy on random ones."""

from collections.abc import Mapping

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import bootstrap, false_discovery_control

from hcg_pipeline.errors import EvaluationError
from hcg_pipeline.evaluation import significance
from hcg_pipeline.evaluation.significance import (
    COMPARISONS,
    COMPARISONS_BY_TYPE,
    compare,
    compare_by_type,
    fallback_as_graph,
    paired_bootstrap,
    q_values,
    verdict,
)
from hcg_pipeline.tables import SCORES


def scores_of(systems: Mapping[str, Mapping[str, float]], *, question_type: str = "Fact") -> pa.Table:
    """SCORES of measure `correctness` by system and question id."""
    rows = [
        {
            "question_set": "set",
            "id": question,
            "question_type": question_type,
            "mode": system,
            "measure": "correctness",
            "value": value,
        }
        for system, values in systems.items()
        for question, value in values.items()
    ]
    return pa.Table.from_pylist(rows, schema=SCORES)


def alike(values: list[float]) -> dict[str, float]:
    return {f"q{place:04}": value for place, value in enumerate(values)}


def test_equal_differences_leave_nothing_to_chance() -> None:
    # 20 questions, each 0.25 better: every resample has the mean 0.25
    row = compare(scores_of({"a": alike([0.75] * 20), "b": alike([0.5] * 20)}), "correctness").to_pylist()[0]
    assert (row["p"], row["q"]) == (0.0, 0.0)
    assert {
        name: row[name] for name in ("a", "b", "n", "mean_a", "mean_b", "difference", "low", "high", "verdict")
    } == {
        "a": "a",
        "b": "b",
        "n": 20,
        "mean_a": 0.75,
        "mean_b": 0.5,
        "difference": 0.25,
        "low": 0.25,
        "high": 0.25,
        "verdict": "win",
    }


def test_two_questions_by_hand() -> None:
    # differences +1 and 0: a resample's mean is 0, 0.5, 1 with probabilities 1/4, 1/2, 1/4, so the tail at 0 is 1/4
    found = paired_bootstrap([np.array([1.0, 0.0])])[0]
    assert (found.n, found.difference, found.low, found.high) == (2, 0.5, 0.0, 1.0)
    assert found.p == pytest.approx(0.5, abs=0.03)


def test_four_questions_by_hand() -> None:
    # +1 three times, -1 once: the mean is ≤ 0 if two or more of four draws hit the -1, 1 - (3/4)^4 - 4·(1/4)·(3/4)^3
    found = paired_bootstrap([np.array([1.0, 1.0, 1.0, -1.0])], resamples=100_000)[0]
    tail = 1 - 0.75**4 - 4 * 0.25 * 0.75**3
    assert found.p == pytest.approx(2 * tail, abs=0.01)
    assert (found.difference, found.low, found.high) == (0.5, -0.5, 1.0)


def test_equal_systems_tie() -> None:
    row = compare(scores_of({"a": alike([0.1, 0.9, 0.4]), "b": alike([0.1, 0.9, 0.4])}), "correctness").to_pylist()[0]
    assert (row["difference"], row["low"], row["high"], row["p"], row["q"]) == (0.0, 0.0, 0.0, 1.0, 1.0)
    assert row["verdict"] == "tie"


def test_a_mean_of_zero_counts_for_both_tails_though_floats_do_not_cancel() -> None:
    # 0.3 - 0.2 and 0.1 - 0.2 are 0.09999999999999998 and -0.1: in the half of the resamples where both are drawn once
    # the mean is 0, which belongs to both tails, so each tail is 3/4 and p is 1
    found = paired_bootstrap([np.array([0.3 - 0.2, 0.1 - 0.2])])[0]
    assert found.difference == 0.0
    assert found.p == 1.0


def test_one_question_is_a_tie_whatever_its_difference() -> None:
    row = compare(scores_of({"a": {"q": 1.0}, "b": {"q": 0.0}}), "correctness").to_pylist()[0]
    assert (row["n"], row["difference"], row["low"], row["high"]) == (1, 1.0, 1.0, 1.0)
    assert (row["p"], row["q"], row["verdict"]) == (1.0, 1.0, "tie")


@pytest.mark.parametrize(
    ("n", "p", "word"),
    [(2, 0.5, "tie"), (5, 0.0625, "tie"), (6, 0.03125, "win"), (14, 2**-13, "win"), (15, 0.0, "win")],
)
def test_few_questions_cannot_be_more_significant_than_their_signs(n: int, p: float, word: str) -> None:
    row = compare(scores_of({"a": alike([1.0] * n), "b": alike([0.0] * n)}), "correctness").to_pylist()[0]
    assert (row["p"], row["verdict"]) == (p, word)


def test_no_common_question_is_an_error_that_names_both() -> None:
    scores = scores_of({"graph": {"q1": 1.0}, "naive": {"q2": 1.0}})
    with pytest.raises(EvaluationError, match="'graph' and 'naive' have no question in common"):
        compare(scores, "correctness")


def test_only_common_questions_count() -> None:
    scores = scores_of({"a": {"q1": 1.0, "q2": 0.5, "q3": 0.0}, "b": {"q2": 0.25, "q3": 0.5, "q4": 1.0}})
    row = compare(scores, "correctness").to_pylist()[0]
    assert (row["n"], row["mean_a"], row["mean_b"], row["difference"]) == (2, 0.25, 0.375, -0.125)


def test_the_same_id_in_two_question_sets_is_two_questions() -> None:
    first = scores_of({"a": {"q": 1.0}, "b": {"q": 0.0}})
    second = first.set_column(0, first.schema.field(0), pa.array(["other", "other"]))
    row = compare(pa.concat_tables([first, second]), "correctness").to_pylist()[0]
    assert row["n"] == 2


def test_runs_are_averaged_question_by_question_first() -> None:
    # system a has three runs of q1 and one of q2: (0 + 0 + 0.75)/3 = 0.25 and 0.5, so the mean is 0.375 and not 0.3125
    runs = [scores_of({"a": {"q1": value}}) for value in (0.0, 0.0, 0.75)]
    rest = scores_of({"a": {"q2": 0.5}, "b": {"q1": 0.0, "q2": 0.0}})
    row = compare(pa.concat_tables([*runs, rest]), "correctness").to_pylist()[0]
    assert (row["n"], row["mean_a"], row["difference"]) == (2, 0.375, 0.375)


def test_all_pairs_in_order_or_those_that_are_asked_for() -> None:
    scores = scores_of({name: alike([0.1, 0.2]) for name in ("naive", "graph", "hybrid")})
    table = compare(scores, "correctness")
    assert table.schema == COMPARISONS
    pairs = list(zip(table["a"].to_pylist(), table["b"].to_pylist(), strict=True))
    assert pairs == [("graph", "hybrid"), ("graph", "naive"), ("hybrid", "naive")]
    chosen = compare(scores, "correctness", pairs=[("naive", "graph")])
    assert chosen.select(["a", "b"]).to_pylist() == [{"a": "naive", "b": "graph"}]


def test_systems_may_be_named_by_another_column() -> None:
    scores = scores_of({"graph": alike([0.1, 0.2])})
    tiers = pa.concat_tables([scores.append_column("graph_tier", pa.array([tier] * 2)) for tier in ("S", "XS")])
    row = compare(tiers, "correctness", by="graph_tier").to_pylist()[0]
    assert (row["a"], row["b"], row["n"], row["difference"]) == ("S", "XS", 2, 0.0)


@pytest.mark.parametrize(
    ("measure", "options", "message"),
    [
        ("coverage", {}, "no scores of the measure 'coverage'; there are correctness"),
        ("correctness", {"by": "corpus"}, "scores have no column 'corpus'; they have question_set"),
        ("correctness", {"pairs": [("a", "c")]}, "no scores of 'c'; there are a, b"),
    ],
)
def test_what_cannot_be_compared_is_said(measure: str, options: dict[str, object], message: str) -> None:
    scores = scores_of({"a": {"q": 1.0}, "b": {"q": 1.0}})
    with pytest.raises(EvaluationError, match=message):
        compare(scores, measure, **options)  # type: ignore[arg-type]


def test_one_system_cannot_be_compared() -> None:
    with pytest.raises(EvaluationError, match="only 'a' to compare"):
        compare(scores_of({"a": {"q": 1.0}}), "correctness")


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_a_value_that_is_no_number_is_an_error_not_a_score(value: float) -> None:
    with pytest.raises(EvaluationError, match=r"correctness: the value of question 'q1' \(a\) is (nan|inf), no number"):
        compare(scores_of({"a": {"q1": value}, "b": {"q1": 0.5}}), "correctness")
    with pytest.raises(EvaluationError, match="must be numbers"):
        paired_bootstrap([np.array([value])])
    with pytest.raises(EvaluationError, match="at least one"):
        paired_bootstrap([np.array([])])


@pytest.mark.parametrize("n", [2, 17, 375, 2062])
def test_interval_and_mean_agree_with_scipy(n: int) -> None:
    differences = np.random.default_rng(n).normal(0.02, 0.3, n)
    found = paired_bootstrap([differences])[0]
    theirs = bootstrap((differences,), np.mean, n_resamples=10_000, method="percentile", rng=np.random.default_rng(42))
    assert found.difference == pytest.approx(differences.mean(), abs=1e-11)
    assert found.low == pytest.approx(theirs.confidence_interval.low, abs=1e-11)
    assert found.high == pytest.approx(theirs.confidence_interval.high, abs=1e-11)
    means = theirs.bootstrap_distribution
    p = min(1.0, 2 * min((means <= 0).mean(), (means >= 0).mean()))
    assert found.p == pytest.approx(p if n > 14 else max(p, 2.0 ** (1 - n)))


def test_block_size_and_company_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    generator = np.random.default_rng(1)
    many = [generator.normal(0, 0.3, size) for size in (50, 7, 50, 51, 50)]
    together = paired_bootstrap(many)
    assert [paired_bootstrap([one])[0] for one in many] == together
    monkeypatch.setattr(significance, "_BLOCK_CELLS", 333)
    assert paired_bootstrap(many) == together


@given(
    st.dictionaries(st.text("abc", min_size=1, max_size=3), st.floats(0, 1), min_size=1, max_size=30),
    st.randoms(use_true_random=False),
)
def test_changing_places_changes_the_sign_and_nothing_else(first: dict[str, float], random: object) -> None:
    second = {question: random.random() for question in first}  # type: ignore[attr-defined]
    scores = scores_of({"x": first, "y": second})
    forth = compare(scores, "correctness", pairs=[("x", "y")], resamples=200).to_pylist()[0]
    back = compare(scores, "correctness", pairs=[("y", "x")], resamples=200).to_pylist()[0]
    assert (back["difference"], back["p"], back["q"]) == (-forth["difference"], forth["p"], forth["q"])
    assert back["low"] == pytest.approx(-forth["high"], abs=1e-12)
    assert back["high"] == pytest.approx(-forth["low"], abs=1e-12)
    assert back["verdict"] == {"win": "loss", "loss": "win", "tie": "tie"}[forth["verdict"]]


def test_q_values_by_hand() -> None:
    # sorted: .01·4/1 = .04, .02·4/2 = .04, .03·4/3 = .04, .5·4/4 = .5; each the smallest of those to its right
    assert q_values([0.5, 0.01, 0.03, 0.02]) == pytest.approx([0.5, 0.04, 0.04, 0.04])
    # .04·2/1 = .08 falls to .05·2/2
    assert q_values([0.04, 0.05]) == pytest.approx([0.05, 0.05])
    assert q_values([]) == []


@given(st.lists(st.floats(0, 1), min_size=1, max_size=30))
def test_q_values_are_those_of_the_definition(p_values: list[float]) -> None:
    # Benjamini and Hochberg (1995): reject all up to the largest k with p(k) ≤ k·α/m; q is the least α that rejects p
    m = len(p_values)
    ordered = sorted(p_values)
    for p, q in zip(p_values, q_values(p_values), strict=True):
        bounds = [value * m / rank for rank, value in enumerate(ordered, start=1) if value >= p]
        assert q == pytest.approx(min(1.0, *bounds) if bounds else 1.0)


def test_q_values_of_a_comparison_are_those_of_its_family() -> None:
    generator = np.random.default_rng(5)
    scores = scores_of({name: alike(list(generator.uniform(0, 1, 40))) for name in "abcdef"})
    table = compare(scores, "correctness")
    assert len(table) == 15
    expected = false_discovery_control(np.array(table["p"].to_pylist()))
    assert table["q"].to_pylist() == pytest.approx(list(expected))


@pytest.mark.parametrize(
    ("difference", "q", "word"),
    [(0.1, 0.049, "win"), (-0.1, 0.049, "loss"), (0.1, 0.05, "tie"), (-0.1, 1.0, "tie"), (0.0, 0.0, "tie")],
)
def test_verdicts(difference: float, q: float, word: str) -> None:
    assert verdict(difference, q) == word


def test_by_type_each_slice_has_its_own_comparison_and_one_family() -> None:
    facts = scores_of({"a": alike([0.9] * 10), "b": alike([0.1] * 10)}, question_type="Fact")
    hops = scores_of({"a": alike([0.5, 0.7]), "b": alike([0.7, 0.5])}, question_type="Hop")
    only_a = scores_of({"a": {"lonely": 1.0}}, question_type="Odd")
    table = compare_by_type(pa.concat_tables([hops, only_a, facts]), "correctness")
    assert table.schema == COMPARISONS_BY_TYPE
    rows = table.to_pylist()
    assert [(row["question_type"], row["n"], row["verdict"]) for row in rows] == [
        ("Fact", 10, "win"),
        ("Hop", 2, "tie"),
        ("Odd", 0, "no data"),
    ]
    assert (rows[0]["p"], rows[0]["q"]) == (2**-9, 2**-8)  # two tests in the family, this the smaller p
    assert [rows[2][name] for name in ("mean_a", "difference", "low", "p", "q")] == [None] * 5


def test_fallback_belongs_to_graph() -> None:
    scores = scores_of({"graph": {"q1": 0.5}, "fallback": {"q2": 0.0}, "naive": {"q1": 0.25, "q2": 0.25}})
    merged = fallback_as_graph(scores)
    assert merged.schema == SCORES
    row = compare(merged, "correctness").to_pylist()[0]
    assert (row["a"], row["b"], row["n"], row["mean_a"], row["mean_b"]) == ("graph", "naive", 2, 0.25, 0.25)
