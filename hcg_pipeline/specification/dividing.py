"""Taking the merge of two dimensions back: some entities go to a dimension of their own, with metrics over it."""

from collections.abc import Callable
from dataclasses import replace

from hcg_pipeline.specification.corrections import SplitDimension
from hcg_pipeline.specification.vocabulary import Dimension, Metric, VariableRef, Vocabulary

Rewrite = Callable[[VariableRef], VariableRef | None]


class UnmatchedError(Exception):
    """Why an edit does nothing."""


def divided_dimension(vocabulary: Vocabulary, edit: SplitDimension) -> tuple[Vocabulary, Rewrite]:
    """The vocabulary after the division, and what becomes of a variable.

    `DiseaseRisk(disease)` gets the twin `DisorderRisk(disorder)`: a metric whose name does not hold its dimension's
    gets the new one in front. Raises `UnmatchedError` where the alias, or an entity, is not there, all entities would
    leave, or a twin's name is taken.
    """
    dimension = vocabulary.dimension.get(edit.dimension)
    if dimension is None or edit.alias not in dimension.aliases:
        raise UnmatchedError(f"alias {edit.alias!r}: there is no dimension {edit.dimension!r} with such an alias")
    known = [entity.name for entity in dimension.entities]
    for name in edit.entities:
        if name not in known:
            raise UnmatchedError(f"{name!r}: there is no such entity on {edit.dimension}")
    moved = frozenset(edit.entities)
    if len(moved) == len(known) or edit.alias in vocabulary.dimension:
        raise UnmatchedError(f"alias {edit.alias!r}: both dimensions need entities, and a name of their own")
    twins = {metric.name: _twin(metric, edit) for metric in vocabulary.metrics if edit.dimension in metric.signature}
    for twin in twins.values():
        if twin.name in vocabulary.metric:
            raise UnmatchedError(f"alias {edit.alias!r}: there is a metric {twin.name!r} already; rename it first")
    stay = tuple(entity for entity in dimension.entities if entity.name not in moved)
    go = tuple(entity for entity in dimension.entities if entity.name in moved)
    aliases = tuple(alias for alias in dimension.aliases if alias != edit.alias)
    halves = (replace(dimension, entities=stay, aliases=aliases), Dimension(edit.alias, dimension.description, go))
    signatures = {metric.name: metric.signature for metric in vocabulary.metrics}

    def rewrite(ref: VariableRef) -> VariableRef:
        bound = zip(signatures[ref.metric], ref.entities, strict=True)
        leaves = any(name == edit.dimension and entity in moved for name, entity in bound)
        return VariableRef(twins[ref.metric].name, ref.entities) if leaves else ref

    return (
        Vocabulary(
            tuple(d for old in vocabulary.dimensions for d in (halves if old.name == edit.dimension else (old,))),
            tuple(m for old in vocabulary.metrics for m in ((old, twins[old.name]) if old.name in twins else (old,))),
        ),
        rewrite,
    )


def _twin(metric: Metric, edit: SplitDimension) -> Metric:
    old, new = (_camel(name) for name in (edit.dimension, edit.alias))
    name = metric.name.replace(old, new, 1) if old in metric.name else new + metric.name
    signature = tuple(edit.alias if part == edit.dimension else part for part in metric.signature)
    return replace(metric, name=name, signature=signature, support=0, aliases=())


def _camel(dimension: str) -> str:
    return "".join(word.capitalize() for word in dimension.split("_"))
