import pytest
from spec_builders import MEDICAL

from hcg_pipeline.specification.merges import entity_reason, merges_of
from hcg_pipeline.specification.spec_file import parse_spec, render_spec
from hcg_pipeline.specification.specification import Specification
from hcg_pipeline.specification.vocabulary import Dimension, Entity, Metric, Vocabulary
from hcg_pipeline.tables import MERGES


@pytest.mark.parametrize(
    ("kept", "merged", "reason"),
    [
        ("non-small cell lung cancer", "NSCLC", "abbreviation"),
        ("MRI", "magnetic resonance imaging", "abbreviation"),
        ("tumor", "Tumours", "differs in case, plural, hyphen or regional spelling"),
        ("glioblastoma", "glioblastomma", "spelled almost alike"),
        ("heart attack", "myocardial infarction", "stated as another name"),
    ],
)
def test_the_reason_follows_from_the_two_spellings(kept, merged, reason):
    assert entity_reason(kept, merged) == reason


def test_merges_of_dimensions_metrics_and_entities_survive_the_pin():
    vocabulary = Vocabulary(
        (Dimension("drug", "", (Entity("aspirin", ("ASA", "Aspirins")),), 3, ("drug_type", "medication")),),
        (Metric("DrugUse", ("drug",), "", "care", "driver", 2, ("DrugUses", "Intake")),),
    )
    table = merges_of(vocabulary)
    assert table.schema.equals(MERGES)
    same = "differs in case, plural, hyphen or regional spelling"
    assert [tuple(row.values()) for row in table.to_pylist()] == [
        ("dimension", "drug", "drug_type", same),
        ("dimension", "drug", "medication", "has mostly the same entities"),
        ("metric", "DrugUse", "DrugUses", same),
        ("metric", "DrugUse", "Intake", "stated as another name"),
        ("entity:drug", "aspirin", "ASA", "stated as another name"),
        ("entity:drug", "aspirin", "Aspirins", same),
    ]
    spec = Specification(vocabulary.dimensions, vocabulary.metrics)
    again = parse_spec(render_spec(spec), "graph_spec.yaml")
    assert again == spec
    assert merges_of(Vocabulary(again.dimensions, again.metrics)).equals(table)


def test_nothing_merged_is_an_empty_table():
    bare = Vocabulary((Dimension("treatment", "", MEDICAL.dimensions[1].entities[1:]),))
    assert merges_of(bare).num_rows == 0


def test_a_plural_of_an_alias_is_there_for_the_reason_of_the_alias():
    aliases = ("CT", "CT scan", "CT scans")
    scan, scans = (entity_reason("computed tomography", merged, aliases) for merged in aliases[1:])
    assert scan == scans == "says the same with an abbreviation written out, or with a word for its kind"
