"""A phrase to a variable of a vocabulary.

Where the vocabulary has no metric for the facet that a phrase names, the entity's default metric stands in only if the
facet is a quantity of it or its opposite; anything else is not resolved.
"""

import re
from collections.abc import Mapping, Sequence, Set
from copy import copy
from dataclasses import dataclass, replace

from hcg_pipeline.backends.rules.entities import EntityIndex, Mention
from hcg_pipeline.backends.rules.families import families, family_of
from hcg_pipeline.backends.rules.groups import FLIP, Argument
from hcg_pipeline.backends.rules.phrase_reading import (
    PhraseReader,
    PhraseReading,
    as_effect,
    default_facet,
    measured_by_itself,
)
from hcg_pipeline.backends.rules.tokens import Token
from hcg_pipeline.backends.rules.valence import as_acted_on
from hcg_pipeline.backends.rules.wordlists import facet_of_noun, facets, fits, word_lists
from hcg_pipeline.specification.vocabulary import Metric, VariableRef, Vocabulary

_CAMEL = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+")
_DEFAULTS = (
    "Occurrence",
    "Level",
    "Use",
    "Activity",
    "Presence",
    "Function",
    "Operation",
    "Condition",
    "Adoption",
    "Supply",
    "Consumption",
    "Exposure",
)
_MACHINES = frozenset({"component", "equipment", "structure", "vehicle"})
_BEFALLS = frozenset({"disease", "symptom", "event", "condition"})
_FOREMOST = 10
_SPREAD = 70


@dataclass(frozen=True, slots=True)
class Resolved:
    """A variable, which way the phrase says it goes, how sure the reading is, and the facet that the phrase names."""

    ref: VariableRef
    polarity: str
    quality: float
    faceted: bool = False
    turned: bool = False


def metric_facet(metric: Metric) -> str:
    """The facet of a metric: what its name adds to its dimensions' words, a known facet where there is one."""
    words: list[str] = _CAMEL.findall(metric.name)
    bound = {part for dimension in metric.signature for part in dimension.split("_")} | {
        "for",
        "in",
        "of",
        "by",
        "to",
        "and",
    }
    family = families().get(metric.name)
    if family is not None and len(metric.signature) == 1 and metric.signature[0] in family.dimensions:
        return metric.name
    rest = [word for word in words if word.lower() not in bound and word.lower().rstrip("s") not in bound] or words[-1:]
    for word in reversed(rest):
        if word in facets():
            return word
        known = facet_of_noun().get(word.lower())
        if known is not None:
            return known
    return rest[-1].capitalize()


class Resolver:
    """Turns arguments into variables of one vocabulary."""

    index_of: type[EntityIndex] = EntityIndex

    def __init__(self, vocabulary: Vocabulary) -> None:
        self.index = self.index_of(vocabulary.dimensions)
        self.reader = PhraseReader(self.index)
        self.names = {one.name: tuple(entity.name for entity in one.entities) for one in vocabulary.dimensions}
        self._metrics: dict[tuple[tuple[str, ...], str], str] = {}
        self._default: dict[str, str] = {}
        for metric in vocabulary.metrics:
            self._metrics.setdefault((metric.signature, metric_facet(metric)), metric.name)
        self._rank = {
            (one.name, entity.name): rank for one in vocabulary.dimensions for rank, entity in enumerate(one.entities)
        }
        self._dimension = {metric.name: metric.signature[0] for metric in vocabulary.metrics}
        for dimension in vocabulary.dimensions:
            for facet in (default_facet(dimension.name), *_DEFAULTS):
                name = self._metrics.get(((dimension.name,), facet))
                if name is not None:
                    self._default.setdefault(dimension.name, name)

    def with_entities(
        self,
        found: Mapping[str, tuple[str, str]],
        shouted: Set[str] = frozenset(),
        hidden: Set[str] = frozenset(),
    ) -> "Resolver":
        """A resolver that also knows further entities: key -> (dimension, name); the rest: see `EntityIndex`."""
        wider = copy(self)
        wider.index = self.index.extended(found, shouted, hidden)
        wider.reader = PhraseReader(wider.index)
        return wider

    def resolve(self, tokens: Sequence[Token], argument: Argument, cue: str = "") -> Resolved | None:
        """The variable of an argument, or None: it then has no place in the graph. `cue` is what acts on an effect."""
        reading = self.reader.read(tokens, argument)
        if reading is not None and cue:
            reading = as_acted_on(as_effect(reading, cue), cue)
        resolved = None if reading is None else self.variable(reading)
        return replace(resolved, turned=reading.turned) if resolved is not None and reading is not None else None

    def foremost(self, ref: VariableRef) -> bool:
        """Whether a mention outside of any relation is a variable: only of the most mentioned entities of a dimension.

        How many those are grows with the number of metrics and the square of the number of dimensions, so that a small
        vocabulary makes a small graph; what relations say of other entities counts all the same.
        """
        foremost = max(_FOREMOST, len(self._dimension) * len(self.names) ** 2 // _SPREAD)
        return self._rank.get((self._dimension[ref.metric], ref.entities[0]), foremost) < foremost

    def dimension_of(self, ref: VariableRef) -> str:
        """The first dimension of a variable's metric."""
        return self._dimension[ref.metric]

    def variable(self, reading: PhraseReading) -> Resolved | None:
        """The variable of a reading: its facet's metric, with the second entity where a metric binds both."""
        first, facet = reading.mention, reading.facet
        if facet == default_facet(first.dimension) and family_of(first.dimension, first.entity):
            # "the price level" is what prices are measured by anyway.
            facet = ""
        if facet and not fits(facet, first.dimension):
            return self._plain(reading)
        wanted = facet or default_facet(first.dimension)
        if reading.second is not None:
            name = self._metrics.get(((first.dimension, reading.second.dimension), wanted))
            if name is not None:
                pair = VariableRef(name, (first.entity, reading.second.entity))
                return Resolved(pair, reading.polarity, 1.0, bool(facet))
        name = self._metrics.get(((first.dimension,), wanted)) if facet else self._own_metric(first)
        if name is not None and (facet or measured_by_itself(first.dimension)):
            return Resolved(VariableRef(name, (first.entity,)), reading.polarity, 1.0, bool(facet))
        return self._stand_in(reading)

    def _plain(self, reading: PhraseReading) -> Resolved | None:
        """A facet that is not said of such a thing ("the value of inflation"): plainly it, less of it, or nothing."""
        if reading.facet not in word_lists()["plain_facets"] | word_lists()["wanting_facets"]:
            return None
        name = self._own_metric(reading.mention)
        if name is None or not measured_by_itself(reading.mention.dimension):
            return None
        less = reading.facet in word_lists()["wanting_facets"]
        ref = VariableRef(name, (reading.mention.entity,))
        return Resolved(ref, FLIP[reading.polarity] if less else reading.polarity, 0.8, True)

    def _own_metric(self, mention: Mention) -> str | None:
        """How an entity is measured where the text says no more: by the metric of its family, else the default one."""
        family = self._metrics.get(((mention.dimension,), family_of(mention.dimension, mention.entity)))
        return family or self._metrics.get(((mention.dimension,), default_facet(mention.dimension)))

    def _stand_in(self, reading: PhraseReading) -> Resolved | None:
        """The default metric of the entity, where the facet is a quantity of it, or its opposite."""
        name = self._own_metric(reading.mention) or self._default.get(reading.mention.dimension)
        if name is None:
            return None
        ref = VariableRef(name, (reading.mention.entity,))
        if not reading.facet:
            return Resolved(ref, reading.polarity, 0.95)
        if reading.facet == "Death" and reading.mention.dimension in _BEFALLS:
            # Death from a disease is not less of the disease.
            return None
        if reading.facet in word_lists()["opposite_facets"]:
            return Resolved(ref, FLIP[reading.polarity], 0.8, True)
        same = reading.facet in word_lists()["same_facets"]
        if reading.mention.dimension in _MACHINES and reading.facet in word_lists()["counted_facets"]:
            # Fewer spares, or smaller ones, are not in a worse condition.
            return None
        return Resolved(ref, reading.polarity, 0.85, True) if same else None
