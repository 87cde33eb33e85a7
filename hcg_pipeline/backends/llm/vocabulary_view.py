"""The part of a vocabulary that a window is shown: all of it while it is small, else what its words touch."""

import re
from collections import Counter
from dataclasses import dataclass
from math import log

from hcg_pipeline.backends.llm.prompts.phrases import stems
from hcg_pipeline.specification.vocabulary import Dimension, Metric, Vocabulary

_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_WORDS = re.compile(r"[^\W_]+")
_UNSPACED = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u9fff\uac00-\ud7af]")
_MOST_NAMED = 60


@dataclass(frozen=True, slots=True)
class VocabularyView:
    """What a window is shown. `named` holds, by dimension, the known entities that its text names, sorted."""

    dimensions: tuple[Dimension, ...]
    metrics: tuple[Metric, ...]
    named: dict[str, tuple[str, ...]]


def view_for(vocabulary: Vocabulary, text: str, metrics_shown: int) -> VocabularyView:
    """The view of `vocabulary` for a window with this `text`; depends on these three alone.

    Beyond `metrics_shown` metrics, those are chosen whose names, descriptions and named entities share most with the
    text (words weighted by how few metrics have them), and only their dimensions are shown. Vocabulary order is kept.
    """
    spoken = f" {' '.join(_WORDS.findall(text.casefold()))} "
    named = {dimension.name: _named(dimension, spoken) for dimension in vocabulary.dimensions}
    metrics = vocabulary.metrics
    dimensions = vocabulary.dimensions
    if len(metrics) > metrics_shown:
        metrics = _touched(metrics, stems(text), named, metrics_shown)
        bound = {dimension for metric in metrics for dimension in metric.signature}
        dimensions = tuple(dimension for dimension in dimensions if dimension.name in bound)
    return VocabularyView(dimensions, metrics, {dimension.name: named[dimension.name] for dimension in dimensions})


def known_names(dimension: Dimension) -> frozenset[str]:
    """The case-folded names and aliases of a dimension's entities."""
    return frozenset(name.casefold() for entity in dimension.entities for name in (entity.name, *entity.aliases))


def _named(dimension: Dimension, spoken: str) -> tuple[str, ...]:
    found = [
        entity.name
        for entity in dimension.entities
        if any(_is_spoken(name, spoken) for name in (entity.name, *entity.aliases))
    ]
    return tuple(sorted(set(found[:_MOST_NAMED])))


def _is_spoken(name: str, spoken: str) -> bool:
    words = " ".join(_WORDS.findall(name.casefold()))
    return bool(words) and (f" {words} " in spoken or (_UNSPACED.search(words) is not None and words in spoken))


def _touched(
    metrics: tuple[Metric, ...], text_stems: frozenset[str], named: dict[str, tuple[str, ...]], count: int
) -> tuple[Metric, ...]:
    words = [stems(f"{_HUMP.sub(' ', metric.name)} {metric.description}") for metric in metrics]
    holders = Counter(stem for one in words for stem in one)

    def score(place: int) -> float:
        shared = sorted(words[place] & text_stems)
        lexical = sum(log(1 + len(metrics) / holders[stem]) for stem in shared)
        bound = sum(bool(named.get(dimension)) for dimension in metrics[place].signature)
        return round(lexical + bound, 9)

    best = sorted(range(len(metrics)), key=lambda place: (-score(place), -metrics[place].support, place))[:count]
    return tuple(metrics[place] for place in sorted(best))
