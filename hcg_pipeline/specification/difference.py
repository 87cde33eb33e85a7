"""What changes when one specification replaces another: dimensions, entities and metrics that come, go or differ."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from hcg_pipeline.specification.names import key_of
from hcg_pipeline.specification.vocabulary import Dimension, Metric, Vocabulary

Kind = Literal["added", "removed", "changed"]
_NAMED = 12


@dataclass(frozen=True, slots=True)
class Change:
    """One line of the difference: what happens to which `dimension` or `metric`, and how."""

    kind: Kind
    what: Literal["dimension", "metric"]
    name: str
    how: str


def compare(old: Vocabulary, new: Vocabulary) -> list[Change]:
    """The changes from `old` to `new`: dimensions, then metrics; removed, added, changed; each in its own order.

    Support, mentions and descriptions are not compared: they follow the text and change no name.
    """
    return [*_dimensions(old, new), *_metrics(old, new)]


def _dimensions(old: Vocabulary, new: Vocabulary) -> Iterator[Change]:
    for dimension in old.dimensions:
        if dimension.name not in new.dimension:
            yield Change("removed", "dimension", dimension.name, _entities(dimension))
    for dimension in new.dimensions:
        if dimension.name not in old.dimension:
            yield Change("added", "dimension", dimension.name, _entities(dimension))
    for dimension in new.dimensions:
        before = old.dimension.get(dimension.name)
        how = _entities_changed(before, dimension) if before is not None else ""
        if how:
            yield Change("changed", "dimension", dimension.name, how)


def _metrics(old: Vocabulary, new: Vocabulary) -> Iterator[Change]:
    for metric in old.metrics:
        if metric.name not in new.metric:
            yield Change("removed", "metric", metric.name, _signature(metric))
    for metric in new.metrics:
        if metric.name not in old.metric:
            yield Change("added", "metric", metric.name, f"{_signature(metric)}, {metric.role}")
    for metric in new.metrics:
        before = old.metric.get(metric.name)
        if before is None:
            continue
        parts = []
        if before.signature != metric.signature:
            parts.append(f"{_signature(before)} becomes {_signature(metric)}")
        if before.role != metric.role:
            parts.append(f"{before.role} becomes {metric.role}")
        if before.category != metric.category:
            parts.append(f"category {before.category} becomes {metric.category}")
        if parts:
            yield Change("changed", "metric", metric.name, "; ".join(parts))


def _signature(metric: Metric) -> str:
    return f"({', '.join(metric.signature)})"


def _entities(dimension: Dimension) -> str:
    return f"{len(dimension.entities)} entities: {_named([entity.name for entity in dimension.entities])}"


def _entities_changed(old: Dimension, new: Dimension) -> str:
    """Entities that come and go; one that is renamed to a spelling of the same key stays."""
    before = {key_of(entity.name): entity.name for entity in old.entities}
    after = {key_of(entity.name): entity.name for entity in new.entities}
    gone = [name for key, name in before.items() if key not in after]
    come = [name for key, name in after.items() if key not in before]
    parts = []
    if gone:
        parts.append(f"without {_named(gone)}")
    if come:
        parts.append(f"with {_named(come)}")
    return "; ".join(parts)


def _named(names: Sequence[str]) -> str:
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return ", ".join(names[:_NAMED]) + more if names else "none"
