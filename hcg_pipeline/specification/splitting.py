"""Taking an automatic merge back: one alias leaves its entity, with what the text says of it under that spelling."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from hcg_pipeline.specification.names import is_abbreviation
from hcg_pipeline.specification.vocabulary import Dimension, VariableRef, Vocabulary

Spoken = Literal["kept", "alias", "both", "neither"]


@dataclass(frozen=True)
class Split:
    """`alias` becomes an entity of its own beside `entity` on `dimension`; `others` are the spellings that stay.

    Nothing is read anew. What a passage or quote speaks of is told by which of the spellings stand in it: only `alias`
    means the new entity, and everything else stays where it was.
    """

    dimension: str
    entity: str
    alias: str
    others: tuple[str, ...]
    signatures: dict[str, tuple[str, ...]]

    @classmethod
    def of(cls, vocabulary: Vocabulary, dimension: Dimension, entity: str, alias: str) -> "Split":
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
