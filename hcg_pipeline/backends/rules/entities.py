"""Finding the entities of a vocabulary in text: the longest known spelling at each place."""

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass

from hcg_pipeline.backends.rules.terms import term_key, word_key
from hcg_pipeline.backends.rules.tokens import Token
from hcg_pipeline.specification.vocabulary import Dimension

_LONGEST = 8
_SHORT = 6


def shouts(spelling: str) -> bool:
    """Whether a spelling is a short abbreviation, which may be an everyday word when written small."""
    return spelling.isupper() and len(spelling) < _SHORT


@dataclass(frozen=True, slots=True)
class Mention:
    """Tokens [start, end) name `entity` of `dimension`."""

    start: int
    end: int
    dimension: str
    entity: str


class EntityIndex:
    """Every spelling of every entity, by its key."""

    def __init__(self, dimensions: Iterable[Dimension]) -> None:
        self._by_key: dict[str, tuple[str, str]] = {}
        self._firsts: set[str] = set()
        self._capital: set[str] = set()
        for dimension in dimensions:
            for entity in dimension.entities:
                for spelling in (entity.name, *entity.aliases):
                    key = term_key(spelling)
                    if key:
                        # "ALL" stands for a leukaemia, "all" for nothing.
                        shout = shouts(spelling)
                        (self._capital.add if shout else self._capital.discard)(key)
                        # An entity's own name is worth more than another's alias.
                        if spelling == entity.name:
                            self._by_key[key] = (dimension.name, entity.name)
                        else:
                            self._by_key.setdefault(key, (dimension.name, entity.name))
                        self._firsts.add(key.split(" ", 1)[0])

    def extended(
        self,
        found: Mapping[str, tuple[str, str]],
        shouted: Set[str] = frozenset(),
        hidden: Set[str] = frozenset(),
    ) -> "EntityIndex":
        """This index with further keys -> (dimension, entity); what it has already stays as it is, but for `hidden`.

        `shouted` are keys that count only where they are not written small.
        """
        kept = {key: entity for key, entity in self._by_key.items() if key not in hidden} if hidden else self._by_key
        wider = EntityIndex(())
        wider._by_key = {**found, **kept}
        wider._capital = self._capital | (shouted - kept.keys())
        wider._firsts = self._firsts | {key.split(" ", 1)[0] for key in found}
        return wider

    def exact(self, text: str) -> tuple[str, str] | None:
        """(dimension, entity) of a spelling."""
        return self._by_key.get(term_key(text))

    def at(self, tokens: Sequence[Token], start: int, end: int) -> Mention | None:
        """The longest mention that begins at `start` and ends by `end`."""
        words = [word_key(token.low).replace("-", " ") for token in tokens[start : min(end, start + _LONGEST)]]
        if not words or words[0].split(" ", 1)[0] not in self._firsts:
            return None
        for size in range(len(words), 0, -1):
            key = " ".join(words[:size])
            found = self._by_key.get(key)
            if found is not None and key in self._capital and tokens[start].text.islower():
                continue
            if found is not None and tokens[start + size - 1].tag[:2] != "VV":
                return Mention(start, start + size, *found)
        return None

    def ending_at(self, tokens: Sequence[Token], start: int, end: int) -> Mention | None:
        """The longest mention that ends exactly at `end`, and begins at `start` or later."""
        for first in range(max(start, end - _LONGEST), end):
            found = self.at(tokens, first, end)
            if found is not None and found.end == end:
                return found
        return None

    def within(self, tokens: Sequence[Token], start: int, end: int) -> list[Mention]:
        """Mentions in [start, end), left to right, not overlapping."""
        found, place = [], start
        while place < end:
            mention = self.at(tokens, place, end)
            if mention is None:
                place += 1
            else:
                found.append(mention)
                place = mention.end
        return found
