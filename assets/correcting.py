"""The graph's tables after an expert's corrections, which everything that readers see is made of."""

import dagster as dg
import pyarrow as pa

from assets import checks
from assets.corpora import CORPORA
from assets.stage_run import StageResult, StageRun, stage_asset, stage_output
from hcg_pipeline import tables
from hcg_pipeline.graph.corrected import correct_tables
from hcg_pipeline.specification.corrections import to_corrections
from hcg_pipeline.specification.merges import APART, merges_of
from hcg_pipeline.specification.spec_file import read_spec
from hcg_pipeline.specification.vocabulary_tables import to_vocabulary
from resources.build_choices import BuildChoices
from resources.workspace import Workspace

_GROUP = "graph/corrections"
_READ = {dg.AssetKey(name) for name in ("entities", "metrics", "corrections")}
_CHUNKS = dg.AssetKey("chunks")
_OWN = {dg.AssetKey("pinned_specification")}


@stage_asset("graph/quality", tables.MERGES, version="2")
def merges(
    context: dg.AssetExecutionContext,
    chunks: pa.Table,
    entities: pa.Table,
    metrics: pa.Table,
    workspace: Workspace,
    choices: BuildChoices,
) -> StageResult:
    """Every spelling that was taken into another name, and why; and abbreviations of two things, which were not.

    The corrections `split_entity`, `split_metric` and `split_dimension` take a merge back.
    """
    run = StageRun(context, workspace, choices)
    table = merges_of(to_vocabulary(entities, metrics), chunks["text"].to_pylist())
    reasons = ["kept apart" if reason.startswith(APART) else reason for reason in table["reason"].to_pylist()]
    yield run.result(table, shown={reason: reasons.count(reason) for reason in sorted(set(reasons))})


@dg.multi_asset(
    name="apply_corrections",
    partitions_def=CORPORA,
    outs={
        "corrected_dimensions": stage_output(
            _GROUP,
            tables.DIMENSIONS,
            version="2",
            description="The dimensions and their entities as the expert wants them: what is published.",
        ),
        "corrected_metrics": stage_output(
            _GROUP,
            tables.METRICS,
            version="2",
            description="The metrics and their roles as the expert wants them: what is published.",
        ),
        "corrected_variables": stage_output(
            _GROUP,
            tables.VARIABLES,
            version="2",
            description="The variables after corrections, with those that only edges name: the nodes of the graph.",
        ),
        "corrected_edges": stage_output(
            _GROUP,
            tables.NODE_EDGES,
            version="2",
            description="The edges after corrections: those of the corpus, and those that the expert added.",
        ),
    },
    internal_asset_deps={
        "corrected_dimensions": _READ,
        "corrected_metrics": _READ,
        "corrected_variables": _READ | _OWN | {_CHUNKS, dg.AssetKey("variables"), dg.AssetKey("node_edges")},
        "corrected_edges": _READ | _OWN | {_CHUNKS, dg.AssetKey("node_edges")},
    },
    deps=["pinned_specification"],
    check_specs=[checks.spec("corrections_match", "corrected_edges")],
)
def apply_corrections(
    context: dg.AssetExecutionContext,
    chunks: pa.Table,
    metrics: pa.Table,
    entities: pa.Table,
    variables: pa.Table,
    node_edges: pa.Table,
    corrections: pa.Table,
    workspace: Workspace,
    choices: BuildChoices,
) -> StageResult:
    """Rename, merge, split, drop, add, flip and reword, in the order of corrections.yaml, without asking anything.

    Before that, variables and relations that a person wrote into graph_spec.yaml join those of the corpus.
    """
    run = StageRun(context, workspace, choices)
    edits = to_corrections(corrections)
    own = read_spec(workspace.corpus_folder(run.corpus))
    corrected = correct_tables(entities, metrics, variables, node_edges, chunks, edits, own)
    yield run.result(corrected.dimensions, asset="corrected_dimensions")
    yield run.result(
        corrected.metrics,
        asset="corrected_metrics",
        columns=["metric", "signature", "role", "category", "support", "description"],
    )
    yield run.result(
        corrected.variables, asset="corrected_variables", columns=["variable", "role", "mentions", "description"]
    )
    yield run.result(
        corrected.edges,
        asset="corrected_edges",
        columns=["source", "sign", "target", "confidence", "origin", "support"],
        checks=[checks.corrections_match(len(edits), corrected.problems)],
        shown={"corrections": len(edits), "without_effect": len(corrected.problems)},
    )
