"""What a person wrote into `graph_spec.yaml`: variables and relations that are in the graph whatever the texts say."""

from dataclasses import dataclass
from pathlib import PurePath
from typing import Any

import pyarrow as pa

from hcg_pipeline.graph.edge_rows import EXPERT, Quotes, edge_row
from hcg_pipeline.graph.node_edges import extend_variables
from hcg_pipeline.specification.assembly import variable_row
from hcg_pipeline.specification.correcting import is_causal
from hcg_pipeline.specification.specification import Specification, SpecRelation
from hcg_pipeline.specification.vocabulary import Vocabulary
from hcg_pipeline.tables import NODE_EDGES, VARIABLES


@dataclass(frozen=True)
class WithOwn:
    """VARIABLES and NODE_EDGES with a person's own among them, and a line for each that did not hold."""

    variables: pa.Table
    edges: pa.Table
    problems: tuple[str, ...]


def with_own(
    variables: pa.Table, edges: pa.Table, own: Specification | None, vocabulary: Vocabulary, chunks: pa.Table
) -> WithOwn:
    """Add the own variables and relations of a specification (None: nothing is a person's own).

    A relation that the texts state as well keeps their quotes, and has the person's sign, confidence and mechanism. A
    variable that no text names has no mentions. `problems` names, with file and line, a relation out of a metric that
    outcomes.yaml makes a terminal, and a quote that stands in no chunk.
    """
    if own is None or not (own.own_variables or own.own_relations):
        return WithOwn(variables, edges, ())
    rows: dict[tuple[str, str], dict[str, Any]] = {(row["source"], row["target"]): row for row in edges.to_pylist()}
    quotes = Quotes(chunks)
    problems = []
    for relation in own.own_relations:
        problem = _state(rows, relation, vocabulary, quotes)
        if problem:
            at = relation.place.rpartition(":")
            problems.append(f"{PurePath(at[0]).name}:{at[2]}: relation {problem}")
    stated = pa.Table.from_pylist([rows[pair] for pair in sorted(rows)], schema=NODE_EDGES)
    known = set(variables.column("variable").to_pylist())
    unread = [variable.ref for variable in own.own_variables if variable.ref.name not in known]
    added = [variable_row(ref, vocabulary.metric[ref.metric], {}, {}) for ref in unread]
    listed = pa.concat_tables([variables, pa.Table.from_pylist(added, schema=VARIABLES)])
    return WithOwn(extend_variables(listed, stated, vocabulary, chunks), stated, tuple(problems))


def _state(
    rows: dict[tuple[str, str], dict[str, Any]], relation: SpecRelation, vocabulary: Vocabulary, quotes: Quotes
) -> str:
    """Put one relation among the edges; returns what is wrong with it, or ''."""
    pair = (relation.source.name, relation.target.name)
    if not is_causal(*pair, vocabulary):
        return f"{pair[0]} → {pair[1]}: a terminal causes nothing"
    found = [quote] if relation.quote and (quote := quotes.first(relation.quote)) is not None else []
    known = rows[pair]["quotes"] if pair in rows else []
    places = {(q["document_id"], q["start"], q["end"]): q for q in [*known, *found]}
    confidence = min(relation.confidence, 0.99)
    both = [places[place] for place in sorted(places)]
    ends = (relation.source, relation.target)
    rows[pair] = edge_row(*ends, relation.mechanism, relation.sign, confidence, EXPERT, both)
    return f"{pair[0]} → {pair[1]}: its quote stands in no chunk" if relation.quote and not found else ""
