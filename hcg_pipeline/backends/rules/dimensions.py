"""Dimensions of a corpus: typed terms, gathered by class or by the role that the corpus itself names for them."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from hcg_pipeline.backends.protocol import ProposedDimension, ProposedEntity
from hcg_pipeline.backends.rules.entities import EntityIndex
from hcg_pipeline.backends.rules.groups import Argument
from hcg_pipeline.backends.rules.noun_lexicon import noun_lexicon
from hcg_pipeline.backends.rules.noun_types import lexical_classes
from hcg_pipeline.backends.rules.parsing import Parsed
from hcg_pipeline.backends.rules.phrase_reading import PhraseReader
from hcg_pipeline.backends.rules.survey import Survey
from hcg_pipeline.backends.rules.terms import Term, of_the_text, term_key
from hcg_pipeline.backends.rules.wordlists import facet_of_noun, fits, noun_classes, word_lists
from hcg_pipeline.specification.vocabulary import Dimension, Entity

ENTITIES = 200
"""Most entities that one dimension proposes."""
_WEAK = frozenset(
    {
        "activity",
        "event",
        "process",
        "phenomenon",
        "condition",
        "quality",
        "cognition",
        "communication",
        "relation",
        "collection",
        "object",
        "time",
        "feeling",
        "quantity",
        "",
    }
)
_SURE = 0.45
_SAMPLE = 20_000
"""Words of a corpus that is long enough to say something of each thing that it is about."""
_ABSTRACT = ("ity", "ness", "ance", "ence", "cy", "th")
"""Endings of qualities that there can be more or less of, unlike shapes and marks."""
_EARLY = 6
_PAIR = 2
_SUBSTANCE = "substance"
_MET_WITH = frozenset({_SUBSTANCE, "food", "energy", "material"})
"""Kinds of what acts by being taken in or met with; the first six dimensions are in every tier."""
_TELLING = 4
"""A passage that says something of a dimension's entities counts for as much as four that only name them."""
_NAMED = frozenset({"place", "organization", "policy", "asset", "drug", "disease", "microorganism", "software", "test"})
"""Classes whose members have proper names; a capitalised "Bush" or "Petunia" elsewhere is a person, no plant."""


@dataclass(frozen=True, slots=True)
class Typed:
    """An accepted entity: its term, its class, and how sure the class is."""

    term: Term
    kind: str
    share: float


def propose(found: Survey) -> list[ProposedDimension]:
    """Dimensions by falling support; no entity is in two of them."""
    typed = accepted_terms(found)
    by_dimension: defaultdict[str, list[Typed]] = defaultdict(list)
    roles = _roles(found, typed)
    classes = noun_classes()
    for one in typed:
        role = roles.get(one.term.key)
        if role is not None:
            by_dimension[role].append(one)
        elif one.kind == "quality" and found.linked[one.term.key] and one.term.key.endswith(_ABSTRACT):
            # "variability", "toxicity": what is said to be a cause or an effect is more or less of something.
            by_dimension["indicator"].append(one)
        elif one.kind in classes:
            by_dimension[classes[one.kind].dimension].append(one)
    placed = frozenset(one.term.key for members in by_dimension.values() for one in members)
    groups = {name: _merge(members, found, placed) for name, members in by_dimension.items()}
    least = 2 if found.words < 20_000 else 3
    groups = {name: entities for name, entities in groups.items() if len(entities) >= least}
    return _ranked(groups, found)


def accepted_terms(found: Survey) -> list[Typed]:
    """Terms that can be entities, with their classes, best first."""
    typed = []
    for term in found.terms:
        if term.c_value <= 0 or _refused(term, found):
            continue
        kind, share = found.types.best(term.key)
        if kind and share >= _SURE and _spoken_of(term, kind, found):
            typed.append(Typed(term, kind, share))
    return typed


def _spoken_of(term: Term, kind: str, found: Survey) -> bool:
    """Whether the corpus has something to say of a term: often enough, or in a cause or effect; no everyday word."""
    least = 2 if found.words < 80_000 else 3
    if term.frequency < least and not found.linked[term.key]:
        return False
    if all(word[:1].isupper() and word[1:].islower() for word in term.name.split()) and kind not in _NAMED:
        return False
    if kind in _WEAK and found.words >= _SAMPLE and not found.linked[term.key]:
        # "window", "routine": of what happens or is so, a text of some length says what it does or whence it comes.
        return False
    keen = found.keenness.get(term.key, 9.0)
    return keen >= (1.2 if kind in _WEAK else 0.3)


def _refused(term: Term, found: Survey) -> bool:
    """Whether a term names nothing on its own: too short, numbers, vague or generic words, a measure of something."""
    words = term.key.split()
    if (len(term.key) < 3 and term.key not in found.short_forms) or "." in term.key:
        return True
    if not all(word[0].isalnum() for word in words) or not any(letter.isalpha() for letter in term.key):
        return True
    if any(word in word_lists()["numeral"] for word in words) or of_the_text(term.key):
        return True
    return _refused_word(words[0]) if len(words) == 1 else _refused_phrase(term.key, term.name, found)


def _refused_word(word: str) -> bool:
    lists = word_lists()
    if any(word in lists[name] for name in ("vague", "generic", "modifier")):
        return True
    return word in facet_of_noun() and word not in lists["measure"]


def _refused_phrase(key: str, name: str, found: Survey) -> bool:
    words = key.split()
    lists = word_lists()
    first, head = words[0], words[-1]
    if key in noun_lexicon().classes:
        return first in lists["modifier"] or head in lists["hollow"]
    # "GABA-A receptor" has a letter of its own, "vitamin a b" is cut out of something longer.
    if any(len(word) == 1 for word in name.split()) or len(set(words)) < len(words):
        return True
    if first in lists["verbal"] or first in lists["modifier"] or head in lists["vague"] or head in lists["person_head"]:
        return True
    if head in facet_of_noun() or head in lists["less_head"] or head in lists["more_head"]:
        return _measures(" ".join(words[:-1]), facet_of_noun().get(head, ""), found)
    return first in lists["vague"] and len(words) == 2 and head in lists["generic"]


def _measures(front: str, facet: str, found: Survey) -> bool:
    """ "tumor size" is a measure of a tumor, not a thing of its own; "interest rate" measures no other entity."""
    kind, share = found.types.best(front)
    if kind not in noun_classes() or kind in _WEAK or share < _SURE:
        return False
    return not facet or fits(facet, noun_classes()[kind].dimension)


def _roles(found: Survey, typed: Sequence[Typed]) -> dict[str, str]:
    """Entities that the corpus gathers under a noun of its own ("risk factors such as …"): key -> dimension."""
    kinds = {one.term.key: one.kind for one in typed}
    lists = word_lists()
    taken: dict[str, str] = {}
    candidates = []
    for wide, narrow in found.kinds.items():
        members = [key for key in narrow if key in kinds and kinds[key] in _WEAK and kinds[key] != "quantity"]
        head = wide.split()[-1]
        wide_kind, _ = found.types.best(wide)
        if len(members) < 5 or (
            " " not in wide and (head in lists["vague"] or head in lists["light"] or head in lists["generic"])
        ):
            continue
        if wide_kind not in _WEAK or wide.split()[0] in lists["modifier"]:
            continue
        candidates.append((-len(members), wide, members))
    for _, wide, members in sorted(candidates)[:4]:
        for key in members:
            taken.setdefault(key, wide.replace(" ", "_").replace("-", "_"))
    return taken


def _merge(members: Iterable[Typed], found: Survey, placed: frozenset[str]) -> list[ProposedEntity]:
    """Entities with aliases: short forms go with their long form, other names that the text states with the commonest.

    `placed` are the keys of the entities of all dimensions: what is one of another dimension is left there.
    """
    terms = {one.term.key: one.term for one in members}
    into: dict[str, str] = {}

    def end(key: str) -> str:
        while key in into:
            key = into[key]
        return key

    for short, long in found.short_forms.items():
        if short in terms and long in terms and end(long) != short:
            into[short] = long
    unlisted: defaultdict[str, list[str]] = defaultdict(list)
    for name, other in found.same:
        one, two = (end(term_key(text)) for text in (name, other))
        if one in terms and two in terms and one != two:
            keep, lose = sorted((one, two), key=lambda key: (-terms[key].frequency, key))
            into[lose] = keep
        elif one in terms or two in terms:
            unlisted[one if one in terms else two].append(other if one in terms else name)
    gathered: dict[str, tuple[Term, list[str], int]] = {}
    for key, term in terms.items():
        if key in into:
            continue
        joined = [terms[other] for other in sorted(terms) if other != key and end(other) == key]
        aliases = [spelling for one in (term, *joined) for spelling in (one.name, *one.spellings)]
        shorts = [
            short.upper()
            for short, long in sorted(found.short_forms.items())
            if end(long) == key and short not in terms and len(short) > 2
        ]
        others = [name for kept in (key, *(one.key for one in joined)) for name in unlisted[kept]]
        named = [name for name in others if term_key(name) not in placed]
        gathered[key] = (term, [*aliases, *shorts, *named], term.frequency + sum(one.frequency for one in joined))
    entities = []
    for term, aliases, frequency in gathered.values():
        others = list(dict.fromkeys(alias for alias in aliases if alias.lower() != term.name.lower()))
        entities.append(ProposedEntity(term.name, tuple(others[:8]), frequency))
    # What stands in causes and effects comes first: it is what the graph can speak of.
    linked = {entity.name: found.linked[term_key(entity.name)] for entity in entities}
    kept = sorted(entities, key=lambda entity: (-(entity.mentions + 5 * linked[entity.name]), entity.name))[:ENTITIES]
    return sorted(kept, key=lambda entity: (-entity.mentions, entity.name))


def _ranked(groups: dict[str, list[ProposedEntity]], found: Survey) -> list[ProposedDimension]:
    """Support is the number of passages that say something of a dimension's entities, weighted by the dimension."""
    draft = [
        Dimension(name, "", tuple(Entity(one.name, one.aliases, one.mentions) for one in entities))
        for name, entities in sorted(groups.items())
    ]
    reader = PhraseReader(EntityIndex(draft))
    support: Counter[str] = Counter()
    for passage in found.passages:
        bare, telling = _spoken_dimensions(passage, reader)
        for name in bare | telling:
            support[name] += _TELLING if name in telling else 1
    weights = {kind.dimension: kind.weight for kind in noun_classes().values()}
    weighted = {name: max(round(support[name] / _TELLING * weights.get(name, 1.0)), 1) for name in groups}
    _join_late(groups, {name: weighted[name] for name in groups if support[name]}, weighted)
    proposals = [
        ProposedDimension(name, _describe(name, entities), tuple(entities), weighted[name])
        for name, entities in groups.items()
        if support[name]
    ]
    return sorted(proposals, key=lambda one: (-one.support, one.name))


def _join_late(groups: dict[str, list[ProposedEntity]], ranked: dict[str, int], weighted: dict[str, int]) -> None:
    """Make substances of what can be taken in or met with, where they come first of it but each kind late, in place."""
    order = sorted(ranked, key=lambda name: (-ranked[name], name))
    late = [name for name in order[_EARLY:] if name in _MET_WITH]
    if len(late) < len(_MET_WITH.intersection(order)) or len(late) < _PAIR or late[0] != _SUBSTANCE:
        return
    kept = _SUBSTANCE
    for other in late:
        if other == kept:
            continue
        groups[kept] += groups.pop(other)
        weighted[kept] += weighted.pop(other)
    groups[kept].sort(key=lambda entity: (-entity.mentions, entity.name))


def _spoken_dimensions(passage: Sequence[Parsed], reader: PhraseReader) -> tuple[set[str], set[str]]:
    """Dimensions that a passage names, and those of which it states a cause, an effect or a measure."""
    bare: set[str] = set()
    telling: set[str] = set()
    for sentence in passage:
        tokens = sentence.clauses.tokens
        for argument in (one for link in sentence.links for one in (*link.causes, *link.effects)):
            reading = reader.read(tokens, argument)
            if reading is not None:
                telling.add(reading.mention.dimension)
        for segment in sentence.clauses.segments:
            reading = reader.read(tokens, Argument(segment.start, segment.end)) if segment.kind == "NP" else None
            if reading is not None:
                (telling if reading.facet else bare).add(reading.mention.dimension)
    return bare, telling


def _describe(name: str, entities: Sequence[ProposedEntity]) -> str:
    examples = [entity.name for entity in entities[:4]]
    listed = f"{', '.join(examples[:-1])} and {examples[-1]}" if len(examples) > 1 else examples[0]
    says = next((kind.describes for kind in noun_classes().values() if kind.dimension == name), None)
    if says is None:
        says = f"What the corpus names as {name.replace('_', ' ')}"
    return f"{says}, such as {listed}."


def lexical_dimension(key: str) -> str:
    """The dimension that the lexicon alone gives a term, or nothing."""
    kinds, _ = lexical_classes(key)
    if not kinds:
        return ""
    kind = max(kinds.items(), key=lambda item: (item[1], item[0]))[0]
    return noun_classes()[kind].dimension if kind in noun_classes() else ""
