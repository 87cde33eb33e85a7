"""Entities that a vocabulary lacks: named as a cause or effect in a window, and typed with confidence.

A term is typed by the entities that share its head noun, else by the lexicon, else by how its head is made: a prefix on
a known noun ("undervoltage", "mistiming"), or the noun of a verb or an adjective ("graphitisation", "tightness").
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping

from hcg_pipeline.backends.protocol import ProposedEntity
from hcg_pipeline.backends.rules.groups import Argument
from hcg_pipeline.backends.rules.noun_lexicon import noun_lexicon
from hcg_pipeline.backends.rules.noun_types import formed_classes, lexical_classes
from hcg_pipeline.backends.rules.parsing import Parsed
from hcg_pipeline.backends.rules.phrase_reading import PEOPLE
from hcg_pipeline.backends.rules.phrases import Segment
from hcg_pipeline.backends.rules.resolve import Resolver
from hcg_pipeline.backends.rules.terms import core, of_the_text, shown, term_key, word_key
from hcg_pipeline.backends.rules.wordlists import facet_of_noun, facets, noun_classes, word_lists

_SURE = 0.6
_HALF = 0.5
_PLAIN = 0.8
_FACTORS = ("characteristic", "cognition", "feeling", "relation")
"""What is no dimension, or one whose entities are no variables, is a factor where it has a cause or an effect."""
_DEEDS = ("communication", "relation", "policy", "organization", "feeling")
"""What WordNet says first of nouns made from verbs ("clearance", "alignment"): where they act, they are what is done.
"""
_KIN = (
    ("event", "condition", "phenomenon", "process", "activity", "symptom", "disease", "weather", *_FACTORS),
    ("component", "equipment", "structure", "vehicle", "software"),
    ("material", "substance", "biomolecule", "energy", "food"),
    ("indicator", "quantity", "asset", "good"),
)
"""Dimensions whose border a lexicon does not see: a term of one that the vocabulary lacks may go to the next of kin."""
_THINGS = frozenset({"asset", "good"})
"""Things that are no quantity, though both are of the market."""
_MADE = frozenset({*_KIN[1], "object"})
_HAPPENS = frozenset({"change", "damage", "outcome"})
"""Categories of facets that say what befalls something; the others say how much or how good it is."""
_BEFALLING = ("event", "condition", "phenomenon", "symptom", "disease")
"""What befalls something is, where a vocabulary has no such kind, rather a symptom than something that is done."""
_ACTS = frozenset({"test", "treatment"})
"""Acts of a kind ("audit", "inspection") that count as activities where a vocabulary has no such kind."""
_MACHINES = frozenset({"component", "equipment"})
_SINGLE = ("treatment", "drug", "test", "body_part", "microorganism", "policy")
_CLOSED = 40
_FIRST = 4
_RARE = 9.3
"""A term of one word is at most so common in English (minus the logarithm of its share of words)."""
_LESS_RARE = 8.5
"""So it is for what happens or is done ("training"): as a cause it is no mere turn of phrase."""
_HAPPENING = frozenset({"activity", "event", "process", "condition", "disease", "symptom", "phenomenon"})


class Newcomers:
    """Finds and types what a vocabulary lacks. The result depends on the window and the vocabulary alone."""

    def __init__(self, resolver: Resolver, commonness: Callable[[str], float | None]) -> None:
        self._resolver = resolver
        self._commonness = commonness
        self._open = _open_dimensions(resolver)
        self._heads: defaultdict[str, Counter[str]] = defaultdict(Counter)
        for dimension, names in resolver.names.items():
            for name in names:
                self._heads[term_key(name).split(" ")[-1]][dimension] += 1
        self._typed: dict[str, str] = {}
        # Where a vocabulary is about machines, things without a class of their own are parts of them.
        self._of_machines = len(_MACHINES.intersection([*resolver.names][:_FIRST])) == len(_MACHINES)

    def found(self, sentences: Iterable[Parsed]) -> dict[str, tuple[str, ProposedEntity]]:
        """Term key -> (dimension, entity) for the causes and effects that name something new, in text order."""
        found: dict[str, tuple[str, ProposedEntity]] = {}
        for sentence in sentences:
            for link in sentence.links:
                for argument in (*link.causes, *link.effects):
                    if self._resolver.resolve(sentence.clauses.tokens, argument) is not None:
                        continue
                    for name in _names(sentence, argument):
                        key = term_key(name)
                        dimension = self._dimension(key, name)
                        if dimension and self._resolver.index.exact(name) is None:
                            found.setdefault(key, (dimension, ProposedEntity(shown(name))))
                            break
        return found

    def _dimension(self, key: str, name: str) -> str:
        if key not in self._typed:
            self._typed[key] = self._typed_as(key) if _can_name(key, name) else ""
        return self._typed[key]

    def _typed_as(self, key: str) -> str:
        """The dimension of a term, of those of the vocabulary that are open to more; or nothing."""
        heads = self._heads.get(key.rsplit(" ", maxsplit=1)[-1])
        if heads is not None:
            best, count = max(heads.items(), key=lambda item: (item[1], item[0]))
            if count >= _SURE * sum(heads.values()):
                return best if best in self._open else ""
        kinds = lexical_classes(key)[0] or formed_classes(key)
        measurable = sum(share for kind, share in kinds.items() if kind in {"quality", "quantity"}) > _HALF
        does = max((share for kind, share in kinds.items() if kind in _HAPPENING), default=0.0) > _PLAIN
        rare = _LESS_RARE if does else _RARE
        if " " not in key and (self._commonness(key) or -rare) > -rare and not measurable:
            # An everyday word ("turn", "freedom") is no term where it was seen once, unless it can be measured.
            return ""
        if _stands_aside(key.rsplit(" ", maxsplit=1)[-1]):
            # "neuronal loss", "record accuracy": a change or a measure of something that is no entity.
            first = ("indicator",) if _measures(key.rsplit(" ", maxsplit=1)[-1]) else ()
            return next((name for name in (*first, *_BEFALLING, *_KIN[0]) if name in self._open), "")
        found = self._by_shares(key, kinds)
        if found or sum(kinds.get(kind, 0.0) for kind in _MADE) >= _SURE:
            # "housing" is a thing, though it ends as what is done does.
            return found
        return self._by_shares(key, {kind: share for kind, share in formed_classes(key).items() if kind == "event"})

    def _by_shares(self, key: str, kinds: Mapping[str, float]) -> str:
        """The open dimension that shares of classes speak for, or the next of its kin."""
        shares: defaultdict[str, float] = defaultdict(float)
        for kind, share in kinds.items():
            known = noun_classes().get(kind)
            shares[kind if known is None else known.dimension] += share
        if self._of_machines or "material" in self._open:
            shares["component" if self._of_machines else "material"] += shares["object"]
        if key.rsplit(" ", maxsplit=1)[-1].endswith(tuple(sorted(word_lists()["happening_ending"]))):
            shares["event"] += sum(shares[name] for name in _DEEDS)
        for family in (*_KIN, *((name,) for name in _SINGLE)):
            if sum(shares[name] for name in family) < _SURE:
                continue
            order = sorted(family, key=lambda name: (-shares[name], family.index(name)))
            if order[0] == "condition":
                order = [*(name for name in order if shares[name]), *_BEFALLING, *order]
            elif family == _KIN[0]:
                # What is done or happens is no symptom or disease, unless the lexicon knows it as one.
                order = [name for name in order if shares[name] or name not in {"symptom", "disease"}]
            if order[0] in _THINGS:
                order = [name for name in order if name in _THINGS]
            if order[0] in _FACTORS:
                order = [*(("indicator",) if order[0] == "characteristic" else ()), "condition", *order]
            if order[0] in _ACTS:
                order = [*order, "activity", "process"]
            if not shares["biomolecule"]:
                order = [name for name in order if name != "biomolecule"]
            return next((name for name in order if name in self._open), "")
        return ""


def _open_dimensions(resolver: Resolver) -> frozenset[str]:
    """Dimensions that take more entities.

    Where several are of one, the largest size, a tier has cut them to it; what it left out is not let in again.
    """
    sizes = Counter(len(names) for names in resolver.names.values())
    largest = max(sizes, default=0)
    full = largest if largest >= _CLOSED and sizes[largest] > 1 else largest + 1
    return frozenset(name for name, names in resolver.names.items() if len(names) < full and name not in PEOPLE)


def _names(sentence: Parsed, argument: Argument) -> Iterator[str]:
    """What in an argument may be the new thing: its first noun phrase, or what that measures or counts."""
    clauses = sentence.clauses
    inside = [one for one in clauses.segments if argument.start <= one.start < argument.end and one.kind == "NP"]
    for place, segment in enumerate(inside[:3]):
        if segment.form == "pronoun" or any(
            token.low in {"no", "neither"} for token in clauses.tokens[segment.start : segment.end]
        ):
            return
        words = _core(sentence, segment)
        head = clauses.tokens[segment.end - 1].lemma
        if not _stands_aside(head):
            if words:
                yield " ".join(words)
            return
        before = clauses.tokens[segment.end - 2] if segment.end - segment.start > 1 else None
        if len(words) > 1 and before is not None and before.is_noun:
            yield " ".join(words[:-1])
        if len(words) > 1 and not any(head in word_lists()[name] for name in ("light", "carrier")):
            yield " ".join(words)
        elif words and head in word_lists()["measure"]:
            yield words[0]
        after = clauses.tokens[segment.end].low if segment.end < argument.end else ""
        if after not in {"of", "in", "for", "to", "on"} or place + 1 == len(inside):
            return


def _core(sentence: Parsed, segment: Segment) -> list[str]:
    tokens = sentence.clauses.tokens
    start, end = core(tokens, segment)
    if start == 0 and end > start and tokens[0].text[:1].isupper() and tokens[0].text[1:].islower():
        return [tokens[0].low, *(token.text for token in tokens[1:end])]
    return [token.text for token in tokens[start:end]]


def _narrows(word: str) -> bool:
    """Whether a word before "time" or "ratio" says of what: a noun of its own, not "first" or "whole"."""
    lists = word_lists()
    known = word in noun_lexicon().classes or bool(formed_classes(word))
    return known and not any(word in lists[name] for name in ("vague", "generic", "modifier", "less", "more"))


def _measures(head: str) -> bool:
    """Whether a head says how much or how good something is, not what befalls it."""
    facet = facets().get(facet_of_noun().get(head, ""))
    return facet is not None and facet.category not in _HAPPENS


def _stands_aside(head: str) -> bool:
    """Whether a head measures, counts or changes what it is said of, rather than names something."""
    lists = word_lists()
    return head in facet_of_noun() or any(
        head in lists[name] for name in ("less_head", "more_head", "light", "carrier")
    )


def _can_name(key: str, name: str) -> bool:
    """Whether a term can name a thing: no wide or vague word, no person, no proper name of unknown kind."""
    lists = word_lists()
    words = key.split(" ")
    head = words[-1]
    if (
        len(key) < 4
        or len(words) > 4
        or of_the_text(key)
        or not all(word[:1].isalpha() and word.isascii() for word in words)
    ):
        return False
    if any(word[:1].isupper() and word[1:].islower() for word in name.split()):
        return False
    change = len(words) > 1 and _stands_aside(head)
    measure = len(words) > 1 and head in lists["measuring_head"] and _narrows(words[-2])
    refused = (
        "person_head",
        *(() if measure else ("hollow",)),
        *(() if change or measure else ("vague",)),
        *(("generic", "modifier", "stop") if len(words) == 1 else ()),
    )
    if any(head in lists[name] for name in refused) or words[0] in lists["verbal"]:
        return False
    parts = name.lower().split()
    # A plural inside is no compound: the parse took in a verb.
    if any(len(word) < 2 or word in lists["vague"] for word in (parts[:-1] if change or measure else parts)) or any(
        word_key(one) != one for one in parts[:-1]
    ):
        return False
    return head not in facet_of_noun() or head in lists["measure"] or len(words) > 1
