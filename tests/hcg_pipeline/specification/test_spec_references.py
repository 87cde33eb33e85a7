from collections import Counter

import pytest
from spec_builders import MEDICAL, entity

from hcg_pipeline.backends.protocol import ProposedEntity
from hcg_pipeline.specification.references import ReferenceIndex, extend_dimensions
from hcg_pipeline.specification.vocabulary import Entity, VariableRef

EFFICACY = VariableRef("TreatmentEfficacy", ("chemotherapy", "lung cancer"))


@pytest.mark.parametrize(
    ("metric", "entities", "found", "counts"),
    [
        ("TreatmentEfficacy", ("chemotherapy", "lung cancer"), EFFICACY, {}),
        ("TreatmentEfficacy", ("chemo", "Lung Cancers"), EFFICACY, {"repaired_entity": 2}),
        ("treatment efficacies", ("chemotherapy", "lung cancer"), EFFICACY, {"repaired_metric": 1}),
        ("TreatmentEficacy", ("chemotherpy", "lung cancer"), EFFICACY, {"repaired_metric": 1, "repaired_entity": 1}),
        ("TreatmentEfficacy", ("lung cancer", "chemo"), EFFICACY, {"repaired_order": 1}),
        ("TreatmentEfficacy", ("chemotherapy",), None, {"dropped_arity": 1}),
        ("TreatmentEfficacy", ("chemotherapy", "gout"), None, {"dropped_unknown_entity": 1}),
        ("TreatmentEfficacy", ("chemotherapy", ""), None, {"dropped_unknown_entity": 1}),
        ("Profit", ("lung cancer",), None, {"dropped_unknown_metric": 1}),
        ("", (), None, {"dropped_unknown_metric": 1}),
    ],
)
def test_reference_is_resolved_repaired_or_dropped(metric, entities, found, counts):
    noted: Counter[str] = Counter()
    index = ReferenceIndex(MEDICAL)
    assert index.variable(VariableRef(metric, entities), noted) == found
    assert {key: n for key, n in noted.items() if n} == counts
    # The same again: what is remembered is counted like the first time.
    index.variable(VariableRef(metric, entities), noted)
    assert {key: n for key, n in noted.items() if n} == {key: 2 * n for key, n in counts.items()}


def _extend(*proposals):
    counts: Counter[str] = Counter()
    extended = extend_dimensions(MEDICAL, proposals, counts)
    return {d.name: d.entities for d in extended.dimensions}, dict(counts), extended


def test_readings_add_entities_inside_known_dimensions_only():
    entities, counts, extended = _extend(
        ("disease", entity("asthma", mentions=2)),
        ("Diseases", entity("Asthma")),
        ("treatment type", entity("radiotherapy")),
        ("gene", entity("EGFR")),
        ("disease", entity("../../x")),
    )
    assert entities["disease"][:2] == MEDICAL.dimensions[0].entities
    assert entities["disease"][2:] == (Entity("asthma", ("Asthma",), 3),)
    assert entities["treatment"][2:] == (Entity("radiotherapy", (), 1),)
    assert counts == {"entity_added": 2, "entity_unknown_dimension": 1, "entity_refused": 1}
    assert extended.metrics == MEDICAL.metrics
    assert [d.name for d in extended.dimensions] == ["disease", "treatment"]


def test_a_known_entity_under_another_spelling_becomes_its_alias():
    entities, counts, _ = _extend(
        ("disease", entity("Lung cancers")),
        ("disease", entity("pulmonary carcinoma", "lung cancer")),
        ("treatment", entity("chemotherapies", mentions=7)),
    )
    assert entities["disease"][0] == Entity(
        "lung cancer", ("carcinoma of the lung", "Lung cancers", "pulmonary carcinoma"), 9
    )
    assert entities["treatment"][0] == Entity("chemotherapy", ("chemo", "chemotherapies"), 4)
    assert counts == {}


def test_an_entity_stays_on_its_dimension_and_a_new_one_goes_where_it_is_mentioned_most():
    entities, counts, _ = _extend(
        ("treatment", entity("lung cancer", mentions=99)),
        ("disease", entity("watchful waiting", mentions=1)),
        ("treatment", entity("watchful waiting", mentions=2)),
    )
    assert entities["disease"] == MEDICAL.dimensions[0].entities
    assert entities["treatment"][2:] == (Entity("watchful waiting", (), 2),)
    assert counts == {"entity_on_other_dimension": 2, "entity_added": 1}


def test_a_new_alias_that_two_entities_claim_becomes_neithers_even_on_two_dimensions():
    proposals = [
        ("disease", ProposedEntity("lung cancer", ("LC", "pulmonary cancer"))),
        ("treatment", ProposedEntity("chemotherapy", ("LC",))),
    ]
    extended = extend_dimensions(MEDICAL, proposals, Counter())
    aliases = {entity.name: entity.aliases for dimension in extended.dimensions for entity in dimension.entities}
    assert "pulmonary cancer" in aliases["lung cancer"]
    assert "LC" not in (*aliases["lung cancer"], *aliases["chemotherapy"])
