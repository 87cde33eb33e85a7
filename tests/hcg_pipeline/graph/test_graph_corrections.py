from dataclasses import replace

import pytest
from graph_builders import METRICS, VOCABULARY, chunks_table, relation, relations_table, variables_table
from hypothesis import given, settings
from hypothesis import strategies as st

from hcg_pipeline.backends.protocol import ProposedRelation, Reading
from hcg_pipeline.graph.corrected import correct_tables
from hcg_pipeline.graph.node_edges import edge_id, seed_edges
from hcg_pipeline.graph.published import assemble_graph
from hcg_pipeline.specification.assembly import assemble
from hcg_pipeline.specification.corrections import (
    parse_corrections,
)
from hcg_pipeline.specification.vocabulary import VariableRef, Vocabulary
from hcg_pipeline.specification.vocabulary_tables import dimensions_table, metrics_table
from hcg_pipeline.tables import EVIDENCE_LINKS, NODE_EDGES, VARIABLES

CHUNKS = chunks_table({"d": ["Grants feed farms, they say.", "Dear bread hurts the north."], "e": ["Mines pay."]})
ORDER = {"d.0": 0, "d.1": 1, "e.0": 2}
DIMENSIONS = dimensions_table(VOCABULARY.dimensions)
FARM, MINE = "Subsidy(farming, north)", "Subsidy(mining, north)"
RELATIONS = relations_table(
    relation(FARM, "Output(farming)", "Grants feed farms", confidence=0.8, mechanism="grants"),
    relation(MINE, "Output(mining)", "Mines pay", document_id="e", confidence=0.5, sign="-", mechanism="mines"),
    relation("Output(farming)", "Price(farming)"),
    relation("Price(farming)", "Welfare(north)", "Dear bread", chunk_id="d.1", start=29),
)
VARIABLES_TABLE = variables_table(
    {
        FARM: ["d.0"],
        MINE: ["d.1", "e.0"],
        "Output(farming)": ["d.0"],
        "Output(mining)": ["e.0"],
        "Price(farming)": ["d.1"],
        "Welfare(north)": ["d.1"],
    },
    ORDER,
)


def _corrections(*edits: str):
    text = "".join(f"- {{{edit}, note: checked, date: 2026-03-01}}\n" for edit in edits)
    return parse_corrections("corrections:\n" + text, "corrections.yaml")


def _correct(*edits: str, relations=RELATIONS, variables=VARIABLES_TABLE):
    corrected = correct_tables(DIMENSIONS, METRICS, variables, seed_edges(relations), CHUNKS, _corrections(*edits))
    assert corrected.edges.schema.equals(NODE_EDGES)
    assert corrected.variables.schema.equals(VARIABLES)
    # Whatever the edits, the tables make a sound graph.
    assemble_graph(corrected.variables, corrected.metrics, corrected.edges, EVIDENCE_LINKS.empty_table())
    for row in corrected.edges.to_pylist():
        assert row["edge_id"] == edge_id(row["source"], row["target"])
    return corrected


def _pairs(corrected):
    return [(row["source"], row["target"]) for row in corrected.edges.to_pylist()]


def _names(corrected):
    return corrected.variables.column("variable").to_pylist()


def test_no_corrections_change_nothing():
    corrected = _correct()
    assert corrected.variables.equals(VARIABLES_TABLE)
    assert corrected.edges.equals(seed_edges(RELATIONS))
    assert (corrected.dimensions, corrected.metrics, corrected.problems) == (DIMENSIONS, METRICS, ())


def test_renamed_entity_is_renamed_everywhere_and_keeps_its_old_name_as_alias():
    corrected = _correct("action: rename_entity, dimension: sector, entity: farming, to: agriculture")
    assert corrected.problems == ()
    assert corrected.dimensions.to_pylist()[0]["entities"][0] == {
        "name": "agriculture",
        "aliases": ["farming"],
        "mentions": 0,
    }
    assert _names(corrected)[0] == "Subsidy(agriculture, north)"
    assert corrected.variables.to_pylist()[0]["description"] == "Subsidy: agriculture, north. Money that is paid."
    assert ("Subsidy(agriculture, north)", "Output(agriculture)") in _pairs(corrected)
    assert not any("farming" in name for name in _names(corrected))


def test_merged_entities_join_their_variables_and_edges():
    corrected = _correct("action: merge_entity, dimension: sector, entity: mining, into: farming")
    rows = {row["variable"]: row for row in corrected.variables.to_pylist()}
    assert (rows[FARM]["mentions"], rows[FARM]["chunk_ids"]) == (3, ["d.0", "d.1", "e.0"])
    assert MINE not in rows
    edge = next(row for row in corrected.edges.to_pylist() if row["source"] == FARM)
    assert (edge["sign"], edge["mechanism"], edge["confidence"], edge["support"]) == ("+", "grants", 0.9, 2)
    assert [quote["quote"] for quote in edge["quotes"]] == ["Grants feed farms", "Mines pay"]


def test_dropped_entity_takes_its_variables_and_edges_along():
    corrected = _correct("action: drop_entity, dimension: sector, entity: farming")
    assert _names(corrected) == [MINE, "Output(mining)", "Welfare(north)"]
    assert _pairs(corrected) == [(MINE, "Output(mining)")]


def test_metrics_are_renamed_merged_and_dropped():
    corrected = _correct("action: rename_metric, metric: Subsidy, to: Grant")
    assert corrected.metrics.column("metric").to_pylist() == ["Grant", "Output", "Price", "Welfare"]
    assert ("Grant(farming, north)", "Output(farming)") in _pairs(corrected)
    corrected = _correct("action: merge_metric, metric: Price, into: Output")
    # Output(farming) → Price(farming) became a self-loop and is gone.
    assert ("Output(farming)", "Welfare(north)") in _pairs(corrected)
    assert len(_pairs(corrected)) == 3
    corrected = _correct("action: drop_metric, metric: Price")
    assert "Price(farming)" not in _names(corrected)
    assert _pairs(corrected) == [(FARM, "Output(farming)"), (MINE, "Output(mining)")]


def test_role_terminal_takes_outgoing_edges():
    corrected = _correct("action: set_role, metric: Price, role: terminal")
    assert ("Price(farming)", "Welfare(north)") not in _pairs(corrected)
    assert {r["variable"]: r["role"] for r in corrected.variables.to_pylist()}["Price(farming)"] == "terminal"
    corrected = _correct("action: set_role, metric: Welfare, role: outcome")
    assert corrected.metrics.column("role").to_pylist()[3] == "outcome"


@given(st.tuples(*[st.sampled_from(["terminal", "outcome", "driver"])] * 8))
def test_a_role_that_is_set_is_as_if_it_had_been_so_from_the_beginning(roles):
    """Relations out of any metric, read under the first four roles and corrected to the other four, or read so."""
    names = [metric.name for metric in VOCABULARY.metrics]
    refs = {name: VariableRef(name, ("farming", "north") if name == "Subsidy" else _bound(name)) for name in names}
    reading = Reading(
        "w",
        (),
        (),
        tuple(
            ProposedRelation(refs[one], refs[other], "so", "+", 0.6, "d.0", "Grants feed farms, they say.")
            for one in names
            for other in names
            if one != other
        ),
    )

    def built(given_roles, *edits):
        metrics = tuple(
            replace(metric, role=role) for metric, role in zip(VOCABULARY.metrics, given_roles, strict=True)
        )
        read = assemble([reading], Vocabulary(VOCABULARY.dimensions, metrics), CHUNKS)
        edges = seed_edges(read.relations)
        return correct_tables(
            read.dimensions, metrics_table(metrics), read.variables, edges, CHUNKS, _corrections(*edits)
        )

    first, then = roles[:4], roles[4:]
    edits = [f"action: set_role, metric: {name}, role: {role}" for name, role in zip(names, then, strict=True)]
    assert built(first, *edits) == built(then)


def _bound(metric):
    return ("north",) if metric == "Welfare" else ("farming",)


def test_an_edge_out_of_a_terminal_is_not_there_to_be_edited():
    stated = relations_table(relation("Welfare(north)", "Output(farming)", "Grants feed farms"))
    edit = "action: reword, source: Welfare(north), target: Output(farming), mechanism: m"
    role = "action: set_role, metric: Welfare, role: driver"
    refused = _correct(edit, relations=stated)
    assert refused.problems == ("corrections.yaml:2: reword Welfare(north) → Output(farming): there is no such edge",)
    assert _pairs(refused) == []
    assert _pairs(_correct(role, edit, relations=stated)) == [("Welfare(north)", "Output(farming)")]


def test_variables_are_renamed_and_dropped():
    corrected = _correct(f"action: rename_variable, variable: '{MINE}', to: 'Subsidy(trade, south)'")
    assert "Subsidy(trade, south)" in _names(corrected)
    assert ("Subsidy(trade, south)", "Output(mining)") in _pairs(corrected)
    corrected = _correct("action: drop_variable, variable: Output(farming)")
    assert _pairs(corrected) == [("Price(farming)", "Welfare(north)"), (MINE, "Output(mining)")]


def test_edges_are_added_dropped_flipped_and_reworded():
    corrected = _correct(
        "action: add_edge, source: Output(trade), target: Welfare(north), mechanism: more goods, sign: +, "
        "quote: Dear bread hurts",
        f"action: drop_edge, source: '{MINE}', target: Output(mining)",
        "action: flip_edge, source: Output(farming), target: Price(farming)",
        f"action: reword, source: '{FARM}', target: Output(farming), mechanism: seed is bought",
    )
    assert corrected.problems == ()
    rows = {(row["source"], row["target"]): row for row in corrected.edges.to_pylist()}
    assert sorted(rows) == [
        ("Output(trade)", "Welfare(north)"),
        ("Price(farming)", "Output(farming)"),
        ("Price(farming)", "Welfare(north)"),
        (FARM, "Output(farming)"),
    ]
    added = rows[("Output(trade)", "Welfare(north)")]
    assert (added["origin"], added["sign"], added["confidence"], added["support"]) == ("expert", "+", 0.99, 1)
    assert added["quotes"] == [
        {"chunk_id": "d.1", "document_id": "d", "start": 29, "end": 45, "quote": "Dear bread hurts"}
    ]
    assert rows[(FARM, "Output(farming)")]["mechanism"] == "seed is bought"
    assert "Output(trade)" in _names(corrected)


def test_later_edits_see_the_names_that_earlier_ones_left():
    corrected = _correct(
        "action: drop_edge, source: Output(farming), target: Price(farming)",
        "action: rename_entity, dimension: sector, entity: farming, to: agriculture",
        "action: rename_metric, metric: Price, to: Cost",
        "action: drop_edge, source: Cost(agriculture), target: Welfare(north)",
    )
    assert corrected.problems == ()
    assert _pairs(corrected) == [("Subsidy(agriculture, north)", "Output(agriculture)"), (MINE, "Output(mining)")]


@pytest.mark.parametrize(
    ("edit", "what"),
    [
        ("action: rename_entity, dimension: sector, entity: fishing, to: x", "'fishing': there is no such entity"),
        ("action: rename_entity, dimension: colour, entity: farming, to: x", "'colour': there is no such dimension"),
        ("action: rename_entity, dimension: sector, entity: farming, to: Mining", "sector has that entity already"),
        ("action: rename_entity, dimension: sector, entity: farming, to: ../x", "no acceptable name"),
        ("action: merge_entity, dimension: sector, entity: farming, into: fishing", "no such other entity"),
        ("action: drop_entity, dimension: region, entity: farming", "no such entity on region"),
        ("action: rename_metric, metric: Tax, to: Levy", "'Tax': there is no such metric"),
        ("action: rename_metric, metric: Price, to: Output", "must be a new name"),
        ("action: rename_metric, metric: Price, to: 'p r'", "must be a new name in CamelCase"),
        ("action: merge_metric, metric: Price, into: Welfare", "binds the same dimensions"),
        ("action: drop_variable, variable: Output(trade)", "there is no such variable"),
        ("action: rename_variable, variable: Output(trade), to: Price(trade)", "there is no such variable"),
        ("action: rename_variable, variable: Output(mining), to: Price(fish)", "not in the vocabulary"),
        ("action: drop_edge, source: Price(farming), target: Output(farming)", "there is no such edge"),
        ("action: flip_edge, source: Price(farming), target: Welfare(north)", "is terminal and causes nothing"),
        ("action: reword, source: A(b), target: C(d), mechanism: x", "there is no such edge"),
        ("action: add_edge, source: Price(farming), target: Welfare(north), mechanism: x", "is there already"),
        ("action: add_edge, source: Welfare(north), target: Price(farming), mechanism: x", "a terminal causes nothing"),
        ("action: add_edge, source: Price(fish), target: Welfare(north), mechanism: x", "not in the vocabulary"),
    ],
)
def test_edit_without_effect_is_told_with_its_line_and_changes_nothing(edit, what):
    corrected = _correct("action: set_role, metric: Output, role: outcome", edit)
    (problem,) = corrected.problems
    assert problem.startswith("corrections.yaml:3: ")
    assert what in problem
    assert corrected.edges.equals(seed_edges(RELATIONS))
    assert corrected.variables.equals(VARIABLES_TABLE)


def test_added_edge_whose_quote_stands_nowhere_is_kept_and_told():
    corrected = _correct(
        "action: add_edge, source: Output(trade), target: Welfare(north), mechanism: x, quote: never written"
    )
    assert ("Output(trade)", "Welfare(north)") in _pairs(corrected)
    assert corrected.problems == (
        "corrections.yaml:2: add_edge Output(trade) → Welfare(north): its quote stands in no chunk",
    )


_sector = st.sampled_from(["farming", "mining", "trade"])
_metric = st.sampled_from(["Subsidy", "Output", "Price", "Welfare"])
_variable = st.sampled_from([FARM, MINE, "Output(farming)", "Output(trade)", "Price(mining)", "Welfare(north)"])
_edits = st.one_of(
    st.builds(lambda a, b: f"action: merge_entity, dimension: sector, entity: {a}, into: {b}", _sector, _sector),
    st.builds(lambda a: f"action: drop_entity, dimension: sector, entity: {a}", _sector),
    st.builds(lambda a: f"action: rename_entity, dimension: sector, entity: {a}, to: new {a}", _sector),
    st.builds(lambda a: f"action: split_entity, dimension: sector, entity: new {a}, alias: {a}", _sector),
    st.builds(lambda a, b: f"action: merge_metric, metric: {a}, into: {b}", _metric, _metric),
    st.builds(lambda a: f"action: rename_metric, metric: {a}, to: New{a}", _metric),
    st.builds(lambda a: f"action: drop_metric, metric: {a}", _metric),
    st.builds(
        lambda a, r: f"action: set_role, metric: {a}, role: {r}", _metric, st.sampled_from(["terminal", "driver"])
    ),
    st.builds(lambda a, b: f"action: rename_variable, variable: '{a}', to: '{b}'", _variable, _variable),
    st.builds(lambda a: f"action: drop_variable, variable: '{a}'", _variable),
    st.builds(
        lambda k, a, b: f"action: {k}, source: '{a}', target: '{b}'",
        st.sampled_from(["drop_edge", "flip_edge"]),
        _variable,
        _variable,
    ),
    st.builds(lambda a, b: f"action: add_edge, source: '{a}', target: '{b}', mechanism: m", _variable, _variable),
)


@settings(max_examples=150, deadline=None)
@given(st.lists(_edits, max_size=6))
def test_any_sequence_of_edits_leaves_a_sound_graph_and_is_deterministic(edits):
    first, second = _correct(*edits), _correct(*edits)
    assert first.edges.equals(second.edges)
    assert first.variables.equals(second.variables)
    assert first.problems == second.problems
    members = {row["dimension"]: {e["name"] for e in row["entities"]} for row in first.dimensions.to_pylist()}
    signatures = {row["metric"]: row["signature"] for row in first.metrics.to_pylist()}
    for row in first.variables.to_pylist():
        assert all(e in members[d] for d, e in zip(signatures[row["metric"]], row["entities"], strict=True))
