"""Vocabulary as plain objects, and as the DIMENSIONS and METRICS tables: each way without loss."""

from collections.abc import Sequence

import pyarrow as pa

from hcg_pipeline.specification.vocabulary import Dimension, Entity, Metric, Vocabulary
from hcg_pipeline.tables import DIMENSIONS, METRICS


def to_vocabulary(dimensions: pa.Table, metrics: pa.Table | None = None) -> Vocabulary:
    """The closed vocabulary that a DIMENSIONS table and, where there is one, a METRICS table state, in their order."""
    return Vocabulary(
        tuple(
            Dimension(
                row["dimension"],
                row["description"],
                tuple(Entity(e["name"], tuple(e["aliases"]), e["mentions"]) for e in row["entities"]),
                row["support"],
                tuple(row["aliases"]),
            )
            for row in dimensions.to_pylist()
        ),
        tuple(
            Metric(
                row["metric"],
                tuple(row["signature"]),
                row["description"],
                row["category"],
                row["role"],
                row["support"],
                tuple(row["aliases"]),
            )
            for row in (metrics.to_pylist() if metrics is not None else [])
        ),
    )


def dimensions_table(dimensions: Sequence[Dimension]) -> pa.Table:
    """Dimensions as a DIMENSIONS table, in the order given."""
    return pa.Table.from_pylist(
        [
            {
                "dimension": dimension.name,
                "description": dimension.description,
                "support": dimension.support,
                "entities": [
                    {"name": entity.name, "aliases": list(entity.aliases), "mentions": entity.mentions}
                    for entity in dimension.entities
                ],
                "aliases": list(dimension.aliases),
            }
            for dimension in dimensions
        ],
        schema=DIMENSIONS,
    )


def metrics_table(metrics: Sequence[Metric]) -> pa.Table:
    """Metrics as a METRICS table, in the order given."""
    return pa.Table.from_pylist(
        [
            {
                "metric": metric.name,
                "signature": list(metric.signature),
                "description": metric.description,
                "category": metric.category,
                "role": metric.role,
                "support": metric.support,
                "aliases": list(metric.aliases),
            }
            for metric in metrics
        ],
        schema=METRICS,
    )
