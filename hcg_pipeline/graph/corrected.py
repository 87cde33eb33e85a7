"""All tables of a graph after an expert's corrections: one call between judging and evidence."""

from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa

from hcg_pipeline.graph.edge_corrections import apply_to_edges
from hcg_pipeline.graph.node_edges import extend_variables
from hcg_pipeline.graph.own_statements import with_own
from hcg_pipeline.specification.correcting import apply_to_vocabulary
from hcg_pipeline.specification.corrections import Correction
from hcg_pipeline.specification.specification import Specification
from hcg_pipeline.specification.variable_corrections import apply_to_variables
from hcg_pipeline.specification.vocabulary_tables import dimensions_table, metrics_table, to_vocabulary


@dataclass(frozen=True)
class CorrectedTables:
    """DIMENSIONS, METRICS, VARIABLES and NODE_EDGES that fit together, and a line for each edit without effect."""

    dimensions: pa.Table
    metrics: pa.Table
    variables: pa.Table
    edges: pa.Table
    problems: tuple[str, ...]


def correct_tables(
    dimensions: pa.Table,
    metrics: pa.Table,
    variables: pa.Table,
    edges: pa.Table,
    chunks: pa.Table,
    corrections: Sequence[Correction],
    own: Specification | None = None,
) -> CorrectedTables:
    """Apply corrections to what assembly (`dimensions` with added entities, `variables`) and judging (`edges`) made.

    What a person's own specification adds (`own`) is there before the first correction.
    Backends are asked with the tables as they were before, so a correction costs no call. Variables that only edges
    name are among the result's.
    """
    vocabulary = to_vocabulary(dimensions, metrics)
    plan = apply_to_vocabulary(vocabulary, corrections)
    before = with_own(extend_variables(variables, edges, vocabulary, chunks), edges, own, vocabulary, chunks)
    nodes = apply_to_variables(before.variables, plan, chunks)
    joined = apply_to_edges(before.edges, plan, chunks)
    extended = extend_variables(nodes.table, joined.table, plan.vocabulary, chunks)
    kept = plan.without_unused(set(extended.column("metric").to_pylist()))
    return CorrectedTables(
        dimensions_table(kept.dimensions),
        metrics_table(kept.metrics),
        extended,
        joined.table,
        (*before.problems, *plan.problems, *nodes.problems, *joined.problems),
    )
