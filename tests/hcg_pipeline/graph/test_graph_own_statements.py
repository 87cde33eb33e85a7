"""What a person wrote into graph_spec.yaml is in the graph, and follows corrections like everything else."""

from dataclasses import replace

import pytest
from graph_builders import VOCABULARY, chunks_table, relation, relations_table, variables_table

from hcg_pipeline.graph.corrected import correct_tables
from hcg_pipeline.graph.node_edges import seed_edges
from hcg_pipeline.graph.published import assemble_graph
from hcg_pipeline.specification.corrections import parse_corrections
from hcg_pipeline.specification.spec_file import parse_spec, render_spec
from hcg_pipeline.specification.specification import Specification, specification_of
from hcg_pipeline.specification.vocabulary import Vocabulary
from hcg_pipeline.specification.vocabulary_tables import dimensions_table, metrics_table
from hcg_pipeline.tables import EVIDENCE_LINKS

CHUNKS = chunks_table({"d": ["Grants feed farms, they say.", "Dear bread hurts the north."]})
FARM, MINE, PRICE = "Subsidy(farming, north)", "Subsidy(mining, south)", "Price(farming)"
STATED = seed_edges(relations_table(relation(FARM, "Output(farming)", "Grants feed farms", confidence=0.8)))
VARIABLES = variables_table({FARM: ["d.0"], "Output(farming)": ["d.0"]}, {"d.0": 0, "d.1": 1})
BARE = render_spec(Specification(VOCABULARY.dimensions, VOCABULARY.metrics))


def written(variables: str = "[]", relations: str = "[]") -> Specification:
    text = BARE.replace("variables: []", f"variables: {variables}").replace("relations: []", f"relations: {relations}")
    return parse_spec(text, "corpora/x/graph_spec.yaml")


def correct(own, *edits, vocabulary=VOCABULARY):
    listed = "".join(f"- {{{edit}, note: n, date: 2026-03-01}}\n" for edit in edits)
    corrections = parse_corrections("corrections:\n" + listed, "c.yaml")
    tables = dimensions_table(vocabulary.dimensions), metrics_table(vocabulary.metrics)
    corrected = correct_tables(*tables, VARIABLES, STATED, CHUNKS, corrections, own)
    return corrected, assemble_graph(
        corrected.variables, corrected.metrics, corrected.edges, EVIDENCE_LINKS.empty_table()
    )


def edges(graph):
    shown = ("sign", "confidence", "mechanism", "origin", "support")
    return {(row["source"], row["target"]): tuple(row[name] for name in shown) for row in graph.edges.to_pylist()}


def test_a_variable_that_no_text_names_is_a_node_and_marked():
    corrected, graph = correct(written(f"['{MINE}', '{FARM}']"))
    assert corrected.problems == ()
    rows = {row["variable"]: (row["added_by"], row["mentions"], row["chunk_ids"]) for row in graph.nodes.to_pylist()}
    assert rows == {
        FARM: ("corpus", 1, ["d.0"]),
        MINE: ("expert", 0, []),
        "Output(farming)": ("corpus", 1, ["d.0"]),
    }


def test_a_relation_is_an_edge_with_or_without_a_quote():
    quoted = f"{{source: {PRICE}, target: Welfare(north), mechanism: hunger, sign: '-', quote: Dear bread hurts}}"
    bare = f"{{source: '{MINE}', target: Output(mining), mechanism: more pits, confidence: 0.6}}"
    corrected, graph = correct(written(relations=f"[{quoted}, {bare}]"))
    assert corrected.problems == ()
    assert edges(graph) == {
        (FARM, "Output(farming)"): ("+", 0.8, "it does", "seed", 1),
        (PRICE, "Welfare(north)"): ("-", 0.99, "hunger", "expert", 1),
        (MINE, "Output(mining)"): ("?", 0.6, "more pits", "expert", 0),
    }
    [quote] = next(row["quotes"] for row in corrected.edges.to_pylist() if row["source"] == PRICE)
    assert (quote["chunk_id"], quote["start"], quote["end"]) == ("d.1", 29, 45)
    mentions = {row["variable"]: row["chunk_ids"] for row in graph.nodes.to_pylist()}
    assert (mentions[PRICE], mentions[MINE]) == (["d.1"], [])


def test_a_relation_that_the_text_states_as_well_keeps_the_quotes_and_the_persons_words():
    own = f"{{source: '{FARM}', target: Output(farming), mechanism: mine, sign: '-', confidence: 0.5}}"
    _, graph = correct(written(relations=f"[{own}]"))
    assert edges(graph) == {(FARM, "Output(farming)"): ("-", 0.5, "mine", "expert", 1)}


def test_what_the_corpus_filled_in_is_not_taken_from_the_file():
    shown = f"[{{name: '{MINE}', mentions: 4}}]"
    stated = f"[{{source: '{MINE}', target: Output(mining), mechanism: m, support: 2}}]"
    corrected, _ = correct(written(shown, stated))
    assert corrected.variables.equals(VARIABLES)
    assert corrected.edges.equals(STATED)


def test_corrections_apply_to_what_a_person_wrote():
    own = written(f"['{MINE}']", f"[{{source: '{MINE}', target: Output(mining), mechanism: m}}]")
    corrected, graph = correct(
        own,
        "action: rename_entity, dimension: sector, entity: mining, to: pits",
        "action: flip_edge, source: 'Subsidy(pits, south)', target: Output(pits)",
        "action: split_entity, dimension: sector, entity: pits, alias: mining",
    )
    assert corrected.problems == ()
    assert ("Output(pits)", "Subsidy(pits, south)") in edges(graph)


@pytest.mark.parametrize(
    ("own", "why"),
    [
        (
            f"[{{source: {PRICE}, target: Welfare(north), mechanism: m, quote: Nobody said}}]",
            f"{PRICE} → Welfare(north): its quote stands in no chunk",
        ),
        (
            f"[{{source: {PRICE}, target: Welfare(north), mechanism: m}}]",
            f"{PRICE} → Welfare(north): a terminal causes",
        ),
    ],
)
def test_what_does_not_hold_is_told_with_its_line(own, why):
    spec = written(relations=own)
    line = spec.relations[0].place.rpartition(":")[2]
    metrics = VOCABULARY.metrics
    if "terminal" in why:  # as outcomes.yaml may have it
        metrics = tuple(replace(metric, role="terminal") if metric.name == "Price" else metric for metric in metrics)
    corrected, _ = correct(spec, vocabulary=Vocabulary(VOCABULARY.dimensions, metrics))
    [problem] = corrected.problems
    assert problem.startswith(f"graph_spec.yaml:{line}: relation {why}")


def test_the_published_specification_builds_the_same_graph_again():
    own = written(f"['{MINE}']", f"[{{source: {PRICE}, target: Welfare(north), mechanism: m, quote: Dear bread}}]")
    corrected, _ = correct(own)
    published = specification_of(corrected.dimensions, corrected.metrics, corrected.variables, corrected.edges)
    text = render_spec(published)
    again, _ = correct(parse_spec(text, "graph_spec.yaml"))
    assert again == corrected
