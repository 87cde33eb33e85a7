"""A domain graph specification S = (A, M, V0, R0) as plain objects (paper, Definition 1)."""

from dataclasses import dataclass, field

import pyarrow as pa

from hcg_pipeline.specification.names import parse_variable
from hcg_pipeline.specification.vocabulary import Dimension, Metric, Sign, VariableRef, Vocabulary
from hcg_pipeline.specification.vocabulary_tables import to_vocabulary


@dataclass(frozen=True, slots=True)
class SpecVariable:
    """A variable as the specification lists it: how often the corpus names it, or 0 where a person wrote it.

    `place` is the file and line where it stands; two that differ in that alone are equal.
    """

    ref: VariableRef
    mentions: int = 0
    place: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class SpecRelation:
    """A seed edge as the specification lists it: how many quotes state it, or 0 where a person wrote it.

    `quote` are words of the corpus by which a person backs it. `place`: see `SpecVariable`.
    """

    source: VariableRef
    target: VariableRef
    mechanism: str
    sign: Sign
    confidence: float
    support: int = 0
    quote: str = ""
    place: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class Comment:
    """A person's comment above one item of `graph_spec.yaml`: its section, the item's name, one text a line."""

    section: str
    name: str
    lines: tuple[str, ...]


@dataclass(frozen=True)
class Specification:
    """Dimensions and metrics (fixed), seed variables and relations (extensible), and the comments of the file.

    A variable without mentions and a relation without support are a person's own: they are in every graph that is built
    from the file. The others only show what the corpus filled the vocabulary with. `ignored` says, with file and line,
    which of those no longer fit the file's own vocabulary.
    """

    dimensions: tuple[Dimension, ...]
    metrics: tuple[Metric, ...]
    variables: tuple[SpecVariable, ...] = ()
    relations: tuple[SpecRelation, ...] = ()
    comments: tuple[Comment, ...] = ()
    ignored: tuple[str, ...] = ()

    @property
    def own_variables(self) -> tuple[SpecVariable, ...]:
        """The variables that a person wrote."""
        return tuple(variable for variable in self.variables if not variable.mentions)

    @property
    def own_relations(self) -> tuple[SpecRelation, ...]:
        """The relations that a person wrote."""
        return tuple(relation for relation in self.relations if not relation.support)


def specification_of(
    dimensions: pa.Table, metrics: pa.Table, variables: pa.Table, edges: pa.Table, comments: tuple[Comment, ...] = ()
) -> Specification:
    """The specification that DIMENSIONS, METRICS and VARIABLES make up, with the stated edges of NODE_EDGES.

    An edge of origin 'expert' is a person's own, whatever quotes it has.
    """
    vocabulary = to_vocabulary(dimensions, metrics)
    names = (variables.column(name).to_pylist() for name in ("variable", "mentions"))
    refs = [SpecVariable(_ref(name), mentions) for name, mentions in zip(*names, strict=True)]
    relations = [
        SpecRelation(
            _ref(row["source"]),
            _ref(row["target"]),
            row["mechanism"],
            row["sign"],
            row["confidence"],
            row["support"] if row["origin"] != "expert" else 0,
            row["quotes"][0]["quote"] if row["origin"] == "expert" and row["quotes"] else "",
        )
        for row in edges.to_pylist()
    ]
    return Specification(vocabulary.dimensions, vocabulary.metrics, tuple(refs), tuple(relations), comments)


def pinned_vocabulary(spec: Specification) -> Vocabulary:
    """The closed vocabulary that a build from this specification uses: its dimensions and metrics as they stand."""
    return Vocabulary(spec.dimensions, spec.metrics)


def _ref(name: str) -> VariableRef:
    ref = parse_variable(name)
    if ref is None:
        raise ValueError(f"{name!r} is not the name of a variable: expected Metric(entity, …)")
    return ref
