"""The backend on a small corpus of three domains: what it proposes, reads, judges; purity and determinism."""

import os
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import pytest

from hcg_pipeline.backends.protocol import EdgeQuestion, ProposedDimension, ProposedMetric, TemplateQuestion
from hcg_pipeline.backends.rules.backend import RulesBackend
from hcg_pipeline.corpus.window import Passage, Window
from hcg_pipeline.progress import Silent
from hcg_pipeline.specification.vocabulary import Dimension, Entity, Metric, VariableRef, Vocabulary

TEXTS = (
    "Smoking causes lung cancer. Lung cancer (LC) is a disease. The risk of lung cancer rises with "
    "smoking. Asbestos also causes mesothelioma. Chemotherapy shrinks tumors. Chemotherapy may cause "
    "nausea and vomiting. Nausea is relieved by ondansetron. Diseases such as lung cancer, mesothelioma "
    "and melanoma are treated with surgery. The risk of melanoma is low. LC spreads to the brain.",
    "Worn bearings cause vibration. Vibration damages the seal. Seal failure leads to leakage. "
    "Lubrication reduces friction. Components such as bearings, seals and couplings wear. Misalignment "
    "increases bearing wear. The pump overheats because the valve leaks. Cavitation erodes the impeller. "
    "The risk of seal failure is reduced by alignment. Gears, bearings and seals fail.",
    "Higher interest rates reduce investment. A tariff raises the price of steel. Subsidies lower the "
    "price of wheat. Inflation erodes savings. Unemployment rises when demand falls. The recession was "
    "caused by a banking crisis. Policies such as tariffs, subsidies and quotas affect trade. The price "
    "of oil fell. The demand for steel rose.",
)


def windows(texts: Sequence[str] = TEXTS) -> list[Window]:
    return [
        Window(f"w{place}", (Passage(f"c{place}", f"d{place}", 0, len(text), text),))
        for place, text in enumerate(texts)
    ]


def vocabulary(dimensions: Sequence[ProposedDimension], metrics: Sequence[ProposedMetric]) -> Vocabulary:
    return Vocabulary(
        tuple(
            Dimension(
                one.name,
                one.description,
                tuple(Entity(e.name, e.aliases, e.mentions) for e in one.entities),
                one.support,
            )
            for one in dimensions
        ),
        tuple(Metric(one.name, one.signature, one.description, one.category, "driver", one.support) for one in metrics),
    )


@pytest.fixture(scope="module")
def backend() -> RulesBackend:
    return RulesBackend()


@pytest.fixture(scope="module")
def words(backend: RulesBackend) -> Vocabulary:
    dimensions = backend.propose_dimensions(windows(), Silent()).results
    draft = vocabulary(dimensions, ())
    return vocabulary(dimensions, backend.propose_metrics(windows(), draft.dimensions, Silent()).results)


def test_entities_are_on_the_dimensions_that_a_reader_expects(words: Vocabulary) -> None:
    place = {entity.name: dimension.name for dimension in words.dimensions for entity in dimension.entities}
    assert place["lung cancer"] == place["mesothelioma"] == "disease"
    assert place["nausea"] == "symptom"
    assert place["bearing"] == place["seal"] == "component"
    assert place["tariff"] == place["subsidy"] == "policy"
    assert sum(len(one.entities) for one in words.dimensions) == len(place), "no entity is on two dimensions"


def test_an_abbreviation_is_an_alias(words: Vocabulary) -> None:
    cancer = next(one for one in words.dimension["disease"].entities if one.name == "lung cancer")
    assert "LC" in cancer.aliases


def test_names_generic_for_the_dimension_are_no_entities(words: Vocabulary) -> None:
    assert not {"disease", "component", "policy", "risk", "price"} & {
        e.name for d in words.dimensions for e in d.entities if d.name != "indicator"
    }


def test_metrics_are_over_the_given_dimensions_and_say_what_they_are(words: Vocabulary) -> None:
    known = {one.name for one in words.dimensions}
    assert all(known.issuperset(metric.signature) for metric in words.metrics)
    assert len(words.metric) == len(words.metrics)
    occurrence = words.metric["DiseaseOccurrence"]
    assert occurrence.signature == ("disease",)
    assert "lung cancer" in occurrence.description and "Driven by" in occurrence.description
    assert {"DiseaseRisk", "SymptomOccurrence", "ComponentCondition", "PolicyAdoption"} <= set(words.metric)
    assert [one.support for one in words.metrics] == sorted((one.support for one in words.metrics), reverse=True)


def test_relations_quote_their_passage_and_stay_in_the_vocabulary(backend: RulesBackend, words: Vocabulary) -> None:
    readings = backend.read_windows(windows(), words, Silent()).results
    texts = dict(zip(("c0", "c1", "c2"), TEXTS, strict=True))
    relations = {(r.source.name, r.target.name): r for reading in readings for r in reading.relations}
    assert all(relation.quote in texts[relation.chunk_id] for relation in relations.values())
    entities = {(one.name, e.name) for one in words.dimensions for e in one.entities}
    entities |= {(name, e.name) for reading in readings for name, e in reading.entities}
    for relation in relations.values():
        for ref in (relation.source, relation.target):
            signature = words.metric[ref.metric].signature
            assert all((name, entity) in entities for name, entity in zip(signature, ref.entities, strict=True))
    nausea = relations["TreatmentUse(chemotherapy)", "SymptomOccurrence(nausea)"]
    assert nausea.sign == "+" and nausea.quote == "Chemotherapy may cause nausea and vomiting."
    assert relations["ComponentCondition(bearing)", "DisturbanceOccurrence(vibration)"].sign == "-"


def test_a_pronoun_stands_for_the_subject_before_and_the_quote_holds_both(
    backend: RulesBackend, words: Vocabulary
) -> None:
    text = "Chemotherapy is common. It causes nausea. The weather was fine. It causes vomiting."
    reading = backend.read_windows(windows([text]), words, Silent()).results[0]
    assert [(r.source.name, r.target.name, r.quote) for r in reading.relations] == [
        ("TreatmentUse(chemotherapy)", "SymptomOccurrence(nausea)", "Chemotherapy is common. It causes nausea.")
    ]


def test_a_new_entity_comes_only_from_the_lexicon_and_into_a_known_dimension(
    backend: RulesBackend, words: Vocabulary
) -> None:
    reading = backend.read_windows(windows(["Asbestos causes pleurisy and blorptitude."]), words, Silent()).results[0]
    assert [(name, entity.name) for name, entity in reading.entities] == [("disease", "pleurisy")]


def test_a_reading_depends_on_its_window_alone(backend: RulesBackend, words: Vocabulary) -> None:
    together = backend.read_windows(windows(), words, Silent()).results
    fresh = RulesBackend()
    alone = [fresh.read_windows([window], words, Silent()).results[0] for window in windows()[::-1]][::-1]
    assert list(together) == alone
    with ThreadPoolExecutor(4) as pool:
        parallel = list(pool.map(lambda window: backend.read_windows([window], words, Silent()).results[0], windows()))
    assert parallel == alone


def test_the_order_of_documents_changes_no_dimension(backend: RulesBackend) -> None:
    forward = backend.propose_dimensions(windows(), Silent()).results
    backward = backend.propose_dimensions(windows()[::-1], Silent()).results
    assert forward == backward


def test_hash_seeds_change_nothing() -> None:
    code = (
        "import sys; sys.path.insert(0, sys.argv[1]); from test_rules_backend import *\n"
        "backend = RulesBackend(); found = backend.propose_dimensions(windows(), Silent()).results\n"
        "print(found, backend.propose_metrics(windows(), vocabulary(found, ()).dimensions, Silent()).results)"
    )
    here = os.path.dirname(__file__)  # noqa: PTH120
    outputs = {
        subprocess.run(
            [sys.executable, "-c", code, here],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(outputs) == 1 and outputs.pop().strip()


@pytest.mark.parametrize(
    "text", ["", " ", "?", "Lorem ipsum dolor sit amet, consectetur adipiscing elit.", "1 2 3\n4 5 6"]
)
def test_text_without_causes_gives_nothing_and_no_error(backend: RulesBackend, words: Vocabulary, text: str) -> None:
    reading = backend.read_windows(windows([text]), words, Silent()).results[0]
    assert reading.relations == () and reading.entities == ()
    assert backend.propose_dimensions(windows([text]), Silent()).results == ()


def test_edges_are_judged_by_what_passages_state(backend: RulesBackend) -> None:
    source = Metric("DrugUse", ("drug",), "", "")
    target = Metric("SymptomOccurrence", ("symptom",), "", "")
    nausea = (VariableRef("DrugUse", ("cisplatin",)), VariableRef("SymptomOccurrence", ("nausea",)))
    pain = (VariableRef("DrugUse", ("morphine",)), VariableRef("SymptomOccurrence", ("pain",)))
    fever = (VariableRef("DrugUse", ("morphine",)), VariableRef("SymptomOccurrence", ("fever",)))
    text = "Cisplatin causes nausea. Morphine relieves pain. Morphine was given; fever was seen."
    question = EdgeQuestion(source, target, "", (nausea, pain, fever), windows([text])[0].passages)
    accepted = backend.judge_edges([question], Silent()).results[0]
    assert [((one.source, one.target), one.sign, one.quote) for one in accepted] == [
        (nausea, "+", "Cisplatin causes nausea."),
        (pain, "-", "Morphine relieves pain."),
    ]


def test_templates_are_judged_by_what_passages_state(backend: RulesBackend) -> None:
    source = Metric("DrugUse", ("drug",), "", "")
    targets = (Metric("SymptomOccurrence", ("symptom",), "", ""), Metric("DiseaseOccurrence", ("disease",), "", ""))
    passages = windows(["Penicillin relieves pain. Cancer is a disease."])[0].passages
    verdicts = backend.judge_templates([TemplateQuestion(source, targets, passages)], Silent()).results[0]
    assert [(one.source, one.target, one.mechanism) for one in verdicts] == [
        ("DrugUse", "SymptomOccurrence", "Penicillin relieves pain.")
    ]


def test_the_version_names_the_rules_and_is_the_same_for_every_backend(backend: RulesBackend) -> None:
    assert backend.name == "rules"
    assert backend.version == RulesBackend().version
    assert len(backend.version) == len("rules-") + 12


def test_long_and_tangled_sentences_are_read_in_bounded_time(backend: RulesBackend, words: Vocabulary) -> None:
    texts = ["because prices rise, " * 60, "is caused by pain and " * 60, "by reducing " * 200, "(" * 500, "x" * 20_000]
    readings = backend.read_windows(windows(texts), words, Silent()).results
    assert [reading.window_id for reading in readings] == [f"w{place}" for place in range(len(texts))]
