"""`graph_spec.yaml` back into a specification; every complaint names file and line."""

import re
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from hcg_pipeline.any_path import AnyPath
from hcg_pipeline.specification.names import key_of, parse_variable
from hcg_pipeline.specification.spec_comments import Item, comments_of
from hcg_pipeline.specification.specification import Specification, SpecRelation, SpecVariable
from hcg_pipeline.specification.vocabulary import Dimension, Entity, Metric, VariableRef
from hcg_pipeline.specification.yaml_reading import LocatedYaml, Place, read_yaml

HEADER = (
    "# The specification of this graph. To decide it yourself, put a copy of this file, edited as you like, at the",
    "# root of the corpus: later builds keep to it. `dimensions` and `metrics` are the closed vocabulary. `variables`",
    "# with `mentions` and `relations` with `support` show what the documents filled it with; builds read these anew.",
    "# What you add without `mentions` or `support` is yours: it is in every graph, marked `expert`, whether or not a",
    "# text says it. To take out what a text says, use corrections.yaml.",
)
_SIGNATURE = re.compile(r"\s*(\w+)\s*\(([^()]*)\)\s*")


def _named(value: Any) -> Any:
    """`- chemotherapy` stands for `- name: chemotherapy`."""
    return [{"name": item} if isinstance(item, str) else item for item in value] if isinstance(value, list) else value


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class _EntityEntry(_Strict):
    name: str = Field(min_length=1)
    aliases: list[str] = Field(default_factory=list)
    mentions: int = Field(default=0, ge=0)


class _DimensionEntry(_Strict):
    name: str
    description: str = ""
    support: int = Field(default=0, ge=0)
    aliases: list[str] = Field(default_factory=list)
    entities: list[_EntityEntry] = Field(default_factory=list)

    @field_validator("entities", mode="before")
    @classmethod
    def _short(cls, value: Any) -> Any:
        """`- chemotherapy` stands for `- name: chemotherapy`."""
        return _named(value)


class _Attributes(_Strict):
    category: str = "other"
    graph_role: Literal["terminal", "outcome", "driver"] = "driver"
    support: int = Field(default=0, ge=0)
    aliases: list[str] = Field(default_factory=list)


class _MetricEntry(_Strict):
    name: str
    description: str = ""
    attributes: _Attributes = Field(default_factory=_Attributes)


class _VariableEntry(_Strict):
    name: str
    mentions: int = Field(default=0, ge=0)


class _RelationEntry(_Strict):
    source: str
    target: str
    sign: Literal["+", "-", "?"] = "?"
    confidence: float = Field(default=0.99, ge=0.0, le=1.0)
    support: int = Field(default=0, ge=0)
    mechanism: str = ""
    quote: str = ""


class _File(_Strict):
    dimensions: list[_DimensionEntry] = Field(min_length=1)
    metrics: list[_MetricEntry] = Field(min_length=1)
    variables: list[_VariableEntry] = Field(default_factory=list)
    relations: list[_RelationEntry] = Field(default_factory=list)

    @field_validator("variables", "relations", mode="before")
    @classmethod
    def _short(cls, value: Any) -> Any:
        """`- Risk(flu)` stands for `- name: Risk(flu)`, and nothing for an empty list."""
        return [] if value is None else _named(value)


def parse_spec(text: str, path: str | AnyPath) -> Specification:
    """Read and check the text of a `graph_spec.yaml`.

    Dimensions and metrics must be sound: unique names, known dimensions in each signature, no entity twice. A person's
    own variables and relations must fit them. Otherwise `SettingsError`, with file, line and what is wrong. Those that
    the corpus filled in, and that no longer fit because a metric above was dropped or renamed, are left out and listed
    in `ignored`.
    """
    located = read_yaml(text, path)
    try:
        file = _File.model_validate(located.data if located.data is not None else {})
    except ValidationError as error:
        raise located.refused(error) from error
    dimensions = _dimensions(file, located)
    metrics = _metrics(file, located, {dimension.name for dimension in dimensions})
    legal = _Legality(dimensions, metrics)
    ignored: list[str] = []
    variables: dict[VariableRef, SpecVariable] = {}
    for number, entry in enumerate(file.variables):
        place: Place = ("variables", number)
        ref, problem = legal.variable(entry.name)
        if ref is not None:
            variables[ref] = SpecVariable(ref, entry.mentions, f"{path}:{located.line(place)}")
        elif entry.mentions:
            ignored.append(f"{path}:{located.line(place)}: {problem}: left out")
        else:
            raise located.error(place, problem)
    relations: dict[tuple[VariableRef, VariableRef], SpecRelation] = {}
    for number, stated in enumerate(file.relations):
        place = ("relations", number)
        relation, problem = legal.relation(stated, f"{path}:{located.line(place)}")
        if relation is not None and (relation.source, relation.target) in relations:
            first = relations[(relation.source, relation.target)].place.rpartition(":")[2]
            raise located.error(
                place, f"{stated.source} → {stated.target} is already on line {first}: keep one of them"
            )
        if relation is not None:
            relations[(relation.source, relation.target)] = relation
        elif stated.support:
            ignored.append(f"{path}:{located.line(place)}: {problem}: left out")
        else:
            raise located.error(place, problem)
    return Specification(
        dimensions,
        metrics,
        tuple(variables.values()),
        tuple(relations.values()),
        comments_of(text, _items(located, file), HEADER),
        tuple(ignored),
    )


def _dimensions(file: _File, located: LocatedYaml) -> tuple[Dimension, ...]:
    names: dict[str, Place] = {}
    owners: dict[str, tuple[str, Place]] = {}
    dimensions = []
    for place, entry in enumerate(file.dimensions):
        at: Place = ("dimensions", place, "name")
        if not entry.name.isidentifier() or entry.name != entry.name.lower():
            raise located.error(at, f"dimension {entry.name!r} must be written in snake_case, such as risk_factor")
        _once(names, entry.name, at, located, "dimension")
        for number, entity in enumerate(entry.entities):
            spot: Place = ("dimensions", place, "entities", number)
            _check_entity(entity, spot, located)
            for spelling in (entity.name, *entity.aliases):
                owner, first = owners.setdefault(key_of(spelling), (f"{entry.name}/{entity.name}", spot))
                if owner != f"{entry.name}/{entity.name}" or first != spot:
                    raise located.error(
                        spot, f"{spelling!r} already names {owner} on line {located.line(first)}: keep one of them"
                    )
        entities = tuple(Entity(entity.name, tuple(entity.aliases), entity.mentions) for entity in entry.entities)
        dimensions.append(Dimension(entry.name, entry.description, entities, entry.support, tuple(entry.aliases)))
    return tuple(dimensions)


def _check_entity(entity: _EntityEntry, spot: Place, located: LocatedYaml) -> None:
    if "," in entity.name or not key_of(entity.name) or entity.name != entity.name.strip():
        raise located.error(
            spot, f"entity {entity.name!r} needs letters or digits and no comma, which separates entities in a variable"
        )
    for alias in entity.aliases:
        if not key_of(alias):
            raise located.error(spot, f"alias {alias!r} of {entity.name!r} has neither letters nor digits")


def _metrics(file: _File, located: LocatedYaml, known: set[str]) -> tuple[Metric, ...]:
    names: dict[str, Place] = {}
    metrics = []
    for place, entry in enumerate(file.metrics):
        at: Place = ("metrics", place, "name")
        match = _SIGNATURE.fullmatch(entry.name)
        signature = tuple(part.strip() for part in match.group(2).split(",")) if match else ()
        if match is None or not match.group(1).isidentifier() or not all(signature):
            raise located.error(at, f"{entry.name!r} must be written as Name(dimension, …) with at least one dimension")
        for dimension in signature:
            if dimension not in known:
                raise located.error(at, f"{entry.name!r} binds {dimension!r}, which is no dimension of this file")
        if len(set(signature)) < len(signature):
            raise located.error(at, f"{entry.name!r} binds a dimension twice")
        _once(names, match.group(1), at, located, "metric")
        attributes = entry.attributes
        metrics.append(
            Metric(
                match.group(1),
                signature,
                entry.description,
                attributes.category,
                attributes.graph_role,
                attributes.support,
                tuple(attributes.aliases),
            )
        )
    return tuple(metrics)


def _once(names: dict[str, Place], name: str, at: Place, located: LocatedYaml, what: str) -> None:
    if name in names:
        raise located.error(at, f"{what} {name!r} is already on line {located.line(names[name])}: names must be unique")
    names[name] = at


class _Legality:
    def __init__(self, dimensions: tuple[Dimension, ...], metrics: tuple[Metric, ...]) -> None:
        self._entities = {d.name: {entity.name for entity in d.entities} for d in dimensions}
        self._metrics = {metric.name: metric for metric in metrics}

    def variable(self, name: str) -> tuple[VariableRef | None, str]:
        """The variable of that name, or None and why it is left out."""
        ref = parse_variable(name)
        if ref is None:
            return None, f"{name!r} is not written as Metric(entity, …)"
        metric = self._metrics.get(ref.metric)
        if metric is None:
            return None, f"{name!r} has a metric that is not in this file"
        if len(ref.entities) != len(metric.signature):
            return None, f"{name!r} needs {len(metric.signature)} entities"
        for dimension, entity in zip(metric.signature, ref.entities, strict=True):
            if entity not in self._entities[dimension]:
                return None, f"{name!r}: {entity!r} is no entity of {dimension}"
        return ref, ""

    def relation(self, entry: _RelationEntry, at: str) -> tuple[SpecRelation | None, str]:
        """The relation, or None and why it is left out."""
        source, problem = self.variable(entry.source)
        if source is None:
            return None, problem
        target, problem = self.variable(entry.target)
        if target is None:
            return None, problem
        if source == target:
            return None, f"{entry.source!r} cannot cause itself"
        if self._metrics[source.metric].role == "terminal":
            return None, f"{entry.source!r} is terminal and causes nothing"
        if not entry.support and not entry.mechanism.strip():
            return None, f"{entry.source} → {entry.target} needs a `mechanism`: how the one brings about the other"
        words = (entry.mechanism, entry.sign, entry.confidence, entry.support, entry.quote)
        return SpecRelation(source, target, *words, at), ""


def _items(located: LocatedYaml, file: _File) -> list[Item]:
    """What a comment can belong to: sections, dimensions, their entities, metrics, variables, relations."""
    items: list[Item] = [
        (section, "", located.line((section,))) for section in _File.model_fields if (section,) in located.lines
    ]
    for place, dimension in enumerate(file.dimensions):
        items.append(("dimensions", dimension.name, located.line(("dimensions", place))))
        for number, entity in enumerate(dimension.entities):
            spot = ("dimensions", place, "entities", number)
            items.append((f"dimensions/{dimension.name}", entity.name, located.line(spot)))
    for place, metric in enumerate(file.metrics):
        items.append(("metrics", metric.name.split("(")[0].strip(), located.line(("metrics", place))))
    for place, variable in enumerate(file.variables):
        items.append(("variables", variable.name, located.line(("variables", place))))
    for place, relation in enumerate(file.relations):
        items.append(("relations", f"{relation.source} → {relation.target}", located.line(("relations", place))))
    return items
