"""Dimensions: proposals of many windows merged into ranked axes, each entity on one of them, capped by tier."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace

import pyarrow as pa

from hcg_pipeline.backends.protocol import ProposedDimension, ProposedEntity
from hcg_pipeline.specification.names import (
    MERGE_CUTOFF,
    clean_text,
    dimension_key,
    dimension_name,
    entity_name,
    key_of,
)
from hcg_pipeline.specification.resolution import near_pairs, resolve_entities
from hcg_pipeline.specification.tiers import WIDEST, caps_of
from hcg_pipeline.specification.vocabulary import Dimension, Entity
from hcg_pipeline.specification.vocabulary_tables import dimensions_table, to_vocabulary

_SHARED_ENTITIES = 3
_SHARED_PORTION = 0.6


@dataclass(frozen=True)
class ResolvedDimensions:
    """The ranked dimensions of the widest tier, and counts of what was refused."""

    table: pa.Table
    counts: dict[str, int]


def build_dimensions(proposals: Sequence[ProposedDimension], tier: str) -> pa.Table:
    """Proposals of all windows as the DIMENSIONS table of a tier, best supported first.

    Equal to `cut_dimensions(resolve_dimensions(proposals).table, tier)`: what a tier has, the next one has, in the same
    order. The order of the proposals does not matter. Raises `SettingsError` for an unknown tier.
    """
    return cut_dimensions(resolve_dimensions(proposals).table, tier)


def cut_dimensions(dimensions: pa.Table, tier: str) -> pa.Table:
    """The first dimensions of a ranked DIMENSIONS table with their first entities, as many of each as the tier has."""
    caps = caps_of(tier)
    kept = to_vocabulary(dimensions).dimensions[: caps.dimensions]
    return dimensions_table([replace(dimension, entities=dimension.entities[: caps.entities]) for dimension in kept])


def resolve_dimensions(proposals: Sequence[ProposedDimension]) -> ResolvedDimensions:
    """Merge proposals by name, then by shared entities; rank by support; give each entity to one dimension.

    Names merge when they agree up to case, plural and generic words ('disease_type'), or are a typing error apart.
    Axes merge when at least 3 entities, and 60% of the smaller axis, are on both. An axis that is left without an
    entity of its own is dropped.
    """
    counts: Counter[str] = Counter()
    named = _by_name(proposals, counts)
    drafts = [_draft(name, group) for name, group in named.items()]
    drafts = sorted(_merge_by_entities(sorted(drafts, key=_rank)), key=_rank)
    counts["dimension_cut"] += max(0, len(drafts) - caps_of(WIDEST).dimensions)
    resolved = []
    for draft in drafts[: caps_of(WIDEST).dimensions]:
        entities = resolve_entities(draft.entities, counts)
        resolved.append(Dimension(draft.name, draft.description, tuple(entities), draft.support, draft.aliases))
    single = _one_dimension_each(resolved)
    kept = [dimension for dimension in single if dimension.entities]
    counts["dimension_empty"] += len(single) - len(kept)
    return ResolvedDimensions(dimensions_table(kept), {k: v for k, v in sorted(counts.items()) if v})


@dataclass(frozen=True, slots=True)
class _Draft:
    name: str
    description: str
    support: int
    entities: tuple[ProposedEntity, ...]
    aliases: tuple[str, ...]


def _rank(draft: _Draft) -> tuple[int, str]:
    return (-draft.support, draft.name)


def _by_name(
    proposals: Sequence[ProposedDimension], counts: Counter[str]
) -> dict[str, list[tuple[str, ProposedDimension]]]:
    groups: dict[str, list[tuple[str, ProposedDimension]]] = defaultdict(list)
    for proposal in proposals:
        name = dimension_name(proposal.name)
        if name is None:
            counts["dimension_refused"] += 1
            continue
        groups[dimension_key(name)].append((name, proposal))
    weight = {key: sum(max(p.support, 1) for _, p in group) for key, group in groups.items()}
    into = {key: key for key in groups}
    for one, other in near_pairs(sorted(groups), MERGE_CUTOFF):
        keep, lose = sorted((_end(into, one), _end(into, other)), key=lambda key: (-weight[key], key))
        into[lose] = keep
    joined: dict[str, list[tuple[str, ProposedDimension]]] = defaultdict(list)
    for key in sorted(groups):
        joined[_end(into, key)].extend(groups[key])
    named = {}
    for key in sorted(joined):
        spellings: Counter[str] = Counter()
        for name, proposal in joined[key]:
            spellings[name] += max(proposal.support, 1)
        best = min(spellings, key=lambda name: (-spellings[name], len(name), name))
        named[best] = joined[key]
    return named


def _end(into: dict[str, str], key: str) -> str:
    while into[key] != key:
        key = into[key]
    return key


def _draft(name: str, group: list[tuple[str, ProposedDimension]]) -> _Draft:
    proposals = [proposal for _, proposal in group]
    descriptions: Counter[str] = Counter()
    for proposal in proposals:
        text = clean_text(proposal.description)
        if text:
            descriptions[text] += max(proposal.support, 1)
    best = min(descriptions, key=lambda text: (-descriptions[text], len(text), text), default="")
    support = sum(max(proposal.support, 1) for proposal in proposals)
    entities = tuple(entity for proposal in proposals for entity in proposal.entities)
    return _Draft(name, best, support, entities, tuple(sorted({other for other, _ in group} - {name})))


def _entity_keys(draft: _Draft) -> set[str]:
    tidy = (entity_name(entity.name) for entity in draft.entities)
    return {key_of(name.name) for name in tidy if name is not None}


def _merge_by_entities(drafts: list[_Draft]) -> list[_Draft]:
    """Two axes with mostly the same values are one: the weaker joins the stronger. `drafts` come strongest first."""
    kept: list[tuple[_Draft, set[str]]] = []
    for draft in drafts:
        keys = _entity_keys(draft)
        for place, (stronger, theirs) in enumerate(kept):
            shared = len(keys & theirs)
            if shared >= _SHARED_ENTITIES and shared >= _SHARED_PORTION * min(len(keys), len(theirs)):
                joined = _Draft(
                    stronger.name,
                    stronger.description or draft.description,
                    stronger.support + draft.support,
                    stronger.entities + draft.entities,
                    tuple(sorted({*stronger.aliases, draft.name, *draft.aliases})),
                )
                kept[place] = (joined, theirs | keys)
                break
        else:
            kept.append((draft, keys))
    return [draft for draft, _ in kept]


def _one_dimension_each(dimensions: Sequence[Dimension]) -> list[Dimension]:
    """Leave each entity where it is mentioned most (on a tie the higher-ranked axis), with all its spellings."""
    ranked = sorted(
        ((entity, place) for place, dimension in enumerate(dimensions) for entity in dimension.entities),
        key=lambda item: (-item[0].mentions, item[1], item[0].name),
    )
    owner: dict[str, tuple[int, str]] = {}
    kept: list[tuple[int, Entity]] = []
    for entity, place in ranked:
        home, name = owner.setdefault(key_of(entity.name), (place, entity.name))
        if (home, name) == (place, entity.name):
            kept.append((place, entity))
    spellings: dict[tuple[int, str], set[str]] = defaultdict(set)
    for entity, _ in ranked:
        holder = owner[key_of(entity.name)]
        for spelling in (entity.name, *entity.aliases):
            if spelling != holder[1] and owner.setdefault(key_of(spelling), holder) == holder:
                spellings[holder].add(spelling)
    return [
        Dimension(
            dimension.name,
            dimension.description,
            tuple(
                Entity(entity.name, tuple(sorted(spellings[(place, entity.name)])), entity.mentions)
                for home, entity in kept
                if home == place
            ),
            dimension.support,
            dimension.aliases,
        )
        for place, dimension in enumerate(dimensions)
    ]
