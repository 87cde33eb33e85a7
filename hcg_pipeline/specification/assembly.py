"""Assembly: readings of all windows become variables and seed relations inside the closed vocabulary (paper, 3.2).

Deterministic and independent of the order of the readings. Whatever names something outside the vocabulary, or quotes
what its chunk does not say, is repaired or dropped, and counted by reason.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from hcg_pipeline.backends.protocol import ProposedRelation, Reading
from hcg_pipeline.corpus.sentences import sentence_spans
from hcg_pipeline.specification.names import clean_text, metric_words
from hcg_pipeline.specification.quotes import QuoteFinder
from hcg_pipeline.specification.references import ReferenceIndex, extend_dimensions
from hcg_pipeline.specification.vocabulary import Metric, VariableRef, Vocabulary
from hcg_pipeline.specification.vocabulary_tables import dimensions_table
from hcg_pipeline.tables import SEED_RELATIONS, VARIABLES

MECHANISM_LENGTH = 1_000


@dataclass(frozen=True)
class Assembly:
    """VARIABLES and SEED_RELATIONS, the DIMENSIONS with the entities that were added, and counts by reason."""

    variables: pa.Table
    relations: pa.Table
    dimensions: pa.Table
    counts: dict[str, int]


@dataclass(frozen=True)
class GroundedRelations:
    """Relations with legal endpoints and quotes that stand (SEED_RELATIONS), and counts by reason."""

    table: pa.Table
    counts: dict[str, int]


def assemble(readings: Sequence[Reading], vocabulary: Vocabulary, chunks: pa.Table) -> Assembly:
    """Close the vocabulary over all readings.

    `chunks` is the CHUNKS table in corpus order. An endpoint of a kept relation is a variable even where no reading
    lists it. `counts` has `variables_read`, `relations_read` and the keys of `extend_dimensions`,
    `ReferenceIndex.variable` and `ground_relations`.
    """
    counts: Counter[str] = Counter()
    proposed = sorted(
        ((name, entity) for reading in readings for name, entity in reading.entities),
        key=lambda item: (item[0], item[1].name, item[1].aliases, item[1].mentions),
    )
    extended = extend_dimensions(vocabulary, proposed, counts)
    references = ReferenceIndex(extended)
    quotes = QuoteFinder(chunks)
    rows = _ground((r for reading in readings for r in reading.relations), references, quotes, counts)
    mentions: dict[VariableRef, Counter[str]] = defaultdict(Counter)
    for reading in readings:
        for variable in reading.variables:
            counts["variables_read"] += 1
            if variable.chunk_id not in quotes.order:
                counts["dropped_unknown_chunk"] += 1
                continue
            ref = references.variable(variable.ref, counts)
            if ref is not None:
                mentions[ref][variable.chunk_id] += 1
    for source, target, row in rows:
        for ref in (source, target):
            mentions[ref].setdefault(row["chunk_id"], 1)
    return Assembly(
        _variables(mentions, extended, quotes.order),
        pa.Table.from_pylist([row for _, _, row in rows], schema=SEED_RELATIONS),
        dimensions_table(extended.dimensions),
        _nonzero(counts),
    )


def ground_relations(
    relations: Iterable[ProposedRelation], vocabulary: Vocabulary, chunks: pa.Table
) -> GroundedRelations:
    """Proposed relations as SEED_RELATIONS rows: endpoints closed, quotes located, self-loops out.

    What leaves a terminal stays among the rows: a correction may give its metric another role, and only what is
    published obeys the roles. `counts` gains `relations_read` and `dropped_self_loop`, `dropped_unevidenced`,
    `dropped_confidence`, `dropped_unknown_chunk`, `relations_repeated` and `terminal_source` beside those of
    `ReferenceIndex.variable`.
    """
    counts: Counter[str] = Counter()
    rows = _ground(relations, ReferenceIndex(vocabulary), QuoteFinder(chunks), counts)
    return GroundedRelations(pa.Table.from_pylist([row for _, _, row in rows], schema=SEED_RELATIONS), _nonzero(counts))


_Row = tuple[VariableRef, VariableRef, dict[str, Any]]


def _ground(
    relations: Iterable[ProposedRelation], references: ReferenceIndex, quotes: QuoteFinder, counts: Counter[str]
) -> list[_Row]:
    found: dict[tuple[Any, ...], _Row] = {}
    for relation in relations:
        counts["relations_read"] += 1
        row = _grounded(relation, references, quotes, counts)
        if row is None:
            continue
        source, target, values = row
        place = (quotes.order[values["chunk_id"]], values["start"], values["end"], source.name, target.name)
        if place in found:
            counts["relations_repeated"] += 1
            row = min(found[place], row, key=lambda r: (-r[2]["confidence"], r[2]["sign"], r[2]["mechanism"]))
        found[place] = row
    return [found[place] for place in sorted(found)]


def _grounded(
    relation: ProposedRelation, references: ReferenceIndex, quotes: QuoteFinder, counts: Counter[str]
) -> _Row | None:
    if relation.chunk_id not in quotes.order:
        counts["dropped_unknown_chunk"] += 1
        return None
    source = references.variable(relation.source, counts)
    target = references.variable(relation.target, counts)
    if source is None or target is None:
        counts["dropped_relation_reference"] += 1
        return None
    metric = references.metric(source.metric)
    if source == target:
        counts["dropped_self_loop"] += 1
    elif not math.isfinite(relation.confidence):
        counts["dropped_confidence"] += 1
    else:
        quote = quotes.find(relation.chunk_id, relation.quote)
        if quote is not None:
            counts["terminal_source"] += metric is not None and metric.role == "terminal"
            return (
                source,
                target,
                {
                    "source": source.name,
                    "target": target.name,
                    "mechanism": clean_text(relation.mechanism, MECHANISM_LENGTH)
                    or clean_text(quote.text, MECHANISM_LENGTH),
                    "sign": relation.sign if relation.sign in ("+", "-") else "?",
                    "confidence": min(max(float(relation.confidence), 0.0), 1.0),
                    "chunk_id": quote.chunk_id,
                    "document_id": quote.document_id,
                    "start": quote.start,
                    "end": quote.end,
                    "quote": quote.text,
                },
            )
        counts["dropped_unevidenced"] += 1
    return None


def _variables(mentions: dict[VariableRef, Counter[str]], vocabulary: Vocabulary, order: dict[str, int]) -> pa.Table:
    rank = {metric.name: place for place, metric in enumerate(vocabulary.metrics)}
    rows = [
        variable_row(ref, vocabulary.metric[ref.metric], chunks, order)
        for ref, chunks in sorted(mentions.items(), key=lambda item: (rank[item[0].metric], item[0].name))
    ]
    return pa.Table.from_pylist(rows, schema=VARIABLES)


def variable_row(ref: VariableRef, metric: Metric, chunks: Mapping[str, int], order: dict[str, int]) -> dict[str, Any]:
    """One row of VARIABLES: `chunks` counts mentions by chunk, `order` is each chunk's place in the corpus."""
    return {
        "variable": ref.name,
        "metric": metric.name,
        "entities": list(ref.entities),
        "role": metric.role,
        "description": describe(ref, metric),
        "mentions": sum(chunks.values()),
        "chunk_ids": sorted(chunks, key=order.__getitem__),
    }


def describe(ref: VariableRef, metric: Metric) -> str:
    """A phrase for readers and embedders: `Treatment efficacy: chemotherapy, lung cancer. <what the metric is>`."""
    spans = sentence_spans(metric.description)
    first = metric.description[spans[0][0] : spans[0][1]] if spans else ""
    return f"{metric_words(metric.name)}: {', '.join(ref.entities)}. {first}".strip()


def _nonzero(counts: Counter[str]) -> dict[str, int]:
    return {key: counts[key] for key in sorted(counts) if counts[key]}
