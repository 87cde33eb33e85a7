"""Terms, abbreviations, hypernyms and noun classes."""

import pytest

from hcg_pipeline.backends.rules.abbreviations import abbreviations
from hcg_pipeline.backends.rules.clauses import Clauses
from hcg_pipeline.backends.rules.contexts import ending_evidence
from hcg_pipeline.backends.rules.hearst import hypernyms, lists
from hcg_pipeline.backends.rules.noun_lexicon import noun_lexicon
from hcg_pipeline.backends.rules.tagging import Tagger
from hcg_pipeline.backends.rules.terms import TermCounter, shown, term_key


@pytest.fixture(scope="module")
def tagger() -> Tagger:
    return Tagger()


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("Non-small cell lung cancers", "non small cell lung cancer"),
        ("non small cell lung cancer", "non small cell lung cancer"),
        ("species", "species"),
        ("Diabetes", "diabetes"),
        ("analyses", "analysis"),
        ("antibiotics", "antibiotic"),
        ("genetics", "genetics"),
    ],
)
def test_spellings_of_one_term_share_a_key(text: str, key: str) -> None:
    assert term_key(text) == key


@pytest.mark.parametrize(
    ("sentence", "pairs"),
    [
        ("Non-small cell lung cancer (NSCLC) is common.", [("NSCLC", "Non-small cell lung cancer")]),
        ("We took magnetic resonance images (MRIs) twice.", [("MRI", "magnetic resonance images")]),
        ("The variable frequency drive (VFD) failed.", [("VFD", "variable frequency drive")]),
        ("They met (see below) in Paris (France).", []),
        ("The dose (10 mg) was given.", []),
    ],
)
def test_abbreviations(sentence: str, pairs: list[tuple[str, str]]) -> None:
    assert abbreviations(sentence) == pairs


@pytest.mark.parametrize(
    ("sentence", "pairs"),
    [
        (
            "Antibiotics such as penicillin and amoxicillin are old.",
            {("penicillin", "antibiotic"), ("amoxicillin", "antibiotic")},
        ),
        ("Gears, belts and other components wear out.", {("gear", "component"), ("belt", "component")}),
        ("A tariff is a tax.", {("tariff", "tax")}),
        ("A tariff is not a subsidy.", set()),
    ],
)
def test_hypernyms(tagger: Tagger, sentence: str, pairs: set[tuple[str, str]]) -> None:
    assert set(hypernyms(Clauses(tagger.tag(sentence)))) == pairs


def test_coordinated_terms_are_listed(tagger: Tagger) -> None:
    assert list(lists(Clauses(tagger.tag("They sell wheat, corn and sugar.")))) == [["wheat", "corn", "sugar"]]


def test_c_value_of_a_worked_case(tagger: Tagger) -> None:
    """ "lung cancer": 3 times, once of it inside "small lung cancer"-like longer terms; log2(3) * (3 - 1)."""
    counter = TermCounter()
    for sentence in ("Lung cancer kills.", "They study lung cancer.", "Squamous lung cancer kills."):
        clauses = Clauses(tagger.tag(sentence))
        counter.add(clauses.tokens, [one for one in clauses.segments if one.kind == "NP"])
    found = {term.key: term for term in counter.terms(1)}
    assert found["lung cancer"].frequency == 3
    assert found["lung cancer"].c_value == pytest.approx(1.58496 * (3 - 1), abs=1e-4)
    assert "cancer" not in found
    assert found["lung cancer"].name == "lung cancer"


@pytest.mark.parametrize(
    ("noun", "kind"),
    [
        ("cancer", "disease"),
        ("biopsy", "test"),
        ("tariff", "policy"),
        ("bearing", "component"),
        ("unemployment", "quantity"),
    ],
)
def test_the_lexicon_knows_classes(noun: str, kind: str) -> None:
    kinds = noun_lexicon().classes[noun]
    assert kind in {name for name, _ in kinds} or kind == "quantity"
    assert sum(share for _, share in kinds) <= 1.2


@pytest.mark.parametrize(
    ("word", "kind"),
    [("fibromatosis", "disease"), ("trastuzumab", "drug"), ("sigmoidectomy", "treatment"), ("kcnq2", "biomolecule")],
)
def test_endings_speak_for_classes(word: str, kind: str) -> None:
    evidence = ending_evidence(word)
    assert max(evidence, key=lambda name: evidence[name]) == kind


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("actinic keratoses", "actinic keratosis"),
        ("thromboses", "thrombosis"),
        ("low doses", "low dose"),
        ("rotor axes", "rotor axis"),
        ("contact lenses", "contact lens"),
        ("WEAR RINGS", "wear ring"),
        ("DOWNTIME", "downtime"),
        ("AIDS", "AIDS"),
        ("PARP inhibitors", "PARP inhibitor"),
    ],
)
def test_a_name_is_singular_and_in_small_letters_unless_an_acronym(text: str, name: str) -> None:
    assert shown(text) == name
