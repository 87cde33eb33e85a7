"""The stand-in's statements are kept, their metrics are spread, and nothing leaves the vocabulary."""

from collections.abc import Sequence
from typing import Any

from hcg_pipeline.backends.protocol import Outcome, ProposedRelation, ProposedVariable, Reading
from hcg_pipeline.corpus.window import Window
from hcg_pipeline.estimation.spreading import spread_readings
from hcg_pipeline.progress import Progress, Silent
from hcg_pipeline.specification.vocabulary import Dimension, Metric, VariableRef, Vocabulary

METRICS = tuple(Metric(f"Fault{quality}", ("fault",), "d", "c") for quality in ("Risk", "Rate", "Severity", "Duration"))
OTHER = Metric("PartWear", ("part",), "d", "c")
VOCABULARY = Vocabulary((Dimension("fault", "d"), Dimension("part", "d")), (*METRICS, OTHER))


class Reader:
    """Puts every fault under one metric."""

    def read_windows(self, windows: Sequence[Window], vocabulary: Vocabulary, progress: Progress) -> Outcome[Reading]:
        refs = [VariableRef("FaultRisk", (f"fault {number}",)) for number in range(40)]
        part = VariableRef("PartWear", ("seal",))
        relations = tuple(ProposedRelation(ref, part, "m", "+", 0.9, "c1", "q") for ref in refs)
        variables = (ProposedVariable(VariableRef("FaultRisk", ("only mentioned",)), "c1"),)
        return Outcome(tuple(Reading(window.window_id, (), variables, relations) for window in windows))


def spread() -> list[Reading]:
    reader: Any = Reader()
    return spread_readings(reader, [Window("w1", ()), Window("w2", ())], VOCABULARY, Silent())


def test_statements_are_kept_and_metrics_of_the_same_signature_are_used() -> None:
    first, second = spread()
    assert (first.window_id, second.window_id) == ("w1", "w2")
    assert [relation.source.entities for relation in first.relations] == [(f"fault {n}",) for n in range(40)]
    assert {relation.source.metric for relation in first.relations} == {metric.name for metric in METRICS}
    assert {relation.target for relation in first.relations} == {VariableRef("PartWear", ("seal",))}


def test_variables_are_the_ends_of_the_statements() -> None:
    first, _ = spread()
    ends = {end for relation in first.relations for end in (relation.source, relation.target)}
    assert {variable.ref for variable in first.variables} == ends


def test_an_entity_has_the_same_metric_wherever_it_stands() -> None:
    first, second = spread()
    assert first.relations == second.relations
    assert spread() == [first, second]
