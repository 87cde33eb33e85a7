import pytest

from hcg_pipeline.errors import SettingsError
from hcg_pipeline.specification.outcomes import (
    OutcomeConfig,
    assign_roles,
    outcomes_of,
    outcomes_table,
    propose_outcomes,
    read_outcomes,
    render_outcomes,
    to_outcomes,
    unmatched_patterns,
)
from hcg_pipeline.specification.vocabulary import Metric
from hcg_pipeline.tables import OUTCOMES


def _metrics(*names: str) -> list[Metric]:
    return [Metric(name, ("thing",), "", "other") for name in names]


def _write(folder, text: str):
    (folder / "outcomes.yaml").write_text(text, encoding="utf-8")
    return folder


def test_absent_file_is_none_and_empty_file_is_an_empty_configuration(tmp_path):
    assert read_outcomes(tmp_path) is None
    assert read_outcomes(_write(tmp_path, "# nothing yet\n")) == OutcomeConfig()


def test_file_is_read(tmp_path):
    text = "terminals:\n  - '*Survival*'\noutcomes: [TumorBurden]\n"
    assert read_outcomes(_write(tmp_path, text)) == OutcomeConfig(terminals=["*Survival*"], outcomes=["TumorBurden"])


@pytest.mark.parametrize(
    ("text", "line", "what"),
    [
        ("terminals: []\n\noutcome: [X]\n", 3, "outcome: Extra inputs are not permitted"),
        ("terminals:\n- A\n- [B]\n", 3, "terminals.2|terminals.1: Input should be a valid string"),
        ("terminals: [A\noutcomes: []\n", 2, "not YAML"),
        ("terminals: []\nterminals: []\n", 2, "'terminals' is given twice"),
        ("terminals: &x [A]\noutcomes: *x\n", 1, "anchors and aliases"),
        ("terminals: !!python/object:os.system [A]\n", 1, "tag .* is not used here"),
        ("- A\n", 1, "valid dictionary"),
    ],
)
def test_mistakes_are_told_with_file_and_line(tmp_path, text, line, what):
    with pytest.raises(SettingsError, match=what) as caught:
        read_outcomes(_write(tmp_path, text))
    assert str(caught.value).startswith(f"{tmp_path / 'outcomes.yaml'}:{line}: ")


def test_file_that_is_no_text_is_refused(tmp_path):
    (tmp_path / "outcomes.yaml").write_bytes(b"\xff\xfe\x00terminals")
    with pytest.raises(SettingsError, match="UTF-8"):
        read_outcomes(tmp_path)


@pytest.mark.parametrize(
    "config",
    [OutcomeConfig(), OutcomeConfig(terminals=["*Survival*", "it's: odd # name"], outcomes=["TumorBurden", "yes"])],
)
def test_rendered_configuration_reads_back(tmp_path, config):
    assert read_outcomes(_write(tmp_path, render_outcomes(config))) == config


def test_patterns_and_near_spellings_match_and_terminals_come_first():
    config = OutcomeConfig(terminals=["*survival*"], outcomes=["Tumour burdens", "treatment eficacy", "*Rate"])
    roles = {
        m.name: m.role
        for m in assign_roles(_metrics("SurvivalRate", "TumorBurden", "TreatmentEfficacy", "Dose"), config)
    }
    assert roles == {
        "SurvivalRate": "terminal",
        "TumorBurden": "outcome",
        "TreatmentEfficacy": "outcome",
        "Dose": "driver",
    }


def test_patterns_without_a_metric_are_named():
    config = OutcomeConfig(terminals=["*Survival*", "Deth"], outcomes=["Dose"])
    assert unmatched_patterns(_metrics("Dose", "SurvivalTime"), config) == ["Deth"]


def test_names_in_plain_english_give_the_roles_in_any_field():
    names = ["CardiacMortality", "DrugDose", "SideEffectSeverity", "GeneExpression", "QualityOfLife", "Mitosis"]
    assert propose_outcomes(_metrics(*names)) == OutcomeConfig(
        terminals=["CardiacMortality"], outcomes=["SideEffectSeverity", "QualityOfLife"]
    )
    names = ["InterestRate", "HouseholdWelfare", "WageGrowth", "TaxLevel", "LaborSupply", "TradePolicy"]
    assert propose_outcomes(_metrics(*names)) == OutcomeConfig(
        terminals=["HouseholdWelfare"], outcomes=["WageGrowth", "LaborSupply"]
    )


def test_a_word_is_not_found_inside_another():
    assert propose_outcomes(_metrics("Deathbed", "Costume", "Riskless", "Outputs")) == OutcomeConfig(
        outcomes=["Outputs"]
    )


def test_where_no_name_says_anything_every_fifth_is_an_outcome():
    names = [f"Thing{letter}" for letter in "ABCDEFGHIJ"]
    assert propose_outcomes(_metrics(*names)) == OutcomeConfig(outcomes=["ThingE", "ThingJ"])


def test_a_configuration_goes_through_its_table_and_an_absent_one_is_no_rows():
    config = OutcomeConfig(terminals=["Death", "*Survival"], outcomes=["Risk"])
    table = outcomes_table(config)
    assert table.schema.equals(OUTCOMES)
    assert to_outcomes(table) == config
    assert outcomes_table(None).num_rows == 0
    assert to_outcomes(outcomes_table(None)) is None


def test_the_configuration_of_metrics_gives_them_their_roles_back():
    metrics = [
        Metric("Death", ("d",), "", "", "terminal"),
        Metric("Risk", ("d",), "", "", "outcome"),
        Metric("Dose", ("d",), "", "", "driver"),
    ]
    assert outcomes_of(metrics) == OutcomeConfig(terminals=["Death"], outcomes=["Risk"])
    assert assign_roles(metrics, outcomes_of(metrics)) == metrics
