"""An alias leaves its entity again, with the variables, edges and quotes that speak of it alone."""

from graph_builders import chunks_table, relation, relations_table
from hypothesis import given
from hypothesis import strategies as st

from hcg_pipeline.graph.corrected import correct_tables
from hcg_pipeline.graph.node_edges import seed_edges
from hcg_pipeline.graph.published import assemble_graph
from hcg_pipeline.specification.assembly import variable_row
from hcg_pipeline.specification.corrections import parse_corrections
from hcg_pipeline.specification.names import parse_variable
from hcg_pipeline.specification.splitting import EntitySplit
from hcg_pipeline.specification.vocabulary import Dimension, Entity, Metric, Vocabulary
from hcg_pipeline.specification.vocabulary_tables import dimensions_table, metrics_table, to_vocabulary
from hcg_pipeline.tables import EVIDENCE_LINKS, VARIABLES

DISEASE = Dimension("disease", "Ailments.", (Entity("hepatitis", ("hepatitis B", "HB"), 5), Entity("cancer", (), 3)))
VOCABULARY = Vocabulary((DISEASE,), (Metric("Risk", ("disease",), "How likely.", "care"),))
CHUNKS = chunks_table(
    {"d": ["Hepatitis causes cancer.", "Hepatitis-B causes cancer.", "Hepatitis B and other hepatitis.", "It is bad."]}
)
RISK, CANCER, SPLIT = "Risk(hepatitis)", "Risk(cancer)", "Risk(hepatitis B)"
EDIT = "action: split_entity, dimension: disease, entity: hepatitis, alias: hepatitis B"


def variables(mentions):
    order = {chunk_id: place for place, chunk_id in enumerate(CHUNKS["chunk_id"].to_pylist())}
    rows = []
    for name, chunk_ids in mentions.items():
        rows.append(variable_row(parse_variable(name), VOCABULARY.metrics[0], dict.fromkeys(chunk_ids, 1), order))
    return VARIABLES.empty_table().from_pylist(rows, schema=VARIABLES)


def correct(*edits):
    text = "corrections:\n" + "".join(f"- {{{edit}, note: n, date: 2026-03-01}}\n" for edit in edits)
    edges = seed_edges(
        relations_table(
            relation(RISK, CANCER, "Hepatitis causes cancer", chunk_id="d.0", start=0, confidence=0.8),
            relation(RISK, CANCER, "Hepatitis-B causes cancer", chunk_id="d.1", start=25, confidence=0.8),
        )
    )
    corrected = correct_tables(
        dimensions_table(VOCABULARY.dimensions),
        metrics_table(VOCABULARY.metrics),
        variables({RISK: ["d.0", "d.1", "d.2", "d.3"], CANCER: ["d.0", "d.1"]}),
        edges,
        CHUNKS,
        parse_corrections(text, "c.yaml"),
    )
    assemble_graph(corrected.variables, corrected.metrics, corrected.edges, EVIDENCE_LINKS.empty_table())
    return corrected


def test_the_alias_becomes_an_entity_and_takes_what_speaks_of_it_alone():
    corrected = correct(EDIT)
    assert corrected.problems == ()
    [disease] = to_vocabulary(corrected.dimensions).dimensions
    assert disease.entities == (Entity("hepatitis", ("HB",), 5), Entity("cancer", (), 3), Entity("hepatitis B"))
    rows = {row["variable"]: row["chunk_ids"] for row in corrected.variables.to_pylist()}
    assert rows == {CANCER: ["d.0", "d.1"], RISK: ["d.0", "d.2", "d.3"], SPLIT: ["d.1", "d.2"]}
    edges = {(row["source"], row["target"]): row for row in corrected.edges.to_pylist()}
    assert sorted(edges) == [(SPLIT, CANCER), (RISK, CANCER)]
    for source, quote in ((RISK, "Hepatitis causes cancer"), (SPLIT, "Hepatitis-B causes cancer")):
        edge = edges[source, CANCER]
        assert [q["quote"] for q in edge["quotes"]] == [quote]
        assert (edge["support"], edge["confidence"]) == (1, 0.8)


def test_merging_the_two_again_gives_the_old_graph_back():
    once = correct()
    both = correct(EDIT, "action: merge_entity, dimension: disease, entity: hepatitis B, into: hepatitis")
    assert both.edges.equals(once.edges)
    assert both.variables["chunk_ids"].to_pylist() == once.variables["chunk_ids"].to_pylist()
    assert both.dimensions["entities"].to_pylist()[0][0]["aliases"] == ["HB", "hepatitis B"]


def test_an_alias_that_is_not_there_is_told_with_its_line():
    [problem] = correct("action: split_entity, dimension: disease, entity: cancer, alias: tumour").problems
    assert problem == "c.yaml:2: split_entity alias 'tumour': 'cancer' has no such alias"


def test_spellings_are_found_whole_the_longest_first_and_abbreviations_in_their_case():
    split = EntitySplit.of(VOCABULARY, DISEASE, "hepatitis", "hepatitis B")
    assert split.spoken_of("Chronic hepatitis  B is") == "alias"
    assert split.spoken_of("HEPATITIS") == "kept"
    assert split.spoken_of("HB or hepatitis b") == "both"
    assert split.spoken_of("hb, prehepatitis, hepatitisB") == "neither"


@given(st.text())
def test_any_text_speaks_of_one_of_four(text):
    assert EntitySplit.of(VOCABULARY, DISEASE, "hepatitis", "HB").spoken_of(text) in (
        "kept",
        "alias",
        "both",
        "neither",
    )
