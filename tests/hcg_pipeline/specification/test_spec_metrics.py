import random
from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st
from spec_builders import dimension, entity, metric

from hcg_pipeline.specification.dimensions import build_dimensions
from hcg_pipeline.specification.metrics import MAXIMUM_CATEGORIES, build_metrics, resolve_metrics
from hcg_pipeline.specification.outcomes import OutcomeConfig
from hcg_pipeline.specification.tiers import ORDER, TIERS
from hcg_pipeline.tables import METRICS

AXES = [f"axis{letter}" for letter in "abcdefghijklmn"]
DIMENSIONS = build_dimensions(
    [dimension(name, entity(f"{name} value"), support=50 - place) for place, name in enumerate(AXES)], "L"
)


def _rows(table):
    return {row["metric"]: row for row in table.to_pylist()}


def test_proposals_of_one_name_become_one_metric():
    table = build_metrics(
        [
            metric("treatment efficacy", "axisa", "axisb", support=3, description="How well.", category="Therapies"),
            metric("TreatmentEfficacy", "axisb", "axisa", support=1, description="Other.", category="therapy"),
            metric("Treatment Efficacies", "axisc", support=2, description="Alone."),
        ],
        DIMENSIONS,
        None,
        "S",
    )
    assert table.schema.equals(METRICS)
    assert table.to_pylist() == [
        {
            "metric": "TreatmentEfficacy",
            "signature": ["axisa", "axisb"],
            "description": "How well.",
            "category": "therapy",
            "role": "outcome",
            "support": 6,
            "aliases": ["TreatmentEfficacies"],
        }
    ]


def test_signature_is_the_best_supported_set_in_its_best_supported_order():
    proposals = [
        metric("Dose", "axisb", "axisa", support=2),
        metric("Dose", "axisa", "axisb", support=3),
        metric("Dose", "axisc", support=4),
    ]
    assert _rows(build_metrics(proposals, DIMENSIONS, None, "S"))["Dose"]["signature"] == ["axisa", "axisb"]


def test_proposals_outside_the_vocabulary_are_dropped_and_counted():
    resolved = resolve_metrics(
        [
            metric("Dose", "axisa", "nowhere"),
            metric("Dose", "Axis A type"),
            metric("Rate"),
            metric("Speed", "axisa", "axisb", "axisc", "axisd"),
            metric("../x", "axisa"),
            metric("Rate <b>", "axisa"),
        ],
        build_dimensions([dimension("axis_a", entity("x")), *[dimension(a, entity(a)) for a in AXES[:4]]], "L"),
        None,
        "L",
    )
    assert _rows(resolved.table)["Dose"]["signature"] == ["axis_a"]
    assert resolved.counts == {"metric_refused": 2, "metric_signature_length": 2, "metric_unknown_dimension": 1}


def test_categories_stay_few():
    proposals = [
        metric(f"Metric{chr(65 + n)}", "axisa", category=f"head{chr(65 + n)}", support=n + 1) for n in range(20)
    ]
    proposals.append(metric("MetricZ", "axisa", category="headT"))
    categories = [row["category"] for row in build_metrics(proposals, DIMENSIONS, None, "L").to_pylist()]
    assert len(set(categories)) == MAXIMUM_CATEGORIES
    assert categories.count("head_t") == 2
    assert categories.count("other") == 9


def test_roles_come_from_the_outcome_configuration():
    table = build_metrics(
        [metric(name, "axisa") for name in ("Survival Rate", "Overall survival", "Tumor size", "Pain")],
        DIMENSIONS,
        OutcomeConfig(terminals=["*survival*"], outcomes=["tumour sizes"]),
        "S",
    )
    assert {name: row["role"] for name, row in _rows(table).items()} == {
        "SurvivalRate": "terminal",
        "OverallSurvival": "terminal",
        "TumorSize": "outcome",
        "Pain": "driver",
    }


def test_small_tier_keeps_metrics_of_its_own_dimensions_and_the_next_keeps_them_too():
    # 70 strong metrics bind axisg, which XS does not have; S has room for 64 and must still hold XS's weak ones.
    strong = [metric(f"Strong{chr(65 + n // 26)}{chr(65 + n % 26)}x", "axisg", support=9) for n in range(70)]
    weak = [metric(f"Weak{chr(65 + n)}x", "axisa") for n in range(5)]
    small = build_metrics([*strong, *weak], DIMENSIONS, None, "XS").column("metric").to_pylist()
    larger = build_metrics([*strong, *weak], DIMENSIONS, None, "S").column("metric").to_pylist()
    assert small == ["WeakAx", "WeakBx", "WeakCx", "WeakDx", "WeakEx"]
    assert len(larger) == 64
    assert larger[:5] == small


_proposals = st.lists(
    st.builds(
        lambda name, signature, support, category: metric(name, *signature, support=support, category=category),
        st.lists(
            st.sampled_from(
                [
                    "survival",
                    "dose",
                    "rate",
                    "rates",
                    "efficacy",
                    "cost",
                    "tumour",
                    "tumor",
                    "death",
                    "risk",
                    "drug",
                    "pain",
                ]
            ),
            min_size=1,
            max_size=3,
        ).map(" ".join),
        st.lists(st.sampled_from([*AXES, "unknown"]), min_size=0, max_size=4),
        st.integers(1, 6),
        st.sampled_from(["care", "cares", "course", "money"]),
    ),
    max_size=90,
)


@settings(deadline=None)
@given(_proposals, st.randoms(use_true_random=False))
def test_tiers_nest_whatever_the_order_of_proposals(proposals, chance: random.Random):
    shuffled = list(proposals)
    chance.shuffle(shuffled)
    tables = {tier: build_metrics(proposals, DIMENSIONS, None, tier).to_pylist() for tier in ORDER}
    for tier in ORDER:
        assert build_metrics(shuffled, DIMENSIONS, None, tier).to_pylist() == tables[tier]
        assert len(tables[tier]) <= TIERS[tier].metrics
        known = set(AXES[: TIERS[tier].dimensions])
        assert all(row["signature"] and known.issuperset(row["signature"]) for row in tables[tier])
        assert len({row["metric"] for row in tables[tier]}) == len(tables[tier])
    for smaller, larger in pairwise(ORDER):
        # Name, signature, description, category and role: all that XS says, S says.
        assert tables[larger][: len(tables[smaller])] == tables[smaller]


@settings(deadline=None)
@given(_proposals)
def test_few_terminals_and_not_nearly_all_outcomes(proposals):
    rows = build_metrics(proposals, DIMENSIONS, None, "L").to_pylist()
    terminals = sum(row["role"] == "terminal" for row in rows)
    outcomes = sum(row["role"] == "outcome" for row in rows)
    assert terminals <= max(1, -(-len(rows) // 12))
    assert outcomes <= -(-len(rows) * 2 // 5)
