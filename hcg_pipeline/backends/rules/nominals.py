"""Causes stated by nouns and adjectives: "X is a cause of Y", "side effects of X include Y", "the effect of X on Y"."""

from collections.abc import Iterator

from hcg_pipeline.backends.rules.causal import HEDGED, Link
from hcg_pipeline.backends.rules.clauses import Clauses
from hcg_pipeline.backends.rules.groups import Argument
from hcg_pipeline.backends.rules.wordlists import word_lists

# head noun -> (the noun's "of" argument is the effect, sign, strength)
_CAUSE_HEADS = {
    "cause": ("+", 0.9), "reason": ("+", 0.6), "driver": ("+", 0.8), "trigger": ("+", 0.8),
    "contributor": ("+", 0.75), "determinant": ("?", 0.6), "culprit": ("+", 0.7), "precursor": ("+", 0.5),
    "risk factor": ("+", 0.8), "catalyst": ("+", 0.6), "barrier": ("-", 0.6), "obstacle": ("-", 0.6),
    "treatment": ("-", 0.45), "remedy": ("-", 0.5),
    "cure": ("-", 0.6), "inhibitor": ("-", 0.5), "therapy": ("-", 0.4), "motive": ("+", 0.5),
}  # fmt: skip
_EFFECT_HEADS = {
    "result": 0.75, "consequence": 0.8, "effect": 0.7, "side effect": 0.85, "complication": 0.75, "symptom": 0.6,
    "by-product": 0.7, "byproduct": 0.7, "outcome": 0.5, "manifestation": 0.5, 
    "adverse effect": 0.85, "adverse event": 0.7,
}  # fmt: skip
_INDUCED = {"-induced": 0.85, "-mediated": 0.6, "-driven": 0.7, "-caused": 0.85, "induced": 0.8, "mediated": 0.55,
    "-associated": 0.45, "-related": 0.4,
}  # fmt: skip
_LINKS = frozenset({"be", "include", "remain", "become", "comprise", "range"})
_ADJECTIVES = {
    ("responsible", "for"): (True, "+", 0.7), ("effective", "against"): (True, "-", 0.6),
    ("attributable", "to"): (False, "+", 0.75),
    ("dependent", "on"): (False, "?", 0.5), ("due", "to"): (False, "+", 0.8), ("secondary", "to"): (False, "+", 0.6),
    ("bad", "for"): (True, "-", 0.6), ("good", "for"): (True, "+", 0.55), ("prone", "to"): (True, "+", 0.6),
    ("susceptible", "to"): (False, "+", 0.5), ("vulnerable", "to"): (False, "+", 0.5),
    ("proportional", "to"): (False, "+", 0.6), ("essential", "for"): (True, "+", 0.5),
    ("necessary", "for"): (True, "+", 0.45), ("vital", "for"): (True, "+", 0.5), ("crucial", "for"): (True, "+", 0.5),
    ("harmful", "to"): (True, "+", 0.6), ("toxic", "to"): (True, "+", 0.6), ("damaging", "to"): (True, "+", 0.6),
}  # fmt: skip


def nominal_links(clauses: Clauses) -> Iterator[Link]:
    """Links of nominal, adjectival and "-induced" cues."""
    for place in range(len(clauses.segments)):
        if clauses.kind(place) == "NP":
            yield from _headed(clauses, place)
            yield from _effect_on(clauses, place)
            yield from _induced(clauses, place)
        elif clauses.kind(place) == "VG":
            yield from _adjective(clauses, place)
            yield from _at_risk(clauses, place)


def _head(clauses: Clauses, place: int) -> str:
    """The head noun of a noun phrase, or its last two words where these are a cue."""
    segment = clauses.segments[place]
    words = [token.lemma for token in clauses.tokens[segment.start : segment.end]]
    pair = " ".join(words[-2:])
    return pair if pair in _CAUSE_HEADS or pair in _EFFECT_HEADS else words[-1]


def _negative(clauses: Clauses, place: int) -> bool:
    segment = clauses.segments[place]
    return any(token.low in {"no", "neither"} for token in clauses.tokens[segment.start : segment.end])


def _headed(clauses: Clauses, place: int) -> Iterator[Link]:
    head = _head(clauses, place)
    if (head not in _CAUSE_HEADS and head not in _EFFECT_HEADS) or _negative(clauses, place):
        return
    if clauses.low(place + 1) not in {"of", "for", "behind", "from", "to"}:
        return
    inner, after = clauses.group(place + 2)
    if not inner:
        return
    causal = head in _CAUSE_HEADS
    sign, strength = _CAUSE_HEADS[head] if causal else ("+", _EFFECT_HEADS[head])
    facet = "Risk" if head == "risk factor" else ""
    inner = [Argument(one.start, one.end, one.polarity, facet) for one in inner] if causal and facet else inner
    while clauses.kind(after) == "AV":
        after += 1
    verb = clauses.verb(after)
    outer: list[Argument] = []
    if verb is not None and verb.lemma in _LINKS and not verb.negated and not verb.passive:
        outer = clauses.group(after + 1)[0]
        strength *= HEDGED if verb.hedged else 1.0
    if not outer:
        before = place - 1
        while clauses.kind(before) in {"AV", "P"} and clauses.low(before) != "of":
            if clauses.low(before) in word_lists()["negation"]:
                return
            before -= 1
        verb = clauses.verb(before)
        if (
            verb is not None
            and verb.lemma in {*_LINKS, "know", "consider", "identify", "recognize"}
            and not verb.negated
        ):
            outer = clauses.subjects(before)
            strength *= HEDGED if verb.hedged else 1.0
        elif clauses.kind(place - 1) == "CM" and clauses.kind(place - 2) == "NP":
            outer = clauses.chain(place - 2)
    if causal:
        yield Link(tuple(outer), tuple(inner), sign, strength, head)
    else:
        yield Link(tuple(inner), tuple(outer), sign, strength, head)


def _effect_on(clauses: Clauses, place: int) -> Iterator[Link]:
    """ "the effect of X on Y", "X has a negative effect on Y", "exposure to X increases …" is left to verbs."""
    if clauses.segments[place].lemma not in {"effect", "impact", "influence", "pressure"} or _negative(clauses, place):
        return
    words = {token.low for token in clauses.tokens[clauses.segments[place].start : clauses.segments[place].end]}
    sign = (
        "-"
        if words & {"negative", "adverse", "detrimental", "inhibitory", "harmful"}
        else "+"
        if words & {"positive", "beneficial", "stimulating"}
        else "?"
    )
    if clauses.low(place + 1) == "on":
        effects = clauses.group(place + 2)[0]
        verb = clauses.verb(place - 1)
        if verb is not None and verb.lemma in {"have", "exert", "exercise"} and not verb.negated:
            yield Link(tuple(clauses.subjects(place - 1)), tuple(effects), sign, 0.6, "effect on")
    elif clauses.low(place + 1) == "of" and clauses.kind(place + 2) == "NP":
        after = place + 3
        if clauses.low(after) == "on":
            cause = clauses.argument(place + 2, place + 3)
            yield Link((cause,), tuple(clauses.group(after + 1)[0]), sign, 0.45, "effect of on")


def _induced(clauses: Clauses, place: int) -> Iterator[Link]:
    """ "cisplatin-induced kidney damage"."""
    segment = clauses.segments[place]
    opening = _INDUCED.get(clauses.tokens[segment.start].low)
    if opening is not None and clauses.kind(place - 1) == "CLOSE" and segment.end > segment.start + 1:
        yield Link(
            tuple(clauses.chain(place - 1)),
            (Argument(segment.start + 1, segment.end),),
            "+",
            opening,
            clauses.tokens[segment.start].low,
        )
    for at in range(segment.start + 1, segment.end - 1):
        strength = _INDUCED.get(clauses.tokens[at].low)
        if strength is not None and clauses.tokens[at - 1].is_noun:
            yield Link(
                (Argument(segment.start, at),), (Argument(at + 1, segment.end),), "+", strength, clauses.tokens[at].low
            )


def _adjective(clauses: Clauses, place: int) -> Iterator[Link]:
    """ "X is responsible for Y", "Y is attributable to X", "X is effective against Y"."""
    verb = clauses.segments[place]
    if verb.lemma not in {"be", "become", "remain", "appear"} or verb.negated:
        return
    here = place + 1
    while clauses.kind(here) in {"AV", "OT"} and here < place + 4:
        found = _ADJECTIVES.get((clauses.low(here), clauses.low(here + 1)))
        if found is not None and (here == place + 1 or clauses.kind(here - 1) == "AV"):
            # "is important due to": that it is important is what is due.
            forward, sign, strength = found
            inner = clauses.group(here + 2)[0]
            outer = clauses.subjects(place)
            strength *= HEDGED if verb.hedged else 1.0
            causes, effects = (outer, inner) if forward else (inner, outer)
            if clauses.low(here) in {"harmful", "toxic", "damaging", "susceptible", "vulnerable"}:
                effects = [Argument(one.start, one.end, one.polarity, "Damage") for one in effects]
            yield Link(tuple(causes), tuple(effects), sign, strength, clauses.low(here))
        here += 1


def _at_risk(clauses: Clauses, place: int) -> Iterator[Link]:
    """ "people with obesity are more likely to develop diabetes", "smokers are at higher risk of stroke"."""
    verb = clauses.segments[place]
    if verb.negated or verb.lemma not in {"be", "have", "put", "place"}:
        return
    words = " ".join(token.low for token in clauses.tokens[verb.end : verb.end + 8])
    sign = "-" if any(mark in words for mark in ("less likely", "lower risk", "lower chance", "reduced risk")) else "+"
    if not any(
        mark in words
        for mark in ("more likely to", "less likely to", "risk of", "risk for", "chance of", "likelihood of")
    ):
        return
    causes = [_with(clauses, one) for one in clauses.subjects(place)]
    kept = tuple(one for one in causes if one is not None)
    for here in range(place + 1, min(place + 7, len(clauses.segments))):
        nested = clauses.verb(here)
        if (
            nested is not None
            and nested.form == "inf"
            and nested.lemma in {"develop", "get", "have", "experience", "suffer"}
        ):
            effects = clauses.group(here + 1)[0]
            facet = [Argument(one.start, one.end, one.polarity, "Risk") for one in effects]
            yield Link(kept, tuple(facet), sign, 0.7, "more likely")
            return
        if (
            clauses.kind(here) == "NP"
            and clauses.segments[here].lemma in {"risk", "chance", "likelihood"}
            and ("higher" in words or "lower" in words or "increased" in words or "greater" in words)
        ):
            effects = clauses.group(here + 2)[0]
            facet = [Argument(one.start, one.end, one.polarity, "Risk") for one in effects]
            yield Link(kept, tuple(facet), sign, 0.7, "at risk")
            return


def _with(clauses: Clauses, argument: Argument) -> Argument | None:
    """ "people with X": X. Anything that is not about people stays out: their risk is not theirs to cause."""
    for at in range(argument.start, argument.end):
        if clauses.tokens[at].low in {"with", "exposed"} and at + 1 < argument.end:
            return Argument(at + 1, argument.end)
    return None
