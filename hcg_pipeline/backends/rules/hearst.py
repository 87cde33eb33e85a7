"""What is a kind of what, as the corpus says it: lexico-syntactic patterns (Hearst 1992) and coordination."""

from collections.abc import Iterator

from hcg_pipeline.backends.rules.clauses import Clauses
from hcg_pipeline.backends.rules.terms import core, term_key
from hcg_pipeline.backends.rules.wordlists import word_lists

_AFTER = frozenset(
    {"such as", "including", "especially", "particularly", "like", "e.g.", "namely", "notably", "for example"}
)


def phrase_key(clauses: Clauses, place: int) -> str:
    """The term key of the core of a noun phrase, or nothing."""
    if clauses.kind(place) != "NP" or clauses.segments[place].form == "pronoun":
        return ""
    start, end = core(clauses.tokens, clauses.segments[place])
    return term_key(" ".join(token.text for token in clauses.tokens[start:end]))


def hypernyms(clauses: Clauses) -> Iterator[tuple[str, str]]:
    """(hyponym key, hypernym key) pairs of a sentence."""
    for place in range(len(clauses.segments)):
        if clauses.kind(place) != "NP":
            continue
        wide = phrase_key(clauses, place)
        yield from ((one, wide) for one in _listed(clauses, place) if wide and one != wide)
        yield from _and_other(clauses, place)
        yield from _copular(clauses, place)


def lists(clauses: Clauses) -> Iterator[list[str]]:
    """Keys that stand in one coordination: "A, B and C"."""
    place = 0
    while place < len(clauses.segments):
        members, here = [], place
        while clauses.kind(here) == "NP":
            members.append(phrase_key(clauses, here))
            after = here + 1
            while clauses.kind(after) in {"CM", "CJ"}:
                after += 1
            if after == here + 1:
                break
            here = after
        if len(members) > 1:
            yield [member for member in members if member]
        place = max(here, place + 1)


def _listed(clauses: Clauses, place: int) -> list[str]:
    """ "X such as A, B and C", "X, including A"."""
    here = place + 1
    if clauses.kind(here) == "OPEN":
        here += 1
    if clauses.kind(here) == "CM":
        here += 1
    pair = f"{clauses.low(here)} {clauses.low(here + 1)}"
    if pair in _AFTER or pair == "for example":
        here += 2
    elif clauses.low(here) in _AFTER:
        here += 1
    else:
        return []
    while clauses.kind(here) == "CM":
        here += 1
    return _members(clauses, here)


def _members(clauses: Clauses, here: int) -> list[str]:
    found = []
    while clauses.kind(here) == "NP":
        found.append(phrase_key(clauses, here))
        here += 1
        marks = 0
        while clauses.kind(here) in {"CM", "CJ"}:
            here += 1
            marks += 1
        if not marks:
            break
    return [key for key in found if key]


def _and_other(clauses: Clauses, place: int) -> Iterator[tuple[str, str]]:
    """ "A, B and other X"."""
    first = clauses.tokens[clauses.segments[place].start].low
    if first != "other" or clauses.kind(place - 1) != "CJ":
        return
    wide = phrase_key(clauses, place)
    here = place - 2
    while clauses.kind(here) in {"NP", "CM"} and wide:
        if clauses.kind(here) == "NP":
            key = phrase_key(clauses, here)
            if key and key != wide:
                yield key, wide
        here -= 1


def _copular(clauses: Clauses, place: int) -> Iterator[tuple[str, str]]:
    """ "A is a (type of) X", "A is the most common X"."""
    verb = clauses.verb(place + 1)
    if verb is None or verb.lemma != "be" or verb.negated or verb.passive or clauses.kind(place - 1) in {"P", "CJ"}:
        return
    here = place + 2
    if clauses.kind(here) != "NP" or clauses.tokens[clauses.segments[here].start].low not in {
        "a",
        "an",
        "another",
        "the",
        "one",
    }:
        return
    if (
        clauses.segments[here].lemma in word_lists()["light"]
        and clauses.low(here + 1) == "of"
        and clauses.kind(here + 2) == "NP"
    ):
        here += 2
    elif clauses.tokens[clauses.segments[here].start].low == "the":
        return
    narrow, wide = phrase_key(clauses, place), phrase_key(clauses, here)
    if narrow and wide and narrow != wide:
        yield narrow, wide
