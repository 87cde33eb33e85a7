"""Readings that are kept are the readings that would be made."""

from dataclasses import replace

import pytest
import sqlalchemy as sa

from hcg_pipeline.backends.kept_readings import KeptReadings
from hcg_pipeline.backends.protocol import (
    EdgeQuestion,
    Failure,
    Outcome,
    ProposedEntity,
    ProposedRelation,
    ProposedVariable,
    Reading,
    TemplateQuestion,
    Usage,
)
from hcg_pipeline.backends.rules.backend import RulesBackend
from hcg_pipeline.corpus.window import Passage, Window
from hcg_pipeline.embedding.cache import sqlite_engine
from hcg_pipeline.errors import BackendError
from hcg_pipeline.progress import Silent
from hcg_pipeline.specification.vocabulary import Dimension, Entity, Metric, VariableRef, Vocabulary

VOCABULARY = Vocabulary((Dimension("d", "", (Entity("x"),)),), (Metric("M", ("d",), "", ""),))


def window(number: int, text: str = "Rain.") -> Window:
    return Window(f"w{number}", (Passage(f"c{number}", "d", 0, len(text), text),))


class Counting:
    """A backend that counts the windows it reads; `failing` ones fail."""

    name = "counting"

    def __init__(self, version: str = "1", failing: tuple[str, ...] = ()) -> None:
        self.version = version
        self.read: list[str] = []
        self._failing = failing

    def read_windows(self, windows, vocabulary, progress):
        self.read += [one.window_id for one in windows]
        ref = VariableRef("M", ("x",))
        readings = [
            Reading(
                one.window_id,
                (("d", ProposedEntity("ü", ("a", "b"), 3)),),
                (ProposedVariable(ref, one.passages[0].chunk_id),),
                (ProposedRelation(ref, ref, "so", "-", 0.1, one.passages[0].chunk_id, one.passages[0].text),),
            )
            for one in windows
            if one.window_id not in self._failing
        ]
        failures = tuple(Failure("reading", key, "no", "raw") for key in self._failing)
        return Outcome(tuple(readings), failures, Usage(calls=len(windows)))


@pytest.fixture
def engine(tmp_path):
    return sqlite_engine(str(tmp_path / "readings.sqlite"))


def test_a_window_is_read_once_and_comes_back_as_it_was(engine):
    inner = Counting()
    first = KeptReadings(inner, engine).read_windows([window(1), window(2)], VOCABULARY, Silent())
    again = KeptReadings(inner, engine).read_windows([window(2), window(3), window(1)], VOCABULARY, Silent())
    assert inner.read == ["w1", "w2", "w3"]
    assert again.results == (first.results[1], again.results[1], first.results[0])
    assert again.usage.calls == 1


@pytest.mark.parametrize("change", ["text", "chunk", "vocabulary", "version"])
def test_whatever_a_reading_depends_on_makes_it_another(engine, change):
    KeptReadings(Counting(), engine).read_windows([window(1)], VOCABULARY, Silent())
    one, vocabulary, inner = window(1), VOCABULARY, Counting("2" if change == "version" else "1")
    if change == "text":
        one = window(1, "Snow.")
    elif change == "chunk":
        one = Window("w1", (replace(one.passages[0], chunk_id="other"),))
    elif change == "vocabulary":
        vocabulary = Vocabulary(VOCABULARY.dimensions, (replace(VOCABULARY.metrics[0], role="terminal"),))
    KeptReadings(inner, engine).read_windows([one], vocabulary, Silent())
    assert inner.read == ["w1"]


def test_what_another_version_read_is_removed_and_damage_is_read_again(engine):
    KeptReadings(Counting("1"), engine).read_windows([window(1)], VOCABULARY, Silent())
    KeptReadings(Counting("2"), engine).read_windows([window(2)], VOCABULARY, Silent())
    with engine.begin() as connection:
        assert connection.execute(sa.text("SELECT version FROM kept")).scalars().all() == ["2"]
        connection.execute(sa.text("UPDATE kept SET result = '{'"))
    inner = Counting("2")
    assert KeptReadings(inner, engine).read_windows([window(2)], VOCABULARY, Silent()).results[0].window_id == "w2"
    assert inner.read == ["w2"]


def test_failures_are_handed_on_and_nothing_of_them_is_kept(engine):
    inner = Counting(failing=("w2",))
    outcome = KeptReadings(inner, engine).read_windows([window(1), window(2)], VOCABULARY, Silent())
    assert [reading.window_id for reading in outcome.results] == ["w1"]
    assert [failure.key for failure in outcome.failures] == ["w2"]
    healed = Counting()
    both = KeptReadings(healed, engine).read_windows([window(1), window(2)], VOCABULARY, Silent())
    assert len(both.results) == 2


def test_a_database_that_cannot_be_used_is_one_line(tmp_path):
    (tmp_path / "folder").mkdir()
    engine = sqlite_engine(str(tmp_path / "folder"))
    with pytest.raises(BackendError, match="cannot be used"):
        KeptReadings(Counting(), engine).read_windows([window(1)], VOCABULARY, Silent())


def test_two_equal_windows_are_read_once_and_both_come_back(engine):
    inner = Counting()
    outcome = KeptReadings(inner, engine).read_windows([window(1), window(1)], VOCABULARY, Silent())
    assert inner.read == ["w1"]
    assert outcome.results[0] == outcome.results[1]


def test_judgements_are_kept_too(engine):
    passage = Passage("c", "d", 0, 44, "Grants increase output. Prices lower output.")
    metrics = [Metric(name, ("d",), "", "") for name in ("GrantUse", "OutputLevel", "PriceLevel")]
    template = TemplateQuestion(metrics[0], tuple(metrics[1:]), (passage,))
    refs = (VariableRef("GrantUse", ("grants",)), VariableRef("OutputLevel", ("output",)))
    edge = EdgeQuestion(metrics[0], metrics[1], "so", (refs,), (passage,))
    rules = RulesBackend()
    kept = KeptReadings(rules, engine)
    for _ in range(2):
        assert kept.judge_templates([template], Silent()) == rules.judge_templates([template], Silent())
        assert kept.judge_edges([edge], Silent()) == rules.judge_edges([edge], Silent())
    with engine.connect() as connection:
        assert connection.execute(sa.text("SELECT count(*) FROM kept")).scalar() == 2


def test_the_rules_read_the_same_with_and_without(engine):
    dimensions = (
        Dimension("disease", "", (Entity("influenza"), Entity("pneumonia"))),
        Dimension("drug", "", (Entity("aspirin"),)),
    )
    metrics = (Metric("DiseaseOccurrence", ("disease",), "", ""), Metric("DrugUse", ("drug",), "", ""))
    vocabulary = Vocabulary(dimensions, metrics)
    windows = [window(1, "Influenza causes pneumonia."), window(2, "Aspirin reduces influenza. Measles too.")]
    rules = RulesBackend()
    plain = rules.read_windows(windows, vocabulary, Silent())
    assert plain.results[0].relations
    for _ in range(2):
        assert KeptReadings(rules, engine).read_windows(windows, vocabulary, Silent()).results == plain.results
