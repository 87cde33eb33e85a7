"""A domain graph specification S = (A, M, V0, R0) as plain objects (paper, Definition 1)."""

from dataclasses import dataclass

import pyarrow as pa

from hcg_pipeline.specification.names import parse_variable
from hcg_pipeline.specification.vocabulary import Dimension, Metric, Sign, VariableRef, Vocabulary
from hcg_pipeline.specification.vocabulary_tables import to_vocabulary


@dataclass(frozen=True, slots=True)
class SpecRelation:
    """A seed edge as the specification lists it."""

    source: VariableRef
    target: VariableRef
    mechanism: str
    sign: Sign
    confidence: float


@dataclass(frozen=True, slots=True)
class Comment:
    """A person's comment above one item of `graph_spec.yaml`: its section, the item's name, one text a line."""

    section: str
    name: str
    lines: tuple[str, ...]


@dataclass(frozen=True)
class Specification:
    """Dimensions and metrics (fixed), seed variables and relations (extensible), and the comments of the file.

    `ignored` says, with file and line, which variables and relations of the file no longer fit its own vocabulary.
    """

    dimensions: tuple[Dimension, ...]
    metrics: tuple[Metric, ...]
    variables: tuple[VariableRef, ...] = ()
    relations: tuple[SpecRelation, ...] = ()
    comments: tuple[Comment, ...] = ()
    ignored: tuple[str, ...] = ()


def specification_of(
    dimensions: pa.Table, metrics: pa.Table, variables: pa.Table, edges: pa.Table, comments: tuple[Comment, ...] = ()
) -> Specification:
    """The specification that DIMENSIONS, METRICS and VARIABLES make up, with the seed edges (NODE_EDGES of origin
    'seed', or any table with source, target, mechanism, sign and confidence, one row a pair)."""
    vocabulary = to_vocabulary(dimensions, metrics)
    refs = [_ref(name) for name in variables.column("variable").to_pylist()]
    columns = (edges.column(name).to_pylist() for name in ("source", "target", "mechanism", "sign", "confidence"))
    relations = [
        SpecRelation(_ref(source), _ref(target), mechanism, sign, confidence)
        for source, target, mechanism, sign, confidence in zip(*columns, strict=True)
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
