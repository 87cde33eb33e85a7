"""How good the answers are: scores per question, and one report per corpus."""

import dagster as dg
import pyarrow as pa

from assets.stage_run import StageResult, StageRun, stage_asset
from hcg_pipeline import tables
from hcg_pipeline.evaluation.measures import score_answers
from hcg_pipeline.evaluation.report import render_report
from resources.build_choices import BuildChoices
from resources.embedding import EmbeddingModel
from resources.table_files import replace_text
from resources.workspace import Workspace

_GROUP = "evaluation"


@stage_asset(_GROUP, tables.SCORES, version="1")
def scores(
    context: dg.AssetExecutionContext,
    answers: pa.Table,
    chunks: pa.Table,
    workspace: Workspace,
    choices: BuildChoices,
    embedding: EmbeddingModel,
) -> StageResult:
    """Measures without a judge, per question: how much of the reference the answer says, and how much the evidence."""
    run = StageRun(context, workspace, choices)
    embedder = embedding.embedder_for(run.settings.backend)
    table = score_answers(answers, chunks, embedder)
    yield run.result(table, shown={"embedding_model": embedder.model})


@stage_asset(_GROUP, tables.BENCHMARK_REPORT, version="1", kinds={"python", "markdown"})
def benchmark_report(
    context: dg.AssetExecutionContext, scores: pa.Table, workspace: Workspace, choices: BuildChoices
) -> StageResult:
    """One page per corpus: the mean of every measure, by question type and by how evidence was found."""
    run = StageRun(context, workspace, choices)
    text = render_report(run.corpus, scores)
    path = workspace.corpus_store(run.corpus) / "reports" / "benchmark_report.md"
    replace_text(path, text)
    table = pa.Table.from_pylist([{"report": text}], schema=tables.BENCHMARK_REPORT)
    yield run.result(
        table,
        shown={
            "report": dg.MetadataValue.md(text),
            "file": dg.MetadataValue.path(str(path)),
            "scored": scores.num_rows,
        },
    )
