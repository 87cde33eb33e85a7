"""How good the answers are: scores per question, and one report per corpus."""

import base64

import dagster as dg
import pyarrow as pa
import pyarrow.compute as pc

from assets import checks
from assets.evaluations import (
    answer_counts,
    forget_question_sets,
    keep_evaluation,
    questions_hash,
    write_report,
)
from assets.stage_run import StageResult, StageRun, stage_asset
from hcg_pipeline import tables
from hcg_pipeline.answering.questions import find_question_files, read_questions
from hcg_pipeline.backends.protocol import Outcome
from hcg_pipeline.evaluation.judging.settings import GRAPHRAG_BENCH
from hcg_pipeline.evaluation.scoring import Scored, of_system, score_with_judges
from hcg_pipeline.evaluation.systems import SYSTEMS
from resources.build_choices import BuildChoices
from resources.embedding import EmbeddingModel
from resources.judging import Judges
from resources.language import LanguageModel
from resources.published import open_snapshot
from resources.workspace import Workspace

_GROUP = "evaluation"
JUDGE_POOL = "judges"
"""The pool of the stage that asks judges: other endpoints than the language backend's, so another pool."""


@stage_asset(_GROUP, tables.SCORES, version="2", checks=[checks.spec("judged_in_full", "scores")], pool=JUDGE_POOL)
def scores(
    context: dg.AssetExecutionContext,
    answers: pa.Table,
    chunks: pa.Table,
    workspace: Workspace,
    choices: BuildChoices,
    embedding: EmbeddingModel,
    language: LanguageModel,
    judging: Judges,
) -> StageResult:
    """Per question: how much of the reference the answer says, and how much the evidence; with judges, their scores.

    Measures without a judge are always there. What a judge's unusable reply leaves out is counted, and is no zero.
    """
    run = StageRun(context, workspace, choices)
    judges = run.judges(judging, language)
    embedder = run.embedder(embedding, language)
    scored = score_with_judges(answers, chunks, embedder, judges, GRAPHRAG_BENCH, run.progress)
    words = run.settings.retrieval.words
    asked = {file.stem: read_questions(file) for file in find_question_files(workspace.question_folder(run.corpus))}
    question_sets = sorted(set(answers["question_set"].to_pylist()))
    manifest = open_snapshot(workspace, run.corpus).manifest if question_sets else {}
    tier: str = manifest["built_by"].get("tier", "") if manifest else run.settings.tier
    table = of_system(scored.scores, tier, words)
    forget_question_sets(workspace, run.corpus, question_sets)
    for question_set in question_sets:
        part = answers.filter(pc.equal(answers["question_set"], question_set))
        questions = asked.get(question_set, [])
        counts = answer_counts(part)
        failed = len({question.id for question in questions} - set(part["id"].to_pylist()))
        backend = part["backend"][0].as_py()
        row = {
            "question_set": question_set,
            "file": "",
            "mode": "graph",
            "tier": tier,
            "backend": backend,
            "words": words,
            "snapshot_id": manifest["snapshot_id"],
            "variables": manifest["rows"]["nodes"],
            "edges": manifest["rows"]["edges"],
            **counts,
            "failed": failed,
            "questions": counts["questions"] + failed,
            "model": language.model if backend == "llm" else None,
            "embedding_model": manifest["embedding_model"],
            "runs": 1,
            "asked": questions_hash(questions) if questions else None,
        }
        of_set = [
            one.filter(pc.equal(one["question_set"], question_set)) for one in (table, scored.verdicts, scored.missing)
        ]
        kept = Scored(of_set[0], of_set[1], of_set[2], scored.failures, scored.usage)
        keep_evaluation(workspace, run.corpus, pa.Table.from_pylist([row], schema=SYSTEMS), kept)
    yield run.result(
        table,
        outcome=Outcome((), scored.failures, scored.usage),
        checks=[checks.judged_in_full(scored.missing, len(scored.failures))],
        shown={
            "embedding_model": embedder.model,
            "judges": [judge.version for judge in judges],
            "missing_judged_scores": scored.missing.num_rows,
            **_means(table),
        },
    )


def _means(scores: pa.Table) -> dict[str, float]:
    """The mean of each measure, which Dagster plots over the runs."""
    means = scores.group_by("measure", use_threads=False).aggregate([("value", "mean")]).sort_by("measure")
    return dict(zip(means["measure"].to_pylist(), means["value_mean"].to_pylist(), strict=True))


@stage_asset(_GROUP, tables.BENCHMARK_REPORT, version="2", kinds={"python", "markdown"})
def benchmark_report(
    context: dg.AssetExecutionContext, scores: pa.Table, workspace: Workspace, choices: BuildChoices
) -> StageResult:
    """One page per corpus, in Markdown and HTML: every measure by mode, tier and question type, with what is chance.

    It holds these scores and those of every `hcg evaluate` on the corpus.
    """
    run = StageRun(context, workspace, choices)
    report = write_report(workspace, run.corpus, scores)
    table = pa.Table.from_pylist([{"report": report.markdown}], schema=tables.BENCHMARK_REPORT)
    image = f"data:image/svg+xml;base64,{base64.b64encode(report.plots).decode()}"
    plots = {"plots": dg.MetadataValue.md(f"![quality, size and cost]({image})")} if report.plots else {}
    yield run.result(
        table,
        shown={
            **plots,
            "report": dg.MetadataValue.md(report.markdown.replace("(benchmark_report.svg)", f"({image})")),
            "file": dg.MetadataValue.path(str(report.page)),
            "html": dg.MetadataValue.path(str(report.html)),
            "scored": scores.num_rows,
        },
    )
