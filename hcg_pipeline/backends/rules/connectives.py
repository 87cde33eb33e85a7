"""Causes stated by connectives: because, due to, as a result of, when and if, so, by -ing, the more … the more."""

from collections.abc import Iterator
from dataclasses import replace

from hcg_pipeline.backends.rules.causal import Link
from hcg_pipeline.backends.rules.clauses import Clauses
from hcg_pipeline.backends.rules.groups import FLIP, Argument
from hcg_pipeline.backends.rules.wordlists import cues, word_lists, word_map

_PREPOSITIONS = (
    (("because", "of"), 0.85), (("due", "to"), 0.85), (("owing", "to"), 0.85), (("as", "a", "result", "of"), 0.85), 
    (("as", "a", "consequence", "of"), 0.85),
    (("thanks", "to"), 0.75), (("on", "account", "of"), 0.8), (("in", "response", "to"), 0.65),
    (("secondary", "to"), 0.6),
)  # fmt: skip
_SUBORDINATORS = {"because": 0.85, "since": 0.5, "when": 0.5, "if": 0.5, "once": 0.4, "whenever": 0.55, "as": 0.4,
    "after": 0.4, "where": 0.4, "unless": 0.45,
}  # fmt: skip
_WHEN = frozenset({"after", "before", "during", "within", "upon", "since", "until"})
_CONSEQUENCE = frozenset({"so", "therefore", "thus", "hence", "consequently", "thereby"})


def connective_links(clauses: Clauses) -> Iterator[Link]:
    """Links of connectives between a phrase or a clause and the main clause."""
    yield from _prepositional(clauses)
    yield from _subordinate(clauses)
    yield from _consequence(clauses)
    yield from _means(clauses)
    yield from _comparative(clauses)
    yield from _without(clauses)
    yield from _with(clauses)


def _starts(clauses: Clauses) -> dict[int, int]:
    """Token -> segment that begins there."""
    return {segment.start: at for at, segment in enumerate(clauses.segments)}


def _prepositional(clauses: Clauses) -> Iterator[Link]:
    words = [token.low for token in clauses.tokens]
    starts = _starts(clauses)
    for phrase, strength in _PREPOSITIONS:
        if not strength:
            continue
        for at in range(len(words) - len(phrase)):
            if tuple(words[at : at + len(phrase)]) != phrase:
                continue
            first = next(
                (
                    starts[here]
                    for here in range(at + len(phrase), min(at + len(phrase) + 3, len(words)))
                    if here in starts
                ),
                None,
            )
            before = next((starts[here] for here in range(at, -1, -1) if here in starts), None)
            if first is None or before is None or (at and words[at - 1] in {"not", "only"}):
                continue
            causes, after = clauses.group(first)
            if not causes:
                continue
            effects = (
                _effect_before(clauses, before)
                if any(clauses.kind(one) == "NP" for one in range(before))
                else _effect_after(clauses, after)
            )
            yield Link(tuple(causes), tuple(effects), "+", strength, " ".join(phrase))


def _effect_before(clauses: Clauses, place: int) -> list[Argument]:
    """What stands before "due to": the clause's change, or the noun phrase right before it."""
    here = place - 1
    while clauses.kind(here) in {"AV", "CM"}:
        here -= 1
    verb = clauses.verb(here)
    if verb is not None and verb.lemma in {"be", "occur", "happen", "arise", "develop"} and not verb.negated:
        return clauses.subjects(here)
    if verb is not None:
        return clauses.clause(here)
    chain = _kept_from(clauses, _timeless(clauses, here))
    for main in range(here, -1, -1):
        if clauses.kind(main) in {"SB", "RL"}:
            break
        found = clauses.verb(main)
        if found is not None and found.form == "fin":
            if found.negated:
                return []
            return clauses.clause(main) or ([] if _valued(clauses, main, chain) else chain)
    return chain


def _timeless(clauses: Clauses, last: int) -> list[Argument]:
    """The item that ends with segment `last`; of "death soon after arrival" the death."""
    chain = clauses.chain(last)
    first = next((at for at in range(last, -1, -1) if chain and clauses.segments[at].start == chain[0].start), None)
    if first is None or clauses.low(first - 1) not in _WHEN:
        return chain
    before = first - 2
    while clauses.kind(before) == "AV":
        before -= 1
    return clauses.chain(before)


def _valued(clauses: Clauses, main: int, chain: list[Argument]) -> bool:
    """ "Finding patients with epilepsy is important due to": it is no epilepsy that is due to something."""
    verb = clauses.segments[main]
    after = main + 1
    while clauses.kind(after) == "AV":
        after += 1
    adjective = clauses.kind(after) == "OT" and clauses.tokens[clauses.segments[after].start].tag.startswith("AJ")
    return verb.lemma == "be" and adjective and all(one.polarity == "+" for one in chain)


def _kept_from(clauses: Clauses, chain: list[Argument]) -> list[Argument]:
    """ "ineligible for surgery", "unavailable for work": less of what it is for."""
    unable = word_lists()["unable"]
    return [
        replace(one, polarity="-") if one.start > 1 and clauses.tokens[one.start - 2].low in unable else one
        for one in chain
    ]


def _effect_after(clauses: Clauses, place: int) -> list[Argument]:
    while clauses.kind(place) in {"CM", "AV"}:
        place += 1
    for main in range(place, len(clauses.segments)):
        if clauses.kind(main) in {"SB", "RL"}:
            return []
        if clauses.is_finite(main):
            return clauses.clause(main)
    return []


def _clause_at(clauses: Clauses, place: int) -> tuple[list[Argument], int]:
    """The clause argument of the first finite verb from `place` on, and the segment of that verb."""
    for main in range(place, len(clauses.segments)):
        if clauses.kind(main) in {"SB", "RL"}:
            return [], main
        if clauses.is_finite(main):
            return clauses.clause(main), main
    return [], len(clauses.segments)


def _subordinate(clauses: Clauses) -> Iterator[Link]:
    for place in range(len(clauses.segments)):
        word = clauses.low(place)
        if (
            word not in _SUBORDINATORS
            or clauses.kind(place) not in {"SB", "P"}
            or clauses.low(place + 1) in {"of", "a", "well"}
        ):
            continue
        if clauses.low(place - 1) in {"only", "not", "even", "just"} or clauses.kind(place - 1) == "P":
            continue
        causes, verb = _clause_at(clauses, place + 1)
        if not causes:
            continue
        strength = _SUBORDINATORS[word]
        if place == 0:
            comma = next((at for at in range(verb, len(clauses.segments)) if clauses.kind(at) == "CM"), None)
            if comma is None:
                continue
            effects, main = _clause_at(clauses, comma + 1)
        else:
            effects, main = _main_before(clauses, place)
        negated = clauses.verb(main)
        if negated is not None and negated.negated:
            continue
        # That something is done because of something is a reason, not a cause of what it is done to.
        if not (_moves(clauses, verb) and _moves(clauses, main)):
            continue
        if word == "unless":
            causes = [replace(one, polarity=FLIP[one.polarity]) for one in causes]
        if word in {"as", "since", "after", "where"} and not (_changes(clauses, verb) and _changes(clauses, main)):
            continue
        yield Link(tuple(causes), tuple(effects), "+", strength, word)


def _moves(clauses: Clauses, place: int) -> bool:
    """Whether a verb says that something changes or happens, rather than that something is done or had."""
    verb = clauses.verb(place)
    if verb is None or verb.lemma in {
        "use",
        "start",
        "begin",
        "exist",
        "remove",
        "treat",
        "control",
        "manage",
        "make",
        "allow",
        "help",
    }:
        return False
    happens = (
        verb.lemma in word_map("changes.tsv")
        or verb.lemma in word_map("verb_facets.tsv")
        or bool(cues().get(verb.lemma))
    )
    return happens or verb.lemma in {"be", "become", "have", "develop"}


def _changes(clauses: Clauses, place: int) -> bool:
    verb = clauses.verb(place)
    return verb is not None and word_map("changes.tsv").get(verb.lemma) in {"+", "-"}


def _main_before(clauses: Clauses, place: int) -> tuple[list[Argument], int]:
    for main in range(place - 1, -1, -1):
        if clauses.kind(main) in {"SB", "RL"}:
            break
        if clauses.is_finite(main):
            inside, outer = clauses.outside_temporal(main)
            if inside and outer is None:
                break
            found = main if outer is None else outer
            return clauses.clause(found), found
    return [], -1


def _consequence(clauses: Clauses) -> Iterator[Link]:
    """ "Oil is scarce, so prices rise": the clause before "so" is the cause of the one after it."""
    for place in range(2, len(clauses.segments) - 2):
        if clauses.low(place) not in _CONSEQUENCE or clauses.low(place + 1) in {"much", "many", "far"}:
            continue
        if clauses.kind(place - 1) not in {"CM", "CJ", "OT"}:
            continue
        # ", so that" tells a consequence; without the comma it may be a purpose.
        that = clauses.low(place + 1) == "that"
        if that and clauses.kind(place - 1) != "CM":
            continue
        effects, verb = _clause_at(clauses, place + 1 + that)
        causes, main = _main_before(clauses, place - 1)
        if (
            verb < len(clauses.segments)
            and main >= 0
            and clauses.kind(verb) == "VG"
            and not clauses.segments[verb].negated
        ):
            yield Link(tuple(causes), tuple(effects), "+", 0.65, clauses.low(place))


def _means(clauses: Clauses) -> Iterator[Link]:
    """ "lowers prices by increasing supply": the means is a cause of what the clause says."""
    for place in range(2, len(clauses.segments) - 1):
        if clauses.low(place) not in {"by", "through"} or clauses.verb(place + 1) is None:
            continue
        causes = clauses.clause(place + 1)
        for main in range(place - 1, -1, -1):
            verb = clauses.verb(main)
            if clauses.kind(main) in {"SB", "RL", "OT"}:
                break
            if verb is not None and verb.form in {"fin", "inf"}:
                if not verb.negated:
                    yield Link(tuple(causes), tuple(clauses.clause(main)), "+", 0.55, "by -ing")
                break


def _comparative(clauses: Clauses) -> Iterator[Link]:
    """ "The higher the interest rate, the lower the demand" (Fillmore, Kay and O'Connor 1988)."""
    tokens = clauses.tokens
    if len(tokens) < 6 or tokens[0].low != "the" or tokens[1].tag not in {"AJC", "AV0", "DT0"}:
        return
    comma = next((at for at, token in enumerate(tokens) if token.low == ","), None)
    if (
        comma is None
        or comma + 3 >= len(tokens)
        or tokens[comma + 1].low != "the"
        or tokens[comma + 2].tag not in {"AJC", "AV0", "DT0"}
    ):
        return
    first, second = Argument(1, comma), Argument(comma + 2, len(tokens) - 1)
    parts = []
    for one in (first, second):
        items = [
            at
            for at, segment in enumerate(clauses.segments)
            if one.start <= segment.start and segment.end <= one.end and segment.kind == "NP"
        ]
        if not items:
            return
        noun = clauses.argument(items[0], min(clauses.item(items[0]), items[-1] + 1))
        polarity = (
            "-"
            if tokens[one.start].low in {"lower", "less", "fewer", "smaller", "weaker", "cheaper", "shorter"}
            else "+"
        )
        inside = noun.start <= one.start
        parts.append(Argument(noun.start, noun.end, "+" if inside else polarity))
    yield Link((parts[0],), (parts[1],), "+", 0.7, "the … the")


def _without(clauses: Clauses) -> Iterator[Link]:
    """ "Without lubrication, bearings fail": it is the want of it that does it."""
    if clauses.low(0) != "without":
        return
    found, after = clauses.group(1)
    if not found or clauses.kind(after) != "CM":
        return
    causes = [Argument(one.start, one.end, "-", one.facet) for one in found]
    effects, verb = _clause_at(clauses, after + 1)
    if effects and not clauses.segments[verb].negated:
        yield Link(tuple(causes), tuple(effects), "+", 0.6, "without")


def _with(clauses: Clauses) -> Iterator[Link]:
    """ "With less oil, bearings fail", "With rising speed noise grows": a change named first, a change that follows."""
    lists = word_lists()
    if clauses.low(0) not in {"with", "under", "at"} or clauses.kind(1) != "NP":
        return
    segment = clauses.segments[1]
    words = {token.low for token in clauses.tokens[segment.start : segment.end]}
    if not words & (lists["less"] | lists["more"]) and segment.lemma not in lists["less_head"] | lists["more_head"]:
        return
    found, after = clauses.group(1)
    if clauses.kind(after) != "CM":
        return
    effects, verb = _clause_at(clauses, after + 1)
    if effects and _moves(clauses, verb) and not clauses.segments[verb].negated:
        yield Link(tuple(found), tuple(effects), "+", 0.5, "with")
