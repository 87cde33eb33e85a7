"""Sentences to causal links between phrases, with sign and strength: verb cues, and what the other cue modules find.

Cue patterns with direction after Girju (2003) and Khoo et al. (2000); polarity composed of the words of both arguments
and the verb. Negated statements give no link, hedged ones a weaker one.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from hcg_pipeline.backends.rules.clauses import Clauses
from hcg_pipeline.backends.rules.groups import Argument
from hcg_pipeline.backends.rules.phrases import Segment
from hcg_pipeline.backends.rules.tokens import Token
from hcg_pipeline.backends.rules.wordlists import Cue

HEDGED = 0.75
_HEADING = 7


@dataclass(frozen=True, slots=True)
class Link:
    """`causes` bring about `effects`. `sign` is the cue's alone: the arguments have polarities of their own.

    `strength` is 0 to 1; `only` names the dimensions that a cause must be of, where the cue is one of few subjects;
    `onto` does so for an effect.
    """

    causes: tuple[Argument, ...]
    effects: tuple[Argument, ...]
    sign: str
    strength: float
    cue: str
    only: frozenset[str] = frozenset()
    onto: frozenset[str] = frozenset()


def causal_links(tokens: list[Token]) -> list[Link]:
    """Every causal link of a tagged sentence, in the order of its cues."""
    return links_of(Clauses(tokens))


def links_of(clauses: Clauses) -> list[Link]:
    """Every causal link of a sentence; a question states none.

    In a heading, a few words without a full stop, what looks like a verb is none.
    """
    from hcg_pipeline.backends.rules.aims import GIVEN, asked_from, only_asked, unsettled
    from hcg_pipeline.backends.rules.associations import association_links
    from hcg_pipeline.backends.rules.connectives import connective_links
    from hcg_pipeline.backends.rules.frames import frame_links
    from hcg_pipeline.backends.rules.nominals import nominal_links

    tokens = clauses.tokens
    if len(tokens) < 3 or tokens[-1].low == "?":
        return []
    found = [*nominal_links(clauses), *frame_links(clauses), *association_links(clauses)]
    if len(tokens) >= _HEADING or not tokens[-1].low[:1].isalnum():
        found = [*verb_links(clauses), *found, *connective_links(clauses)]
    asked, open_question = asked_from(clauses), unsettled(clauses)
    return [
        link
        for link in found
        if link.causes
        and link.effects
        and (link.cue in GIVEN or not only_asked(clauses, asked, (*link.causes, *link.effects)))
        and not (open_question and link.cue == "effect of on")
    ]


def verb_links(clauses: Clauses) -> Iterator[Link]:
    """Links of causal verbs: active, passive with an agent, participial, infinitive."""
    for place in range(len(clauses.segments)):
        verb = clauses.verb(place)
        matched = clauses.match_cue(place)
        if verb is None or matched is None or verb.negated or _heading(clauses, verb) or denied(clauses, place):
            continue
        cue, after = matched
        if cue.strength == 0.0 or (cue.facet == "Diagnosis" and _told(clauses, verb)) or _found_out(clauses, place):
            continue
        strength = cue.strength * (HEDGED if verb.hedged else 1.0)
        if verb.passive or (verb.form == "ppl" and clauses.kind(after) != "NP"):
            yield from _passive(clauses, place, after, cue, strength)
        else:
            yield from _active(clauses, place, after, cue, strength)


def _heading(clauses: Clauses, verb: Segment) -> bool:
    """A capitalised verb inside a line is the start of a heading that has run into it."""
    first = clauses.tokens[verb.start]
    return verb.start > 0 and first.text.istitle() and len(first.text) > 1


def _told(clauses: Clauses, verb: Segment) -> bool:
    """ "The scan revealed a tumor" tells of one scan; "scans reveal tumors" says what they do."""
    tags = {token.tag for token in clauses.tokens[verb.start : verb.end]}
    return bool(tags & {"VVD", "VBD", "VHD"}) or (verb.form == "ppl" and not verb.passive)


def _found_out(clauses: Clauses, place: int) -> bool:
    """ "calculated to determine prominence": what is found out; "genes help to determine" is not.

    So "has limited uses" says what there is little of, not what something limits.
    """
    words = [token.low for token in clauses.tokens[clauses.segments[place].start : clauses.segments[place].end]]
    if words[0] in {"has", "have", "had"} and words[1:] == ["limited"]:
        return True
    verb, before = clauses.segments[place], clauses.verb(place - 1)
    return verb.lemma == "determine" and verb.form == "inf" and (before is None or before.lemma != "help")


def _active(clauses: Clauses, place: int, after: int, cue: Cue, strength: float) -> Iterator[Link]:
    """ "X causes Y": the subject is the cause, or for a backward cue ("X results from Y") the effect."""
    if cue.verb in _MOVERS:
        turned = _turned(clauses, after)
        if turned is None and cue.verb in _ONLY_TURNED and not cue.particles:
            return
        cue = replace(cue, sign=turned or cue.sign)
    if cue.verb in _RESULTATIVE and _with_state(clauses, after):
        return
    subjects, objects = _causes(clauses, place), _objects(clauses, place, after, cue)
    if cue.forward:
        objects = [replace(one, facet=one.facet or cue.facet) for one in objects]
        yield Link(tuple(subjects), tuple(objects), cue.sign, strength, cue.verb, cue.only)
    else:
        yield Link(tuple(objects), tuple(subjects), cue.sign, strength, cue.verb, cue.only)


def _with_state(clauses: Clauses, place: int) -> bool:
    """ "makes failures likely", "starves the host of memory": nothing is made or starved (see `frames.py`)."""
    if clauses.kind(place) == "NP" and clauses.low(place + 1) == "of" and clauses.low(place - 1).startswith("starv"):
        return True
    found, after = clauses.group(place)
    if not found or after >= len(clauses.segments) or not clauses.low(place - 1).endswith(("make", "makes", "made")):
        return False
    token = clauses.tokens[clauses.segments[after].start]
    return token.tag.startswith("AJ") or token.low in {"more", "less"}


def _objects(clauses: Clauses, place: int, after: int, cue: Cue) -> list[Argument]:
    """What the verb is done to; of "prevents A from B" and "protects A against B" what is kept away."""
    if cue.verb == "protect" and not cue.particles:
        return _against(clauses, after)
    found = _from_clause(clauses, after) if cue.verb in {"prevent", "stop", "keep"} and not cue.particles else []
    return found or clauses.objects(after) or _gerund(clauses, after) or _relative_object(clauses, place)


def _causes(clauses: Clauses, place: int) -> list[Argument]:
    """The subject; for "by reducing X", the change named is handled with the clause that it serves."""
    verb = clauses.segments[place]
    if verb.form == "ing" and (clauses.kind(place - 1) == "P" or clauses.starts_clause(clauses.group(place + 1)[1])):
        return []
    return clauses.subjects(place)


def _passive(clauses: Clauses, place: int, after: int, cue: Cue, strength: float) -> Iterator[Link]:
    """ "Y is caused by X": the agent is the cause. Without an agent nothing is said of a cause."""
    here = after
    while clauses.kind(here) == "AV" or (
        clauses.kind(here) == "P" and clauses.low(here) in {"in", "at"} and here - after < 6
    ):
        here = clauses.item(here + 1) if clauses.kind(here) == "P" else here + 1
    agents = (
        {"by", "with"} if cue.verb in {"treat", "relieve", "cure", "manage", "control", "prevent", "ease"} else {"by"}
    )
    if clauses.low(here) not in agents or (
        clauses.kind(here + 1) == "NP" and clauses.tokens[clauses.segments[here + 1].start].tag == "CRD"
    ):
        return
    causes = clauses.group(here + 1)[0] or _gerund(clauses, here + 1)
    verb = clauses.segments[place]
    opening, end = clauses.group(0)
    effects = (
        opening
        if verb.form == "ppl" and len(opening) > 1 and end == place
        else clauses.near(place - 1)
        if verb.form == "ppl" and clauses.kind(place - 1) in {"NP", "CLOSE"}
        else clauses.subjects(place)
    )
    if cue.facet:
        effects = [Argument(one.start, one.end, one.polarity, cue.facet) for one in effects]
    yield Link(tuple(causes), tuple(effects), cue.sign, strength, f"{cue.verb} by", cue.only)


def _gerund(clauses: Clauses, place: int) -> list[Argument]:
    """ "leads to rising prices", "by cutting costs": the change that a gerund names."""
    verb = clauses.verb(place)
    if verb is None or verb.form != "ing":
        return []
    return clauses.clause(place)


def _from_clause(clauses: Clauses, place: int) -> list[Argument]:
    """ "prevents cells from dividing": what is prevented is that the object does it."""
    found, after = clauses.group(place)
    if clauses.low(after) == "from" and clauses.verb(after + 1) is not None:
        changed = clauses.changed(found, after + 1)
        return changed or found
    return []


def _against(clauses: Clauses, place: int) -> list[Argument]:
    """ "protects jobs against imports": what it works against."""
    here = place
    while clauses.kind(here) in {"NP", "CJ", "CM", "P"} and clauses.low(here) not in {"against", "from"}:
        here += 1
    return clauses.group(here + 1)[0] if clauses.low(here) in {"against", "from"} else []


def _relative_object(clauses: Clauses, place: int) -> list[Argument]:
    """ "the cancer that smoking causes": without an object after it, a verb in a relative clause has the antecedent."""
    here = place - 1
    while clauses.kind(here) in {"NP", "AV"}:
        here -= 1
    if clauses.kind(here) == "RL" and here < place - 1:
        return clauses.antecedent(here)
    return []


_RESULTATIVE = frozenset({"make", "starve"})
_ONLY_TURNED = frozenset({"push", "bid", "bring", "keep"})
_MOVERS = frozenset({"drive", "push", "bring", "keep", "bid", "force", "hold"})


def _turned(clauses: Clauses, place: int) -> str | None:
    """ "drives prices down": the sign of an adverb after the object."""
    _, after = clauses.group(place)
    return {"down": "-", "up": "+", "lower": "-", "higher": "+"}.get(clauses.low(after))


def denied(clauses: Clauses, place: int) -> bool:
    """ "no evidence that X causes Y", "not clear whether": a denial before the verb that takes it back."""
    start = clauses.segments[place].start
    words = [token.low for token in clauses.tokens[max(0, start - 14) : start + 1]]
    text = " ".join(words)
    return any(mark in text for mark in _DENIALS)


_DENIALS = (
    "no evidence", "unlikely to", "not clear", "unclear", "whether", "myth that", "not true that", "no proof",
    "little evidence", "not known", "unknown if", "neither", "fails to", "failed to", "fail to",
    "failing to", "unable to", "inability to", "not been shown", "no longer", "it is not",
)  # fmt: skip
