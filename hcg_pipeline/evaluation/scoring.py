"""All scores of a table of answers: the measures that need no judge, and those of every judge that there is."""

from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from hcg_pipeline.backends.protocol import Failure, Usage
from hcg_pipeline.embedding.embedder import Embedder
from hcg_pipeline.evaluation.judging.answers import MISSING, VERDICTS, judge_answers
from hcg_pipeline.evaluation.judging.judge import Judge
from hcg_pipeline.evaluation.judging.settings import JudgingSettings
from hcg_pipeline.evaluation.measures import WORD_BUDGETS, evidence_measure, recall_measure, score_answers
from hcg_pipeline.progress import Progress
from hcg_pipeline.tables import SCORES


@dataclass(frozen=True, slots=True)
class Scored:
    """`scores` (SCORES); of the judges the `verdicts` (VERDICTS) and what is `missing` (MISSING, with its reason).

    `failures` are replies that could not be used, `usage` what the judges cost.
    """

    scores: pa.Table
    verdicts: pa.Table
    missing: pa.Table
    failures: tuple[Failure, ...]
    usage: Usage


def score_with_judges(
    answers: pa.Table,
    chunks: pa.Table,
    embedder: Embedder,
    judges: Sequence[Judge],
    settings: JudgingSettings,
    progress: Progress,
) -> Scored:
    """Scores ANSWERS by `score_answers` and, where a backend wrote them, by each judge, in the judges' order.

    Raises as `score_answers` and `judge_answers` do.
    """
    scores, verdicts, missing = (
        [score_answers(answers, chunks, embedder)],
        [VERDICTS.empty_table()],
        [MISSING.empty_table()],
    )
    failures: tuple[Failure, ...] = ()
    usage = Usage()
    for judge in judges:
        judged = judge_answers(answers, judge, embedder, settings, progress)
        scores.append(judged.scores)
        verdicts.append(judged.verdicts)
        missing.append(judged.missing)
        failures += judged.failures
        usage += judged.usage
    return Scored(pa.concat_tables(scores), pa.concat_tables(verdicts), pa.concat_tables(missing), failures, usage)


def joined_scores(parts: Sequence[Scored]) -> Scored:
    """Several tables of answers' scores (at least one's) as one, in their order."""
    usage, failures = Usage(), tuple[Failure, ...]()
    for part in parts:
        usage += part.usage
        failures += part.failures
    return Scored(
        pa.concat_tables([part.scores for part in parts]),
        pa.concat_tables([part.verdicts for part in parts]),
        pa.concat_tables([part.missing for part in parts]),
        failures,
        usage,
    )


def of_system(scores: pa.Table, tier: str, words: int, run: int | None = None) -> pa.Table:
    """SCORES with the tier of the graph, the budget and the run that they are of.

    Recall at more words than the budget would say the same again, or compare unequal contexts: it is left out.
    """
    enough = next((budget for budget in WORD_BUDGETS if budget >= words), WORD_BUDGETS[-1])
    beyond = [of(budget) for budget in WORD_BUDGETS if budget > enough for of in (recall_measure, evidence_measure)]
    scores = scores.filter(pc.invert(pc.is_in(scores["measure"], pa.array(beyond, pa.string()))))
    columns = {"tier": tier, "words": words, "run": run}
    arrays = {name: pa.array([value] * len(scores), SCORES.field(name).type) for name, value in columns.items()}
    return pa.table([arrays.get(name, scores[name]) for name in SCORES.names], schema=SCORES)
