"""`judge_answers`: answers in; scores, the verdicts behind them, and what is missing out.

Two rounds of calls: the statements of each distinct answer and reference, then for each measure of an answer a verdict
on each statement. A reference is broken up once, however many modes answered its question. Each reply is committed to
the cache as it comes, so a run that was killed goes on where it stopped. A score depends on its own answer alone.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa

from hcg_pipeline.backends.llm.mapping import failures_of, total_usage
from hcg_pipeline.backends.protocol import Failure, Usage
from hcg_pipeline.embedding.embedder import Embedder
from hcg_pipeline.errors import EvaluationError
from hcg_pipeline.evaluation.judging.checks import (
    NO_STATEMENTS,
    NO_VERDICTS,
    Check,
    JudgedAnswer,
    Verdict,
    check_of,
    score_of,
)
from hcg_pipeline.evaluation.judging.judge import Judge
from hcg_pipeline.evaluation.judging.naming import judged_name
from hcg_pipeline.evaluation.judging.prompts.statements import statements_prompt
from hcg_pipeline.evaluation.judging.scoring import similarities
from hcg_pipeline.evaluation.judging.settings import JudgingSettings, Measure
from hcg_pipeline.progress import Progress
from hcg_pipeline.tables import SCORES

_NEEDED = ("question_set", "id", "question_type", "mode", "question", "answer", "backend", "reference", "contexts")

_PLACE = [SCORES.field(name) for name in ("question_set", "id", "question_type", "mode", "measure")]

VERDICTS = pa.schema(
    [
        *_PLACE,
        pa.field("side", pa.string(), nullable=False, metadata={"description": "'answer' or 'reference'"}),
        pa.field("statement", pa.string(), nullable=False, metadata={"description": "a statement of that side"}),
        pa.field("supported", pa.bool_(), nullable=False, metadata={"description": "by what the measure holds it to"}),
        pa.field("reason", pa.string(), nullable=False, metadata={"description": "the judge's words"}),
    ]
)

MISSING = pa.schema(
    [*_PLACE, pa.field("reason", pa.string(), nullable=False, metadata={"description": "why there is no score"})]
)

_Text = tuple[str, str]
"""A question and a text that answers it."""
_Due = tuple[JudgedAnswer, Measure]


@dataclass(frozen=True, slots=True)
class JudgedAnswers:
    """What a judge made of a table of answers.

    `scores` (SCORES, measures named `measure[judge]`), `verdicts` (VERDICTS: the statements behind each score) and
    `missing` (MISSING) are in the order of the answers. Every score that was due is in `scores` or in `missing`, never
    in both: a reply that could not be used is no zero. `failures` are those replies, one each.
    """

    scores: pa.Table
    verdicts: pa.Table
    missing: pa.Table
    failures: tuple[Failure, ...]
    usage: Usage


def judge_answers(
    answers: pa.Table, judge: Judge, embedder: Embedder, settings: JudgingSettings, progress: Progress
) -> JudgedAnswers:
    """Scores `answers` (ANSWERS, of any question sets and modes) by the judged measures of GraphRAG-Bench.

    - correctness: 0.75 × F1 of the answer's statements against the reference's + 0.25 × (1 + cosine) / 2 of their
      embeddings by `embedder` (0 for an empty answer);
    - coverage: share of the reference's statements that the answer makes;
    - faithfulness: share of the answer's statements that its contexts bear out.

    Raises `BackendError` when the judge as a whole cannot work, `EmbeddingError` as the embedder does, and
    `EvaluationError` for a table without a needed column.
    """
    items = _answers_of(answers)
    due: list[_Due] = [(item, measure) for item in items for measure in settings.due(item.question_type)]
    measurable = [(item, measure) for item, measure in due if not item.missing(measure)]
    similarity = _similarities([item for item, measure in measurable if measure == "correctness"], embedder)

    statements, failures, usage = _statements(measurable, judge, progress)
    checks = {
        place: check_of(item, measure, {text: statements[item.question, text] for text in item.texts(measure)})
        for place, (item, measure) in enumerate(due)
        if not item.missing(measure) and all((item.question, text) in statements for text in item.texts(measure))
    }
    verdicts, more_failures, more_usage = _verdicts(checks, judge, progress)

    scored: list[tuple[_Due, float]] = []
    missing: list[tuple[_Due, str]] = []
    for place, (item, measure) in enumerate(due):
        if place in verdicts:
            weight = settings.statement_weight
            value = score_of(measure, verdicts[place], similarity.get((item.answer, item.reference), 0.0), weight)
            scored.append(((item, measure), value))
        else:
            missing.append(((item, measure), _why_missing(item, measure, statements)))
    return JudgedAnswers(
        scores=pa.Table.from_pylist(
            [{**_place(one, judge), "value": value, "backend": one[0].backend} for one, value in scored], SCORES
        ),
        verdicts=pa.Table.from_pylist(
            [
                {
                    **_place(one, judge),
                    "side": verdict.side,
                    "statement": verdict.statement,
                    "supported": verdict.supported,
                    "reason": verdict.reason,
                }
                for place, one in enumerate(due)
                for verdict in verdicts.get(place, ())
            ],
            VERDICTS,
        ),
        missing=pa.Table.from_pylist([{**_place(one, judge), "reason": reason} for one, reason in missing], MISSING),
        failures=failures + more_failures,
        usage=usage + more_usage,
    )


def _answers_of(answers: pa.Table) -> list[JudgedAnswer]:
    absent = [name for name in _NEEDED if name not in answers.column_names]
    if absent:
        raise EvaluationError(f"answers to judge lack the column {', '.join(absent)}; give a table like ANSWERS")
    return [JudgedAnswer.of_row(row) for row in answers.select(_NEEDED).to_pylist()]


def _similarities(items: Sequence[JudgedAnswer], embedder: Embedder) -> dict[tuple[str, str], float]:
    """By (answer, reference), the similarity of the two texts, each embedded once. Empty answers are left out."""
    pairs = list(dict.fromkeys((item.answer, item.reference) for item in items if item.answer))
    if not pairs:
        return {}
    places = {text: place for place, text in enumerate(dict.fromkeys(text for pair in pairs for text in pair))}
    vectors = embedder.embed(list(places))
    firsts = vectors[[places[answer] for answer, _ in pairs]]
    seconds = vectors[[places[reference] for _, reference in pairs]]
    return dict(zip(pairs, similarities(firsts, seconds), strict=True))


def _statements(
    measurable: Sequence[_Due], judge: Judge, progress: Progress
) -> tuple[dict[_Text, tuple[str, ...]], tuple[Failure, ...], Usage]:
    """The statements of every text that a measure needs, asked for once; texts whose reply failed are absent."""
    keys: dict[_Text, str] = {}
    for item, measure in measurable:
        for text in item.texts(measure):
            side = "answer" if text == item.answer else "reference"
            keys.setdefault((item.question, text), f"statements of the {side} of {item.place}")
    prompts = [statements_prompt(question, text, key) for (question, text), key in keys.items()]
    asked = judge.ask(prompts, progress)
    found = {text: tuple(one.reply.statements) for text, one in zip(keys, asked, strict=True) if one.reply is not None}
    return found, failures_of(asked), total_usage(asked)


def _verdicts(
    checks: dict[int, Check], judge: Judge, progress: Progress
) -> tuple[dict[int, tuple[Verdict, ...]], tuple[Failure, ...], Usage]:
    """The verdicts of each check, by its place; checks whose reply failed are absent."""
    prompts = {place: check.prompt for place, check in checks.items() if check.prompt is not None}
    asked = judge.ask(list(prompts.values()), progress)
    replies = {place: one.reply for place, one in zip(prompts, asked, strict=True)}
    verdicts = {
        place: check.verdicts(replies.get(place))
        for place, check in checks.items()
        if place not in prompts or replies[place] is not None
    }
    return verdicts, failures_of(asked), total_usage(asked)


def _why_missing(item: JudgedAnswer, measure: Measure, statements: dict[_Text, tuple[str, ...]]) -> str:
    if why := item.missing(measure):
        return why
    lacking = [text for text in item.texts(measure) if (item.question, text) not in statements]
    if lacking:
        return NO_STATEMENTS.format("answer's" if lacking[0] == item.answer else "reference's")
    return NO_VERDICTS


def _place(due: _Due, judge: Judge) -> dict[str, str]:
    item, measure = due
    return {
        "question_set": item.question_set,
        "id": item.id,
        "question_type": item.question_type,
        "mode": item.mode,
        "measure": judged_name(measure, judge.name),
    }
