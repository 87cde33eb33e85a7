"""Applying corrections to the vocabulary: deterministic, in the order of the file.

Corrections work on what was read, not on what is asked: backends are asked with the uncorrected vocabulary, so that an
edit costs no call. A `CorrectionPlan` follows the vocabulary through the edits; each later edit sees the names that the
earlier ones left.
"""

from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass, replace

from hcg_pipeline.specification.corrections import (
    Correction,
    DropEntity,
    DropMetric,
    DropVariable,
    EntityEdit,
    MergeEntity,
    MergeMetric,
    RenameEntity,
    RenameMetric,
    RenameVariable,
    SetRole,
    SplitDimension,
    SplitEntity,
    SplitMetric,
)
from hcg_pipeline.specification.dividing import Rewrite, UnmatchedError, divided_dimension
from hcg_pipeline.specification.names import entity_name, key_of, metric_name, metric_of, parse_variable
from hcg_pipeline.specification.splitting import EntitySplit, MetricSplit, Split
from hcg_pipeline.specification.vocabulary import Dimension, Entity, Metric, VariableRef, Vocabulary


@dataclass(frozen=True)
class Step:
    """One correction that applies, and the vocabulary after it.

    `rewrite` says what becomes of a variable (None for edits of edges); for `split` that depends on the text. `made`
    are the metrics that a split added.
    """

    correction: Correction
    rewrite: Rewrite | None
    vocabulary: Vocabulary
    split: Split | None = None
    made: frozenset[str] = frozenset()


@dataclass(frozen=True)
class CorrectionPlan:
    """The steps in order, the vocabulary after them, and a line for each vocabulary edit that matched nothing."""

    steps: tuple[Step, ...]
    vocabulary: Vocabulary
    problems: tuple[str, ...]

    def without_unused(self, used: Set[str]) -> Vocabulary:
        """The vocabulary without metrics that a split made and no variable is of; `used` names those that have one."""
        empty = {name for step in self.steps for name in step.made} - used
        return replace(self.vocabulary, metrics=tuple(m for m in self.vocabulary.metrics if m.name not in empty))


def apply_to_vocabulary(vocabulary: Vocabulary, corrections: Sequence[Correction]) -> CorrectionPlan:
    """Follow the vocabulary (with the entities that assembly added) through the corrections."""
    steps: list[Step] = []
    problems: list[str] = []
    for correction in corrections:
        try:
            step = _apply(vocabulary, correction)
        except UnmatchedError as reason:
            problems.append(correction.problem(str(reason)))
        else:
            split = isinstance(correction.edit, SplitDimension | SplitMetric)
            made = frozenset(step.vocabulary.metric) - frozenset(vocabulary.metric) if split else frozenset()
            steps.append(replace(step, made=made))
            vocabulary = step.vocabulary
    return CorrectionPlan(tuple(steps), vocabulary, tuple(problems))


def is_causal(source: str, target: str, vocabulary: Vocabulary) -> bool:
    """Whether an edge from `source` to `target` is allowed: known metrics, no self-loop, no terminal source."""
    cause, effect = (vocabulary.metric.get(metric_of(name)) for name in (source, target))
    return source != target and cause is not None and effect is not None and cause.role != "terminal"


def legal_variable(name: str, vocabulary: Vocabulary) -> VariableRef | None:
    """The variable of exactly that name, if its metric and entities are in the vocabulary."""
    ref = parse_variable(name)
    metric = vocabulary.metric.get(ref.metric) if ref is not None else None
    if ref is None or metric is None or len(ref.entities) != len(metric.signature):
        return None
    for dimension, entity in zip(metric.signature, ref.entities, strict=True):
        if all(known.name != entity for known in vocabulary.dimension[dimension].entities):
            return None
    return ref


def _apply(vocabulary: Vocabulary, correction: Correction) -> Step:
    rewrite: Rewrite | None = None
    match correction.edit:
        case SplitEntity() as edit:
            divided, split = _split_entity(vocabulary, edit)
            return Step(correction, None, divided, split)
        case SplitMetric() as edit:
            divided, split = _split_metric(vocabulary, edit)
            return Step(correction, None, divided, split)
        case SplitDimension() as edit:
            vocabulary, rewrite = divided_dimension(vocabulary, edit)
        case RenameEntity() | MergeEntity() | DropEntity() as edit:
            vocabulary, rewrite = _apply_to_entity(vocabulary, edit)
        case RenameMetric() | MergeMetric() | DropMetric() | SetRole() as edit:
            vocabulary, rewrite = _apply_to_metric(vocabulary, edit)
        case RenameVariable() as edit:
            old, new = parse_variable(edit.variable), legal_variable(edit.to, vocabulary)
            if new is None:
                raise UnmatchedError(f"to {edit.to!r}: its metric or entities are not in the vocabulary")
            rewrite = lambda ref: new if ref == old else ref  # noqa: E731
        case DropVariable() as edit:
            gone = parse_variable(edit.variable)
            rewrite = lambda ref: None if ref == gone else ref  # noqa: E731
        case _:
            pass
    return Step(correction, rewrite, vocabulary)


def _entity_of(vocabulary: Vocabulary, edit: EntityEdit) -> tuple[Dimension, Entity]:
    dimension = vocabulary.dimension.get(edit.dimension)
    if dimension is None:
        raise UnmatchedError(f"{edit.dimension!r}: there is no such dimension")
    entity = next((entity for entity in dimension.entities if entity.name == edit.entity), None)
    if entity is None:
        raise UnmatchedError(f"{edit.entity!r}: there is no such entity on {edit.dimension}")
    return dimension, entity


def _with_dimension(vocabulary: Vocabulary, dimension: Dimension, entities: Iterable[Entity]) -> Vocabulary:
    changed = replace(dimension, entities=tuple(entities))
    return replace(
        vocabulary, dimensions=tuple(changed if d.name == changed.name else d for d in vocabulary.dimensions)
    )


def _split_entity(vocabulary: Vocabulary, edit: SplitEntity) -> tuple[Vocabulary, Split]:
    dimension, entity = _entity_of(vocabulary, edit)
    if edit.alias not in entity.aliases:
        raise UnmatchedError(f"alias {edit.alias!r}: {edit.entity!r} has no such alias")
    left = replace(entity, aliases=tuple(alias for alias in entity.aliases if alias != edit.alias))
    entities = [left if known.name == entity.name else known for known in dimension.entities]
    return (
        _with_dimension(vocabulary, dimension, [*entities, Entity(edit.alias)]),
        EntitySplit.of(vocabulary, dimension, entity.name, edit.alias),
    )


def _split_metric(vocabulary: Vocabulary, edit: SplitMetric) -> tuple[Vocabulary, Split]:
    metric = vocabulary.metric.get(edit.metric)
    if metric is None or edit.alias not in metric.aliases:
        raise UnmatchedError(f"alias {edit.alias!r}: there is no metric {edit.metric!r} with such an alias")
    split = MetricSplit.of(metric, edit.alias)
    if split is None or edit.alias in vocabulary.metric:
        raise UnmatchedError(
            f"alias {edit.alias!r}: no text can tell it from {edit.metric!r}; rename the metric instead"
        )
    left = replace(metric, aliases=tuple(alias for alias in metric.aliases if alias != edit.alias))
    own = replace(metric, name=edit.alias, aliases=(), support=0)
    metrics = [one for known in vocabulary.metrics for one in ((left, own) if known.name == metric.name else (known,))]
    return replace(vocabulary, metrics=tuple(metrics)), split


def _apply_to_entity(
    vocabulary: Vocabulary, edit: RenameEntity | MergeEntity | DropEntity
) -> tuple[Vocabulary, Rewrite]:
    dimension, entity = _entity_of(vocabulary, edit)
    entities = {entity.name: entity for entity in dimension.entities}
    new: str | None = None
    match edit:
        case RenameEntity():
            tidy = entity_name(edit.to)
            if tidy is None or tidy.name != edit.to:
                raise UnmatchedError(f"to {edit.to!r}: no acceptable name for an entity (no comma, markup or path)")
            for holder in vocabulary.dimensions:
                if any(key_of(other.name) == key_of(edit.to) and other != entity for other in holder.entities):
                    raise UnmatchedError(f"to {edit.to!r}: {holder.name} has that entity already: merge into it")
            aliases = sorted({*entity.aliases, entity.name} - {edit.to})
            entities[entity.name] = Entity(edit.to, tuple(aliases), entity.mentions)
            new = edit.to
        case MergeEntity():
            other = entities.get(edit.into)
            if other is None or other == entity:
                raise UnmatchedError(f"into {edit.into!r}: there is no such other entity on {edit.dimension}")
            aliases = [*other.aliases, *sorted({entity.name, *entity.aliases} - set(other.aliases))]
            entities[edit.into] = Entity(edit.into, tuple(aliases), other.mentions + entity.mentions)
            del entities[entity.name]
            new = edit.into
        case DropEntity():
            del entities[entity.name]
    signatures = {metric.name: metric.signature for metric in vocabulary.metrics}

    def rewrite(ref: VariableRef) -> VariableRef | None:
        bound = list(zip(signatures[ref.metric], ref.entities, strict=True))
        if (edit.dimension, edit.entity) not in bound:
            return ref
        if new is None:
            return None
        entities = (new if pair == (edit.dimension, edit.entity) else pair[1] for pair in bound)
        return VariableRef(ref.metric, tuple(entities))

    return _with_dimension(vocabulary, dimension, entities.values()), rewrite


def _apply_to_metric(
    vocabulary: Vocabulary, edit: RenameMetric | MergeMetric | DropMetric | SetRole
) -> tuple[Vocabulary, Rewrite | None]:
    metric = vocabulary.metric.get(edit.metric)
    if metric is None:
        raise UnmatchedError(f"{edit.metric!r}: there is no such metric")
    match edit:
        case SetRole():
            return _with_metric(vocabulary, metric, replace(metric, role=edit.role)), None
        case RenameMetric():
            if metric_name(edit.to) != edit.to or edit.to in vocabulary.metric:
                raise UnmatchedError(f"to {edit.to!r}: must be a new name in CamelCase")
            name = edit.to
            renamed = replace(metric, name=name, aliases=_with_aliases(metric.aliases, [metric.name], name))
            return (
                _with_metric(vocabulary, metric, renamed),
                lambda ref: VariableRef(name, ref.entities) if ref.metric == metric.name else ref,
            )
        case MergeMetric():
            other = vocabulary.metric.get(edit.into)
            if other is None or other == metric or sorted(other.signature) != sorted(metric.signature):
                raise UnmatchedError(f"into {edit.into!r}: no other metric of that name binds the same dimensions")
            places = [metric.signature.index(dimension) for dimension in other.signature]
            aliases = _with_aliases(other.aliases, [metric.name, *metric.aliases], other.name)
            joined = replace(other, support=other.support + metric.support, aliases=aliases)
            merged = _with_metric(_with_metric(vocabulary, metric, None), other, joined)
            return (
                merged,
                lambda ref: (
                    VariableRef(other.name, tuple(ref.entities[place] for place in places))
                    if ref.metric == metric.name
                    else ref
                ),
            )
        case DropMetric():
            return _with_metric(vocabulary, metric, None), lambda ref: None if ref.metric == metric.name else ref


def _with_aliases(aliases: Sequence[str], more: Sequence[str], name: str) -> tuple[str, ...]:
    return tuple(sorted({*aliases, *more} - {name}))


def _with_metric(vocabulary: Vocabulary, old: Metric, new: Metric | None) -> Vocabulary:
    metrics = (new if metric.name == old.name else metric for metric in vocabulary.metrics)
    return Vocabulary(vocabulary.dimensions, tuple(metric for metric in metrics if metric is not None))
