"""The section of a report that names questions: those on which two systems differ most, to be read by eye."""

from collections.abc import Iterator, Mapping, Sequence

import pyarrow as pa
import pyarrow.compute as pc

from hcg_pipeline.evaluation.markdown import measure_title, plain, table
from hcg_pipeline.evaluation.systems import System
from hcg_pipeline.evaluation.verdict_tables import PARTS, pairs_that_differ_in

_EACH_WAY = 5

_Question = tuple[str, str, str]
"""Question type, question set, id."""


def questions_section(
    named: pa.Table, measure: str | None, compared: Sequence[System], command: Sequence[str]
) -> Iterator[str]:
    """For the first pair of systems that differ in one part: the questions with the largest differences, each way.

    Runs of a question are averaged. Ties are broken by the question's id, so that the same scores give the same text.
    """
    pairs = [pair for part in PARTS for pair in pairs_that_differ_in(part, compared)]
    if measure is None or not pairs:
        return
    a, b = pairs[0]
    of_measure = named.filter(pc.equal(named["measure"], measure))
    first, second = _values(of_measure, a), _values(of_measure, b)
    common = sorted(first.keys() & second.keys(), key=lambda one: (second[one] - first[one], one[1:]))
    better = [one for one in common[:_EACH_WAY] if first[one] > second[one]]
    worse = [one for one in reversed(common[-_EACH_WAY:]) if first[one] < second[one]]
    if not better and not worse:
        return
    about = f"Where {a} and {b} differ most by {measure_title(measure)[0]}, in favour of the one and of the other."
    yield from ("## Questions to look at", "", about, "")
    rows = [
        [
            plain(identity),
            plain(question_set),
            plain(kind or "untyped"),
            *(f"{values[kind, question_set, identity]:.3f}" for values in (first, second)),
            f"{first[kind, question_set, identity] - second[kind, question_set, identity]:+.3f}",
        ]
        for kind, question_set, identity in (*better, *worse)
    ]
    yield from table(("question", "question set", "question type", a, b, "difference"), rows)
    yield from command


def _values(scores: pa.Table, system: str) -> Mapping[_Question, float]:
    of_system = scores.filter(pc.equal(scores["system"], system))
    means = of_system.group_by(["question_type", "question_set", "id"], use_threads=False).aggregate(
        [("value", "mean")]
    )
    columns = [means[name].to_pylist() for name in ("question_type", "question_set", "id", "value_mean")]
    return {(kind, question_set, one): value for kind, question_set, one, value in zip(*columns, strict=True)}
