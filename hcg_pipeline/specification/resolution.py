"""Which proposed entities are one and the same: case, plural, hyphens, spelling, abbreviations, stated aliases.

The merged spelling stays as an alias, so that an expert can see it, with its reason (`merges.py`), and take it back.
What is only alike stays apart: 'hypothyroidism' is not 'hyperthyroidism', and an alias that two names claim belongs to
neither.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from hcg_pipeline.backends.protocol import ProposedEntity
from hcg_pipeline.specification.names import (
    MERGE_CUTOFF,
    EntityName,
    entity_name,
    is_abbreviation_of,
    key_of,
    near_identical,
)
from hcg_pipeline.specification.restating import restated_keys
from hcg_pipeline.specification.vocabulary import Entity


@dataclass(slots=True)
class _Group:
    """All spellings of one entity, under the key that they share."""

    spellings: Counter[str] = field(default_factory=Counter)
    aliases: Counter[str] = field(default_factory=Counter)

    @property
    def mentions(self) -> int:
        return sum(self.spellings.values())


def resolve_entities(proposals: Iterable[ProposedEntity], counts: Counter[str]) -> list[Entity]:
    """Proposed entities of one dimension as distinct entities, most mentioned first.

    `counts` gains `entity_refused` for each hostile or empty name. The result does not depend on the order of the
    proposals.
    """
    groups = _by_key(proposals, counts)
    parent = {key: key for key in groups}

    def root(key: str) -> str:
        while parent[key] != key:
            key = parent[key]
        return key

    for pair in (*_alias_pairs(groups), *_restated_pairs(groups), *near_pairs(sorted(groups), MERGE_CUTOFF)):
        one, other = (root(key) for key in pair)
        if one != other:
            keep, lose = sorted((one, other), key=lambda key: (-groups[key].mentions, key))
            parent[lose] = keep

    members: dict[str, list[str]] = defaultdict(list)
    for key in sorted(groups):
        members[root(key)].append(key)
    entities = _without_shared_aliases([_entity([groups[key] for key in keys]) for keys in members.values()])
    return sorted(entities, key=lambda entity: (-entity.mentions, entity.name))


def _by_key(proposals: Iterable[ProposedEntity], counts: Counter[str]) -> dict[str, _Group]:
    groups: dict[str, _Group] = defaultdict(_Group)
    for proposal in proposals:
        read = entity_name(proposal.name)
        if read is None:
            counts["entity_refused"] += 1
            continue
        group = groups[key_of(read.name)]
        group.spellings[read.name] += max(proposal.mentions, 1)
        for alias in _stated_aliases(read, proposal.aliases):
            group.aliases[alias] += 1
    return dict(groups)


def _stated_aliases(read: EntityName, stated: Sequence[str]) -> list[str]:
    named = list(read.aliases)
    for raw in stated:
        alias = entity_name(raw)
        if alias is not None:
            named.extend((alias.name, *alias.aliases))
    return [alias for alias in named if key_of(alias)]


def _alias_pairs(groups: dict[str, _Group]) -> list[tuple[str, str]]:
    """(name key, key of another name that is its alias), where one name alone claims that alias.

    A broader term is no alias of a narrower one: 'lymphoma' does not swallow 'Hodgkin lymphoma'.
    """
    claims: dict[str, set[str]] = defaultdict(set)
    for key, group in groups.items():
        for alias in group.aliases:
            if key_of(alias) != key:
                claims[key_of(alias)].add(key)
    pairs = []
    for alias, claimants in claims.items():
        if len(claimants) == 1 and alias in groups:
            (key,) = claimants
            if not set(alias.split()) < set(key.split()) and not set(key.split()) < set(alias.split()):
                pairs.append((key, alias))
    return sorted(pairs)


def _restated_pairs(groups: dict[str, _Group]) -> list[tuple[str, str]]:
    """(key, key of another name that restates it): see `restating`. An abbreviation of two names stands for neither."""
    claims: dict[str, set[str]] = defaultdict(set)
    for key, group in groups.items():
        for short in group.aliases:
            if any(is_abbreviation_of(short, long) for long in group.spellings):
                claims[key_of(short)].add(key)
    long_forms = {short: next(iter(keys)) for short, keys in claims.items() if len(keys) == 1}
    owners = {**long_forms, **{key: key for key in groups}}
    return sorted(
        (owners[other], key)
        for key, group in groups.items()
        for other in restated_keys(group.spellings, long_forms)
        if owners.get(other, key) != key
    )


def near_pairs(keys: Sequence[str], cutoff: float) -> list[tuple[str, str]]:
    """Pairs of keys that `near_identical` takes for one, found within blocks that begin alike."""
    blocks: dict[str, list[str]] = defaultdict(list)
    for key in keys:
        blocks[key.replace(" ", "")[:4]].append(key)
    pairs: list[tuple[str, str]] = []
    for block in blocks.values():
        for place, one in enumerate(block):
            pairs.extend((one, other) for other in block[place + 1 :] if near_identical(one, other, cutoff) > 0)
    return sorted(pairs)


def _entity(members: Sequence[_Group]) -> Entity:
    spellings: Counter[str] = Counter()
    aliases: set[str] = set()
    for group in members:
        spellings.update(group.spellings)
        aliases.update(group.aliases)
    name = preferred_spelling(spellings)
    return Entity(name, tuple(sorted({*spellings, *aliases} - {name})), sum(spellings.values()))


def preferred_spelling(spellings: Counter[str]) -> str:
    """The spelling to show: a long form before its abbreviation, then the most mentioned, then the plainest."""

    def rank(spelling: str) -> tuple[bool, int, int, str]:
        capitals = sum(c.isupper() for c in spelling)
        written_out = any(is_abbreviation_of(spelling, other) for other in spellings)
        return (written_out, -spellings[spelling], capitals, spelling)

    return min(spellings, key=rank)


def _without_shared_aliases(entities: Sequence[Entity]) -> list[Entity]:
    """Drop an alias that is another entity's name, or that two entities claim: it names neither for certain."""
    names = {key_of(entity.name): entity.name for entity in entities}
    for entity in entities:
        for alias in entity.aliases:
            names.setdefault(key_of(alias), entity.name)
    claims: Counter[str] = Counter()
    for entity in entities:
        claims.update({key_of(alias) for alias in entity.aliases})
    kept = []
    for entity in entities:
        own = tuple(
            alias
            for alias in entity.aliases
            if key_of(alias) == key_of(entity.name)
            or (names[key_of(alias)] == entity.name and claims[key_of(alias)] == 1)
        )
        kept.append(Entity(entity.name, own, entity.mentions))
    return kept
