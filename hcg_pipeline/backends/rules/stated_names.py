"""Two names of one thing, where the text says so: "X, also called Y", "The larynx (voice box) is a …", "X, or Y, is …".

Precision before recall, since a wrong pair makes one variable of two things. A name is a whole noun phrase that nothing
is joined to. A bracket alone says little ("color (melanin)", "extent (size)"): it counts where a sentence defines with
it, or where the corpus puts either name in brackets behind the other.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

from hcg_pipeline.backends.protocol import ProposedEntity
from hcg_pipeline.backends.rules.abbreviations import abbreviations
from hcg_pipeline.backends.rules.clauses import Clauses
from hcg_pipeline.backends.rules.noun_lexicon import noun_lexicon
from hcg_pipeline.backends.rules.parsing import Parsed
from hcg_pipeline.backends.rules.terms import shown, term_key
from hcg_pipeline.backends.rules.tokens import Token
from hcg_pipeline.backends.rules.wordlists import facet_of_noun, word_lists
from hcg_pipeline.specification.names import is_abbreviation

_NAMING = frozenset({"call", "know", "name", "term", "refer"})
_BESIDES = frozenset(
    {"also", "sometimes", "often", "commonly", "otherwise", "formerly", "previously", "once", "better"}
)
_BETWEEN = frozenset({*_BESIDES, "simply", "more", "now", "usually", "generally"})
_SHORT_FOR_ALSO = frozenset({"a.k.a.", "aka", "a.k.a"})
_WORDS_FOR = frozenset({"name", "term", "word"})
_NOT_IN_A_NAME = frozenset({"AT0", "DT0", "CRD", "ORD", "AJC", "AJS", "AV0", "CJC"})
_BEFORE_A_NAME = frozenset({"AT0", "DPS", "PUQ"})
_QUOTES = frozenset({"“", "”", '"', "‘", "’"})
_NAME_NOTHING = ("vague", "generic", "hollow", "person_head", "less_head", "more_head", "light", "carrier")
_LONGEST = 5
_SAME_HEADS = ({"carcinoma", "cancer"}, {"physician", "provider", "doctor"}, {"therapy", "treatment"})


@dataclass(frozen=True, slots=True)
class SaidSame:
    """`other` stands for what `name` stands for; `sure`: said in words or in a definition, not by a bracket alone."""

    name: str
    other: str
    sure: bool


def said_same(clauses: Clauses) -> Iterator[SaidSame]:
    """The pairs of names that a sentence gives one thing, in its order."""
    for place in range(len(clauses.segments)):
        other = _name_for(clauses, place)
        if other and _two_names(other, _phrase(clauses, place)):
            yield SaidSame(other, _phrase(clauses, place), True)
        name = _name(clauses, place)
        if not name or _joined(clauses, place):
            continue
        behind = clauses.kind(place - 1) == "P" if place else False
        called = () if behind else _called(clauses, place)
        for other, sure in (*called, *_bracketed(clauses, place), *_or_else(clauses, place)):
            if _two_names(name, other):
                yield SaidSame(name, other, sure)


def agreed(
    found: Iterable[SaidSame], kinds: Mapping[str, Counter[str]], short_forms: Mapping[str, str]
) -> tuple[tuple[str, str], ...]:
    """The pairs of a corpus that hold, sorted: what is said in words, or with brackets in both directions.

    Left out: a pair of which one is said to be a kind of the other (`kinds`: hypernym -> hyponyms), and a name that is
    given to two things, unless these are one by other pairs or by `short_forms` (short form -> long form key).
    """
    spelled: dict[tuple[str, str], tuple[str, str]] = {}
    sure: set[tuple[str, str]] = set()
    for one in found:
        pair = (term_key(one.name), term_key(one.other))
        spelled.setdefault(pair, (one.name, one.other))
        if one.sure:
            sure.add(pair)
    behind: defaultdict[str, set[str]] = defaultdict(set)
    for name, other in spelled:
        behind[name].add(other)
    both = {(one, two) for one, two in spelled if behind[one] == {two} and behind.get(two) == {one} and one < two}
    held = {
        (name, other)
        for name, other in sure | both
        if other not in kinds.get(name, ()) and name not in kinds.get(other, ())
    }
    things: defaultdict[str, set[str]] = defaultdict(set)
    for name, other in held:
        things[other].add(name)
    one_thing = _Sets()
    for short, long in short_forms.items():
        one_thing.join(short, long)
    for name, other in held:
        if len(things[other]) == 1:
            one_thing.join(name, other)
    return tuple(spelled[pair] for pair in sorted(held) if len({one_thing.of(name) for name in things[pair[1]]}) == 1)


class _Sets:
    """Names that are taken for one thing, directly or by way of others."""

    def __init__(self) -> None:
        self._into: dict[str, str] = {}

    def of(self, name: str) -> str:
        while name in self._into:
            name = self._into[name]
        return name

    def join(self, one: str, other: str) -> None:
        one, other = self.of(one), self.of(other)
        if one != other:
            self._into[max(one, other)] = min(one, other)


def one_long_form(shorts: Mapping[str, Counter[str]]) -> dict[str, str]:
    """Short form -> the long form that it stands for in this corpus; those that stand for two things are left out.

    Long forms that are one spelled twice ('non-Hodgkin', 'nonHodgkin'; 'exam', 'examination'; 'carcinoma', 'cancer' as
    the head of the same words) or parts of one another are no two things: the most frequent stands for them.
    """
    chosen = {}
    for short, longs in sorted(shorts.items()):
        best = min(longs, key=lambda long: (-longs[long], long))
        if all(_one_long_form(best, other) for other in longs):
            chosen[short] = best
    return chosen


@dataclass(frozen=True, slots=True)
class NamedHere:
    """What some sentences call known entities: key of the name -> (dimension, entity).

    `hidden` are keys of short forms that a vocabulary knows and that stand for something else here.
    """

    added: dict[str, tuple[str, ProposedEntity]]
    hidden: frozenset[str]


def named_here(sentences: Iterable[Parsed], known: Callable[[str], tuple[str, str] | None]) -> NamedHere:
    """Names that sentences give to known entities, and short forms that they spell out otherwise than is known.

    `known` gives (dimension, entity) of a spelling. A name that these sentences give to two entities is left out. So a
    short form that stands for two things in a corpus is bound by the passage that spells it out. A long form is never
    taken for what its short form is known to stand for: that may be another thing with the same initials.
    """
    found: dict[str, dict[tuple[str, str], str]] = {}
    hidden: set[str] = set()
    for sentence in sentences:
        for one in said_same(sentence.clauses):
            if one.sure:
                _hold(found, one.name, one.other, known)
                _hold(found, one.other, one.name, known)
        for short, long in abbreviations(sentence.text):
            if _stands_for_another(short, long, known):
                hidden.add(term_key(short))
            _hold(found, long, short, lambda text: None if term_key(text) in hidden else known(text))
    added = {
        key: (dimension, ProposedEntity(entity, (new,)))
        for key, holders in found.items()
        if len(holders) == 1
        for (dimension, entity), new in holders.items()
    }
    return NamedHere(added, frozenset(hidden))


def _stands_for_another(short: str, long: str, known: Callable[[str], tuple[str, str] | None]) -> bool:
    """Whether a known short form is spelled out as something else than it is known to be.

    An entity that goes by the short form alone is what is spelled out, unless that is an entity of its own.
    """
    held, spelled = known(short), known(long)
    if held is None or held == spelled or (spelled is None and term_key(held[1]) == term_key(short)):
        return False
    return not _one_long_form(term_key(held[1]), term_key(long))


def _hold(
    found: dict[str, dict[tuple[str, str], str]],
    name: str,
    new: str,
    known: Callable[[str], tuple[str, str] | None],
) -> None:
    """Note that `new`, which is not known, stands for the entity that `name` is known to be."""
    holder = known(name)
    if holder is not None and known(new) is None and not is_abbreviation(name):
        found.setdefault(term_key(new), {})[holder] = new


def _one_long_form(one: str, other: str) -> bool:
    if one.replace(" ", "") == other.replace(" ", "") or one in other or other in one:
        return True
    words, others = one.split(), other.split()
    if len(words) != len(others):
        return False
    different = [(a, b) for a, b in zip(words, others, strict=True) if not (a.startswith(b) or b.startswith(a))]
    if not different:
        return True
    heads = {words[-1], others[-1]}
    return different == [(words[-1], others[-1])] and any(heads <= same for same in _SAME_HEADS)


def _name(clauses: Clauses, place: int) -> str:
    """The noun phrase at a place as a name; nothing where it grades: "severe pain" is one case of pain."""
    modifiers = word_lists()["modifier"]
    graded = any(token.low in modifiers and not token.is_noun for token in _words(clauses, place))
    return "" if graded else _phrase(clauses, place)


def _phrase(clauses: Clauses, place: int) -> str:
    """The noun phrase at a place without its article; nothing where it counts, joins or points back."""
    tokens = _words(clauses, place)
    if not tokens or len(tokens) > _LONGEST or any(token.tag in _NOT_IN_A_NAME for token in tokens):
        return ""
    text = " ".join(token.text for token in tokens).replace(" 's", "'s").replace(" ’s", "’s")
    opening = clauses.segments[place].start == 0 and tokens[0].text.istitle()
    if opening and (len(tokens) > 1 or tokens[0].low in noun_lexicon().classes):
        text = text[0].lower() + text[1:]
    front, space, last = text.rpartition(" ")
    return front + space + shown(last)


def _words(clauses: Clauses, place: int) -> list[Token]:
    if clauses.kind(place) != "NP" or clauses.segments[place].form == "pronoun":
        return []
    segment = clauses.segments[place]
    tokens = [token for token in clauses.tokens[segment.start : segment.end] if token.low not in _QUOTES]
    while tokens and (tokens[0].tag in _BEFORE_A_NAME or tokens[0].low in _SHORT_FOR_ALSO):
        tokens = tokens[1:]
    half = len(tokens) // 2
    if [token.low for token in tokens[:half]] == [token.low for token in tokens[half:]]:
        tokens = tokens[half:]  # a heading, and the sentence that begins with it
    return tokens


def _joined(clauses: Clauses, place: int) -> bool:
    """Whether a noun phrase belongs to something wider: "A and B", "the inflammation of A"."""
    before = clauses.kind(place - 1) if place else ""
    if before == "CJ":
        return True
    return before in {"P", "CM"} and place > 1 and clauses.kind(place - 2) in {"NP", "CLOSE"}


def _called(clauses: Clauses, place: int) -> Iterator[tuple[str, bool]]:
    """ "X, also called Y", "X (formerly known as Y or Z)", "X is sometimes referred to as Y", "X, a.k.a. Y"."""
    opener = clauses.kind(place + 1)
    here = place + 2 if opener in {"CM", "OPEN"} else place + 1
    if opener in {"CM", "OPEN"} and clauses.kind(here) == "NP":
        if _opening(clauses, here) in _SHORT_FOR_ALSO:
            yield from _names(clauses, here, opener)
        return
    besides = False
    while clauses.kind(here) == "AV" and clauses.low(here) in _BETWEEN:
        besides = besides or clauses.low(here) in _BESIDES
        here += 1
    verb = clauses.verb(here)
    if verb is None or verb.lemma not in _NAMING or verb.negated:
        return
    words = [token.low for token in clauses.tokens[verb.start : verb.end]]
    if opener in {"CM", "OPEN"}:
        besides = besides and len(words) == 1
    else:
        besides = len(words) > 1 and words[0] in {"is", "are", "was", "were"} and bool(_BESIDES.intersection(words))
    if not besides:
        return
    here += 1
    while clauses.low(here) in {"to", "as"} or (clauses.kind(here) == "AV" and clauses.low(here) in _BETWEEN):
        here += 1
    yield from _names(clauses, here, opener)


def _names(clauses: Clauses, here: int, opener: str) -> Iterator[tuple[str, bool]]:
    """One name or "Y or Z", with nothing behind that makes it part of something else."""
    names = [_name(clauses, here)]
    here += 1
    if clauses.low(here) == "or" and clauses.kind(here + 1) == "NP":
        names.append(_name(clauses, here + 1))
        here += 2
    if clauses.kind(here) == "OPEN" and clauses.kind(here + 1) == "NP" and clauses.kind(here + 2) == "CLOSE":
        here += 3
    after = clauses.kind(here)
    listed = after == "CM" and clauses.kind(here + 1) in {"NP", "CJ"}
    ends = after == "CLOSE" if opener == "OPEN" else after in {"CM", "END"} or clauses.low(here) in {".", ";", ":", "”"}
    if ends and not listed and all(names):
        yield from ((name, True) for name in names)


def _bracketed(clauses: Clauses, place: int) -> Iterator[tuple[str, bool]]:
    """ "The X (Y) is a …", which defines, or "X (Y)" anywhere."""
    here = place + 2
    if clauses.kind(place + 1) == "OPEN" and clauses.kind(here) == "NP" and clauses.kind(here + 1) == "CLOSE":
        other = _name(clauses, here)
        if other and other == other.lower():
            yield other, place == 0 and _defines(clauses, here + 2)


def _or_else(clauses: Clauses, place: int) -> Iterator[tuple[str, bool]]:
    """ "X, or Y, is a …" at the beginning of a sentence."""
    if place == 0 and clauses.kind(1) == "CM" and clauses.low(2) == "or" and clauses.kind(4) == "CM":
        other = _name(clauses, 3)
        if other and _defines(clauses, 5):
            yield other, True


def _defines(clauses: Clauses, place: int) -> bool:
    """ "is a …", "are the …"."""
    return _is(clauses, place) and _opening(clauses, place + 1) in {"a", "an", "the"}


def _name_for(clauses: Clauses, place: int) -> str:
    """X of "The medical term for X is Y" and of "Y is another name for X", where `place` is Y."""
    if place == 4 and _is(clauses, 3) and clauses.low(1) == "for" and clauses.segments[0].lemma in _WORDS_FOR:
        return _phrase(clauses, 2) if _opening(clauses, 0) in {"a", "an", "the", "another"} else ""
    if place == 0 and _is(clauses, 1) and _opening(clauses, 2) == "another" and clauses.low(3) == "for":
        return _phrase(clauses, 4) if clauses.segments[2].lemma in _WORDS_FOR else ""
    return ""


def _is(clauses: Clauses, place: int) -> bool:
    verb = clauses.verb(place)
    return verb is not None and verb.lemma == "be" and not verb.negated and not verb.passive and verb.form == "fin"


def _opening(clauses: Clauses, place: int) -> str:
    """The first word of a noun phrase, in lower case."""
    return clauses.low(place).split(" ")[0] if clauses.kind(place) == "NP" else ""


def _two_names(name: str, other: str) -> bool:
    """Whether two names may be one thing's: neither the wider term of the other, nor a word that names nothing.

    A word for a measure or a change ("spread", "growth") says something of things, and is none.
    """
    one, two = term_key(name), term_key(other)
    words, others = set(one.split()), set(two.split())
    lists = word_lists()
    hollow = any(
        " " not in key and (key in facet_of_noun() or any(key in lists[kind] for kind in _NAME_NOTHING))
        for key in (one, two)
    )
    return bool(one and two) and not hollow and not words <= others and not others <= words
