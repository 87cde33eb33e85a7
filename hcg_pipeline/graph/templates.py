"""Tier 1: which metrics drive which (paper, section 3.3). What seed relations say is lifted; the rest may be judged."""

import math
from collections import defaultdict
from collections.abc import Iterable

import pyarrow as pa

from hcg_pipeline.backends.protocol import TemplateQuestion, TemplateVerdict
from hcg_pipeline.graph.confidence import combined
from hcg_pipeline.graph.passages import Mentions, choose_passages
from hcg_pipeline.specification.names import clean_text, metric_of
from hcg_pipeline.specification.tiers import PASSAGES_PER_CALL, TARGETS_PER_CALL, TierCaps
from hcg_pipeline.specification.vocabulary import Metric, Vocabulary
from hcg_pipeline.tables import METRIC_TEMPLATES

MINIMUM_CONFIDENCE = 0.5
# One chunk that speaks of two things says little; two such chunks make a pair worth a question.
_MINIMUM_TOGETHER = 2


def lift_templates(relations: pa.Table) -> pa.Table:
    """Templates that SEED_RELATIONS imply, without any call: one per ordered pair of different metrics.

    A relation between two variables of one metric ('obesity' makes 'diabetes' more likely) implies none, since a
    template has no self-loop; it is an edge all the same, because the corpus states it.
    `support` counts the relations, the mechanism is the most confident one's, and the confidence combines theirs.
    """
    groups: dict[tuple[str, str], list[tuple[float, str]]] = defaultdict(list)
    columns = (relations.column(name).to_pylist() for name in ("source", "target", "confidence", "mechanism"))
    for source, target, confidence, mechanism in zip(*columns, strict=True):
        pair = (metric_of(source), metric_of(target))
        if pair[0] != pair[1]:
            groups[pair].append((confidence, mechanism))
    return _table(
        {
            "source_metric": source,
            "target_metric": target,
            "origin": "seed",
            "support": len(group),
            "mechanism": min(group, key=lambda item: (-item[0], item[1]))[1],
            "confidence": combined(confidence for confidence, _ in group),
        }
        for (source, target), group in groups.items()
    )


def template_questions(
    vocabulary: Vocabulary, relations: pa.Table, variables: pa.Table, chunks: pa.Table, caps: TierCaps
) -> list[TemplateQuestion]:
    """What to ask about the metric pairs that no seed relation joins, most promising first, at most `template_calls`.

    A pair is worth asking about when its metrics are spoken of together in at least two chunks; a question holds one
    source and up to 12 targets, with the passages that between them speak of most of these. Terminals are never
    sources, and no metric is its own target.
    """
    mentions = Mentions.of_metrics(variables, chunks)
    lifted = {(metric_of(s), metric_of(t)) for s, t in _pairs(relations)}
    together = mentions.together()
    batches: list[tuple[int, int, str, list[tuple[str, int]]]] = []
    for source in vocabulary.metrics:
        if source.role == "terminal":
            continue
        targets = [
            (target.name, count)
            for target in vocabulary.metrics
            if target.name != source.name
            and (source.name, target.name) not in lifted
            and (count := together[_unordered(source.name, target.name)]) >= _MINIMUM_TOGETHER
        ]
        targets.sort(key=lambda item: (-item[1], item[0]))
        for number, start in enumerate(range(0, len(targets), TARGETS_PER_CALL)):
            batch = targets[start : start + TARGETS_PER_CALL]
            batches.append((number, -sum(count for _, count in batch), source.name, batch))
    batches.sort()
    questions = []
    for _, _, name, batch in batches[: caps.template_calls]:
        wanted = [mentions.places[name] & mentions.places[target] for target, _ in batch]
        # Targets stand in the vocabulary's order, so that a shift in counts alone asks nothing new.
        names = {target for target, _ in batch}
        questions.append(
            TemplateQuestion(
                vocabulary.metric[name],
                tuple(metric for metric in vocabulary.metrics if metric.name in names),
                choose_passages(wanted, mentions.passages, PASSAGES_PER_CALL),
            )
        )
    return questions


def merge_templates(
    lifted: pa.Table,
    verdicts: Iterable[TemplateVerdict],
    vocabulary: Vocabulary,
    minimum_confidence: float = MINIMUM_CONFIDENCE,
) -> pa.Table:
    """METRIC_TEMPLATES of lifted and judged pairs, sorted by source and target; none leaves a terminal.

    A verdict counts only if both metrics are in the vocabulary, the source is no terminal, the two differ, and it gives
    a mechanism and at least `minimum_confidence`; a pair that is lifted already stays as it is.
    """
    rows = [
        row
        for row in lifted.to_pylist()
        if _licensed(vocabulary.metric.get(row["source_metric"]), vocabulary.metric.get(row["target_metric"]))
    ]
    known = {(row["source_metric"], row["target_metric"]) for row in rows}
    judged: dict[tuple[str, str], list[tuple[float, str]]] = defaultdict(list)
    for verdict in verdicts:
        pair = (verdict.source, verdict.target)
        mechanism = clean_text(verdict.mechanism)
        confident = math.isfinite(verdict.confidence) and verdict.confidence >= minimum_confidence
        legal = _licensed(vocabulary.metric.get(verdict.source), vocabulary.metric.get(verdict.target))
        if legal and confident and mechanism and pair not in known:
            judged[pair].append((min(verdict.confidence, 1.0), mechanism))
    for (source, target), group in judged.items():
        confidence, mechanism = min(group, key=lambda item: (-item[0], item[1]))
        rows.append(
            {
                "source_metric": source,
                "target_metric": target,
                "origin": "judged",
                "support": 0,
                "mechanism": mechanism,
                "confidence": confidence,
            }
        )
    return _table(rows)


def _licensed(source: Metric | None, target: Metric | None) -> bool:
    return source is not None and target is not None and source.role != "terminal" and source.name != target.name


def _pairs(relations: pa.Table) -> list[tuple[str, str]]:
    return list(zip(relations.column("source").to_pylist(), relations.column("target").to_pylist(), strict=True))


def _unordered(one: str, other: str) -> tuple[str, str]:
    return (one, other) if one <= other else (other, one)


def _table(rows: Iterable[dict[str, object]]) -> pa.Table:
    ordered = sorted(rows, key=lambda row: (str(row["source_metric"]), str(row["target_metric"])))
    return pa.Table.from_pylist(ordered, schema=METRIC_TEMPLATES)
