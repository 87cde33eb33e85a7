"""Merges of metrics and of dimensions taken back, without reading anything anew."""

import pytest
from graph_builders import chunks_table, relation, relations_table

from hcg_pipeline.graph.corrected import correct_tables
from hcg_pipeline.graph.node_edges import seed_edges
from hcg_pipeline.graph.published import assemble_graph
from hcg_pipeline.specification.assembly import variable_row
from hcg_pipeline.specification.corrections import append_correction, edit_of, parse_corrections
from hcg_pipeline.specification.names import parse_variable
from hcg_pipeline.specification.vocabulary import Dimension, Entity, Metric, Vocabulary
from hcg_pipeline.specification.vocabulary_tables import dimensions_table, metrics_table, to_vocabulary
from hcg_pipeline.tables import EVIDENCE_LINKS, VARIABLES

VOCABULARY = Vocabulary(
    (
        Dimension("disease", "Ailments.", (Entity("flu"), Entity("burnout"), Entity("fever")), 5, ("disorder",)),
        Dimension("drug", "", (Entity("aspirin"),)),
    ),
    (
        Metric("DiseaseRisk", ("disease",), "How likely.", "care", "outcome", 4, ("DiseaseHazard", "DiseaseRisks")),
        Metric("Use", ("drug", "disease"), "", "care"),
    ),
)
CHUNKS = chunks_table({"d": ["The risk of flu causes burnout.", "The hazard of flu causes burnout."]})
FLU, BURNOUT, FEVER = "DiseaseRisk(flu)", "DiseaseRisk(burnout)", "DiseaseRisk(fever)"
METRIC = "action: split_metric, metric: DiseaseRisk, alias: DiseaseHazard"
DIMENSION = "action: split_dimension, dimension: disease, alias: disorder, entities: [burnout]"


def correct(*edits):
    text = "corrections:\n" + "".join(f"- {{{edit}, note: n, date: 2026-03-01}}\n" for edit in edits)
    edges = seed_edges(
        relations_table(
            relation(FLU, BURNOUT, "The risk of flu causes burnout", chunk_id="d.0", start=0, confidence=0.8),
            relation(FLU, BURNOUT, "The hazard of flu causes burnout", chunk_id="d.1", start=33, confidence=0.8),
        )
    )
    order = {"d.0": 0, "d.1": 1}
    mentions = {FLU: ["d.0", "d.1"], BURNOUT: ["d.0", "d.1"], FEVER: ["d.0"], "Use(aspirin, burnout)": ["d.0"]}
    rows = [
        variable_row(ref, VOCABULARY.metric[ref.metric], dict.fromkeys(chunk_ids, 1), order)
        for name, chunk_ids in mentions.items()
        if (ref := parse_variable(name)) is not None
    ]
    corrected = correct_tables(
        dimensions_table(VOCABULARY.dimensions),
        metrics_table(VOCABULARY.metrics),
        VARIABLES.empty_table().from_pylist(rows, schema=VARIABLES),
        edges,
        CHUNKS,
        parse_corrections(text, "c.yaml"),
    )
    assemble_graph(corrected.variables, corrected.metrics, corrected.edges, EVIDENCE_LINKS.empty_table())
    return corrected


def names(corrected):
    return set(corrected.variables["variable"].to_pylist())


def pairs(corrected):
    return {(row["source"], row["target"], row["support"]) for row in corrected.edges.to_pylist()}


def test_a_metric_of_its_own_takes_what_uses_its_word():
    corrected = correct(METRIC)
    assert corrected.problems == ()
    metrics = to_vocabulary(corrected.dimensions, corrected.metrics).metric
    assert metrics["DiseaseRisk"].aliases == ("DiseaseRisks",)
    own = metrics["DiseaseHazard"]
    assert (own.signature, own.role, own.category, own.aliases) == (("disease",), "outcome", "care", ())
    assert pairs(corrected) == {
        (FLU, BURNOUT, 1),
        ("DiseaseHazard(flu)", "DiseaseHazard(burnout)", 1),
    }


def test_an_alias_that_no_text_can_tell_apart_is_refused():
    corrected = correct("action: split_metric, metric: DiseaseRisk, alias: DiseaseRisks")
    assert corrected.problems == (
        "c.yaml:2: split_metric alias 'DiseaseRisks': no text can tell it from 'DiseaseRisk'; "
        "rename the metric instead",
    )
    assert pairs(corrected) == {(FLU, BURNOUT, 2)}


def test_a_dimension_of_its_own_takes_its_entities_and_gets_metrics():
    corrected = correct(DIMENSION)
    assert corrected.problems == ()
    vocabulary = to_vocabulary(corrected.dimensions, corrected.metrics)
    assert [(d.name, [e.name for e in d.entities], d.aliases) for d in vocabulary.dimensions] == [
        ("disease", ["flu", "fever"], ()),
        ("disorder", ["burnout"], ()),
        ("drug", ["aspirin"], ()),
    ]
    assert [(m.name, m.signature) for m in vocabulary.metrics] == [
        ("DiseaseRisk", ("disease",)),
        ("DisorderRisk", ("disorder",)),
        ("Use", ("drug", "disease")),
        ("DisorderUse", ("drug", "disorder")),
    ]
    assert names(corrected) == {FLU, FEVER, "DisorderRisk(burnout)", "DisorderUse(aspirin, burnout)"}
    assert pairs(corrected) == {(FLU, "DisorderRisk(burnout)", 2)}


def test_a_metric_that_a_split_made_for_nothing_is_left_out():
    corrected = correct(DIMENSION.replace("[burnout]", "[flu]"))
    assert "DisorderRisk(flu)" in names(corrected)
    assert "DisorderUse" not in corrected.metrics["metric"].to_pylist()


@pytest.mark.parametrize(
    ("edit", "why"),
    [
        (
            DIMENSION.replace("disorder", "trouble"),
            "alias 'trouble': there is no dimension 'disease' with such an alias",
        ),
        (DIMENSION.replace("burnout", "gout"), "'gout': there is no such entity on disease"),
        (
            DIMENSION.replace("[burnout]", "[flu, burnout, fever]"),
            "alias 'disorder': both dimensions need entities, and a name of their own",
        ),
    ],
)
def test_a_division_that_does_not_fit_is_told_with_its_line(edit, why):
    assert correct(edit).problems == (f"c.yaml:2: split_dimension {why}",)


def test_later_edits_use_the_names_that_a_split_left():
    corrected = correct(
        DIMENSION,
        "action: rename_metric, metric: DisorderRisk, to: Strain",
        "action: drop_edge, source: DiseaseRisk(flu), target: Strain(burnout)",
    )
    assert corrected.problems == ()
    assert "Strain(burnout)" in names(corrected)
    assert pairs(corrected) == set()


def test_entities_are_written_with_commas_in_the_shell_and_as_a_list_in_the_file():
    edit = edit_of("split_dimension", ["disease", "disorder", "burnout, flu"], "n", "2026-03-01", {})
    text = append_correction("", edit)
    assert 'entities: ["burnout", "flu"]' in text
    assert parse_corrections(text, "c.yaml")[0].edit == edit
