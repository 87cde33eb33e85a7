"""Entities that a vocabulary lacks: named as a cause or effect in a window, and typed with confidence.

A term is typed by the entities that share its head noun, else by the lexicon, else by how its head is made: a prefix on
a known noun ("undervoltage", "mistiming"), or the noun of a verb or an adjective ("graphitisation", "tightness").
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator

from hcg_pipeline.backends.protocol import ProposedEntity
from hcg_pipeline.backends.rules.groups import Argument
from hcg_pipeline.backends.rules.noun_types import formed_classes, lexical_classes
from hcg_pipeline.backends.rules.parsing import Parsed
from hcg_pipeline.backends.rules.phrase_reading import PEOPLE
from hcg_pipeline.backends.rules.phrases import Segment
from hcg_pipeline.backends.rules.resolve import Resolver
from hcg_pipeline.backends.rules.terms import core, shown, term_key, word_key
from hcg_pipeline.backends.rules.wordlists import facet_of_noun, noun_classes, word_lists

_SURE = 0.6
_HALF = 0.5
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
_MACHINES = frozenset({"component", "equipment"})
_SINGLE = ("treatment", "drug", "test", "body_part", "microorganism", "policy")
_CLOSED = 40
_FIRST = 4
_RARE = 9.3
"""A term of one word is at most so common in English (minus the logarithm of its share of words)."""


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
                    if self._resolver.reader.read(sentence.clauses.tokens, argument) is not None:
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
        if " " not in key and (self._commonness(key) or -_RARE) > -_RARE and not measurable:
            # An everyday word ("turn", "freedom") is no term where it was seen once, unless it can be measured.
            return ""
        if _stands_aside(key.rsplit(" ", maxsplit=1)[-1]):
            # "neuronal loss", "weight gain": a change of something that is no entity.
            return next((name for name in _KIN[0] if name in self._open), "")
        shares: defaultdict[str, float] = defaultdict(float)
        for kind, share in kinds.items():
            known = noun_classes().get(kind)
            shares[kind if known is None else known.dimension] += share
        if self._of_machines:
            shares["component"] += shares["object"]
        if key.rsplit(" ", maxsplit=1)[-1].endswith(tuple(sorted(word_lists()["happening_ending"]))):
            shares["event"] += sum(shares[name] for name in _DEEDS)
        for family in (*_KIN, *((name,) for name in _SINGLE)):
            if sum(shares[name] for name in family) < _SURE:
                continue
            order = sorted(family, key=lambda name: (-shares[name], family.index(name)))
            if order[0] in _FACTORS:
                order = [*(("indicator",) if order[0] == "characteristic" else ()), "condition", *order]
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
    if start == 0 and end > start and tokens[0].text.istitle():
        return [tokens[0].low, *(token.text for token in tokens[1:end])]
    return [token.text for token in tokens[start:end]]


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
    if len(key) < 4 or len(words) > 4 or not all(word[:1].isalpha() and word.isascii() for word in words):
        return False
    if any(word[:1].isupper() and word[1:].islower() for word in name.split()):
        return False
    change = len(words) > 1 and _stands_aside(head)
    refused = (
        "person_head",
        "hollow",
        *(() if change else ("vague",)),
        *(("generic", "modifier", "stop") if len(words) == 1 else ()),
    )
    if any(head in lists[name] for name in refused) or words[0] in lists["verbal"]:
        return False
    parts = name.lower().split()
    # A plural inside is no compound: the parse took in a verb.
    if any(len(word) < 2 or word in lists["vague"] for word in (parts[:-1] if change else parts)) or any(
        word_key(one) != one for one in parts[:-1]
    ):
        return False
    return head not in facet_of_noun() or head in lists["measure"] or len(words) > 1
