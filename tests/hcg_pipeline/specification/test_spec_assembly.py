import random

from hypothesis import given, settings
from hypothesis import strategies as st
from spec_builders import MEDICAL, chunks_table, document_texts, entity

from hcg_pipeline.backends.protocol import ProposedRelation, ProposedVariable, Reading
from hcg_pipeline.specification.assembly import assemble, describe, ground_relations
from hcg_pipeline.specification.vocabulary import VariableRef
from hcg_pipeline.specification.vocabulary_tables import to_vocabulary
from hcg_pipeline.tables import DIMENSIONS, SEED_RELATIONS, VARIABLES

DOCUMENTS = {
    "d1": ["Chemotherapy shrinks lung cancer, so less tumor is left.", "More tumor means that fewer patients survive."],
    "d2": ["Surgery removes the tumor. Surgery removes the tumor.", "Asthma is no cancer."],
}
CHUNKS = chunks_table(DOCUMENTS)
EFFICACY = VariableRef("TreatmentEfficacy", ("chemotherapy", "lung cancer"))
SURGERY = VariableRef("TreatmentEfficacy", ("surgery", "lung cancer"))
BURDEN = VariableRef("TumorBurden", ("lung cancer",))
SURVIVAL = VariableRef("PatientSurvival", ("lung cancer",))


def _relation(source, target, chunk, quote, sign="-", confidence=0.8, mechanism="It shrinks it."):
    return ProposedRelation(source, target, mechanism, sign, confidence, chunk, quote)


def _reading(window, *items):
    return Reading(
        window,
        tuple(i for i in items if isinstance(i, tuple)),
        tuple(i for i in items if isinstance(i, ProposedVariable)),
        tuple(i for i in items if isinstance(i, ProposedRelation)),
    )


def test_readings_become_variables_and_relations_with_document_offsets():
    assembly = assemble(
        [
            _reading(
                "w2",
                ProposedVariable(SURGERY, "d2.0"),
                _relation(SURGERY, BURDEN, "d2.0", "surgery REMOVES the tumor", confidence=1.7, mechanism=""),
            ),
            _reading(
                "w1",
                ProposedVariable(VariableRef("Treatment efficacy", ("chemo", "Lung cancers")), "d1.0"),
                ProposedVariable(EFFICACY, "d1.0"),
                _relation(EFFICACY, BURDEN, "d1.0", "Chemotherapy shrinks lung cancer"),
                _relation(BURDEN, SURVIVAL, "d1.1", "More tumor means that fewer patients survive"),
            ),
        ],
        MEDICAL,
        CHUNKS,
    )
    assert assembly.variables.schema.equals(VARIABLES)
    assert assembly.relations.schema.equals(SEED_RELATIONS)
    assert assembly.dimensions.schema.equals(DIMENSIONS)
    assert [(r["variable"], r["role"], r["mentions"], r["chunk_ids"]) for r in assembly.variables.to_pylist()] == [
        (EFFICACY.name, "driver", 2, ["d1.0"]),
        (SURGERY.name, "driver", 1, ["d2.0"]),
        (BURDEN.name, "outcome", 3, ["d1.0", "d1.1", "d2.0"]),
        (SURVIVAL.name, "terminal", 1, ["d1.1"]),
    ]
    assert [
        (r["source"], r["target"], r["document_id"], r["start"], r["end"], r["quote"], r["confidence"])
        for r in assembly.relations.to_pylist()
    ] == [
        (EFFICACY.name, BURDEN.name, "d1", 0, 32, "Chemotherapy shrinks lung cancer", 0.8),
        (BURDEN.name, SURVIVAL.name, "d1", 57, 101, "More tumor means that fewer patients survive", 0.8),
        (SURGERY.name, BURDEN.name, "d2", 0, 25, "Surgery removes the tumor", 1.0),
    ]
    assert assembly.relations.to_pylist()[2]["mechanism"] == "Surgery removes the tumor"
    assert assembly.counts == {"relations_read": 3, "variables_read": 3, "repaired_entity": 2, "repaired_metric": 1}


def test_what_does_not_fit_is_dropped_and_counted_by_reason():
    gone = VariableRef("Weather", ("lung cancer",))
    quote = "Chemotherapy shrinks lung cancer"
    assembly = assemble(
        [
            _reading(
                "w",
                ProposedVariable(gone, "d1.0"),
                ProposedVariable(EFFICACY, "nowhere"),
                _relation(EFFICACY, gone, "d1.0", quote),
                _relation(EFFICACY, VariableRef("TreatmentEfficacy", ("chemo", "lung cancer")), "d1.0", quote),
                _relation(SURVIVAL, BURDEN, "d1.0", quote),
                _relation(EFFICACY, BURDEN, "d1.0", "Chemotherapy cures lung cancer"),
                _relation(EFFICACY, BURDEN, "d1.1", quote),
                _relation(EFFICACY, BURDEN, "nowhere", quote),
                _relation(EFFICACY, BURDEN, "d1.0", quote, confidence=float("nan")),
            )
        ],
        MEDICAL,
        CHUNKS,
    )
    assert assembly.variables["variable"].to_pylist() == [BURDEN.name, SURVIVAL.name]
    assert assembly.relations.select(["source", "target"]).to_pylist() == [
        {"source": SURVIVAL.name, "target": BURDEN.name}
    ]
    assert assembly.counts == {
        "dropped_confidence": 1,
        "dropped_relation_reference": 1,
        "dropped_self_loop": 1,
        "dropped_unevidenced": 2,
        "dropped_unknown_chunk": 2,
        "dropped_unknown_metric": 2,
        "relations_read": 7,
        "repaired_entity": 1,
        "terminal_source": 1,
        "variables_read": 2,
    }


def test_new_entity_makes_new_variables_legal():
    asthma = VariableRef("TumorBurden", ("Asthma",))
    without = assemble([_reading("w", ProposedVariable(asthma, "d2.1"))], MEDICAL, CHUNKS)
    assert without.variables.num_rows == 0
    with_entity = assemble(
        [_reading("w", ("disease", entity("asthma")), ProposedVariable(asthma, "d2.1"))], MEDICAL, CHUNKS
    )
    assert with_entity.variables.column("variable").to_pylist() == ["TumorBurden(asthma)"]
    assert [e["name"] for e in with_entity.dimensions.to_pylist()[0]["entities"]][-1] == "asthma"


def test_one_statement_read_twice_is_one_relation_and_keeps_the_more_confident_reading():
    quote = "Chemotherapy shrinks lung cancer"
    grounded = ground_relations(
        [
            _relation(EFFICACY, BURDEN, "d1.0", quote, "?", 0.4, "Vague."),
            _relation(EFFICACY, BURDEN, "d1.0", quote, "-", 0.9, "Cells die."),
        ],
        MEDICAL,
        CHUNKS,
    )
    assert [(r["sign"], r["confidence"], r["mechanism"]) for r in grounded.table.to_pylist()] == [
        ("-", 0.9, "Cells die.")
    ]
    assert grounded.counts == {"relations_read": 2, "relations_repeated": 1}


def test_description_is_a_phrase_with_what_the_metric_is():
    assert describe(EFFICACY, MEDICAL.metrics[0]) == "Treatment efficacy: chemotherapy, lung cancer. How well it works."


_metric_names = st.sampled_from(
    ["TreatmentEfficacy", "treatment efficacy", "TumorBurden", "Tumour burden", "PatientSurvival", "Weather"]
)
_entity_names = st.sampled_from(
    ["chemo", "chemotherapy", "Surgery", "lung cancer", "MS", "asthma", "Asthmas", "gout", "radiation", "x<b>"]
)
_refs = st.builds(VariableRef, _metric_names, st.lists(_entity_names, min_size=0, max_size=2).map(tuple))
_chunk_ids = st.sampled_from(["d1.0", "d1.1", "d2.0", "d2.1", "nowhere"])
_quotes = st.sampled_from(
    [
        "Chemotherapy shrinks lung cancer",
        "surgery removes  the tumor",
        "fewer patients survive",
        "never said at all",
        "",
    ]
)
_readings = st.lists(
    st.builds(
        Reading,
        st.sampled_from(["w1", "w2", "w3"]),
        st.lists(
            st.tuples(
                st.sampled_from(["disease", "treatment", "gene"]),
                st.builds(
                    lambda n, a, m: entity(n, *a, mentions=m),
                    _entity_names,
                    st.lists(_entity_names, max_size=1),
                    st.integers(1, 3),
                ),
            ),
            max_size=3,
        ).map(tuple),
        st.lists(st.builds(ProposedVariable, _refs, _chunk_ids), max_size=4).map(tuple),
        st.lists(
            st.builds(
                _relation,
                _refs,
                _refs,
                _chunk_ids,
                _quotes,
                st.sampled_from(["+", "-", "?"]),
                st.floats(0, 1),
                st.sampled_from(["One way.", "Another way.", ""]),
            ),
            max_size=5,
        ).map(tuple),
    ),
    max_size=6,
)


@settings(max_examples=200)
@given(_readings, st.randoms(use_true_random=False))
def test_the_result_is_closed_exact_and_does_not_depend_on_order(readings, chance: random.Random):
    assembly = assemble(readings, MEDICAL, CHUNKS)
    shuffled = list(readings)
    chance.shuffle(shuffled)
    again = assemble(shuffled, MEDICAL, CHUNKS)
    assert again.variables.equals(assembly.variables)
    assert again.relations.equals(assembly.relations)
    assert again.dimensions.equals(assembly.dimensions)
    assert again.counts == assembly.counts

    vocabulary = to_vocabulary(assembly.dimensions)
    assert [d.name for d in vocabulary.dimensions] == ["disease", "treatment"]
    members = {d.name: {e.name for e in d.entities} for d in vocabulary.dimensions}
    texts = document_texts(DOCUMENTS)
    roles = {}
    for row in assembly.variables.to_pylist():
        metric = MEDICAL.metric[row["metric"]]
        assert len(row["entities"]) == len(metric.signature)
        assert all(e in members[d] for d, e in zip(metric.signature, row["entities"], strict=True))
        assert row["mentions"] >= len(row["chunk_ids"]) >= 1
        roles[row["variable"]] = row["role"]
    for row in assembly.relations.to_pylist():
        assert row["source"] != row["target"]
        assert roles[row["source"]] != "terminal"
        assert row["target"] in roles
        assert row["mechanism"]
        assert texts[row["document_id"]][row["start"] : row["end"]] == row["quote"]
