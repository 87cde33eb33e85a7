"""How good the graph is: one report per corpus, with plots, and how far the newest text has left the vocabulary."""

import base64

import dagster as dg
import pyarrow as pa

from assets import checks
from assets.pins import known_documents
from assets.stage_run import StageResult, StageRun, stage_asset
from hcg_pipeline import tables
from hcg_pipeline.graph.drift import measure_drift
from hcg_pipeline.graph.quality import measure_quality, quality_table
from hcg_pipeline.graph.quality_page import draw_quality, render_quality
from hcg_pipeline.specification.vocabulary_tables import to_vocabulary
from resources.build_choices import BuildChoices
from resources.language import LanguageModel
from resources.table_files import replace_bytes, replace_text
from resources.workspace import Workspace


@stage_asset(
    "graph/quality",
    tables.QUALITY_REPORT,
    version="2",
    kinds={"python", "markdown"},
    checks=[checks.spec("vocabulary_fits", "quality_report")],
)
def quality_report(
    context: dg.AssetExecutionContext,
    graph: pa.Table,
    chunks: pa.Table,
    metrics: pa.Table,
    entities: pa.Table,
    variables: pa.Table,
    seed_relations: pa.Table,
    reading_counts: pa.Table,
    merges: pa.Table,
    workspace: Workspace,
    choices: BuildChoices,
    language: LanguageModel,
) -> StageResult:
    """Sizes, degrees, evidence, dropped and repaired references, chains, cycles, isolated variables, drift."""
    run = StageRun(context, workspace, choices)
    store = workspace.snapshots(run.corpus)
    backend = language.backend_for(run.settings.backend).name
    known = known_documents(workspace, run.corpus, backend, run.settings.tier)
    drift = measure_drift(chunks, variables, seed_relations, to_vocabulary(entities, metrics), known)
    counts = dict(zip(reading_counts["count"].to_pylist(), reading_counts["value"].to_pylist(), strict=True))
    quality = measure_quality(store.open(graph["snapshot_id"][0].as_py()).graph(), counts, merges, drift)
    plots = draw_quality(quality)
    reports = workspace.corpus_store(run.corpus) / "reports"
    page = reports / "quality_report.md"
    replace_bytes(reports / "quality_report.svg", plots)
    replace_text(page, render_quality(run.corpus, quality, "quality_report.svg"))
    shown = f"data:image/svg+xml;base64,{base64.b64encode(plots).decode()}"
    yield run.result(
        quality_table(quality),
        checks=[checks.vocabulary_fits(drift)],
        shown={
            "report": dg.MetadataValue.md(render_quality(run.corpus, quality, shown)),
            "file": dg.MetadataValue.path(str(page)),
            "drift": drift.excess,
            "isolated": len(quality.isolated),
        },
    )
