"""What words that point back stand for: "it", "they", "the drug" and "this" as the cause of a sentence.

A pronoun stands for the subject of the clause before it, in number; "this", and a connective that opens a sentence
("As a result", "Therefore"), for what the sentence before says happens (centering in its plainest form; Grosz, Joshi
and Weinstein 1995). Elsewhere in a sentence a pronoun or "the drug" is read only if one thing alone that came before,
in the sentence or else in the one before it, agrees with it in number or kind.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from hcg_pipeline.backends.rules.dimensions import lexical_dimension
from hcg_pipeline.backends.rules.groups import FLIP, Argument, combine
from hcg_pipeline.backends.rules.parsing import Parsed
from hcg_pipeline.backends.rules.phrases import Segment
from hcg_pipeline.backends.rules.resolve import Resolved, Resolver
from hcg_pipeline.backends.rules.wordlists import facet_of_noun, word_lists

BACK = 0.7
"""How sure it is that a pronoun stands for the subject of the sentence before."""
_LONG = 600
_OPENINGS = (
    (("as", "a", "result"), 0.8), (("as", "a", "consequence"), 0.8), (("for", "this", "reason"), 0.7),
    (("therefore",), 0.7), (("consequently",), 0.7), (("thus",), 0.65), (("hence",), 0.65),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Subject:
    """What a sentence is about, or speaks of: its variable, and whether it is spoken of in the plural."""

    resolved: Resolved
    plural: bool


@dataclass(frozen=True, slots=True)
class Before:
    """What a sentence can point back to: a subject, what happened, what was named, and where the text of it begins."""

    subject: Subject | None = None
    happened: tuple[Resolved, ...] = ()
    mentioned: tuple[Subject, ...] = ()
    subject_start: int = 0
    start: int = 0


def after(sentence: Parsed, start: int, end: int, before: Before, resolver: Resolver) -> Before:
    """What the sentence [start, end) of a passage leaves to point back to."""
    clauses = sentence.clauses
    main = _main_verb(sentence)
    if main is None:
        return Before(start=start)
    mentioned = _mentioned(sentence, len(clauses.tokens), resolver)
    subject = subject_of(sentence, resolver)
    happened = tuple(
        replace(one, quality=BACK)
        for argument in clauses.clause(main)
        if (one := resolver.resolve(clauses.tokens, argument)) is not None
    )
    if subject is None and before.subject is not None and end - before.subject_start < _LONG and _goes_on(sentence):
        return Before(before.subject, happened, mentioned, before.subject_start, start)
    return Before(subject, happened, mentioned, start, start)


def _main_verb(sentence: Parsed, first: int = 0) -> int | None:
    """The place of the first finite verb, if no relative or subordinate clause opens before it after token `first`."""
    clauses = sentence.clauses
    main = next((place for place in range(len(clauses.segments)) if clauses.is_finite(place)), None)
    inner = main is None or any(
        clauses.kind(place) in {"SB", "RL"} and clauses.segments[place].start >= first for place in range(main)
    )
    return None if inner else main


def _goes_on(sentence: Parsed) -> bool:
    """Whether a sentence speaks of the same as the one before: its first word is a pronoun."""
    return sentence.clauses.low(0) in {"it", "they"}


def subject_of(sentence: Parsed, resolver: Resolver) -> Subject | None:
    """The variable of a sentence's first noun phrase, where a finite verb follows it."""
    clauses = sentence.clauses
    first = 0
    while clauses.kind(first) in {"AV", "CM"}:
        first += 1
    if clauses.kind(first) != "NP":
        return None
    found, behind = clauses.group(first)
    while clauses.kind(behind) == "AV":
        behind += 1
    if len(found) != 1 or not clauses.is_finite(behind):
        return None
    resolved = resolver.resolve(clauses.tokens, found[0])
    if resolved is None:
        return None
    segment = clauses.segments[first]
    return Subject(resolved, _is_plural(sentence, segment))


def pointed_at(
    sentence: Parsed, argument: Argument, other: Sequence[Argument], before: Before, resolver: Resolver
) -> tuple[tuple[Resolved, ...], int | None]:
    """What an argument stands for, and where in the passage the text begins that says so (None: in the sentence).

    `other` is the other side of the link, which it cannot stand for.
    """
    tokens = sentence.clauses.tokens[argument.start : argument.end]
    first = next((segment.start for segment in sentence.clauses.segments if segment.kind == "NP"), -1)
    word = tokens[0].low
    if len(tokens) == 1 and word in {"this", "that"}:
        return (before.happened, before.start) if argument.start == first else ((), None)
    plural = word in {"they", "them"}
    dimension = ""
    if len(tokens) == 2 and word in {"the", "this", "these", "those", "such"}:
        plural = tokens[1].tag == "NN2"
        dimension = lexical_dimension(tokens[1].lemma) if _is_kind(tokens[1].lemma) else ""
    if not dimension and not (len(tokens) == 1 and word in {"it", "they", "them"}):
        return (), None
    subject = before.subject
    if argument.start == first and subject is not None and _fits(subject, plural, dimension, resolver):
        return _as(subject.resolved, argument), before.subject_start
    if argument.start != first and not dimension and _opens_clause(sentence, argument):
        own = subject_of(sentence, resolver)
        return (_as(own.resolved, argument), None) if own is not None and own.plural == plural else ((), None)
    places: list[tuple[tuple[Subject, ...], int | None]] = [
        (_mentioned(sentence, argument.start, resolver, other), None),
        (before.mentioned, before.start),
    ]
    if argument.start != first and not dimension and _begins_clause(sentence, argument):
        # Two clauses or more before it: which one it takes up, only the sense tells.
        places = []
    for mentioned, start in places:
        fitting = {one.resolved.ref: one for one in mentioned if _fits(one, plural, dimension, resolver)}
        if fitting:
            only = [one.resolved for one in fitting.values()]
            return (_as(only[0], argument), start) if len(only) == 1 else ((), None)
    return (), None


def _is_kind(noun: str) -> bool:
    """Whether "the" with this noun can stand for a thing of that kind: "the drug", not "the damage"."""
    return noun in word_lists()["generic"] and noun not in facet_of_noun()


def _fits(one: Subject, plural: bool, dimension: str, resolver: Resolver) -> bool:
    """A pronoun agrees in number, "the drug" in the kind of thing."""
    return resolver.dimension_of(one.resolved.ref) == dimension if dimension else one.plural == plural


def _as(resolved: Resolved, argument: Argument) -> tuple[Resolved, ...]:
    """A variable in the place of what points to it, with what the verb says of it."""
    polarity = argument.polarity
    if argument.facet in word_lists()["opposite_facets"]:
        polarity = FLIP[polarity]
    elif argument.facet and argument.facet not in word_lists()["same_facets"]:
        return ()
    return (replace(resolved, polarity=combine(resolved.polarity, polarity), quality=BACK),)


def _mentioned(sentence: Parsed, end: int, resolver: Resolver, other: Sequence[Argument] = ()) -> tuple[Subject, ...]:
    """The variables of the noun phrases of a sentence that end by token `end`, each with its number."""
    found = []
    for segment in sentence.clauses.segments:
        if any(one.start <= segment.start < one.end for one in other):
            continue
        if segment.kind == "NP" and segment.end <= end and segment.form != "pronoun":
            resolved = resolver.resolve(sentence.clauses.tokens, Argument(segment.start, segment.end))
            if resolved is not None:
                found.append(Subject(replace(resolved, polarity="+"), _is_plural(sentence, segment)))
    return tuple(found)


def _is_plural(sentence: Parsed, segment: Segment) -> bool:
    return sentence.clauses.tokens[segment.end - 1].tag == "NN2"


def _opens_clause(sentence: Parsed, argument: Argument) -> bool:
    """Whether a pronoun comes right after a conjunction or a comma, as the subject of the second clause does."""
    clauses = sentence.clauses
    place = _place(sentence, argument)
    if any(clauses.low(at) in {";", ":"} for at in range(place)):
        return False
    return sum(clauses.is_finite(at) for at in range(place)) == 1 and _begins_clause(sentence, argument)


def _begins_clause(sentence: Parsed, argument: Argument) -> bool:
    """Whether a pronoun comes right after a conjunction or a comma, and a finite verb after it."""
    clauses = sentence.clauses
    place = _place(sentence, argument)
    verb = place + 1
    while clauses.kind(verb) == "AV":
        verb += 1
    return clauses.kind(place - 1) in {"CJ", "CM", "SB"} and clauses.is_finite(verb)


def _place(sentence: Parsed, argument: Argument) -> int:
    return next((at for at, one in enumerate(sentence.clauses.segments) if one.start == argument.start), 0)


def opening(sentence: Parsed) -> tuple[Sequence[Argument], str, float] | None:
    """What a sentence that opens with a connective of consequence says happens, the connective and its strength."""
    clauses = sentence.clauses
    words = [token.low for token in clauses.tokens[:4]]
    for phrase, strength in _OPENINGS:
        if tuple(words[: len(phrase)]) != phrase or (words[len(phrase) : len(phrase) + 1] or [""])[0] == "of":
            continue
        main = _main_verb(sentence, len(phrase))
        if main is not None:
            return clauses.clause(main), " ".join(phrase), strength
    return None
