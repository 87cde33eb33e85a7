import pytest
from graph_builders import VOCABULARY, chunks_table, relation, relations_table, variables_table
from hypothesis import given
from hypothesis import strategies as st

from hcg_pipeline.backends.protocol import TemplateVerdict
from hcg_pipeline.graph.confidence import combined, voted_sign
from hcg_pipeline.graph.passages import choose_passages, passages_of
from hcg_pipeline.graph.templates import lift_templates, merge_templates, template_questions
from hcg_pipeline.specification.tiers import TierCaps
from hcg_pipeline.tables import METRIC_TEMPLATES

CAPS = TierCaps(dimensions=6, metrics=24, window_words=100, template_calls=10, edge_calls=10)
CHUNKS = chunks_table({"d": [f"chunk number {n}" for n in range(6)]})
ORDER = {f"d.{n}": n for n in range(6)}


def test_confidences_combine_and_never_reach_certainty():
    assert combined([0.5, 0.5]) == 0.75
    assert combined([0.2]) == 0.2
    assert combined([0.9, 0.9, 0.9]) == 0.99
    assert combined([]) == 0.0
    assert combined([1.0]) == 0.99


@given(st.lists(st.floats(0, 1), max_size=8))
def test_combined_confidence_does_not_depend_on_order(confidences):
    assert combined(confidences) == combined(confidences[::-1])


@pytest.mark.parametrize(
    ("votes", "sign"),
    [
        ([("+", 0.9), ("-", 0.5), ("-", 0.3)], "+"),
        ([("+", 0.5), ("-", 0.5)], "?"),
        ([("?", 0.9), ("-", 0.1)], "-"),
        ([("?", 0.9)], "?"),
        ([("+", 0.1), ("+", 0.2), ("-", 0.3)], "?"),
    ],
)
def test_sign_is_voted_by_confidence(votes, sign):
    assert voted_sign(votes) == sign


def test_templates_are_lifted_from_relations():
    table = lift_templates(
        relations_table(
            relation("Subsidy(farming, north)", "Output(farming)", mechanism="weak", confidence=0.5),
            relation("Subsidy(mining, south)", "Output(mining)", mechanism="strong", confidence=0.8),
            relation("Output(farming)", "Price(farming)"),
            relation("Output(farming)", "Output(trade)"),
        )
    )
    assert table.schema.equals(METRIC_TEMPLATES)
    assert [tuple(row.values()) for row in table.to_pylist()] == [
        ("Output", "Price", "seed", 1, "it does", 0.5),
        ("Subsidy", "Output", "seed", 2, "strong", 0.9),
    ]


def test_questions_ask_about_metrics_spoken_of_together_and_never_about_a_terminal_source():
    variables = variables_table(
        {
            "Subsidy(farming, north)": ["d.0", "d.1"],
            "Subsidy(farming, south)": ["d.2"],
            "Output(farming)": ["d.0", "d.1"],
            "Price(farming)": ["d.2", "d.3"],
            "Welfare(north)": ["d.0", "d.1", "d.2"],
        },
        ORDER,
    )
    relations = relations_table(relation("Subsidy(farming, north)", "Output(farming)"))
    questions = template_questions(VOCABULARY, relations, variables, CHUNKS, CAPS)
    asked = {(q.source.name, tuple(t.name for t in q.targets)): [p.chunk_id for p in q.passages] for q in questions}
    assert asked == {
        ("Output", ("Subsidy", "Welfare")): ["d.0"],
        ("Subsidy", ("Welfare",)): ["d.0"],
    }
    # Most promising first, and no more than the cap allows.
    assert [q.source.name for q in questions] == ["Output", "Subsidy"]
    assert len(template_questions(VOCABULARY, relations, variables, CHUNKS, TierCaps(6, 24, 100, 1, 1))) == 1
    assert template_questions(VOCABULARY, relations, variables, CHUNKS, TierCaps(6, 24, 100, 0, 1)) == []


def test_passages_cover_as_many_targets_as_possible():
    passages = passages_of(CHUNKS)
    wanted = [frozenset({0, 4}), frozenset({1, 4}), frozenset({2}), frozenset(), frozenset({3, 5})]
    assert [p.chunk_id for p in choose_passages(wanted, passages, 2)] == ["d.2", "d.4"]
    assert [p.chunk_id for p in choose_passages(wanted, passages, 9)] == ["d.2", "d.3", "d.4"]
    assert choose_passages([], passages, 3) == ()


def test_verdicts_count_only_inside_the_vocabulary():
    lifted = lift_templates(relations_table(relation("Subsidy(farming, north)", "Output(farming)")))
    merged = merge_templates(
        lifted,
        [
            TemplateVerdict("Price", "Welfare", "dear food", 0.7),
            TemplateVerdict("Price", "Welfare", "better said", 0.8),
            TemplateVerdict("Subsidy", "Output", "again", 0.9),
            TemplateVerdict("Welfare", "Price", "terminal", 0.9),
            TemplateVerdict("Price", "Price", "itself", 0.9),
            TemplateVerdict("Price", "Weather", "unknown", 0.9),
            TemplateVerdict("Output", "Price", " \x00 ", 0.9),
            TemplateVerdict("Output", "Welfare", "unsure", 0.4),
            TemplateVerdict("Subsidy", "Price", "not a number", float("nan")),
        ],
        VOCABULARY,
    )
    assert [tuple(row.values()) for row in merged.to_pylist()] == [
        ("Price", "Welfare", "judged", 0, "better said", 0.8),
        ("Subsidy", "Output", "seed", 1, "it does", 0.5),
    ]
