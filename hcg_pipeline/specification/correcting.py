"""Applying corrections to vocabulary, variables and seed relations: deterministic, in the order of the file.

Corrections work on what was read, not on what is asked: backends are asked with the uncorrected vocabulary, so that an
edit costs no call. A `CorrectionPlan` follows the vocabulary through the edits; each later edit sees the names that the
earlier ones left.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import pyarrow as pa

from hcg_pipeline.specification.assembly import variable_row
from hcg_pipeline.specification.corrections import (
    Correction,
    DropEntity,
    DropMetric,
    DropVariable,
    MergeEntity,
    MergeMetric,
    RenameEntity,
    RenameMetric,
    RenameVariable,
    SetRole,
)
from hcg_pipeline.specification.names import entity_name, key_of, metric_name, metric_of, parse_variable
from hcg_pipeline.specification.vocabulary import Dimension, Entity, Metric, VariableRef, Vocabulary
from hcg_pipeline.tables import SEED_RELATIONS, VARIABLES

Rewrite = Callable[[VariableRef], VariableRef | None]


@dataclass(frozen=True)
class Step:
    """One correction that applies: what it makes of a variable (None for edits of edges), and the vocabulary after."""

    correction: Correction
    rewrite: Rewrite | None
    vocabulary: Vocabulary


@dataclass(frozen=True)
class CorrectionPlan:
    """The steps in order, the vocabulary after them, and a line for each vocabulary edit that matched nothing."""

    steps: tuple[Step, ...]
    vocabulary: Vocabulary
    problems: tuple[str, ...]


@dataclass(frozen=True)
class Corrected:
    """A corrected table, and a line for each edit of its kind that matched nothing."""

    table: pa.Table
    problems: tuple[str, ...]


class _UnmatchedError(Exception):
    """Why an edit does nothing."""


def apply_to_vocabulary(vocabulary: Vocabulary, corrections: Sequence[Correction]) -> CorrectionPlan:
    """Follow the vocabulary (with the entities that assembly added) through the corrections."""
    steps: list[Step] = []
    problems: list[str] = []
    for correction in corrections:
        try:
            vocabulary, rewrite = _apply(vocabulary, correction)
        except _UnmatchedError as reason:
            problems.append(correction.problem(str(reason)))
        else:
            steps.append(Step(correction, rewrite, vocabulary))
    return CorrectionPlan(tuple(steps), vocabulary, tuple(problems))


def apply_to_variables(variables: pa.Table, plan: CorrectionPlan, chunks: pa.Table) -> Corrected:
    """VARIABLES under their corrected names, those that became one merged; `chunks` gives the corpus order."""
    order = {chunk_id: place for place, chunk_id in enumerate(chunks.column("chunk_id").to_pylist())}
    found: dict[VariableRef, Counter[str]] = {}
    for row in variables.to_pylist():
        counts = Counter(dict.fromkeys(row["chunk_ids"], 1))
        if row["chunk_ids"]:
            # Mentions beyond one a chunk are not told apart by chunk: keep the sum.
            counts[row["chunk_ids"][0]] += row["mentions"] - len(row["chunk_ids"])
        found[VariableRef(row["metric"], tuple(row["entities"]))] = counts
    problems = []
    for step in plan.steps:
        edit = step.correction.edit
        if isinstance(edit, RenameVariable | DropVariable) and parse_variable(edit.variable) not in found:
            problems.append(step.correction.problem(f"{edit.variable!r}: there is no such variable"))
        if step.rewrite is not None:
            moved: dict[VariableRef, Counter[str]] = {}
            for ref, counts in found.items():
                new = step.rewrite(ref)
                if new is not None:
                    moved[new] = moved.get(new, Counter()) + counts
            found = moved
    rank = {metric.name: place for place, metric in enumerate(plan.vocabulary.metrics)}
    rows = [
        variable_row(ref, plan.vocabulary.metric[ref.metric], found[ref], order)
        for ref in sorted(found, key=lambda ref: (rank[ref.metric], ref.name))
    ]
    return Corrected(pa.Table.from_pylist(rows, schema=VARIABLES), tuple(problems))


def apply_to_relations(relations: pa.Table, plan: CorrectionPlan) -> pa.Table:
    """SEED_RELATIONS between corrected variables; what became a self-loop or leaves a terminal goes."""
    names = sorted({*relations.column("source").to_pylist(), *relations.column("target").to_pylist()})
    corrected = {name: corrected_name(name, plan.steps) for name in names}
    rows = []
    for row in relations.to_pylist():
        source, target = corrected[row["source"]], corrected[row["target"]]
        if source is not None and target is not None and is_causal(source, target, plan.vocabulary):
            rows.append({**row, "source": source, "target": target})
    return pa.Table.from_pylist(rows, schema=SEED_RELATIONS)


def corrected_name(name: str, steps: Sequence[Step]) -> str | None:
    """What a variable is called after these steps, or None where one of them drops it."""
    ref = parse_variable(name)
    for step in steps:
        if ref is not None and step.rewrite is not None:
            ref = step.rewrite(ref)
    return ref.name if ref is not None else None


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


def _apply(vocabulary: Vocabulary, correction: Correction) -> tuple[Vocabulary, Rewrite | None]:
    match correction.edit:
        case RenameEntity() | MergeEntity() | DropEntity() as edit:
            return _apply_to_entity(vocabulary, edit)
        case RenameMetric() | MergeMetric() | DropMetric() | SetRole() as edit:
            return _apply_to_metric(vocabulary, edit)
        case RenameVariable() as edit:
            old, new = parse_variable(edit.variable), legal_variable(edit.to, vocabulary)
            if new is None:
                raise _UnmatchedError(f"to {edit.to!r}: its metric or entities are not in the vocabulary")
            return vocabulary, lambda ref: new if ref == old else ref
        case DropVariable() as edit:
            gone = parse_variable(edit.variable)
            return vocabulary, lambda ref: None if ref == gone else ref
        case _:
            return vocabulary, None


def _apply_to_entity(
    vocabulary: Vocabulary, edit: RenameEntity | MergeEntity | DropEntity
) -> tuple[Vocabulary, Rewrite]:
    dimension = vocabulary.dimension.get(edit.dimension)
    if dimension is None:
        raise _UnmatchedError(f"{edit.dimension!r}: there is no such dimension")
    entities = {entity.name: entity for entity in dimension.entities}
    entity = entities.get(edit.entity)
    if entity is None:
        raise _UnmatchedError(f"{edit.entity!r}: there is no such entity on {edit.dimension}")
    new: str | None = None
    match edit:
        case RenameEntity():
            tidy = entity_name(edit.to)
            if tidy is None or tidy.name != edit.to:
                raise _UnmatchedError(f"to {edit.to!r}: no acceptable name for an entity (no comma, markup or path)")
            for holder in vocabulary.dimensions:
                if any(key_of(other.name) == key_of(edit.to) and other != entity for other in holder.entities):
                    raise _UnmatchedError(f"to {edit.to!r}: {holder.name} has that entity already: merge into it")
            aliases = sorted({*entity.aliases, entity.name} - {edit.to})
            entities[entity.name] = Entity(edit.to, tuple(aliases), entity.mentions)
            new = edit.to
        case MergeEntity():
            other = entities.get(edit.into)
            if other is None or other == entity:
                raise _UnmatchedError(f"into {edit.into!r}: there is no such other entity on {edit.dimension}")
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

    changed = Dimension(dimension.name, dimension.description, tuple(entities.values()), dimension.support)
    dimensions = tuple(changed if d.name == changed.name else d for d in vocabulary.dimensions)
    return Vocabulary(dimensions, vocabulary.metrics), rewrite


def _apply_to_metric(
    vocabulary: Vocabulary, edit: RenameMetric | MergeMetric | DropMetric | SetRole
) -> tuple[Vocabulary, Rewrite | None]:
    metric = vocabulary.metric.get(edit.metric)
    if metric is None:
        raise _UnmatchedError(f"{edit.metric!r}: there is no such metric")
    match edit:
        case SetRole():
            return _with_metric(vocabulary, metric, replace(metric, role=edit.role)), None
        case RenameMetric():
            if metric_name(edit.to) != edit.to or edit.to in vocabulary.metric:
                raise _UnmatchedError(f"to {edit.to!r}: must be a new name in CamelCase")
            name = edit.to
            return _with_metric(
                vocabulary, metric, replace(metric, name=name)
            ), lambda ref: VariableRef(name, ref.entities) if ref.metric == metric.name else ref
        case MergeMetric():
            other = vocabulary.metric.get(edit.into)
            if other is None or other == metric or sorted(other.signature) != sorted(metric.signature):
                raise _UnmatchedError(f"into {edit.into!r}: no other metric of that name binds the same dimensions")
            places = [metric.signature.index(dimension) for dimension in other.signature]
            joined = replace(other, support=other.support + metric.support)
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


def _with_metric(vocabulary: Vocabulary, old: Metric, new: Metric | None) -> Vocabulary:
    metrics = (new if metric.name == old.name else metric for metric in vocabulary.metrics)
    return Vocabulary(vocabulary.dimensions, tuple(metric for metric in metrics if metric is not None))
