"""Metrics of a corpus: the facets in which it speaks of the entities of each dimension, ranked by how often it does."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence

from hcg_pipeline.backends.protocol import ProposedMetric
from hcg_pipeline.backends.rules.descriptions import describe
from hcg_pipeline.backends.rules.entities import EntityIndex
from hcg_pipeline.backends.rules.families import families, family_of
from hcg_pipeline.backends.rules.groups import Argument
from hcg_pipeline.backends.rules.parsing import Parsed
from hcg_pipeline.backends.rules.phrase_reading import (
    PhraseReader,
    PhraseReading,
    as_effect,
    default_facet,
    measured_by_itself,
)
from hcg_pipeline.backends.rules.wordlists import fits, noun_classes
from hcg_pipeline.specification.vocabulary import Dimension

_PEOPLE = frozenset({"population", "place", "characteristic"})
_LINKS = 2
_MEMBERS = 2
"""A family of one is none."""
_SHOWN = {"Death": "Mortality"}
"""Facets whose metrics go by another of their nouns."""
METRICS = 200
"""Most metrics that are proposed."""

Key = tuple[tuple[str, ...], str]


def camel(dimension: str) -> str:
    """`risk_factor` -> `RiskFactor`."""
    return "".join(part.capitalize() for part in dimension.split("_"))


def metric_name(signature: Sequence[str], facet: str) -> str:
    """`DiseaseRisk`; a family by its own name; over two dimensions `TreatmentUseForDisease`, `SymptomOccurrenceIn…`."""
    if facet in families():
        return facet
    facet = _SHOWN.get(facet, facet)
    joiner = "In" if facet in {"Occurrence", "Level", "Presence"} else "For"
    return camel(signature[0]) + facet + "".join(f"{joiner}{camel(second)}" for second in signature[1:])


def arguments(sentence: Parsed) -> Iterator[Argument]:
    """Every noun item `NP (P NP)*` of a sentence as an argument without polarity of its own."""
    clauses = sentence.clauses
    for place in range(len(clauses.segments)):
        if clauses.kind(place) == "NP" and clauses.segments[place].form != "pronoun":
            end = clauses.item(place)
            yield Argument(clauses.segments[place].start, clauses.segments[end - 1].end)


class _Tally:
    """Counts of what a corpus says in each facet: passages, entities, and what stands before and behind it."""

    def __init__(self, dimensions: Sequence[Dimension]) -> None:
        self._reader = PhraseReader(EntityIndex(dimensions))
        self.support: Counter[Key] = Counter()
        self.entities: defaultdict[Key, Counter[str]] = defaultdict(Counter)
        self.causes: defaultdict[Key, Counter[str]] = defaultdict(Counter)
        self.effects: defaultdict[Key, Counter[str]] = defaultdict(Counter)

    def add(self, passage: Sequence[Parsed]) -> None:
        """Count one passage."""
        spoken: set[Key] = set()
        for sentence in passage:
            tokens = sentence.clauses.tokens
            readings = [self._reader.read(tokens, argument) for argument in arguments(sentence)]
            for link in sentence.links:
                left = [reading for one in link.causes if (reading := self._reader.read(tokens, one)) is not None]
                right = [
                    as_effect(reading, link.cue)
                    for one in link.effects
                    if (reading := self._reader.read(tokens, one)) is not None
                ]
                if link.only and not any(reading.mention.dimension in link.only for reading in left):
                    continue
                readings += [*left, *right]
                self._join(left, right)
            for reading in readings:
                if reading is None:
                    continue
                keys = _keys(reading)
                spoken.update(keys)
                # A member of a family counts for the wide metric too, but is an example of its own alone.
                for key in keys[1:] if keys[1:] and keys[1] == _own_key(reading) else keys:
                    self.entities[key][reading.mention.entity] += 1
        self.support.update(spoken)

    def _join(self, left: Sequence[PhraseReading], right: Sequence[PhraseReading]) -> None:
        for cause in left:
            for effect in right:
                self.effects[_own_key(cause)][effect.mention.entity] += 1
                self.causes[_own_key(effect)][cause.mention.entity] += 1

    def fold(self, keys: Iterable[Key]) -> None:
        """Give the members of families that make no metric back to the wide metric of their dimension."""
        for (first, *_), facet in sorted(keys):
            if facet in families():
                wide = ((first,), default_facet(first))
                for counts in (self.entities, self.causes, self.effects):
                    counts[wide].update(counts[(first,), facet])


def propose(passages: Sequence[Sequence[Parsed]], dimensions: Sequence[Dimension]) -> list[ProposedMetric]:
    """Metrics by falling support. A facet needs several passages and entities; each dimension has its default one."""
    tally = _Tally(dimensions)
    for passage in passages:
        tally.add(passage)
    least = 1 if len(passages) < 40 else 2
    categories = {kind.dimension: kind.category for kind in noun_classes().values()}
    kept = _one_each([key for key in sorted(tally.support) if _sensible(key, tally, least)], tally)
    tally.fold(set(tally.support).difference(kept))
    proposals = []
    for key in kept:
        signature, facet = key
        count = tally.support[key]
        description = describe(signature, facet, tally.entities[key], tally.causes[key], tally.effects[key])
        category = families()[facet].category if facet in families() else categories.get(signature[0], "roles")
        proposals.append(ProposedMetric(metric_name(signature, facet), signature, description, category, count))
    return sorted(proposals, key=lambda one: (-one.support, one.name))[:METRICS]


def _one_each(keys: Sequence[Key], tally: _Tally) -> list[Key]:
    """The keys, of each family only the best supported."""
    best: dict[str, Key] = {}
    for key in keys:
        held = best.get(key[1])
        if key[1] in families() and (held is None or tally.support[key] > tally.support[held]):
            best[key[1]] = key
    return [key for key in keys if best.get(key[1], key) == key]


def _sensible(key: Key, tally: _Tally, least: int) -> bool:
    """Whether a facet is said of its dimension at all, and often enough not to be chance."""
    signature, facet = key
    count, entities = tally.support[key], len(tally.entities[key])
    linked = sum(tally.causes[key].values()) + sum(tally.effects[key].values())
    if facet in families():
        return entities >= _MEMBERS and (count >= least or linked >= _LINKS)
    if not fits(facet, signature[0]) or facet == camel(signature[0]):
        return False
    if facet == default_facet(signature[0]) and len(signature) == 1:
        return measured_by_itself(signature[0])
    if linked >= _LINKS * least and fits(facet, signature[0]):
        # What is said to be a cause or an effect is worth measuring, however little else is said of it.
        return True
    return count >= least and (entities >= 2 or count >= 4)


def _own_key(reading: PhraseReading) -> Key:
    """The metric over the entity of a reading: its facet, else the entity's family, else the dimension's default."""
    first = reading.mention.dimension
    plain = reading.facet in {"", default_facet(first)}
    family = family_of(first, reading.mention.entity) if plain else ""
    return (first,), family or reading.facet or default_facet(first)


def _keys(reading: PhraseReading) -> list[Key]:
    """The metrics that a reading speaks for: over its entity, and over the pair where it names a second one."""
    first = reading.mention.dimension
    facet = reading.facet or default_facet(first)
    keys: list[Key] = [((first,), facet)]
    if _own_key(reading) != keys[0]:
        keys.append(_own_key(reading))
    if reading.second is not None and _pairs(first, reading.second.dimension, facet):
        keys.append(((first, reading.second.dimension), facet))
    return keys


def _pairs(first: str, second: str, facet: str) -> bool:
    """Whether a metric over two dimensions says something: a treatment for a disease, a tax on a good."""
    if second in _PEOPLE or second in {"activity", "indicator", "event", "process"}:
        return False
    if facet in {"Efficacy", "Response"}:
        return True
    if first in {"treatment", "drug", "test"}:
        return facet == default_facet(first) and second in {"disease", "symptom", "body_part", "condition"}
    if first == "policy":
        return facet == default_facet(first) and second in {
            "good",
            "food",
            "asset",
            "material",
            "organization",
            "energy",
        }
    if first in {"symptom", "event", "condition"}:
        return facet == default_facet(first) and second in {
            "disease",
            "body_part",
            "equipment",
            "component",
            "software",
            "structure",
        }
    return (first, second, facet) == ("disease", "body_part", default_facet(first))
