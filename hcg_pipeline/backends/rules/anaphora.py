"""What words that point back stand for: "it", "they", "the drug" and "this" as the cause of a sentence.

A pronoun stands for the subject of the clause before it, in number; "this", and a connective that opens a sentence
("As a result", "Therefore"), for what the sentence before says happens (centering in its plainest form; Grosz, Joshi
and Weinstein 1995). Where the sentence before has no such subject or change, nothing is read.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from hcg_pipeline.backends.rules.dimensions import lexical_dimension
from hcg_pipeline.backends.rules.groups import Argument
from hcg_pipeline.backends.rules.parsing import Parsed
from hcg_pipeline.backends.rules.resolve import Resolved, Resolver
from hcg_pipeline.backends.rules.wordlists import word_lists

BACK = 0.7
"""How sure it is that a pronoun stands for the subject of the sentence before."""
_LONG = 600
_OPENINGS = (
    (("as", "a", "result"), 0.8), (("as", "a", "consequence"), 0.8), (("for", "this", "reason"), 0.7),
    (("therefore",), 0.7), (("consequently",), 0.7), (("thus",), 0.65), (("hence",), 0.65),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Subject:
    """What a sentence is about: its variable, and whether it is spoken of in the plural."""

    resolved: Resolved
    plural: bool


@dataclass(frozen=True, slots=True)
class Before:
    """What a sentence can point back to: a subject, what happened, and where the text that says so begins."""

    subject: Subject | None = None
    happened: tuple[Resolved, ...] = ()
    subject_start: int = 0
    start: int = 0


def after(sentence: Parsed, start: int, end: int, before: Before, resolver: Resolver) -> Before:
    """What the sentence [start, end) of a passage leaves to point back to."""
    clauses = sentence.clauses
    main = _main_verb(sentence)
    if main is None:
        return Before(start=start)
    subject = subject_of(sentence, resolver)
    happened = tuple(
        replace(one, quality=BACK)
        for argument in clauses.clause(main)
        if (one := resolver.resolve(clauses.tokens, argument)) is not None
    )
    if subject is None and before.subject is not None and end - before.subject_start < _LONG and _goes_on(sentence):
        return Before(before.subject, happened, before.subject_start, start)
    return Before(subject, happened, start, start)


def _main_verb(sentence: Parsed) -> int | None:
    """The place of the first finite verb, if no relative or subordinate clause opens before it."""
    clauses = sentence.clauses
    main = next((place for place in range(len(clauses.segments)) if clauses.is_finite(place)), None)
    inner = main is None or any(clauses.kind(place) in {"SB", "RL"} for place in range(main))
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
    return Subject(resolved, clauses.tokens[segment.end - 1].tag == "NN2")


def pointed_at(
    sentence: Parsed, argument: Argument, before: Before, resolver: Resolver
) -> tuple[tuple[Resolved, ...], int | None]:
    """What an argument stands for, and where in the passage the text begins that says so (None: in the sentence)."""
    tokens = sentence.clauses.tokens[argument.start : argument.end]
    first = next((segment.start for segment in sentence.clauses.segments if segment.kind == "NP"), -1)
    word = tokens[0].low
    if argument.start != first:
        own = subject_of(sentence, resolver) if len(tokens) == 1 and word in {"it", "they"} else None
        fits = own is not None and own.plural == (word == "they") and _opens_clause(sentence, argument)
        return ((replace(own.resolved, quality=BACK),), None) if own is not None and fits else ((), None)
    if len(tokens) == 1 and word in {"this", "that"}:
        return before.happened, before.start
    subject = before.subject
    if subject is None:
        return (), None
    if len(tokens) == 1:
        same = word == ("they" if subject.plural else "it")
    else:
        same = (
            len(tokens) == 2
            and word in {"the", "this", "these", "such"}
            and tokens[1].lemma in word_lists()["generic"]
            and lexical_dimension(tokens[1].lemma) == resolver.dimension_of(subject.resolved.ref)
        )
    return ((replace(subject.resolved, quality=BACK),), before.subject_start) if same else ((), None)


def _opens_clause(sentence: Parsed, argument: Argument) -> bool:
    """Whether a pronoun comes right after a conjunction or a comma, as the subject of a clause does."""
    clauses = sentence.clauses
    place = next((at for at, segment in enumerate(clauses.segments) if segment.start == argument.start), 0)
    if any(clauses.low(at) in {";", ":"} for at in range(place)):
        return False
    between = sum(clauses.is_finite(at) for at in range(place))
    return between == 1 and clauses.kind(place - 1) in {"CJ", "CM", "SB"} and clauses.is_finite(place + 1)


def opening(sentence: Parsed) -> tuple[Sequence[Argument], str, float] | None:
    """What a sentence that opens with a connective of consequence says happens, the connective and its strength."""
    clauses = sentence.clauses
    words = [token.low for token in clauses.tokens[:4]]
    for phrase, strength in _OPENINGS:
        if tuple(words[: len(phrase)]) != phrase or (words[len(phrase) : len(phrase) + 1] or [""])[0] == "of":
            continue
        main = _main_verb(sentence)
        if main is not None:
            return clauses.clause(main), " ".join(phrase), strength
    return None
