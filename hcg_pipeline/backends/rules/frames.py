"""Causes stated by verbs that take more than an object: "turns A into B", "deprives A of B", "makes A worse".

Verb classes after Levin (1993): change of form, removal and depriving, and the resultatives of make, leave and keep.
"""

from collections.abc import Iterator
from dataclasses import replace

from hcg_pipeline.backends.rules.causal import HEDGED, Link, denied
from hcg_pipeline.backends.rules.clauses import Clauses
from hcg_pipeline.backends.rules.groups import Argument, combine
from hcg_pipeline.backends.rules.wordlists import word_lists

_INTO = {"turn": 0.6, "convert": 0.6, "transform": 0.65, "change": 0.5}
_LIKELY = frozenset({"likely", "common", "frequent", "probable", "possible"})
_LOSS = frozenset(
    {"damage", "failure", "death", "loss", "injury", "wear", "downtime", "harm", "leak", "pain", "erosion"}
)


def frame_links(clauses: Clauses) -> Iterator[Link]:
    """Links of the verbs of these classes, and of "damage from X"."""
    lists = word_lists()
    for place in range(len(clauses.segments)):
        verb = clauses.verb(place)
        if verb is None:
            yield from _loss_from(clauses, place)
            continue
        if verb.negated or verb.passive or verb.form == "ppl" or denied(clauses, place):
            continue
        strength = HEDGED if verb.hedged else 1.0
        if verb.lemma in _INTO:
            yield from _into(clauses, place, _INTO[verb.lemma] * strength)
        elif verb.lemma in lists["depriving"]:
            yield from _depriving(clauses, place, 0.65 * strength)
        if verb.lemma in lists["resultative"]:
            yield from _resultative(clauses, place, 0.6 * strength)


def _into(clauses: Clauses, place: int, strength: float) -> Iterator[Link]:
    """ "turns a repair into a replacement": what does it, and what comes of it."""
    found, after = clauses.group(place + 1)
    if found and clauses.low(after) == "into":
        yield Link(tuple(clauses.subjects(place)), tuple(clauses.group(after + 1)[0]), "+", strength, "into")


def _depriving(clauses: Clauses, place: int, strength: float) -> Iterator[Link]:
    """ "deprives the bearing of oil": less of what is taken away, not of what it is taken from."""
    if clauses.kind(place + 1) != "NP" or clauses.low(place + 2) != "of":
        return
    taken = [replace(one, polarity=combine(one.polarity, "-")) for one in clauses.group(place + 3)[0]]
    yield Link(tuple(clauses.subjects(place)), tuple(taken), "+", strength, "deprive of")


def _resultative(clauses: Clauses, place: int, strength: float) -> Iterator[Link]:
    """ "makes failures more likely", "keeps pressure low", "leaves the coupling loose"."""
    found, after = clauses.group(place + 1)
    if not found or after >= len(clauses.segments):
        return
    sign = _state(clauses, clauses.segments[after].start)
    if sign:
        changed = [replace(one, polarity=combine(one.polarity, sign)) for one in found]
        yield Link(tuple(clauses.subjects(place)), tuple(changed), "+", strength, "make so")


def _state(clauses: Clauses, start: int) -> str:
    """The sign of the adjective that follows an object; nothing where it says neither more nor less."""
    lists = word_lists()
    words = [token.low for token in clauses.tokens[start : start + 3]]
    if not words:
        return ""
    if words[0] in {"more", "less"}:
        if len(words) > 1 and words[1] in _LIKELY:
            return "+" if words[0] == "more" else "-"
        return ""
    if len(words) > 1 and clauses.tokens[start + 1].is_noun:
        return ""
    if words[0] in lists["less"] or words[0] in lists["impaired"]:
        return "-"
    return "+" if words[0] in lists["more"] or words[0] in {"likely", "worse"} else ""


def _loss_from(clauses: Clauses, place: int) -> Iterator[Link]:
    """ "damage from cavitation", "deaths from cancer"."""
    if clauses.kind(place) != "NP" or clauses.segments[place].lemma not in _LOSS:
        return
    if clauses.low(place + 1) == "from" and clauses.kind(place + 2) == "NP":
        segment = clauses.segments[place]
        effect = Argument(segment.start, segment.end)
        yield Link(tuple(clauses.group(place + 2)[0]), (effect,), "+", 0.5, "from")
