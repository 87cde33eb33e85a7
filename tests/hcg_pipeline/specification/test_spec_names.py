import pytest
from hypothesis import given
from hypothesis import strategies as st

from hcg_pipeline.specification.names import (
    MERGE_CUTOFF,
    clean_text,
    dimension_key,
    dimension_name,
    entity_name,
    is_abbreviation_of,
    key_of,
    metric_name,
    metric_words,
    near_identical,
    parse_variable,
    refusal,
    singular,
    split_abbreviation,
)
from hcg_pipeline.specification.vocabulary import VariableRef


@pytest.mark.parametrize(
    ("plural", "one"),
    [
        ("therapies", "therapy"),
        ("diseases", "disease"),
        ("diagnoses", "diagnosis"),
        ("metastases", "metastasis"),
        ("analyses", "analysis"),
        ("hypotheses", "hypothesis"),
        ("purposes", "purpose"),
        ("overdoses", "overdose"),
        ("viruses", "virus"),
        ("causes", "cause"),
        ("classes", "class"),
        ("boxes", "box"),
        ("tomatoes", "tomato"),
        ("children", "child"),
        ("bacteria", "bacterium"),
        ("kidneys", "kidney"),
        ("headaches", "headache"),
        ("beaches", "beach"),
        ("bronchi", "bronchus"),
        ("equilibria", "equilibrium"),
        ("mitochondria", "mitochondrion"),
    ],
)
def test_plural_becomes_singular(plural: str, one: str) -> None:
    assert singular(plural) == one
    assert singular(one) == one


@pytest.mark.parametrize("word", ["virus", "process", "diagnosis", "gas", "series", "species", "illness", "pus"])
def test_singulars_that_end_in_s_stay(word: str) -> None:
    assert singular(word) == word


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Lung Cancer", "lung cancers"),
        ("non-small-cell lung cancer", "non small cell lung cancer"),
        ("tumour", "Tumors"),
        ("Alzheimer's disease", "alzheimer disease"),
        ("the economy", "Economies"),
        ("oesophageal haemorrhage", "esophageal hemorrhages"),
        ("labour supply", "labor supply"),
    ],
)
def test_spellings_of_one_thing_share_a_key(one: str, other: str) -> None:
    assert key_of(one) == key_of(other)


@pytest.mark.parametrize(
    ("one", "other"), [("type 1 diabetes", "type 2 diabetes"), ("vitamin B", "vitamin D"), ("PD-L1", "PD-1")]
)
def test_different_things_have_different_keys(one: str, other: str) -> None:
    assert key_of(one) != key_of(other)
    assert near_identical(key_of(one), key_of(other), MERGE_CUTOFF) == 0


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("hyperthyroidism", "hypothyroidism"),
        ("hypercholesterolemia", "hypocholesterolemia"),
        ("employment", "unemployment"),
        ("symptomatic", "asymptomatic"),
        ("intraventricular", "interventricular"),
        ("prednisone", "prednisolone"),
        ("stage ii", "stage iii"),
        ("interleukin 1", "interleukin 2"),
        ("systolic pressure", "diastolic pressure"),
        ("absorption", "adsorption"),
    ],
)
def test_look_alikes_are_not_near_identical(one: str, other: str) -> None:
    assert near_identical(one, other, MERGE_CUTOFF) == 0
    assert near_identical(other, one, MERGE_CUTOFF) == 0


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("chemotherapy", "chemotherpy"),
        ("healthcare spending", "health care spending"),
        ("lymphocytopenia", "lymphocytopenias"),
    ],
)
def test_typing_errors_are_near_identical(one: str, other: str) -> None:
    assert near_identical(one, other, MERGE_CUTOFF) > 95


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        ("../../etc/passwd", "path"),
        ("/root", "path"),
        ("C:\\temp", "path"),
        ("https://example.org", "path"),
        ("a/b/c", "path"),
        ("<script>alert(1)</script>", "markup"),
        ("{{ secret }}", "markup"),
        ("lung\x00cancer", "control"),
        ("lung\ncancer", "control"),
        ("x" * 81, "long"),
        ("  --  ", "empty"),
        ("", "empty"),
        ("HER2/neu", None),
        ("age > 65", None),
        ("Größe", None),
    ],
)
def test_hostile_names_are_refused_with_the_reason(raw: str, reason: str | None) -> None:
    assert refusal(raw) == reason


@pytest.mark.parametrize(
    ("raw", "name"),
    [
        ("treatment efficacy", "TreatmentEfficacy"),
        ("TreatmentEfficacy(treatment, disease)", "TreatmentEfficacy"),
        ("5-year survival rate", "FiveYearSurvivalRate"),
        ("PSA level", "PSALevel"),
        ("HbA1c level", "HbA1cLevel"),
        ("patients' quality_of-life", "PatientsQualityOfLife"),
        ("Überlebensrate", "Überlebensrate"),
        ("<b>Bold</b>", None),
        ("a b c d e f g h", None),
        ("1999 rate", None),
        ("___", None),
    ],
)
def test_metric_names_are_camel_case(raw: str, name: str | None) -> None:
    assert metric_name(raw) == name


@pytest.mark.parametrize(
    ("raw", "name"),
    [
        ("Risk Factors", "risk_factor"),
        ("diseaseType", "disease_type"),
        ("body-part", "body_part"),
        ("市場", "市場"),
        ("2nd axis", None),
        ("rm -rf /tmp; echo", None),
        ("one two three four five", None),
        ("${HOME}", None),
    ],
)
def test_dimension_names_are_snake_case(raw: str, name: str | None) -> None:
    assert dimension_name(raw) == name


@given(st.text(max_size=60))
def test_accepted_names_are_identifiers_and_stable(raw: str) -> None:
    metric, dimension, entity = metric_name(raw), dimension_name(raw), entity_name(raw)
    if metric is not None:
        assert metric.isidentifier()
        assert metric_name(metric) == metric
    if dimension is not None:
        assert dimension.isidentifier()
        assert dimension == dimension.lower()
        assert dimension_name(dimension) is not None
    if entity is not None:
        assert "," not in entity.name
        assert entity.name.isprintable()
        assert key_of(entity.name)
        assert parse_variable(f"M({entity.name}, {entity.name})") == VariableRef("M", (entity.name, entity.name))


def test_generic_words_do_not_make_another_dimension() -> None:
    assert dimension_key("disease_type") == dimension_key("Type of diseases") == dimension_key("disease") == "disease"
    assert dimension_key("type") == "type"


def test_abbreviation_in_brackets_is_an_alias_only_when_its_letters_are_in_the_long_form() -> None:
    assert split_abbreviation("non-small cell lung cancer (NSCLC)") == ("non-small cell lung cancer", "NSCLC")
    assert split_abbreviation("NSCLC (non-small cell lung cancer)") == ("non-small cell lung cancer", "NSCLC")
    assert split_abbreviation("cancer (stage IV)") == ("cancer (stage IV)", "")
    assert split_abbreviation("lung cancer (MRI)") == ("lung cancer (MRI)", "")
    assert is_abbreviation_of("GDP", "gross domestic product")
    assert is_abbreviation_of("MRIs", "magnetic resonance imaging")
    assert not is_abbreviation_of("it", "inflation target")


def test_metric_name_reads_as_a_phrase() -> None:
    assert metric_words("FiveYearSurvivalRate") == "Five year survival rate"
    assert metric_words("PSALevel") == "PSA level"


def test_text_is_cleaned_of_control_and_invisible_characters() -> None:
    assert clean_text(" a\x00b\u202e c\n\n d ") == "a b c d"
    assert clean_text("one two three", 9) == "one two"
    assert clean_text("x" * 20, 5) == "xxxxx"


def test_variable_name_parses_back() -> None:
    ref = VariableRef("TreatmentEfficacy", ("HER2 (neu)", "lung cancer"))
    assert parse_variable(ref.name) == ref
    assert parse_variable("TreatmentEfficacy") is None
    assert parse_variable("TreatmentEfficacy()") is None
    assert parse_variable("(a)") is None
