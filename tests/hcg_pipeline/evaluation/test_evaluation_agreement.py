"""Judges side by side and runs side by side, with values worked out by hand."""

from collections.abc import Mapping
from statistics import stdev

import pyarrow as pa
import pytest

from hcg_pipeline.errors import EvaluationError
from hcg_pipeline.evaluation.agreement import (
    AGREEMENT,
    JUDGE_MEANS,
    RUN_SPREAD,
    judge_agreement,
    judge_means,
    spread_over_runs,
)
from hcg_pipeline.evaluation.judging.naming import judged_name, split_judged_name
from hcg_pipeline.tables import SCORES


def scores_of(measure: str, systems: Mapping[str, Mapping[str, float]]) -> pa.Table:
    """SCORES by system and question id."""
    rows = [
        {"question_set": "s", "id": question, "question_type": "t", "mode": mode, "measure": measure, "value": value}
        for mode, values in systems.items()
        for question, value in values.items()
    ]
    return pa.Table.from_pylist(rows, schema=SCORES)


def judges(**means: list[float]) -> pa.Table:
    """One question a system; `means` by judge, for the systems s0, s1, …"""
    return pa.concat_tables(
        scores_of(f"correctness[{judge}]", {f"s{place}": {"q": value} for place, value in enumerate(values)})
        for judge, values in means.items()
    )


def test_rank_correlation_and_shift_by_hand() -> None:
    # ranks 1 2 3 4 against 1 3 2 4: Σd² = 2, so ρ = 1 - 6·2/(4·15) = 0.8; of 6 pairs one is turned, so τ = (5-1)/6
    table = judge_agreement(judges(glm=[0.1, 0.2, 0.3, 0.4], kimi=[0.2, 0.5, 0.4, 0.9]), "correctness")
    assert table.schema == AGREEMENT
    row = table.to_pylist()[0]
    assert (row["judge_a"], row["judge_b"], row["systems"], row["answers"]) == ("glm", "kimi", 4, 4)
    assert row["spearman"] == pytest.approx(0.8)
    assert row["kendall"] == pytest.approx(4 / 6)
    assert row["shift"] == pytest.approx((0.1 + 0.3 + 0.1 + 0.5) / 4)


def test_ties_lower_kendall_as_tau_b_has_it() -> None:
    # pairs: (0,1) tied in b; (0,2) and (1,2) agree: τ_b = 2 / sqrt(3·2)
    row = judge_agreement(judges(a=[0.1, 0.2, 0.3], b=[0.5, 0.5, 0.6]), "correctness").to_pylist()[0]
    assert row["kendall"] == pytest.approx(2 / 6**0.5)


def test_opposite_and_same_orders() -> None:
    rows = judge_agreement(judges(a=[0.1, 0.2, 0.3], b=[0.3, 0.2, 0.1], c=[0.2, 0.3, 0.4]), "correctness").to_pylist()
    assert [(row["judge_a"], row["judge_b"]) for row in rows] == [("a", "b"), ("a", "c"), ("b", "c")]
    assert [row["spearman"] for row in rows] == pytest.approx([-1, 1, -1])
    assert [row["kendall"] for row in rows] == pytest.approx([-1, 1, -1])
    assert [row["shift"] for row in rows] == pytest.approx([0, 0.1, 0.1])


@pytest.mark.parametrize("means", [[0.5], [0.5, 0.5, 0.5]])
def test_a_judge_that_ranks_nothing_has_no_correlation(means: list[float]) -> None:
    row = judge_agreement(judges(a=[0.2, 0.4, 0.6][: len(means)], b=means), "correctness").to_pylist()[0]
    assert (row["spearman"], row["kendall"]) == (None, None)
    assert row["shift"] == pytest.approx(sum(means) / len(means) - (0.2 if len(means) == 1 else 0.4))


def test_only_answers_that_both_judges_scored_count() -> None:
    # judge b lacks the hard question q2, on which a gave 0: over q1 alone they agree
    scores = pa.concat_tables(
        [
            scores_of("correctness[a]", {"graph": {"q1": 0.8, "q2": 0.0}, "naive": {"q1": 0.6}, "odd": {"q1": 1.0}}),
            scores_of("correctness[b]", {"graph": {"q1": 0.8}, "naive": {"q1": 0.6, "q3": 0.1}}),
        ]
    )
    row = judge_agreement(scores, "correctness").to_pylist()[0]
    assert (row["systems"], row["answers"], row["shift"]) == (2, 2, 0.0)
    table = judge_means(scores, "correctness")
    assert table.schema == JUDGE_MEANS
    assert table.to_pylist() == [
        {"system": "graph", "judge": "a", "n": 1, "mean": 0.8},
        {"system": "graph", "judge": "b", "n": 1, "mean": 0.8},
        {"system": "naive", "judge": "a", "n": 1, "mean": 0.6},
        {"system": "naive", "judge": "b", "n": 1, "mean": 0.6},
    ]


def test_other_measures_and_measures_without_a_judge_are_left_out() -> None:
    extra = [scores_of("coverage[c]", {"s0": {"q": 1.0}}), scores_of("rouge_l", {"s0": {"q": 1.0}})]
    table = judge_agreement(pa.concat_tables([judges(a=[0.1, 0.2], b=[0.1, 0.2]), *extra]), "correctness")
    assert table.select(["judge_a", "judge_b"]).to_pylist() == [{"judge_a": "a", "judge_b": "b"}]


@pytest.mark.parametrize(
    ("scores", "message"),
    [
        (judges(a=[0.5]), "agreement needs two judges, and there is only a"),
        (scores_of("rouge_l", {"s": {"q": 1.0}}), "no judge has scored 'correctness'; the measures are rouge_l"),
        (
            pa.concat_tables(
                [scores_of("correctness[a]", {"s": {"q": 1.0}}), scores_of("correctness[b]", {"s": {"r": 1.0}})]
            ),
            "'a' and 'b' have scored no answer in common",
        ),
    ],
)
def test_what_cannot_be_held_against_each_other_is_said(scores: pa.Table, message: str) -> None:
    with pytest.raises(EvaluationError, match=message):
        judge_agreement(scores, "correctness")


def test_mean_and_sample_deviation_over_runs() -> None:
    # run means 0.25, 0.5, 0.75: mean 0.5, sample variance (1/16 + 0 + 1/16) / 2 = 1/16
    runs = [
        scores_of("correctness[j]", {"graph": {"q1": low, "q2": high}, "naive": {"q1": 0.5}})
        for low, high in ((0.0, 0.5), (0.25, 0.75), (0.5, 1.0))
    ]
    table = spread_over_runs(runs)
    assert table.schema == RUN_SPREAD
    assert table.to_pylist() == [
        {"system": "graph", "measure": "correctness[j]", "runs": 3, "mean": 0.5, "deviation": 0.25},
        {"system": "naive", "measure": "correctness[j]", "runs": 3, "mean": 0.5, "deviation": 0.0},
    ]


def test_a_run_counts_with_its_mean_whatever_its_number_of_questions() -> None:
    runs = [scores_of("rouge_l", {"graph": {"q1": 0.0}}), scores_of("rouge_l", {"graph": {"q1": 1.0, "q2": 1.0}})]
    row = spread_over_runs(runs).to_pylist()[0]
    assert (row["runs"], row["mean"]) == (2, 0.5)
    assert row["deviation"] == pytest.approx(stdev([0.0, 1.0]))


def test_one_run_has_no_deviation() -> None:
    row = spread_over_runs([scores_of("rouge_l", {"graph": {"q1": 0.5}})]).to_pylist()[0]
    assert (row["runs"], row["mean"], row["deviation"]) == (1, 0.5, None)


def test_an_unknown_column_of_systems_is_an_error() -> None:
    with pytest.raises(EvaluationError, match="no column 'corpus'"):
        spread_over_runs([scores_of("rouge_l", {"graph": {"q1": 0.5}})], by="corpus")
    with pytest.raises(EvaluationError, match="no column 'corpus'"):
        judge_agreement(judges(a=[0.1], b=[0.2]), "correctness", by="corpus")


@pytest.mark.parametrize("judge", ["gpt-5.4-mini", "org/model:70b", "odd[name]", "two\nlines"])
def test_a_judged_name_gives_back_measure_and_judge(judge: str) -> None:
    assert split_judged_name(judged_name("coverage", judge)) == ("coverage", judge)


def test_a_measure_without_a_judge_has_none() -> None:
    assert split_judged_name("reference_recall@750") is None
