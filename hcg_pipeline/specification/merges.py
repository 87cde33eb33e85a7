"""Which spellings were taken into which name, and why: the record behind the aliases of a vocabulary.

A reason follows from the two spellings alone, so a pinned specification, which keeps aliases and no reasons, tells it
as well as the build that merged them. An expert takes a merge back with `split_entity`, `split_metric` or
`split_dimension`. An abbreviation of two things is merged with neither: it is listed with each of them as kept apart.
"""

from collections.abc import Iterable, Sequence

import pyarrow as pa

from hcg_pipeline.specification.names import (
    MERGE_CUTOFF,
    dimension_key,
    is_abbreviation_of,
    key_of,
    near_identical,
    split_camel,
)
from hcg_pipeline.specification.restating import restated_keys
from hcg_pipeline.specification.shared_names import shared_names
from hcg_pipeline.specification.vocabulary import Vocabulary
from hcg_pipeline.tables import MERGES

SAME_WORDS = "differs in case, plural, hyphen or regional spelling"
ABBREVIATION = "abbreviation"
ALMOST_ALIKE = "spelled almost alike"
RESTATED = "says the same with an abbreviation written out, or with a word for its kind"
STATED = "stated as another name"
SHARED_ENTITIES = "has mostly the same entities"
APART = "kept apart: stands for "


def merges_of(vocabulary: Vocabulary, texts: Iterable[str] = ()) -> pa.Table:
    """MERGES of a vocabulary: dimensions, metrics, then the entities of each dimension, in the vocabulary's order.

    At the end what was not merged, though it looks like it: abbreviations that `texts` spell out in two ways.
    """
    rows = [
        ("dimension", d.name, alias, _dimension_reason(d.name, alias))
        for d in vocabulary.dimensions
        for alias in d.aliases
    ]
    rows += [
        ("metric", m.name, alias, _metric_reason(m.name, alias)) for m in vocabulary.metrics for alias in m.aliases
    ]
    for dimension in vocabulary.dimensions:
        rows += [
            (f"entity:{dimension.name}", entity.name, alias, entity_reason(entity.name, alias, entity.aliases))
            for entity in dimension.entities
            for alias in entity.aliases
        ]
    for shared in shared_names(vocabulary, texts):
        taken = {alias for dimension in vocabulary.dimensions for e in dimension.entities for alias in e.aliases}
        if shared.short not in taken:
            both = " and for ".join(entity for _, entity in shared.entities)
            rows += [(f"entity:{home}", entity, shared.short, APART + both) for home, entity in shared.entities]
    return pa.Table.from_pylist([dict(zip(MERGES.names, row, strict=True)) for row in rows], schema=MERGES)


def entity_reason(kept: str, merged: str, aliases: Sequence[str] = ()) -> str:
    """Why two spellings of an entity are taken for one thing; `aliases` are all that the entity has."""
    one, other = key_of(kept), key_of(merged)
    if one == other:
        return SAME_WORDS
    if is_abbreviation_of(merged, kept) or is_abbreviation_of(kept, merged):
        return ABBREVIATION
    if near_identical(one, other, MERGE_CUTOFF):
        return ALMOST_ALIKE
    shorts = {key_of(short): one for short in aliases if is_abbreviation_of(short, kept)}
    restated = restated_keys([merged], shorts) & {one, *map(key_of, aliases)}
    if restated or _written_out(merged, kept) or _written_out(kept, merged):
        return RESTATED
    # 'CT scans' is there for the reason for which 'CT scan' is.
    same = next((alias for alias in aliases if key_of(alias) == other and len(alias) < len(merged)), None)
    return entity_reason(kept, same, aliases) if same is not None else STATED


def _written_out(short: str, long: str) -> bool:
    """Whether one word of `short` is an abbreviation of what stands in its place in `long`."""
    words, others = short.split(), long.split()
    for place, word in enumerate(words):
        end = len(others) - (len(words) - place - 1)
        around = key_of(" ".join([*words[:place], *words[place + 1 :]]))
        if around and around == key_of(" ".join([*others[:place], *others[end:]])):
            return is_abbreviation_of(word, " ".join(others[place:end]))
    return False


def _metric_reason(kept: str, merged: str) -> str:
    one, other = key_of(split_camel(kept)), key_of(split_camel(merged))
    if one == other:
        return SAME_WORDS
    return ALMOST_ALIKE if near_identical(one, other, MERGE_CUTOFF) else STATED


def _dimension_reason(kept: str, merged: str) -> str:
    one, other = dimension_key(kept), dimension_key(merged)
    if one == other:
        return SAME_WORDS
    return ALMOST_ALIKE if near_identical(one, other, MERGE_CUTOFF) else SHARED_ENTITIES
