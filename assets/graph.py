"""The two-tier graph: metric templates, edges between variables, their evidence, and the published snapshot."""

from dataclasses import asdict

import dagster as dg
import pyarrow as pa
import pyarrow.compute as pc

from assets import checks
from assets.pins import read_pin, write_pin
from assets.publishing import publish_with_index
from assets.stage_run import LLM_POOL, StageResult, StageRun, stage_asset
from assets.table_metadata import picture, preview, rows_preview
from hcg_pipeline import tables
from hcg_pipeline.graph.evidence import edge_text, link_evidence
from hcg_pipeline.graph.node_edges import edge_questions, extend_variables, merge_edges, seed_edges
from hcg_pipeline.graph.picture import draw_graph
from hcg_pipeline.graph.published import assemble_graph
from hcg_pipeline.graph.snapshot import INDEX
from hcg_pipeline.graph.summary import summarise
from hcg_pipeline.graph.templates import lift_templates, merge_templates, template_questions
from hcg_pipeline.retrieval.calibration import evidence_threshold
from hcg_pipeline.retrieval.index_differences import index_differences
from hcg_pipeline.retrieval.lance_tables import vectors_of
from hcg_pipeline.retrieval.manifest import read_manifest
from hcg_pipeline.specification.assembly import ground_relations
from hcg_pipeline.specification.spec_file import render_spec
from hcg_pipeline.specification.specification import specification_of
from hcg_pipeline.specification.tiers import caps_of
from hcg_pipeline.specification.vocabulary_tables import to_vocabulary
from resources.build_choices import BuildChoices
from resources.embedding import EmbeddingModel
from resources.language import LanguageModel
from resources.workspace import Workspace

_GROUP = "graph"
_EDGE_COLUMNS = ("source", "sign", "target", "confidence", "support")


@stage_asset(
    _GROUP,
    tables.METRIC_TEMPLATES,
    version="1",
    deps=["language_backend", "tier"],
    checks=[checks.spec("failed_windows", "metric_templates"), checks.spec("cost_within_budget", "metric_templates")],
    pool=LLM_POOL,
)
def metric_templates(
    context: dg.AssetExecutionContext,
    chunks: pa.Table,
    metrics: pa.Table,
    entities: pa.Table,
    variables: pa.Table,
    seed_relations: pa.Table,
    workspace: Workspace,
    choices: BuildChoices,
    language: LanguageModel,
) -> StageResult:
    """Tier 1: which metrics drive which. Lifted from seed relations for free; further pairs are judged in batches."""
    run = StageRun(context, workspace, choices)
    backend = run.backend(language)
    vocabulary = to_vocabulary(entities, metrics)
    lifted = lift_templates(seed_relations)
    questions = template_questions(vocabulary, seed_relations, variables, chunks, caps_of(run.settings.tier))
    outcome = backend.judge_templates(questions, run.progress)
    table = merge_templates(lifted, (verdict for verdicts in outcome.results for verdict in verdicts), vocabulary)
    yield run.result(
        table,
        columns=["source_metric", "target_metric", "origin", "support", "confidence"],
        outcome=outcome,
        backend=backend,
        checks=[run.failed_windows("metric_templates", outcome, len(questions))],
        shown={
            "lifted": table["origin"].to_pylist().count("seed"),
            "judged": table["origin"].to_pylist().count("judged"),
            "questions": len(questions),
        },
    )


@stage_asset(
    _GROUP,
    tables.NODE_EDGES,
    version="2",
    checks=[
        checks.spec("failed_windows", "node_edges"),
        checks.spec("cost_within_budget", "node_edges"),
        checks.spec("vocabulary_closed", "node_edges"),
    ],
    deps=["language_backend", "tier"],
    pool=LLM_POOL,
)
def node_edges(
    context: dg.AssetExecutionContext,
    chunks: pa.Table,
    metrics: pa.Table,
    entities: pa.Table,
    variables: pa.Table,
    seed_relations: pa.Table,
    metric_templates: pa.Table,
    workspace: Workspace,
    choices: BuildChoices,
    language: LanguageModel,
) -> StageResult:
    """Tier 2: edges between variables, where a template licenses them: stated by relations, or judged with a quote."""
    run = StageRun(context, workspace, choices)
    backend = run.backend(language)
    vocabulary = to_vocabulary(entities, metrics)
    stated = seed_edges(seed_relations)
    questions = edge_questions(metric_templates, variables, chunks, stated, vocabulary, caps_of(run.settings.tier))
    outcome = backend.judge_edges(questions, run.progress)
    grounded = ground_relations((one for several in outcome.results for one in several), vocabulary, chunks)
    table = merge_edges(stated, grounded.table, metric_templates)
    nodes = extend_variables(variables, table, vocabulary, chunks)
    yield run.result(
        table,
        columns=_EDGE_COLUMNS,
        outcome=outcome,
        backend=backend,
        checks=[
            run.failed_windows("node_edges", outcome, len(questions)),
            checks.vocabulary_closed("node_edges", nodes, vocabulary),
        ],
        shown={
            "stated": stated.num_rows,
            "judged": table.num_rows - stated.num_rows,
            "variables_added": nodes.num_rows - variables.num_rows,
            "questions": len(questions),
            **{f"count_{name}": count for name, count in grounded.counts.items()},
        },
    )


@stage_asset(
    _GROUP,
    tables.EVIDENCE_LINKS,
    version="1",
    deps=["embedding_model", "evidence_threshold"],
    checks=[checks.spec("edges_have_evidence", "evidence_links"), checks.spec("spans_exact", "evidence_links")],
)
def evidence_links(
    context: dg.AssetExecutionContext,
    documents: pa.Table,
    chunks: pa.Table,
    embeddings: pa.Table,
    corrected_edges: pa.Table,
    workspace: Workspace,
    choices: BuildChoices,
    embedding: EmbeddingModel,
    language: LanguageModel,
) -> StageResult:
    """Each edge's evidence: its own quotes, chunks that hold the same words, and the chunks closest in meaning."""
    run = StageRun(context, workspace, choices)
    embedder = run.embedder(embedding, language)
    threshold = run.settings.retrieval.tau_e
    if threshold is None:
        contexts = embedder.embed([edge_text(edge) for edge in corrected_edges.to_pylist()])
        threshold = evidence_threshold(embedder.model, contexts, vectors_of(embeddings, embedder.dimension))
    table = link_evidence(corrected_edges, documents, chunks, embeddings, embedder, threshold)
    kinds = table["kind"].to_pylist()
    yield run.result(
        table,
        columns=["quote", "kind", "similarity", "start", "end", "document_id"],
        checks=[
            checks.edges_have_evidence(corrected_edges, table),
            checks.spans_exact("evidence_links", documents, table, "quote"),
        ],
        shown={
            "tau_e": threshold,
            "embedding_model": embedder.model,
            **{f"links_{kind}": kinds.count(kind) for kind in ("quote", "text", "semantic")},
        },
    )


@stage_asset(
    _GROUP,
    tables.GRAPH,
    version="2",
    kinds={"python", "parquet", "yaml"},
    deps=["pinned_specification"],
    checks=[checks.spec("graph_not_empty", "graph")],
)
def graph(
    context: dg.AssetExecutionContext,
    documents: pa.Table,
    chunks: pa.Table,
    corrected_dimensions: pa.Table,
    corrected_metrics: pa.Table,
    corrected_variables: pa.Table,
    corrected_edges: pa.Table,
    evidence_links: pa.Table,
    workspace: Workspace,
    choices: BuildChoices,
    language: LanguageModel,
) -> StageResult:
    """The whole graph as one snapshot: nodes, edges and evidence, graph_spec.yaml, GraphML and node-link JSON."""
    run = StageRun(context, workspace, choices)
    built = assemble_graph(corrected_variables, corrected_metrics, corrected_edges, evidence_links)
    store = workspace.snapshots(run.corpus)
    contents = {
        "metrics": corrected_metrics,
        "dimensions": corrected_dimensions,
        "documents": documents,
        "chunks": chunks,
    }
    backend = language.backend_for(run.settings.backend).name
    pin = read_pin(workspace, run.corpus, backend, run.settings.tier)
    stated = corrected_edges.filter(pc.not_equal(corrected_edges["origin"], "judged"))
    comments = pin.comments if pin else ()
    specification = specification_of(corrected_dimensions, corrected_metrics, corrected_variables, stated, comments)
    built_by = {"backend": backend, "tier": run.settings.tier}
    snapshot = store.open(store.write(built, contents, render_spec(specification), built_by=built_by))
    summary = summarise(built)
    table = pa.Table.from_pylist(
        [
            {
                "snapshot_id": snapshot.snapshot_id,
                "variables": summary.variables,
                "edges": summary.edges,
                "evidence": summary.evidence_links,
                "share_with_evidence": summary.share_with_evidence,
            }
        ],
        schema=tables.GRAPH,
    )
    yield run.result(
        table,
        checks=[checks.graph_not_empty(built)],
        shown={
            "variables": summary.variables,
            "edges": summary.edges,
            "share_with_evidence": summary.share_with_evidence,
            "edges_preview": preview(built.edges, _EDGE_COLUMNS, rows=12),
            "top_metrics": rows_preview([asdict(metric) for metric in summary.top_metrics]),
            "picture": picture(draw_graph(built.nodes, built.edges)),
            "folder": dg.MetadataValue.path(snapshot.place),
            "specification": dg.MetadataValue.path(f"{snapshot.place}/graph_spec.yaml"),
            "export": dg.MetadataValue.path(f"{snapshot.place}/graph.graphml"),
        },
    )


@stage_asset(
    _GROUP,
    tables.GRAPH_INDEX,
    version="1",
    kinds={"python", "lancedb"},
    deps=["embedding_model"],
    checks=[checks.spec("index_matches_graph", "graph_index")],
)
def graph_index(
    context: dg.AssetExecutionContext,
    graph: pa.Table,
    documents: pa.Table,
    embeddings: pa.Table,
    dimensions: pa.Table,
    metrics: pa.Table,
    workspace: Workspace,
    choices: BuildChoices,
    language: LanguageModel,
    embedding: EmbeddingModel,
) -> StageResult:
    """Vectors and full text of passages, variables and edges, published with the graph in one step.

    Readers see the old snapshot until this one is whole. The first published specification of a backend and tier is
    pinned: later builds keep its dimensions and metrics.
    """
    run = StageRun(context, workspace, choices)
    embedder = run.embedder(embedding, language)
    store = workspace.snapshots(run.corpus)
    built = store.open(graph["snapshot_id"][0].as_py())
    published = publish_with_index(store, built, embeddings, embedder)
    backend = language.backend_for(run.settings.backend)
    read_from = documents["document_id"].to_pylist()
    pin = write_pin(workspace, run.corpus, backend.name, run.settings.tier, dimensions, metrics, read_from)
    manifest = read_manifest(published.index)
    read = store.current()
    differences = index_differences(published.index, built.table("chunks"), built.table("nodes"), built.table("edges"))
    table = pa.Table.from_pylist(
        [
            {
                "snapshot_id": published.snapshot_id,
                "fingerprint": manifest.fingerprint,
                "embedding_model": manifest.model,
                "passages": manifest.passages,
                "tau_min": manifest.tau_min,
                "tau_e": manifest.tau_e,
            }
        ],
        schema=tables.GRAPH_INDEX,
    )
    yield run.result(
        table,
        checks=[checks.index_matches_graph(published.snapshot_id, read.snapshot_id if read else "none", differences)],
        shown={
            "folder": dg.MetadataValue.path(f"{published.place}/{INDEX}"),
            "pinned_specification": dg.MetadataValue.path(str(pin)) if pin else "none: the vocabulary is empty",
            **manifest.model_dump(include={"documents", "chunks", "variables", "edges", "evidence", "dimension"}),
        },
    )
