"""The words of a specification as plain objects: dimensions, metrics, variables, and the closed set they form."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

Role = Literal["terminal", "outcome", "driver"]
Sign = Literal["+", "-", "?"]


@dataclass(frozen=True, slots=True)
class Entity:
    """A value on a dimension: canonical name, other spellings, how often the corpus names it."""

    name: str
    aliases: tuple[str, ...] = ()
    mentions: int = 0


@dataclass(frozen=True, slots=True)
class Dimension:
    """A categorical axis (snake_case) with its entities, most mentioned first; `aliases` are names merged into it."""

    name: str
    description: str
    entities: tuple[Entity, ...] = ()
    support: int = 0
    aliases: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Metric:
    """A measurable or assessable quantity (CamelCase) over its signature; `aliases` are names merged into it."""

    name: str
    signature: tuple[str, ...]
    description: str
    category: str
    role: Role = "driver"
    support: int = 0
    aliases: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, order=True)
class VariableRef:
    """A variable by its parts: a metric's name and one entity per dimension of the metric's signature."""

    metric: str
    entities: tuple[str, ...]

    @property
    def name(self) -> str:
        """`Metric(entity, entity)`; `Metric()` never occurs, since a signature has at least one dimension."""
        return f"{self.metric}({', '.join(self.entities)})"


@dataclass(frozen=True)
class Vocabulary:
    """The closed set of dimensions and metrics that everything downstream may name."""

    dimensions: tuple[Dimension, ...]
    metrics: tuple[Metric, ...] = ()

    @cached_property
    def metric(self) -> dict[str, Metric]:
        """Metrics by name."""
        return {metric.name: metric for metric in self.metrics}

    @cached_property
    def dimension(self) -> dict[str, Dimension]:
        """Dimensions by name."""
        return {dimension.name: dimension for dimension in self.dimensions}


def metrics_over(metrics: Iterable[Metric], dimensions: Sequence[str]) -> list[Metric]:
    """The metrics whose signature binds nothing outside `dimensions`."""
    known = set(dimensions)
    return [metric for metric in metrics if known.issuperset(metric.signature)]
