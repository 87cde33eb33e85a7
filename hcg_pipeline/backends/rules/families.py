"""Families of quantities and happenings: "freight rate" and "interest rate" are rates, "corrosion" is a degradation.

A wide dimension (measured quantities, events, conditions, activities) gets a metric for each family that the corpus
speaks of, beside the one for the rest, so that a metric says what is measured.
"""

from dataclasses import dataclass
from functools import cache

from hcg_pipeline.backends.rules.terms import word_key
from hcg_pipeline.backends.rules.wordlists import rows


@dataclass(frozen=True, slots=True)
class Family:
    """A metric over the entities of a dimension whose head is one of some nouns, and what it says.

    A vocabulary has it over one of `dimensions`, that in which the corpus speaks of most of them.
    """

    name: str
    dimensions: frozenset[str]
    category: str
    says: str


@cache
def families() -> dict[str, Family]:
    """Metric name -> family, in the file's order."""
    return {
        name: Family(name, frozenset(dimensions.split()), category, says)
        for name, dimensions, category, _, says in rows("families.tsv")
    }


@cache
def _by_noun() -> dict[tuple[str, str], str]:
    return {
        (dimension, noun): name
        for name, dimensions, _, nouns, _ in rows("families.tsv")
        for dimension in dimensions.split()
        for noun in nouns.split()
    }


@cache
def _wide() -> frozenset[str]:
    return frozenset(name for family in families().values() for name in family.dimensions)


def family_of(dimension: str, entity: str) -> str:
    """The family's metric name for an entity of a dimension, by the entity's last word; "" where it has none."""
    if dimension not in _wide():
        return ""
    return _by_noun().get((dimension, word_key(entity.rsplit(" ", maxsplit=1)[-1])), "")
