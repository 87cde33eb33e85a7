"""Names that the text gives one thing, and those that only look like it."""

from collections import Counter

import pytest

from hcg_pipeline.backends.rules.backend import RulesBackend
from hcg_pipeline.backends.rules.parsing import Parser
from hcg_pipeline.backends.rules.stated_names import SaidSame, agreed, one_long_form, said_same
from hcg_pipeline.corpus.window import Passage, Window
from hcg_pipeline.progress import Silent
from hcg_pipeline.specification.vocabulary import Dimension, Entity, Metric, Vocabulary

PARSER = Parser()


def said(sentence: str) -> list[tuple[str, str]]:
    return [(one.name, one.other) for one in said_same(PARSER.sentence(sentence).clauses) if one.sure]


@pytest.mark.parametrize(
    ("sentence", "pairs"),
    [
        ("Cryotherapy (also called cryosurgery) freezes the cells.", [("Cryotherapy", "cryosurgery")]),
        ("A pie graph (sometimes called a pie chart) shows shares.", [("pie graph", "pie chart")]),
        ("The bearing cage, also known as the ball retainer, has cracked.", [("bearing cage", "ball retainer")]),
        (
            "Polyangiitis, formerly called Wegener's granulomatosis, is rare.",
            [("Polyangiitis", "Wegener's granulomatosis")],
        ),
        ("A stroke, a.k.a. brain attack, is an emergency.", [("stroke", "brain attack")]),
        (
            "The mouth is also known as the oral cavity or the buccal cavity.",
            [("mouth", "oral cavity"), ("mouth", "buccal cavity")],
        ),
        ("The larynx (voice box) is a part of the throat.", [("larynx", "voice box")]),
        ("The vagina, or birth canal, is the passage through which babies are born.", [("vagina", "birth canal")]),
        ("The medical term for high blood pressure is hypertension.", [("high blood pressure", "hypertension")]),
        ("Hypertension is another name for high blood pressure.", [("high blood pressure", "hypertension")]),
        (
            "Supportive care Supportive care (also called palliative care) helps.",
            [("supportive care", "palliative care")],
        ),
    ],
)
def test_said_in_words_or_by_a_definition(sentence: str, pairs: list[tuple[str, str]]) -> None:
    assert said(sentence) == pairs


@pytest.mark.parametrize(
    "sentence",
    [
        "This is also called perineural invasion.",
        "This cancer is also called cutaneous squamous cell carcinoma.",
        "The larynx is a part of the throat also known as the voice box.",
        "The sign is bleeding from the anus, also called rectal bleeding.",
        "Inflammation of the liver, also called hepatitis, has many causes.",
        "Melanoma and basal cell cancers are often called skin cancers.",
        "Topical keratolytics (also called topical urea, lactic acid, or salicylic acid) soften the skin.",
        "Severe pain, also called agony, needs treatment.",
        "Average total cost (also called average cost) is total cost by quantity.",
        "Cells contain melanin, which gives skin its color (melanin) and shade.",
        "The extent (size) of the tumor matters.",
        "The seller, or both, are uncertain.",
        "Metastasis, also called spread, comes late.",
        "A fan is not a pump, also not called one.",
        "Smoking, or a diet of salt, causes cancer.",
    ],
)
def test_what_is_no_second_name(sentence: str) -> None:
    assert said(sentence) == []


def test_brackets_count_in_both_directions_and_for_one_thing_only() -> None:
    windpipe = [SaidSame("windpipe", "trachea", False), SaidSame("trachea", "windpipe", False)]
    assert agreed(windpipe, {}, {}) == (("trachea", "windpipe"),)
    assert agreed(windpipe[:1], {}, {}) == ()
    assert agreed([*windpipe, SaidSame("windpipe", "airway", False)], {}, {}) == ()


def test_a_name_of_two_things_names_neither_unless_these_are_one() -> None:
    both = [SaidSame("fine-needle aspiration", "needle biopsy", True), SaidSame("FNA", "needle biopsy", True)]
    assert agreed(both, {}, {}) == ()
    assert agreed(both, {}, {"fna": "fine needle aspiration"}) == (
        ("fine-needle aspiration", "needle biopsy"),
        ("FNA", "needle biopsy"),
    )


def test_a_kind_of_a_thing_is_not_the_thing() -> None:
    pair = SaidSame("tumor", "lymphoma", True)
    assert agreed([pair], {}, {}) == (("tumor", "lymphoma"),)
    assert agreed([pair], {"tumor": Counter(["lymphoma"])}, {}) == ()


def test_an_abbreviation_of_two_things_stands_for_neither() -> None:
    shorts = {
        "hcc": Counter({"hepatocellular carcinoma": 5, "hürthle cell carcinoma": 1}),
        "eus": Counter({"endorectal ultrasound": 1, "endoscopic ultrasound": 1}),
        "nhl": Counter({"nonhodgkin lymphoma": 1, "non hodgkin lymphoma": 5}),
        "dre": Counter({"digital rectal examination": 1, "digital rectal exam": 3}),
        "npc": Counter({"nasopharyngeal carcinoma": 6, "nasopharyngeal cancer": 2}),
        "mc": Counter({"marginal cost": 5, "marginal cost curve": 1}),
    }
    assert one_long_form(shorts) == {
        "nhl": "non hodgkin lymphoma",
        "dre": "digital rectal exam",
        "npc": "nasopharyngeal carcinoma",
        "mc": "marginal cost",
    }


VOCABULARY = Vocabulary(
    (
        Dimension("disease", "", (Entity("hepatocellular carcinoma"), Entity("Hürthle cell carcinoma"))),
        Dimension("symptom", "", (Entity("jaundice"), Entity("hoarseness"))),
    ),
    (
        Metric("DiseaseOccurrence", ("disease",), "", "disease"),
        Metric("SymptomOccurrence", ("symptom",), "", "symptom"),
    ),
)


def read(*texts: str, vocabulary: Vocabulary = VOCABULARY) -> list[tuple[set[tuple[str, str]], set[str]]]:
    windows = [
        Window(f"w{place}", (Passage(f"c{place}", "d", 0, len(text), text),)) for place, text in enumerate(texts)
    ]
    readings = RulesBackend().read_windows(windows, vocabulary, Silent()).results
    return [
        (
            {(relation.source.name, relation.target.name) for relation in reading.relations},
            {alias for _, entity in reading.entities for alias in entity.aliases},
        )
        for reading in readings
    ]


def test_a_passage_that_spells_an_abbreviation_out_binds_it_for_itself() -> None:
    liver, thyroid, neither = read(
        "Hepatocellular carcinoma (HCC) is common. HCC causes jaundice.",
        "Hürthle cell carcinoma (HCC) is rare. HCC causes hoarseness.",
        "HCC causes jaundice.",
    )
    assert liver[0] == {("DiseaseOccurrence(hepatocellular carcinoma)", "SymptomOccurrence(jaundice)")}
    assert thyroid[0] == {("DiseaseOccurrence(Hürthle cell carcinoma)", "SymptomOccurrence(hoarseness)")}
    assert neither[0] == set()
    assert liver[1] == thyroid[1] == {"HCC"}


def test_an_entity_that_goes_by_its_abbreviation_stays_what_it_is_where_that_is_spelled_out() -> None:
    known = Vocabulary((Dimension("disease", "", (Entity("HPV"),)), *VOCABULARY.dimensions[1:]), VOCABULARY.metrics)
    [(relations, aliases)] = read("Human papillomavirus (HPV) is common. HPV causes hoarseness.", vocabulary=known)
    assert relations == {("DiseaseOccurrence(HPV)", "SymptomOccurrence(hoarseness)")}
    assert aliases == set()


def test_a_second_name_in_a_new_passage_is_read_as_the_entity_and_proposed_as_its_alias() -> None:
    [(relations, aliases)] = read(
        "Hepatocellular carcinoma, also known as malignant hepatoma, is common. Malignant hepatoma causes jaundice."
    )
    assert relations == {("DiseaseOccurrence(hepatocellular carcinoma)", "SymptomOccurrence(jaundice)")}
    assert aliases == {"malignant hepatoma"}


def test_a_known_abbreviation_that_a_passage_spells_out_otherwise_means_that_there() -> None:
    known = Vocabulary(
        (
            Dimension("disease", "", (Entity("hepatocellular carcinoma", ("HCC",)), Entity("Hürthle cell carcinoma"))),
            *VOCABULARY.dimensions[1:],
        ),
        VOCABULARY.metrics,
    )
    liver, thyroid, horse, variant = read(
        "HCC causes jaundice.",
        "Hürthle cell carcinoma (HCC) is rare. HCC causes hoarseness.",
        "The horse coughing complex (HCC) is rare. HCC causes hoarseness.",
        "Hepatocellular cancer (HCC) is common. HCC causes jaundice.",
        vocabulary=known,
    )
    assert liver[0] == variant[0]
    assert liver[0] == {("DiseaseOccurrence(hepatocellular carcinoma)", "SymptomOccurrence(jaundice)")}
    assert thyroid[0] == {("DiseaseOccurrence(Hürthle cell carcinoma)", "SymptomOccurrence(hoarseness)")}
    assert not any("hepatocellular" in source for source, _ in horse[0])
    assert "horse coughing complex" not in horse[1]
    assert liver[1] == variant[1] == set()
