"""Tier 2: edges between variables (paper, section 3.3): what relations state, and what a backend judges to hold."""

from collections import defaultdict
from collections.abc import Iterable
from hashlib import blake2b
from typing import Any

import pyarrow as pa

from hcg_pipeline.backends.protocol import EdgeQuestion
from hcg_pipeline.graph.confidence import combined, voted_sign
from hcg_pipeline.graph.passages import Mentions, choose_passages
from hcg_pipeline.specification.assembly import variable_row
from hcg_pipeline.specification.names import metric_of, parse_variable
from hcg_pipeline.specification.tiers import CANDIDATES_PER_CALL, PASSAGES_PER_CALL, TierCaps
from hcg_pipeline.specification.vocabulary import Metric, VariableRef, Vocabulary
from hcg_pipeline.tables import NODE_EDGES, VARIABLES

MINIMUM_CONFIDENCE = 0.5


def edge_id(source: str, target: str) -> str:
    """'e' and 16 hex digits of the BLAKE2b hash of the two names."""
    return "e" + blake2b(f"{source}\x1f{target}".encode(), digest_size=8).hexdigest()


def seed_edges(relations: pa.Table) -> pa.Table:
    """SEED_RELATIONS as NODE_EDGES, one per ordered pair of variables, sorted by source and target.

    Sign by a vote weighted with confidence; mechanism of the most confident relation; confidence 1 - ∏(1 - c) over
    distinct quotes, at most 0.99; every quote, in order of document and place.
    """
    return _edges(relations, "seed")


def edge_questions(
    templates: pa.Table,
    variables: pa.Table,
    chunks: pa.Table,
    existing: pa.Table,
    vocabulary: Vocabulary,
    caps: TierCaps,
) -> list[EdgeQuestion]:
    """Which pairs of variables to ask about, template by template, most promising first, at most `edge_calls`.

    A candidate pairs a variable of the template's source metric with one of its target metric. The two are spoken of
    in one chunk, have the same entity on every dimension that both bind, and are no edge of `existing` (NODE_EDGES)
    yet. A question has up to 12 candidates of one template and the passages that between them speak of most.
    """
    mentions = Mentions.of_variables(variables, chunks)
    joined = set(zip(existing.column("source").to_pylist(), existing.column("target").to_pylist(), strict=True))
    by_pair = _candidates(variables, mentions, joined, vocabulary)
    batches: list[tuple[int, int, int, str, str, list[tuple[str, str]]]] = []
    mechanisms: dict[tuple[str, str], str] = {}
    for row in templates.to_pylist():
        pair = (row["source_metric"], row["target_metric"])
        found = by_pair.get(pair, [])
        mechanisms[pair] = row["mechanism"]
        for number, start in enumerate(range(0, len(found), CANDIDATES_PER_CALL)):
            batch = [(source, target) for _, source, target in found[start : start + CANDIDATES_PER_CALL]]
            weight = -sum(count for count, _, _ in found[start : start + CANDIDATES_PER_CALL])
            batches.append((number, weight, -row["support"], *pair, sorted(batch)))
    batches.sort()
    questions = []
    for *_, source, target, batch in batches[: caps.edge_calls]:
        wanted = [mentions.places[one] & mentions.places[other] for one, other in batch]
        questions.append(
            EdgeQuestion(
                vocabulary.metric[source],
                vocabulary.metric[target],
                mechanisms[(source, target)],
                tuple((_ref(one), _ref(other)) for one, other in batch),
                choose_passages(wanted, mentions.passages, PASSAGES_PER_CALL),
            )
        )
    return questions


def merge_edges(
    seed: pa.Table, judged: pa.Table, templates: pa.Table, minimum_confidence: float = MINIMUM_CONFIDENCE
) -> pa.Table:
    """NODE_EDGES of `seed` (NODE_EDGES) and of what was judged, sorted by source and target.

    `judged` are SEED_RELATIONS as `ground_relations` leaves them: legal endpoints, quotes that stand. They become edges
    where a template licenses their metrics and their confidence reaches `minimum_confidence`. A judged pair that is a
    seed edge already adds its quotes to it, and changes neither sign nor mechanism. A → B and B → A may both stand: a
    feedback loop is a fact of many domains.
    """
    licensed = set(
        zip(templates.column("source_metric").to_pylist(), templates.column("target_metric").to_pylist(), strict=True)
    )
    accepted = [
        row
        for row in judged.to_pylist()
        if row["confidence"] >= minimum_confidence
        and row["mechanism"]
        and (metric_of(row["source"]), metric_of(row["target"])) in licensed
    ]
    edges = {(row["source"], row["target"]): row for row in seed.to_pylist()}
    for row in _edges(pa.Table.from_pylist(accepted, schema=judged.schema), "judged").to_pylist():
        pair = (row["source"], row["target"])
        edges[pair] = _with_quotes(edges[pair], row) if pair in edges else row
    return pa.Table.from_pylist([edges[pair] for pair in sorted(edges)], schema=NODE_EDGES)


def extend_variables(variables: pa.Table, edges: pa.Table, vocabulary: Vocabulary, chunks: pa.Table) -> pa.Table:
    """VARIABLES with those that only edges name, in the order of the vocabulary's metrics, then by name.

    A variable that judging added is mentioned by the chunks of its edges' quotes. Variables already there are left as
    they are. Every endpoint must be legal: a metric of the vocabulary with as many entities as its signature.
    """
    order = {chunk_id: place for place, chunk_id in enumerate(chunks.column("chunk_id").to_pylist())}
    rows = {row["variable"]: row for row in variables.to_pylist()}
    missing: dict[str, set[str]] = defaultdict(set)
    for edge in edges.to_pylist():
        for name in (edge["source"], edge["target"]):
            if name not in rows:
                missing[name].update(quote["chunk_id"] for quote in edge["quotes"] if quote["chunk_id"] in order)
    for name, found in missing.items():
        ref = _ref(name)
        rows[name] = variable_row(ref, vocabulary.metric[ref.metric], dict.fromkeys(found, 1), order)
    rank = {metric.name: place for place, metric in enumerate(vocabulary.metrics)}
    ordered = sorted(rows.values(), key=lambda row: (rank.get(row["metric"], len(rank)), row["variable"]))
    return pa.Table.from_pylist(ordered, schema=VARIABLES)


def _ref(name: str) -> VariableRef:
    ref = parse_variable(name)
    if ref is None:
        raise ValueError(f"{name!r} is not the name of a variable: expected Metric(entity, …)")
    return ref


def _edges(relations: pa.Table, origin: str) -> pa.Table:
    groups: dict[tuple[str, str], list[dict[str, Any]]] = defaultdict(list)
    for row in relations.to_pylist():
        groups[(row["source"], row["target"])].append(row)
    return pa.Table.from_pylist([_edge(*pair, groups[pair], origin) for pair in sorted(groups)], schema=NODE_EDGES)


def _edge(source: str, target: str, rows: list[dict[str, Any]], origin: str) -> dict[str, Any]:
    best: dict[tuple[str, int, int], float] = {}
    quotes: dict[tuple[str, int, int], dict[str, Any]] = {}
    for row in sorted(rows, key=lambda row: row["chunk_id"]):
        place = (row["document_id"], row["start"], row["end"])
        best[place] = max(best.get(place, 0.0), row["confidence"])
        quotes.setdefault(place, {name: row[name] for name in ("chunk_id", "document_id", "start", "end", "quote")})
    return {
        "edge_id": edge_id(source, target),
        "source": source,
        "source_metric": metric_of(source),
        "source_entities": list(_ref(source).entities),
        "target": target,
        "target_metric": metric_of(target),
        "target_entities": list(_ref(target).entities),
        "mechanism": min(rows, key=lambda row: (-row["confidence"], row["mechanism"]))["mechanism"],
        "sign": voted_sign((row["sign"], row["confidence"]) for row in rows),
        "confidence": combined(best.values()),
        "origin": origin,
        "support": len(quotes),
        "quotes": [quotes[place] for place in sorted(quotes)],
    }


def _with_quotes(edge: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
    places = {(q["document_id"], q["start"], q["end"]): q for q in [*other["quotes"], *edge["quotes"]]}
    new = len(places) > len(edge["quotes"])
    return {
        **edge,
        "confidence": combined((edge["confidence"], other["confidence"])) if new else edge["confidence"],
        "support": len(places),
        "quotes": [places[place] for place in sorted(places)],
    }


def _candidates(
    variables: pa.Table, mentions: Mentions, joined: set[tuple[str, str]], vocabulary: Vocabulary
) -> dict[tuple[str, str], list[tuple[int, str, str]]]:
    """Per ordered pair of metrics the (times together, source, target) that may be asked about, best first."""
    entities: dict[str, tuple[Metric, dict[str, str]]] = {}
    for name, metric_name, bound in _columns(variables, ("variable", "metric", "entities")):
        metric = vocabulary.metric.get(metric_name)
        if metric is not None and len(metric.signature) == len(bound):
            entities[name] = (metric, dict(zip(metric.signature, bound, strict=True)))
    found: dict[tuple[str, str], list[tuple[int, str, str]]] = defaultdict(list)
    for (one, other), count in mentions.together().items():
        if one not in entities or other not in entities or not _agree(entities[one][1], entities[other][1]):
            continue
        for source, target in ((one, other), (other, one)):
            metric = entities[source][0]
            if metric.role != "terminal" and metric is not entities[target][0] and (source, target) not in joined:
                found[(metric.name, entities[target][0].name)].append((count, source, target))
    return {
        pair: sorted(candidates, key=lambda item: (-item[0], item[1], item[2])) for pair, candidates in found.items()
    }


def _agree(one: dict[str, str], other: dict[str, str]) -> bool:
    return all(other.get(dimension, entity) == entity for dimension, entity in one.items())


def _columns(table: pa.Table, names: tuple[str, ...]) -> Iterable[tuple[Any, ...]]:
    return zip(*(table.column(name).to_pylist() for name in names), strict=True)
