"""Entities that a vocabulary lacks: named as a cause or effect in a window, and typed beyond doubt by the lexicon."""

from collections.abc import Iterable

from hcg_pipeline.backends.protocol import ProposedEntity
from hcg_pipeline.backends.rules.groups import Argument
from hcg_pipeline.backends.rules.noun_lexicon import noun_lexicon
from hcg_pipeline.backends.rules.parsing import Parsed
from hcg_pipeline.backends.rules.resolve import Resolver
from hcg_pipeline.backends.rules.terms import core, term_key
from hcg_pipeline.backends.rules.wordlists import facet_of_noun, noun_classes, word_lists

_SURE = 0.75
_CONCRETE = frozenset(
    {
        "disease",
        "symptom",
        "treatment",
        "drug",
        "test",
        "substance",
        "biomolecule",
        "microorganism",
        "body_part",
        "component",
        "equipment",
        "material",
        "food",
        "policy",
        "asset",
        "weather",
        "animal",
        "plant",
        "software",
    }
)
"""Dimensions that the lexicon alone may add to; what an activity or event is, only a corpus shows."""


def newcomers(sentences: Iterable[Parsed], resolver: Resolver) -> dict[str, tuple[str, ProposedEntity]]:
    """Term key -> (dimension, entity) for the causes and effects that name something new, in the order of the text.

    A term counts only as a whole entry of the lexicon with three quarters of its use in one class, and only where the
    vocabulary has the dimension of that class.
    """
    found: dict[str, tuple[str, ProposedEntity]] = {}
    for sentence in sentences:
        for link in sentence.links:
            for argument in (*link.causes, *link.effects):
                if resolver.reader.read(sentence.clauses.tokens, argument) is not None:
                    continue
                name = _name(sentence, argument)
                dimension = _dimension(term_key(name)) if name else ""
                if dimension in resolver.dimensions and resolver.index.exact(name) is None:
                    found.setdefault(term_key(name), (dimension, ProposedEntity(term_key(name))))
    return found


def _name(sentence: Parsed, argument: Argument) -> str:
    """The core of the first noun phrase of an argument, if nothing of it stands after a preposition."""
    clauses = sentence.clauses
    inside = [one for one in clauses.segments if argument.start <= one.start < argument.end and one.kind == "NP"]
    if len(inside) != 1 or inside[0].form == "pronoun":
        return ""
    start, end = core(clauses.tokens, inside[0])
    return " ".join(token.text for token in clauses.tokens[start:end])


def _dimension(key: str) -> str:
    lists = word_lists()
    if len(key) < 4 or key in facet_of_noun() or any(key in lists[name] for name in ("vague", "generic", "modifier")):
        return ""
    kinds = noun_lexicon().classes.get(key, ())
    if not kinds or kinds[0][1] < _SURE or kinds[0][0] not in noun_classes():
        return ""
    dimension = noun_classes()[kinds[0][0]].dimension
    return dimension if dimension in _CONCRETE else ""
