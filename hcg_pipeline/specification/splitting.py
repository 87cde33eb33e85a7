"""Taking an automatic merge back: one alias leaves its name, with what the text says of it under that spelling.

Nothing is read anew. What a passage or quote speaks of is told by which of the spellings stand in it: only the alias
means the new name, and everything else stays where it was.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from hcg_pipeline.specification.names import is_abbreviation, key_of, split_camel
from hcg_pipeline.specification.vocabulary import Dimension, Metric, VariableRef, Vocabulary

Spoken = Literal["kept", "alias", "both", "neither"]


@dataclass(frozen=True)
class EntitySplit:
    """`alias` becomes an entity of its own beside `entity` on `dimension`; `others` are the spellings that stay."""

    dimension: str
    entity: str
    alias: str
    others: tuple[str, ...]
    signatures: dict[str, tuple[str, ...]]

    @classmethod
    def of(cls, vocabulary: Vocabulary, dimension: Dimension, entity: str, alias: str) -> "EntitySplit":
        """The split of an alias off one of the entities of a dimension."""
        known = next(e for e in dimension.entities if e.name == entity)
        others = (known.name, *(other for other in known.aliases if other != alias))
        return cls(dimension.name, entity, alias, others, {m.name: m.signature for m in vocabulary.metrics})

    def spoken_of(self, text: str) -> Spoken:
        """Which of the two a text names: longer spellings are found first, so that none counts inside another."""
        found = {self._names[match.lastgroup or ""] for match in self._pattern.finditer(text)}
        if len(found) == 2:
            return "both"
        return found.pop() if found else "neither"

    def binds(self, ref: VariableRef) -> bool:
        """Whether a variable binds the entity on its dimension."""
        return (self.dimension, self.entity) in zip(self.signatures[ref.metric], ref.entities, strict=True)

    def renamed(self, ref: VariableRef) -> VariableRef:
        """The variable with the alias in the entity's place."""
        pairs = zip(self.signatures[ref.metric], ref.entities, strict=True)
        return VariableRef(
            ref.metric, tuple(self.alias if pair == (self.dimension, self.entity) else pair[1] for pair in pairs)
        )

    @cached_property
    def _spellings(self) -> Sequence[tuple[str, Literal["kept", "alias"]]]:
        pairs: list[tuple[str, Literal["kept", "alias"]]] = [(self.alias, "alias")]
        pairs += [(other, "kept") for other in self.others]
        return sorted(pairs, key=lambda pair: (-len(pair[0]), pair[0]))

    @cached_property
    def _names(self) -> dict[str, Literal["kept", "alias"]]:
        return {f"s{place}": whose for place, (_, whose) in enumerate(self._spellings)}

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        parts = []
        for place, (spelling, _) in enumerate(self._spellings):
            words = r"[\s-]+".join(re.escape(word) for word in re.split(r"[\s-]+", spelling))
            # 'MS' is an abbreviation, 'Ms' none.
            parts.append(f"(?P<s{place}>{words if is_abbreviation(spelling) else f'(?i:{words})'}(?:e?s)?)")
        return re.compile(r"(?<!\w)(?:" + "|".join(parts) + r")(?!\w)")


@dataclass(frozen=True)
class MetricSplit:
    """`alias` becomes a metric of its own beside `metric`. Words that only one of the two names has tell them apart."""

    metric: str
    alias: str
    words: frozenset[str]
    others: frozenset[str]

    @classmethod
    def of(cls, metric: Metric, alias: str) -> "MetricSplit | None":
        """The split of an alias off a metric; None where the two names are the same words in another spelling."""
        if key_of(split_camel(metric.name)) == key_of(split_camel(alias)):
            return None
        words, others = (frozenset(split_camel(name).lower().split()) for name in (alias, metric.name))
        return cls(metric.name, alias, words - others, others - words) if words - others else None

    def spoken_of(self, text: str) -> Spoken:
        """Which of the two a text names."""
        alias, kept = _any_word(self.words, text), _any_word(self.others, text)
        if alias and kept:
            return "both"
        return "alias" if alias else "kept" if kept else "neither"

    def binds(self, ref: VariableRef) -> bool:
        """Whether a variable is one of the metric."""
        return ref.metric == self.metric

    def renamed(self, ref: VariableRef) -> VariableRef:
        """The variable with the alias as its metric."""
        return VariableRef(self.alias, ref.entities)


Split = EntitySplit | MetricSplit


def _any_word(words: Iterable[str], text: str) -> bool:
    return any(re.search(rf"(?<!\w){re.escape(word)}(?:e?s)?(?!\w)", text, re.IGNORECASE) for word in sorted(words))
