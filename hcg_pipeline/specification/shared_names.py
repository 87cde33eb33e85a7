"""Abbreviations that the texts spell out in two ways: they stand for neither thing, and the merges record it."""

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from hcg_pipeline.specification.names import is_abbreviation, is_abbreviation_of, key_of
from hcg_pipeline.specification.vocabulary import Vocabulary

_BRACKET = re.compile(r"\(([A-Za-z][A-Za-z0-9&/-]{1,9})\)")
_BEFORE = 100


@dataclass(frozen=True, slots=True)
class SharedName:
    """An abbreviation, and the (dimension, entity) pairs that the texts write it behind, in the vocabulary's order."""

    short: str
    entities: tuple[tuple[str, str], ...]


def shared_names(vocabulary: Vocabulary, texts: Iterable[str]) -> list[SharedName]:
    """The abbreviations that stand in brackets behind spellings of more than one entity, sorted."""
    spellings: dict[str, tuple[str, str]] = {}
    for dimension in vocabulary.dimensions:
        for entity in dimension.entities:
            spellings.setdefault(key_of(entity.name), (dimension.name, entity.name))
    for dimension in vocabulary.dimensions:
        for entity in dimension.entities:
            for alias in entity.aliases:
                spellings.setdefault(key_of(alias), (dimension.name, entity.name))
    found: defaultdict[str, set[tuple[str, str]]] = defaultdict(set)
    for text in texts:
        for match in _BRACKET.finditer(text):
            short = match.group(1).removesuffix("s")
            if is_abbreviation(short):
                words = text[max(0, match.start() - _BEFORE) : match.start()].split()
                holder = _ends_with(words, short, spellings)
                if holder is not None:
                    found[short].add(holder)
    place = {
        (dimension.name, entity.name): number
        for number, (dimension, entity) in enumerate((d, e) for d in vocabulary.dimensions for e in d.entities)
    }
    return [
        SharedName(short, tuple(sorted(holders, key=place.__getitem__)))
        for short, holders in sorted(found.items())
        if len(holders) > 1
    ]


def _ends_with(words: Sequence[str], short: str, spellings: dict[str, tuple[str, str]]) -> tuple[str, str] | None:
    """The entity of the longest known spelling at the end of some words that the abbreviation can stand for."""
    for first in range(max(0, len(words) - len(short) - 3), len(words)):
        long = " ".join(words[first:])
        holder = spellings.get(key_of(long))
        if holder is not None and is_abbreviation_of(short, long):
            return holder
    return None
