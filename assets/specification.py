"""From passages to a closed vocabulary, and to the variables and relations that the corpus speaks of in it."""

from collections.abc import Mapping
from typing import Any

import dagster as dg
import pyarrow as pa

from assets import checks
from assets.corpora import CORPORA
from assets.pins import Pin, read_pin
from assets.stage_run import LLM_POOL, StageResult, StageRun, stage_asset, stage_output
from hcg_pipeline import tables
from hcg_pipeline.backends.protocol import Outcome, ProposedDimension, ProposedMetric
from hcg_pipeline.corpus.window import Window
from hcg_pipeline.corpus.windows import pack_windows
from hcg_pipeline.specification.assembly import assemble
from hcg_pipeline.specification.dimensions import cut_dimensions, resolve_dimensions
from hcg_pipeline.specification.metrics import resolve_metrics
from hcg_pipeline.specification.outcomes import to_outcomes
from hcg_pipeline.specification.tiers import VOCABULARY_WINDOW_WORDS, caps_of, sample_windows
from hcg_pipeline.specification.vocabulary_tables import to_vocabulary
from resources.build_choices import BuildChoices
from resources.language import LanguageModel
from resources.workspace import Workspace

_GROUP = "specification"


@dg.multi_asset(
    name="propose_dimensions",
    partitions_def=CORPORA,
    outs={
        "ranked_dimensions": stage_output(
            _GROUP,
            tables.DIMENSIONS,
            version="1",
            description="Every axis that the corpus speaks of, best supported first: what all tiers choose from.",
        ),
        "dimensions": stage_output(
            _GROUP,
            tables.DIMENSIONS,
            version="1",
            description="The categorical axes with their entities, merged by support and capped by tier. A fixed set: "
            "nothing downstream may name another.",
        ),
    },
    deps=["language_backend", "tier", "pinned_specification", "replaced_vocabulary"],
    internal_asset_deps={
        "ranked_dimensions": {
            dg.AssetKey("chunks"),
            dg.AssetKey("language_backend"),
            dg.AssetKey("pinned_specification"),
            dg.AssetKey("replaced_vocabulary"),
        },
        "dimensions": {dg.AssetKey("ranked_dimensions"), dg.AssetKey("tier")},
    },
    pool=LLM_POOL,
    check_specs=[
        checks.spec("failed_windows", "ranked_dimensions"),
        checks.spec("cost_within_budget", "ranked_dimensions"),
    ],
)
def propose_dimensions(
    context: dg.AssetExecutionContext,
    chunks: pa.Table,
    workspace: Workspace,
    choices: BuildChoices,
    language: LanguageModel,
) -> StageResult:
    """Ask windows for axes, merge the proposals, keep as many as the tier allows; a pin asks nothing."""
    run = StageRun(context, workspace, choices)
    backend = run.backend(language)
    pin = read_pin(workspace, run.corpus, backend.name, run.settings.tier)
    windows: list[Window] = []
    outcome: Outcome[ProposedDimension] = Outcome(())
    if pin is None:
        windows = _vocabulary_windows(chunks, language.window_sample(run.settings.backend))
        outcome = backend.propose_dimensions(windows, run.progress)
        resolved = resolve_dimensions(outcome.results)
        ranked, counts = resolved.table, _counts(resolved.counts)
        capped = cut_dimensions(ranked, run.settings.tier)
    else:
        ranked, capped, counts = pin.dimensions, pin.dimensions, _pinned(pin)
    yield run.result(
        ranked,
        asset="ranked_dimensions",
        outcome=outcome,
        backend=backend,
        checks=[run.failed_windows("ranked_dimensions", outcome, len(windows))],
        shown={"windows": len(windows), **counts},
    )
    yield run.result(capped, asset="dimensions", shown={"tier": run.settings.tier, "entities": _count_entities(capped)})


@stage_asset(
    _GROUP,
    tables.METRICS,
    version="1",
    # Its rows bind the dimensions of the tier alone; they are ranked over those of all tiers.
    deps=["dimensions", "language_backend", "tier", "pinned_specification", "replaced_vocabulary"],
    pool=LLM_POOL,
    checks=[checks.spec("failed_windows", "metrics"), checks.spec("cost_within_budget", "metrics")],
)
def metrics(
    context: dg.AssetExecutionContext,
    chunks: pa.Table,
    ranked_dimensions: pa.Table,
    outcomes: pa.Table,
    workspace: Workspace,
    choices: BuildChoices,
    language: LanguageModel,
) -> StageResult:
    """The closed vocabulary: what is measured or assessed, over which dimensions, driven by what, influencing what.

    Capped by tier; roles from outcomes.yaml, or from the metrics' names where there is none. A pinned specification
    asks nothing.
    """
    run = StageRun(context, workspace, choices)
    backend = run.backend(language)
    pin = read_pin(workspace, run.corpus, backend.name, run.settings.tier)
    chosen = to_outcomes(outcomes)
    windows: list[Window] = []
    outcome: Outcome[ProposedMetric] = Outcome(())
    if pin is None:
        windows = _vocabulary_windows(chunks, language.window_sample(run.settings.backend))
        axes = to_vocabulary(ranked_dimensions).dimensions
        outcome = backend.propose_metrics(windows, axes, run.progress)
        resolved = resolve_metrics(outcome.results, ranked_dimensions, chosen, run.settings.tier)
        table, counts = resolved.table, _counts(resolved.counts)
    else:
        table, counts = pin.metrics(chosen), _pinned(pin)
    roles = table["role"].to_pylist()
    yield run.result(
        table,
        columns=["metric", "signature", "role", "category", "support", "description"],
        outcome=outcome,
        backend=backend,
        checks=[run.failed_windows("metrics", outcome, len(windows))],
        shown={
            "tier": run.settings.tier,
            "windows": len(windows),
            "terminals": roles.count("terminal"),
            "outcomes": roles.count("outcome"),
            **counts,
        },
    )


@dg.multi_asset(
    name="read_windows",
    partitions_def=CORPORA,
    outs={
        "entities": stage_output(
            _GROUP,
            tables.DIMENSIONS,
            version="1",
            description="The dimensions with every entity that the corpus names on them. Entities grow with it.",
        ),
        "variables": stage_output(
            _GROUP,
            tables.VARIABLES,
            version="2",
            description="The metrics with the entities that the corpus speaks of: the nodes, each with its chunks.",
        ),
        "seed_relations": stage_output(
            _GROUP,
            tables.SEED_RELATIONS,
            version="2",
            description="Causes and effects that the corpus states, each with the words that state it. One reading of "
            "a window yields its variables and its relations.",
        ),
        "reading_counts": stage_output(
            "graph/quality",
            tables.READING_COUNTS,
            version="2",
            description="How often a reading was repaired, or dropped for not fitting the vocabulary, by reason.",
        ),
    },
    deps=["language_backend", "tier"],
    pool=LLM_POOL,
    internal_asset_deps={
        "entities": {
            *(dg.AssetKey(name) for name in ("chunks", "dimensions", "metrics", "language_backend", "tier")),
        },
        "variables": {dg.AssetKey("entities"), dg.AssetKey("metrics")},
        "seed_relations": {dg.AssetKey("variables"), dg.AssetKey("documents")},
        "reading_counts": {dg.AssetKey("variables")},
    },
    check_specs=[
        checks.spec("failed_windows", "variables"),
        checks.spec("cost_within_budget", "variables"),
        checks.spec("vocabulary_closed", "variables"),
        checks.spec("spans_exact", "seed_relations"),
    ],
)
def read_windows(
    context: dg.AssetExecutionContext,
    documents: pa.Table,
    chunks: pa.Table,
    dimensions: pa.Table,
    metrics: pa.Table,
    workspace: Workspace,
    choices: BuildChoices,
    language: LanguageModel,
) -> StageResult:
    """Read every window within the vocabulary; repair, or drop and count, what does not fit."""
    run = StageRun(context, workspace, choices)
    backend = run.backend(language)
    budget = run.settings.window_words or caps_of(run.settings.tier).window_words
    windows = pack_windows(chunks, budget)
    vocabulary = to_vocabulary(dimensions, metrics)
    outcome = backend.read_windows(windows, vocabulary, run.progress)
    assembly = assemble(outcome.results, vocabulary, chunks)
    yield run.result(
        assembly.dimensions,
        asset="entities",
        shown={"entities": _count_entities(assembly.dimensions)},
    )
    yield run.result(
        assembly.variables,
        asset="variables",
        columns=["variable", "role", "mentions", "description"],
        outcome=outcome,
        backend=backend,
        checks=[
            run.failed_windows("variables", outcome, len(windows)),
            checks.vocabulary_closed("variables", assembly.variables, vocabulary),
        ],
        shown={"windows": len(windows), **_counts(assembly.counts)},
    )
    yield run.result(
        assembly.relations,
        asset="seed_relations",
        columns=["source", "sign", "target", "quote"],
        checks=[checks.spans_exact("seed_relations", documents, assembly.relations, "quote")],
    )
    counted = [{"count": name, "value": count} for name, count in assembly.counts.items()]
    yield run.result(pa.Table.from_pylist(counted, schema=tables.READING_COUNTS), asset="reading_counts")


def _vocabulary_windows(chunks: pa.Table, sample: int | None) -> list[Window]:
    """What a vocabulary is proposed from, the same for every tier: a tier's set then contains the smaller one's."""
    windows = pack_windows(chunks, VOCABULARY_WINDOW_WORDS)
    return windows if sample is None else sample_windows(windows, sample)


def _count_entities(dimensions: pa.Table) -> int:
    return sum(len(entities) for entities in dimensions["entities"].to_pylist())


def _counts(counts: Mapping[str, int]) -> dict[str, Any]:
    return {f"count_{name}": count for name, count in counts.items()}


def _pinned(pin: Pin) -> dict[str, Any]:
    return {"pinned_specification": dg.MetadataValue.path(str(pin.path))}
