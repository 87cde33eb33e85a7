"""Metrics: proposals of many windows merged into a closed, ranked set, typed by their signatures, capped by tier."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace

import pyarrow as pa

from hcg_pipeline.backends.protocol import ProposedMetric
from hcg_pipeline.specification.names import (
    MERGE_CUTOFF,
    clean_text,
    dimension_key,
    dimension_name,
    key_of,
    metric_name,
    split_camel,
)
from hcg_pipeline.specification.outcomes import OutcomeConfig, assign_roles
from hcg_pipeline.specification.resolution import near_pairs
from hcg_pipeline.specification.tiers import caps_of, up_to
from hcg_pipeline.specification.vocabulary import Metric, metrics_over
from hcg_pipeline.specification.vocabulary_tables import metrics_table

MAXIMUM_SIGNATURE = 3
MAXIMUM_CATEGORIES = 12
OTHER = "other"


@dataclass(frozen=True)
class ResolvedMetrics:
    """The metrics of a tier in rank order, and counts of what was refused."""

    table: pa.Table
    counts: dict[str, int]


def build_metrics(
    proposals: Sequence[ProposedMetric], dimensions: pa.Table, outcomes: OutcomeConfig | None, tier: str
) -> pa.Table:
    """Proposals of all windows as the METRICS table of a tier: `resolve_metrics(…).table`."""
    return resolve_metrics(proposals, dimensions, outcomes, tier).table


def resolve_metrics(
    proposals: Sequence[ProposedMetric], dimensions: pa.Table, outcomes: OutcomeConfig | None, tier: str
) -> ResolvedMetrics:
    """Merge proposals by name, choose each signature by support, rank, and cap by tier.

    `dimensions` is a ranked DIMENSIONS table. Tiers nest (the same metrics, signatures and roles, fewer of them) when
    it holds the dimensions of the widest tier: a tier then takes its own prefix of them. Its metrics are those of the
    smaller tier first, followed by the best of the rest whose signature the tier's dimensions allow. Proposals that
    name an unknown dimension, or bind none or more than three, are dropped and counted.
    """
    counts: Counter[str] = Counter()
    known = dimensions.column("dimension").to_pylist()
    groups = _by_name(_readable(proposals, known, counts))
    ranked = sorted((_metric(name, group) for name, group in groups.items()), key=lambda m: (-m.support, m.name))
    ranked = _few_categories(ranked)
    chosen: list[Metric] = []
    for step in up_to(tier):
        taken = {metric.name for metric in chosen}
        allowed = metrics_over(ranked, known[: caps_of(step).dimensions])
        room = caps_of(step).metrics - len(chosen)
        chosen.extend([metric for metric in allowed if metric.name not in taken][:room])
    counts["metric_cut"] += len(ranked) - len(chosen)
    return ResolvedMetrics(
        metrics_table(assign_roles(chosen, outcomes)),
        {key: count for key, count in sorted(counts.items()) if count},
    )


@dataclass(frozen=True, slots=True)
class _Proposal:
    name: str
    signature: tuple[str, ...]
    description: str
    category: str
    support: int


def _readable(proposals: Sequence[ProposedMetric], known: Sequence[str], counts: Counter[str]) -> list[_Proposal]:
    canonical = {dimension_key(name): name for name in known}
    kept = []
    for proposal in proposals:
        name = metric_name(proposal.name)
        if name is None:
            counts["metric_refused"] += 1
            continue
        signature: list[str] = []
        unknown = False
        for raw in proposal.signature:
            tidy = dimension_name(raw)
            found = canonical.get(dimension_key(tidy)) if tidy else None
            unknown = unknown or found is None
            if found is not None and found not in signature:
                signature.append(found)
        if unknown:
            counts["metric_unknown_dimension"] += 1
        elif not 1 <= len(signature) <= MAXIMUM_SIGNATURE:
            counts["metric_signature_length"] += 1
        else:
            category = dimension_name(proposal.category) or OTHER
            text = clean_text(proposal.description)
            kept.append(_Proposal(name, tuple(signature), text, category, max(proposal.support, 1)))
    return kept


def _by_name(proposals: Sequence[_Proposal]) -> dict[str, list[_Proposal]]:
    groups: dict[str, list[_Proposal]] = defaultdict(list)
    for proposal in proposals:
        groups[key_of(split_camel(proposal.name))].append(proposal)
    weight = {key: sum(p.support for p in group) for key, group in groups.items()}
    into = {key: key for key in groups}

    def end(key: str) -> str:
        while into[key] != key:
            key = into[key]
        return key

    for one, other in near_pairs(sorted(groups), MERGE_CUTOFF):
        keep, lose = sorted((end(one), end(other)), key=lambda key: (-weight[key], key))
        into[lose] = keep
    joined: dict[str, list[_Proposal]] = defaultdict(list)
    for key in sorted(groups):
        joined[end(key)].extend(groups[key])
    named = {}
    for key in sorted(joined):
        spellings: Counter[str] = Counter()
        for proposal in joined[key]:
            spellings[proposal.name] += proposal.support
        best = min(spellings, key=lambda name: (-spellings[name], len(name), name))
        named[best] = joined[key]
    return named


def _metric(name: str, group: Sequence[_Proposal]) -> Metric:
    """One metric from its proposals: the set of dimensions with most support, in its most supported order."""
    sets: Counter[tuple[str, ...]] = Counter()
    orders: Counter[tuple[str, ...]] = Counter()
    categories: Counter[str] = Counter()
    for proposal in group:
        sets[tuple(sorted(proposal.signature))] += proposal.support
        orders[proposal.signature] += proposal.support
        categories[proposal.category] += proposal.support
    bound = min(sets, key=lambda s: (-sets[s], len(s), s))
    signature = min((o for o in orders if tuple(sorted(o)) == bound), key=lambda o: (-orders[o], o))
    descriptions: Counter[str] = Counter()
    for proposal in group:
        # A description that speaks of another signature may speak of things that the metric does not bind.
        if proposal.description and tuple(sorted(proposal.signature)) == bound:
            descriptions[proposal.description] += proposal.support
    description = min(descriptions, key=lambda d: (-descriptions[d], -len(d), d), default="")
    category = min(categories, key=lambda c: (-categories[c], c))
    aliases = tuple(sorted({proposal.name for proposal in group} - {name}))
    return Metric(name, signature, description, category, "driver", sum(p.support for p in group), aliases)


def _few_categories(metrics: Sequence[Metric]) -> list[Metric]:
    """Keep the categories with most metrics, so that they are headings to read under; the rest is `other`."""
    sizes = Counter(metric.category for metric in metrics)
    top = sorted((c for c in sizes if c != OTHER), key=lambda c: (-sizes[c], c))
    kept = set(top if len(sizes) <= MAXIMUM_CATEGORIES else top[: MAXIMUM_CATEGORIES - 1])
    return [metric if metric.category in kept else replace(metric, category=OTHER) for metric in metrics]
