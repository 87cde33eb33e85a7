from dataclasses import replace

from spec_builders import MEDICAL

from hcg_pipeline.specification.difference import Change, compare
from hcg_pipeline.specification.vocabulary import Dimension, Entity, Metric, Vocabulary


def test_equal_vocabularies_do_not_differ_and_counts_of_support_do_not_matter():
    assert compare(MEDICAL, MEDICAL) == []
    more = tuple(replace(metric, support=99, description="Otherwise said.") for metric in MEDICAL.metrics)
    assert compare(MEDICAL, Vocabulary(MEDICAL.dimensions, more)) == []


def test_what_goes_comes_and_changes_is_told():
    disease, _ = MEDICAL.dimensions
    efficacy, burden, _ = MEDICAL.metrics
    entities = (Entity("Lung cancers"), Entity("gout"))
    new = Vocabulary(
        (replace(disease, entities=entities), Dimension("drug", "", tuple(Entity(f"d{n}") for n in range(14)))),
        (
            replace(efficacy, signature=("drug", "disease")),
            replace(burden, role="driver", category="size"),
            Metric("Dose", ("drug",), "", "care", "driver"),
        ),
    )
    names = ", ".join(f"d{n}" for n in range(12))
    assert compare(MEDICAL, new) == [
        Change("removed", "dimension", "treatment", "2 entities: chemotherapy, surgery"),
        Change("added", "dimension", "drug", f"14 entities: {names} and 2 more"),
        Change("changed", "dimension", "disease", "without multiple sclerosis; with gout"),
        Change("removed", "metric", "PatientSurvival", "(disease)"),
        Change("added", "metric", "Dose", "(drug), driver"),
        Change("changed", "metric", "TreatmentEfficacy", "(treatment, disease) becomes (drug, disease)"),
        Change("changed", "metric", "TumorBurden", "outcome becomes driver; category course becomes size"),
    ]
