"""Causal statements as spans of a sentence: what is said to be the cause and what the effect, terms or not.

Links (`causal.py`) keep only phrases that can be variables. A statement keeps whole clauses: it serves answers to
"why" and the measurement on texts annotated with spans.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from hcg_pipeline.backends.rules.causal import denied
from hcg_pipeline.backends.rules.clauses import Clauses
from hcg_pipeline.backends.rules.wordlists import word_lists

_BACKWARD = (
    ("because", "of"), ("due", "to"), ("owing", "to"), ("as", "a", "result", "of"), ("as", "a", "consequence", "of"),
    ("thanks", "to"), ("in", "response", "to"),
    ("in", "protest", "against"), ("in", "retaliation", "for"), ("on", "account", "of"), ("following",),
    ("because",), ("after",), ("if",), ("unless",), ("in", "protest"), ("out", "of", "fear"), ("for", "fear"),
)  # fmt: skip
_FORWARD = (
    ("so", "that"),
    ("as", "a", "result"),
    ("therefore",),
    ("thus",),
    ("hence",),
    ("consequently",),
    ("thereby",),
)
_PURPOSE = (
    ("in", "order", "to"), ("in", "a", "bid", "to"), ("in", "an", "attempt", "to"), ("so", "as", "to"),
    ("with", "the", "aim", "of"), ("with", "an", "intention", "to"), ("in", "a", "move", "to"),
)  # fmt: skip
_STRONG = 0.45


@dataclass(frozen=True, slots=True)
class Statement:
    """Tokens [start, end) of the cause and of the effect, and the cue between them."""

    cause: tuple[int, int]
    effect: tuple[int, int]
    cue: str


def statements(clauses: Clauses) -> list[Statement]:
    """The causal statements of a sentence in the order of their cues; both sides hold at least one word."""
    found = [*_of_verbs(clauses), *_of_connectives(clauses), *_of_reasons(clauses)]
    return [one for one in found if one.cause[0] < one.cause[1] and one.effect[0] < one.effect[1]]


def _of_verbs(clauses: Clauses) -> Iterator[Statement]:
    for place in range(len(clauses.segments)):
        verb, matched = clauses.verb(place), clauses.match_cue(place)
        if verb is None or matched is None or verb.negated or denied(clauses, place):
            continue
        cue, after = matched
        if cue.strength < _STRONG:
            continue
        left = _left(clauses, place)
        if verb.passive or (verb.form == "ppl" and clauses.kind(after) != "NP"):
            here = after
            while clauses.kind(here) == "AV":
                here += 1
            if clauses.low(here) != "by":
                continue
            right = _right(clauses, here + 1)
            yield Statement(right, left, f"{cue.verb} by") if cue.forward else Statement(left, right, f"{cue.verb} by")
            continue
        right = _right(clauses, after)
        yield Statement(left, right, cue.verb) if cue.forward else Statement(right, left, cue.verb)


def _of_connectives(clauses: Clauses) -> Iterator[Statement]:
    words = [token.low for token in clauses.tokens]
    taken: set[int] = set()
    end = len(words) - (1 if words and words[-1] in ".!?" else 0)
    for phrases, backward in ((_BACKWARD, True), (_PURPOSE, True), (_FORWARD, False)):
        for phrase in phrases:
            for at in range(len(words) - len(phrase)):
                if tuple(words[at : at + len(phrase)]) != phrase or at in taken:
                    continue
                taken.update(range(at, at + len(phrase)))
                after = at + len(phrase)
                comma = next((here for here in range(after, end) if words[here] == ","), end)
                if backward and at == 0:
                    yield Statement((after, comma), (min(comma + 1, end), end), " ".join(phrase))
                elif backward:
                    yield Statement((after, end), (_clause_start(clauses, at), at), " ".join(phrase))
                else:
                    yield Statement((_clause_start(clauses, at), at), (after, end), " ".join(phrase))


def _of_reasons(clauses: Clauses) -> Iterator[Statement]:
    """Why somebody acts: "protest against X", "arrested for X", "demanding X", "for failing to do X".

    Verbs and nouns of reaction, and verbs of judgement with "for" (Levin 1993, classes 31.3 and 33).
    """
    lists = word_lists()
    tokens = clauses.tokens
    end = len(tokens) - (1 if tokens and tokens[-1].low in {".", "!", "?"} else 0)
    for at in range(1, end - 1):
        low, before = tokens[at].low, tokens[at - 1]
        after = tokens[at + 1]
        if low in {"against", "over"} and any(one.lemma in lists["reaction"] for one in tokens[max(0, at - 3) : at]):
            yield Statement((at + 1, end), (_clause_start(clauses, at), at), "reaction")
        elif low == "for" and any(
            one.lemma in lists["judgement"] and one.tag.startswith("V") for one in tokens[max(0, at - 5) : at]
        ):
            yield Statement((at + 1, end), (_clause_start(clauses, at), at), "judgement")
        elif low == "for" and after.tag == "VVG" and not before.is_noun:
            yield Statement((at + 1, end), (_clause_start(clauses, at), at), "for -ing")
        elif tokens[at].lemma in lists["wanting"] and (
            tokens[at].tag == "VVG" or (tokens[at].tag == "VVI" and before.tag == "TO0")
        ):
            yield Statement((at, end), (_clause_start(clauses, at), at), "wanting")


def _left(clauses: Clauses, place: int) -> tuple[int, int]:
    """From the start of the clause to the verb."""
    end = clauses.segments[place].start
    first = place
    while (
        first > 0 and clauses.kind(first - 1) not in {"SB", "RL"} and clauses.low(first - 1) not in {";", ":", '"', "“"}
    ):
        first -= 1
    start = clauses.segments[first].start
    if start == end and first > 0 and clauses.kind(first - 1) == "RL":
        chain = clauses.antecedent(first - 1)
        return (chain[0].start, chain[0].end) if chain else (start, end)
    while end > start and clauses.tokens[end - 1].low in {",", "and", "that"}:
        end -= 1
    return start, end


def _right(clauses: Clauses, place: int) -> tuple[int, int]:
    """From `place` to the end of the clause."""
    if place >= len(clauses.segments):
        return (0, 0)
    last = place
    while (
        last < len(clauses.segments)
        and clauses.kind(last) not in {"SB", "RL"}
        and clauses.low(last) not in {";", ":", ".", '"', "”"}
    ):
        last += 1
    start = clauses.segments[place].start
    end = clauses.segments[last - 1].end if last > place else start
    while end > start and clauses.tokens[end - 1].low in {",", "and"}:
        end -= 1
    return start, end


def _clause_start(clauses: Clauses, token: int) -> int:
    start = 0
    for segment in clauses.segments:
        if segment.start >= token:
            break
        word = clauses.tokens[segment.start].low
        if word in {";", ":", '"', "“", "said", "that"}:
            start = segment.end
    return start
