"""What is better and what is worse: "improves symptoms" is less of them, "worsens accuracy" less accuracy.

Verbs of bettering, worsening and keeping in check have no sign of their own; that depends on what they are said of.
"""

from dataclasses import replace

from hcg_pipeline.backends.rules.families import family_of
from hcg_pipeline.backends.rules.groups import FLIP
from hcg_pipeline.backends.rules.phrase_reading import PhraseReading
from hcg_pipeline.backends.rules.wordlists import fits, word_lists


def as_acted_on(reading: PhraseReading, cue: str) -> PhraseReading:
    """A reading as the effect of a cue: turned where the verb betters what is bad or worsens what is good.

    What is only controlled or managed goes neither way, unless it is something bad.
    """
    verb = cue.split(" ", maxsplit=1)[0]
    lists = word_lists()
    if verb in lists["bettering"] and _unwelcome(reading):
        return replace(reading, polarity=FLIP[reading.polarity])
    if verb in lists["removing"] and reading.mention.dimension in {"substance", "material"}:
        return replace(reading, polarity=FLIP[reading.polarity])
    if verb in lists["checking"] and not _unwelcome(reading):
        return replace(reading, polarity="?")
    if reading.facet == "Severity" and not fits("Severity", reading.mention.dimension):
        reading = replace(reading, facet="")
    if verb in lists["worsening"] and _welcome(reading):
        return replace(reading, facet="", polarity=FLIP[reading.polarity])
    return reading


def _unwelcome(reading: PhraseReading) -> bool:
    """Whether more of it is worse: a disease, a failure, damage."""
    lists = word_lists()
    if reading.facet:
        grown = reading.facet in lists["grown_facets"] and reading.mention.dimension in lists["unwelcome_dimensions"]
        return grown or reading.facet in lists["unwelcome_facets"]
    mention = reading.mention
    family = family_of(mention.dimension, mention.entity)
    return mention.dimension in lists["unwelcome_dimensions"] or family in lists["unwelcome_families"]


def _welcome(reading: PhraseReading) -> bool:
    """Whether more of it is better, as far as its own name says: accuracy, adherence, sleep."""
    return reading.mention.entity.rsplit(" ", maxsplit=1)[-1].lower() in word_lists()["welcome"]
