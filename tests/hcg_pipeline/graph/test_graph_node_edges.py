import random

from graph_builders import VOCABULARY, chunks_table, relation, relations_table, variables_table
from hypothesis import given
from hypothesis import strategies as st

from hcg_pipeline.backends.protocol import TemplateVerdict
from hcg_pipeline.graph.node_edges import edge_id, edge_questions, extend_variables, merge_edges, seed_edges
from hcg_pipeline.graph.templates import lift_templates, merge_templates
from hcg_pipeline.specification.tiers import TierCaps
from hcg_pipeline.tables import NODE_EDGES, VARIABLES

CAPS = TierCaps(dimensions=6, metrics=24, window_words=100, template_calls=10, edge_calls=10)
CHUNKS = chunks_table({"d": [f"chunk number {n}" for n in range(6)], "e": ["more text here"]})
ORDER = {chunk_id: n for n, chunk_id in enumerate(CHUNKS.column("chunk_id").to_pylist())}
SUBSIDY, OUTPUT = "Subsidy(farming, north)", "Output(farming)"


def test_relations_of_one_pair_become_one_edge():
    table = seed_edges(
        relations_table(
            relation(SUBSIDY, OUTPUT, "second quote", start=40, confidence=0.8, sign="+", mechanism="pays seed"),
            relation(SUBSIDY, OUTPUT, "first quote", start=3, confidence=0.5, sign="-", mechanism="idles land"),
            relation(SUBSIDY, OUTPUT, "first quote", start=3, confidence=0.5, sign="?", mechanism="aa"),
            relation(SUBSIDY, OUTPUT, "elsewhere", document_id="c", confidence=0.1, sign="?"),
            relation(OUTPUT, SUBSIDY),
        )
    )
    assert table.schema.equals(NODE_EDGES)
    loop, edge = table.to_pylist()
    assert (loop["source"], loop["target"]) == (OUTPUT, SUBSIDY)
    quotes = [(q["document_id"], q["start"], q["quote"]) for q in edge.pop("quotes")]
    assert quotes == [("c", 0, "elsewhere"), ("d", 3, "first quote"), ("d", 40, "second quote")]
    assert edge == {
        "edge_id": edge_id(SUBSIDY, OUTPUT),
        "source": SUBSIDY,
        "source_metric": "Subsidy",
        "source_entities": ["farming", "north"],
        "target": OUTPUT,
        "target_metric": "Output",
        "target_entities": ["farming"],
        "mechanism": "pays seed",
        "sign": "+",
        "confidence": 0.91,
        "origin": "seed",
        "support": 3,
    }


def test_edge_id_is_a_hash_of_both_ends_in_their_order():
    assert edge_id("A(b)", "C(d)") != edge_id("C(d)", "A(b)")
    assert edge_id("A(b)C", "(d)") != edge_id("A(b)", "C(d)")
    assert len(edge_id("A(b)", "C(d)")) == 17


def test_candidates_are_spoken_of_together_and_agree_on_shared_dimensions():
    variables = variables_table(
        {
            "Subsidy(farming, north)": ["d.0", "d.1"],
            "Subsidy(mining, south)": ["d.0"],
            "Output(farming)": ["d.0", "d.1"],
            "Output(mining)": ["d.0"],
            "Output(trade)": ["d.5"],
            "Price(farming)": ["d.1"],
            "Welfare(north)": ["d.1"],
        },
        ORDER,
    )
    relations = relations_table(
        relation("Subsidy(farming, north)", "Output(farming)"),
        relation("Price(farming)", "Subsidy(farming, north)", mechanism="farmers plead"),
    )
    templates = merge_templates(
        lift_templates(relations), [TemplateVerdict("Output", "Price", "glut", 0.9)], VOCABULARY
    )
    questions = edge_questions(templates, variables, CHUNKS, seed_edges(relations), VOCABULARY, CAPS)
    asked = [
        (
            q.source.name,
            q.target.name,
            q.mechanism,
            [(s.name, t.name) for s, t in q.candidates],
            [p.chunk_id for p in q.passages],
        )
        for q in questions
    ]
    # farming/north → farming is an edge already, farming → mining disagree on the sector, trade stands alone.
    assert asked == [
        ("Subsidy", "Output", "it does", [("Subsidy(mining, south)", "Output(mining)")], ["d.0"]),
        ("Output", "Price", "glut", [("Output(farming)", "Price(farming)")], ["d.1"]),
    ]
    assert (
        edge_questions(templates, variables, CHUNKS, seed_edges(relations), VOCABULARY, TierCaps(6, 24, 1, 1, 0)) == []
    )


def test_judged_edges_need_a_template_and_confidence():
    seed_relations = relations_table(relation(SUBSIDY, OUTPUT, confidence=0.5, sign="+"))
    templates = merge_templates(
        lift_templates(seed_relations), [TemplateVerdict("Output", "Welfare", "food", 0.9)], VOCABULARY
    )
    merged = merge_edges(
        seed_edges(seed_relations),
        relations_table(
            relation(SUBSIDY, OUTPUT, "a new quote", start=50, confidence=0.6, sign="-", mechanism="other"),
            relation("Subsidy(trade, south)", "Output(trade)", confidence=0.7),
            relation("Subsidy(mining, south)", "Output(mining)", confidence=0.49),
            relation("Output(farming)", "Welfare(north)", confidence=0.5),
            relation("Price(farming)", "Welfare(north)", confidence=0.9),
        ),
        templates,
    )
    assert [
        (r["source"], r["target"], r["origin"], r["sign"], r["mechanism"], r["confidence"], r["support"])
        for r in merged.to_pylist()
    ] == [
        ("Output(farming)", "Welfare(north)", "judged", "+", "it does", 0.5, 1),
        (SUBSIDY, OUTPUT, "seed", "+", "it does", 0.8, 2),
        ("Subsidy(trade, south)", "Output(trade)", "judged", "+", "it does", 0.7, 1),
    ]


def test_variables_that_only_judging_names_are_added():
    variables = variables_table({SUBSIDY: ["d.0"], OUTPUT: ["d.1"]}, ORDER)
    edges = seed_edges(
        relations_table(
            relation(SUBSIDY, OUTPUT),
            relation("Price(mining)", OUTPUT, document_id="e"),
            relation("Price(mining)", OUTPUT, "again here", start=5),
        )
    )
    extended = extend_variables(variables, edges, VOCABULARY, CHUNKS)
    assert extended.schema.equals(VARIABLES)
    assert [(r["variable"], r["mentions"], r["chunk_ids"], r["description"]) for r in extended.to_pylist()] == [
        (SUBSIDY, 1, ["d.0"], "Subsidy: farming, north. Money that is paid."),
        (OUTPUT, 1, ["d.1"], "Output: farming. What is made."),
        ("Price(mining)", 2, ["d.0", "e.0"], "Price: mining. What it costs."),
    ]
    assert extend_variables(extended, edges, VOCABULARY, CHUNKS).equals(extended)


_names = st.sampled_from([SUBSIDY, OUTPUT, "Price(farming)", "Price(mining)"])
_rows = st.lists(
    st.builds(
        lambda s, t, start, sign, confidence, mechanism: relation(
            s, t, "quote", start=start, sign=sign, confidence=confidence, mechanism=mechanism
        ),
        _names,
        _names,
        st.integers(0, 3),
        st.sampled_from("+-?"),
        st.floats(0, 1),
        st.sampled_from("abc"),
    ).filter(lambda row: row["source"] != row["target"]),
    max_size=12,
)


@given(_rows, st.randoms(use_true_random=False))
def test_edges_do_not_depend_on_the_order_of_relations(rows, chance: random.Random):
    table = seed_edges(relations_table(*rows))
    shuffled = list(rows)
    chance.shuffle(shuffled)
    assert seed_edges(relations_table(*shuffled)).equals(table)
    pairs = {(row["source"], row["target"]) for row in rows}
    assert {(row["source"], row["target"]) for row in table.to_pylist()} == pairs
    for row in table.to_pylist():
        assert 0 <= row["confidence"] <= 0.99
        assert row["support"] == len(row["quotes"]) == len({q["start"] for q in row["quotes"]})
