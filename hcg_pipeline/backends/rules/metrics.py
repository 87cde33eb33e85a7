"""Metrics of a corpus: the facets in which it speaks of the entities of each dimension, ranked by how often it does."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence

from hcg_pipeline.backends.protocol import ProposedMetric
from hcg_pipeline.backends.rules.entities import EntityIndex
from hcg_pipeline.backends.rules.groups import Argument
from hcg_pipeline.backends.rules.parsing import Parsed
from hcg_pipeline.backends.rules.phrase_reading import (
    PhraseReader,
    PhraseReading,
    as_effect,
    default_facet,
    measured_by_itself,
)
from hcg_pipeline.backends.rules.wordlists import facets, fits, noun_classes
from hcg_pipeline.specification.vocabulary import Dimension

_PEOPLE = frozenset({"population", "place", "characteristic"})
_LINKS = 2
METRICS = 200
"""Most metrics that are proposed."""

Key = tuple[tuple[str, ...], str]


def camel(dimension: str) -> str:
    """`risk_factor` -> `RiskFactor`."""
    return "".join(part.capitalize() for part in dimension.split("_"))


def metric_name(signature: Sequence[str], facet: str) -> str:
    """`DiseaseRisk`; over two dimensions `TreatmentUseForDisease`, `SymptomOccurrenceInDisease`."""
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
                for key in _keys(reading):
                    spoken.add(key)
                    self.entities[key][reading.mention.entity] += 1
        self.support.update(spoken)

    def _join(self, left: Sequence[PhraseReading], right: Sequence[PhraseReading]) -> None:
        for cause in left:
            for effect in right:
                self.effects[_keys(cause)[0]][effect.mention.entity] += 1
                self.causes[_keys(effect)[0]][cause.mention.entity] += 1


def propose(passages: Sequence[Sequence[Parsed]], dimensions: Sequence[Dimension]) -> list[ProposedMetric]:
    """Metrics by falling support. A facet needs several passages and entities; each dimension has its default one."""
    tally = _Tally(dimensions)
    for passage in passages:
        tally.add(passage)
    least = 1 if len(passages) < 40 else 2
    categories = {kind.dimension: kind.category for kind in noun_classes().values()}
    proposals = []
    for key, count in tally.support.items():
        signature, facet = key
        linked = sum(tally.causes[key].values()) + sum(tally.effects[key].values())
        if not _sensible(key, count, len(tally.entities[key]), linked, least):
            continue
        description = _describe(signature, facet, tally.entities[key], tally.causes[key], tally.effects[key])
        category = categories.get(signature[0], "roles")
        proposals.append(ProposedMetric(metric_name(signature, facet), signature, description, category, count))
    return sorted(proposals, key=lambda one: (-one.support, one.name))[:METRICS]


def _sensible(key: Key, count: int, entities: int, linked: int, least: int) -> bool:
    """Whether a facet is said of its dimension at all, and often enough not to be chance."""
    signature, facet = key
    if not fits(facet, signature[0]) or facet == camel(signature[0]):
        return False
    if facet == default_facet(signature[0]) and len(signature) == 1:
        return measured_by_itself(signature[0])
    if linked >= _LINKS * least and fits(facet, signature[0]):
        # What is said to be a cause or an effect is worth measuring, however little else is said of it.
        return True
    return count >= least and (entities >= 2 or count >= 4)


def _keys(reading: PhraseReading) -> list[Key]:
    """The metrics that a reading speaks for: over its entity, and over the pair where it names a second one."""
    first = reading.mention.dimension
    facet = reading.facet or default_facet(first)
    keys: list[Key] = [((first,), facet)]
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


def _describe(
    signature: Sequence[str], facet: str, entities: Counter[str], causes: Counter[str], effects: Counter[str]
) -> str:
    """What it is, driven by what, influencing what: the last two as far as the corpus says."""
    says = facets()[facet].says if facet in facets() else f"the {facet.lower()} of {{x}}"
    text = says.replace("{x}", _one(signature[0]))
    sentence = f"{text[:1].upper()}{text[1:]}"
    if len(signature) > 1:
        sentence += f" with regard to {_one(signature[1])}"
    examples = _top(entities, 3)
    if examples:
        sentence += f", for example {examples}"
    sentence += "."
    driven, influencing = _top(causes, 4), _top(effects, 4)
    if driven:
        sentence += f" Driven by {driven}" + ("" if influencing else ".")
    if influencing:
        sentence += f"; influences {influencing}." if driven else f" Influences {influencing}."
    return sentence


def _one(dimension: str) -> str:
    """The dimension as a noun with its article."""
    text = dimension.replace("_", " ")
    return f"an {text}" if text[0] in "aeiou" else f"a {text}"


def _top(counts: Counter[str], most: int) -> str:
    names = [name for name, _ in sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:most]]
    return f"{', '.join(names[:-1])} and {names[-1]}" if len(names) > 1 else "".join(names)
