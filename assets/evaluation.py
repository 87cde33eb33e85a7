"""How good the answers are: scores per question, and one report per corpus."""

import base64

import dagster as dg
import pyarrow as pa
import pyarrow.compute as pc

from assets import checks
from assets.evaluations import (
    evidence_counts,
    forget_question_sets,
    keep_evaluation,
    published_tier,
    write_report,
)
from assets.stage_run import StageResult, StageRun, stage_asset
from hcg_pipeline import tables
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


@stage_asset(_GROUP, tables.SCORES, version="2", checks=[checks.spec("judged_in_full", "scores")])
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
    judges = judging.judges(language.cache_engine()) if judging.endpoints else []
    embedder = embedding.embedder_for(run.settings.backend)
    scored = score_with_judges(answers, chunks, embedder, judges, GRAPHRAG_BENCH, run.progress)
    tier: str = run.settings.tier
    words = run.settings.retrieval.words
    question_sets = sorted(set(answers["question_set"].to_pylist()))
    if question_sets:
        snapshot = open_snapshot(workspace, run.corpus)
        tier = published_tier(workspace, run.corpus, snapshot)
    table = of_system(scored.scores, tier, words)
    forget_question_sets(workspace, run.corpus, question_sets)
    for question_set in question_sets:
        part = answers.filter(pc.equal(answers["question_set"], question_set))
        row = {
            "question_set": question_set,
            "file": "",
            "mode": "graph",
            "tier": tier,
            "backend": part["backend"][0].as_py(),
            "words": words,
            "snapshot_id": snapshot.snapshot_id,
            "variables": snapshot.manifest["rows"]["nodes"],
            "edges": snapshot.manifest["rows"]["edges"],
            "failed": 0,
            **evidence_counts(part),
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
        },
    )


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
    yield run.result(
        table,
        shown={
            "report": dg.MetadataValue.md(report.markdown.replace("(benchmark_report.svg)", f"({image})")),
            "file": dg.MetadataValue.path(str(report.page)),
            "html": dg.MetadataValue.path(str(report.html)),
            "scored": scores.num_rows,
        },
    )
