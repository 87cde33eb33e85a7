"""Closing the vocabulary: a reference is resolved to a member of it, repaired, or dropped with a reason."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import permutations

from hcg_pipeline.backends.protocol import ProposedEntity
from hcg_pipeline.specification.names import (
    MERGE_CUTOFF,
    REPAIR_CUTOFF,
    dimension_key,
    dimension_name,
    is_abbreviation_of,
    key_of,
    near_identical,
    split_camel,
)
from hcg_pipeline.specification.resolution import resolve_entities
from hcg_pipeline.specification.restating import restated_keys
from hcg_pipeline.specification.vocabulary import Dimension, Entity, Metric, VariableRef, Vocabulary


class ReferenceIndex:
    """Resolves names to members of one vocabulary. Exact spelling first, then alias and folded key, then fuzzy.

    Fuzzy is `near_identical` at `REPAIR_CUTOFF` (88): long words a typing error apart that begin alike.
    """

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._metrics = vocabulary.metric
        self._metric_keys = _Spellings(_metric_keys(vocabulary.metrics))
        self._entities: dict[str, _Spellings] = {}
        self._names: dict[str, set[str]] = {}
        for dimension in vocabulary.dimensions:
            keys: dict[str, str] = {}
            for entity in dimension.entities:
                keys.setdefault(key_of(entity.name), entity.name)
            for entity in dimension.entities:
                for alias in entity.aliases:
                    keys.setdefault(key_of(alias), entity.name)
            self._entities[dimension.name] = _Spellings(keys)
            self._names[dimension.name] = {entity.name for entity in dimension.entities}
        self._resolved: dict[VariableRef, tuple[VariableRef | None, tuple[str, ...]]] = {}

    def metric(self, name: str) -> Metric | None:
        """The metric of exactly this name."""
        return self._metrics.get(name)

    def variable(self, ref: VariableRef, counts: Counter[str]) -> VariableRef | None:
        """The legal variable that `ref` means, or None. `counts` gains how it was repaired or why it was dropped.

        Keys: `repaired_metric`, `repaired_entity`, `repaired_order`; `dropped_unknown_metric`, `dropped_arity`,
        `dropped_unknown_entity`.
        """
        if ref not in self._resolved:
            notes: Counter[str] = Counter()
            found = self._close(ref, notes)
            self._resolved[ref] = (found, tuple(sorted(notes.elements())))
        found, made = self._resolved[ref]
        counts.update(made)
        return found

    def _close(self, ref: VariableRef, notes: Counter[str]) -> VariableRef | None:
        metric = self._metric(ref.metric, notes)
        if metric is None:
            return None
        if len(ref.entities) != len(metric.signature):
            notes["dropped_arity"] += 1
            return None
        found = [self._entity(d, e) for d, e in zip(metric.signature, ref.entities, strict=True)]
        if all(found):
            names = tuple(name for name in found if name is not None)
            notes["repaired_entity"] += sum(name != given for name, given in zip(names, ref.entities, strict=True))
            return VariableRef(metric.name, names)
        for order in list(permutations(ref.entities))[1:]:
            keys = [self._entities[d].exact(key_of(e)) for d, e in zip(metric.signature, order, strict=True)]
            if all(keys):
                notes["repaired_order"] += 1
                return VariableRef(metric.name, tuple(name for name in keys if name is not None))
        notes["dropped_unknown_entity"] += 1
        return None

    def _metric(self, name: str, notes: Counter[str]) -> Metric | None:
        if name in self._metrics:
            return self._metrics[name]
        key = key_of(split_camel(name.split("(", 1)[0]))
        found = self._metric_keys.find(key)
        if found is None:
            notes["dropped_unknown_metric"] += 1
            return None
        notes["repaired_metric"] += 1
        return self._metrics[found]

    def _entity(self, dimension: str, name: str) -> str | None:
        if name in self._names[dimension]:
            return name
        return self._entities[dimension].find(key_of(name))


class _Spellings:
    """Folded keys of one closed set and the members that they mean, with the nearest key for any other."""

    def __init__(self, members: dict[str, str]) -> None:
        self._members = members
        self._blocks: dict[str, list[str]] = defaultdict(list)
        for key in members:
            self._blocks[key[:1]].append(key)
        self._nearest: dict[str, str | None] = {}

    def exact(self, key: str) -> str | None:
        """The member with this key."""
        return self._members.get(key)

    def find(self, key: str) -> str | None:
        """The member with this key or the one nearest to it; None where there is none, or two are equally near."""
        if key in self._members or not key:
            return self._members.get(key)
        if key not in self._nearest:
            # Near-identical keys begin with the same letter.
            scored = [(near_identical(key, other, REPAIR_CUTOFF), other) for other in self._blocks[key[:1]]]
            best = max((score for score, _ in scored), default=0.0)
            found = {self._members[other] for score, other in scored if score == best} if best > 0 else set()
            self._nearest[key] = found.pop() if len(found) == 1 else None
        return self._nearest[key]


def _metric_keys(metrics: Sequence[Metric]) -> dict[str, str]:
    """Which metric each key means: names before aliases, higher ranks first."""
    keys: dict[str, str] = {}
    for metric in metrics:
        keys.setdefault(key_of(split_camel(metric.name)), metric.name)
    for metric in metrics:
        for alias in metric.aliases:
            keys.setdefault(key_of(split_camel(alias)), metric.name)
    return keys


def extend_dimensions(
    vocabulary: Vocabulary, proposals: Iterable[tuple[str, ProposedEntity]], counts: Counter[str]
) -> Vocabulary:
    """The vocabulary with the entities that readings add, inside its own dimensions. Metrics stay as they are.

    A proposed entity that is known under another spelling becomes an alias of it; one that stands on another dimension
    stays there; one new on two dimensions goes where it is mentioned most. `counts` gains `entity_added`,
    `entity_unknown_dimension`, `entity_on_other_dimension`, `entity_refused`. Known entities keep their place, name
    and mentions; new ones follow, most mentioned first.
    """
    owner = _owners(vocabulary)
    long_forms = _long_forms(vocabulary)
    ranked: list[tuple[int, int, Entity]] = []
    for place, proposed in enumerate(_by_dimension(vocabulary, proposals, counts)):
        entities = resolve_entities(proposed, counts)
        ranked.extend((-entity.mentions, place, entity) for entity in entities)
    ranked.sort(key=lambda item: (item[0], item[1], item[2].name))
    claims: Counter[str] = Counter(
        key for *_, entity in ranked for key in {key_of(alias) for alias in entity.aliases} - {key_of(entity.name)}
    )
    aliases: dict[_Owner, set[str]] = defaultdict(set)
    added: dict[str, list[Entity]] = defaultdict(list)
    for _, place, entity in ranked:
        home = vocabulary.dimensions[place].name
        known = _known(entity, home, owner, long_forms)
        if known is None:
            known = owner[key_of(entity.name)] = (home, entity.name)
            kept = [alias for alias in entity.aliases if _free(alias, known, owner, claims)]
            added[home].append(Entity(entity.name, tuple(kept), entity.mentions))
            counts["entity_added"] += 1
        elif known[0] != home:
            counts["entity_on_other_dimension"] += 1
        else:
            for spelling in (entity.name, *entity.aliases):
                if spelling != known[1] and _free(spelling, known, owner, claims):
                    aliases[known].add(spelling)
    return Vocabulary(
        tuple(_extended(dimension, aliases, added[dimension.name]) for dimension in vocabulary.dimensions),
        vocabulary.metrics,
    )


# (dimension, entity)
_Owner = tuple[str, str]


def _free(spelling: str, known: _Owner, owner: dict[str, _Owner], claims: Counter[str]) -> bool:
    """Whether a spelling is that entity's, or nobody's yet and claimed for one alone: then it becomes that entity's."""
    key = key_of(spelling)
    if key not in owner and claims[key] > 1:
        return False
    return owner.setdefault(key, known) == known


def _owners(vocabulary: Vocabulary) -> dict[str, _Owner]:
    """Which entity each key means: names before aliases, earlier dimensions first."""
    owner: dict[str, _Owner] = {}
    for dimension in vocabulary.dimensions:
        for entity in dimension.entities:
            owner.setdefault(key_of(entity.name), (dimension.name, entity.name))
    for dimension in vocabulary.dimensions:
        for entity in dimension.entities:
            for alias in entity.aliases:
                owner.setdefault(key_of(alias), (dimension.name, entity.name))
    return owner


def _by_dimension(
    vocabulary: Vocabulary, proposals: Iterable[tuple[str, ProposedEntity]], counts: Counter[str]
) -> list[list[ProposedEntity]]:
    places = {dimension.name: place for place, dimension in enumerate(vocabulary.dimensions)}
    for name, place in list(places.items()):
        places.setdefault(dimension_key(name), place)
    proposed: list[list[ProposedEntity]] = [[] for _ in vocabulary.dimensions]
    for raw, proposal in proposals:
        found = places.get(raw)
        if found is None:
            found = places.get(dimension_key(dimension_name(raw) or ""))
        if found is None:
            counts["entity_unknown_dimension"] += 1
        else:
            proposed[found].append(proposal)
    return proposed


def _long_forms(vocabulary: Vocabulary) -> dict[str, str]:
    """The key of each abbreviation among the aliases and that of the entity it stands for; ambiguous ones left out."""
    found: dict[str, set[str]] = defaultdict(set)
    for dimension in vocabulary.dimensions:
        for entity in dimension.entities:
            for alias in entity.aliases:
                if is_abbreviation_of(alias, entity.name):
                    found[key_of(alias)].add(key_of(entity.name))
    return {short: next(iter(longs)) for short, longs in found.items() if len(longs) == 1}


def _known(entity: Entity, home: str, owner: dict[str, _Owner], long_forms: dict[str, str]) -> _Owner | None:
    """Which known entity this one is.

    By its name, by an alias that is no broader term, by what its name restates, or by a near-identical name.
    """
    key = key_of(entity.name)
    if key in owner:
        return owner[key]
    words = set(key.split())
    for alias in entity.aliases:
        other = key_of(alias)
        if other in owner and not set(other.split()) < words and not words < set(other.split()):
            return owner[other]
    restated = sorted(
        owner[other]
        for other in restated_keys((entity.name, *entity.aliases), long_forms)
        if other in owner and owner[other][0] == home
    )
    if restated:
        return restated[0]
    head = key.replace(" ", "")[:4]
    near = [
        (near_identical(key, other, MERGE_CUTOFF), found)
        for other, found in owner.items()
        if found[0] == home and other.replace(" ", "").startswith(head)
    ]
    best = max((score for score, _ in near), default=0.0)
    return min(found for score, found in near if score == best) if best > 0 else None


def _extended(dimension: Dimension, aliases: dict[_Owner, set[str]], added: Sequence[Entity]) -> Dimension:
    known = tuple(
        Entity(
            entity.name,
            (*entity.aliases, *sorted(aliases[(dimension.name, entity.name)] - set(entity.aliases))),
            entity.mentions,
        )
        for entity in dimension.entities
    )
    return replace(dimension, entities=(*known, *added))
