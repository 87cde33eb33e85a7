"""Tagged words to segments: base noun phrases, verb groups and what joins them (finite-state chunking; Abney 1991)."""

from dataclasses import dataclass

from hcg_pipeline.backends.rules.tokens import Token
from hcg_pipeline.backends.rules.wordlists import word_lists

_DETERMINERS = ("AT0", "DT0", "DPS", "ORD", "CRD")
_ADJECTIVES = ("AJ0", "AJC", "AJS")
_VERBS = ("VV", "VB", "VH", "VD", "VM")
_PRONOUNS = ("PNP", "PNI", "PNX", "EX0")
_BE_LIKE = frozenset({"be", "become", "get", "remain"})


@dataclass(frozen=True, slots=True)
class Segment:
    """Tokens [start, end).

    `kind` is NP, VG, P, CJ (and, or, but), CM (comma), RL (which, who, that), SB (because, if), OPEN, CLOSE, AV or OT.
    """

    kind: str
    start: int
    end: int
    lemma: str = ""
    form: str = ""
    passive: bool = False
    negated: bool = False
    hedged: bool = False


def segments(tokens: list[Token]) -> list[Segment]:
    """The sentence as segments that cover every token, in order."""
    found: list[Segment] = []
    place = 0
    while place < len(tokens):
        segment = _verb_group(tokens, place) or _noun_phrase(tokens, place) or _single(tokens, place, found)
        found.append(segment)
        place = segment.end
    return found


def _single(tokens: list[Token], place: int, before: list[Segment]) -> Segment:
    token = tokens[place]
    low, tag = token.low, token.tag
    kind = "OT"
    if low == ",":
        kind = "CM"
    elif low in {"(", "["}:
        kind = "OPEN"
    elif low in {")", "]"}:
        kind = "CLOSE"
    elif low in {"and", "or", "but", "nor", "and/or", "&"}:
        kind = "CJ"
    elif tag == "CJS":
        phrase = low == "as" and place + 2 < len(tokens) and tokens[place + 2].low in {"result", "consequence"}
        kind = "P" if phrase else "SB"
    elif low in {"as", "such", "than", "like"} or tag in {"PRP", "PRF"}:
        kind = "P"
    elif tag in {"DTQ"} or (low == "that" and before and before[-1].kind in {"NP", "CM"}):
        kind = "RL"
    elif tag in {"CJS", "CJT", "AVQ"} or low in {"that", "whether", "so"}:
        kind = "SB"
    elif tag in {"AV0", "AVP", "XX0", "ITJ"}:
        kind = "AV"
    return Segment(kind, place, place + 1, low)


def _noun_phrase(tokens: list[Token], start: int) -> Segment | None:
    """(determiner) (adverb) (adjective | participle | number | noun | 's)* noun, or a pronoun."""
    place = start
    size = len(tokens)
    if tokens[start].tag in _PRONOUNS or (tokens[start].tag == "DT0" and _stands_alone(tokens, start)):
        return Segment("NP", start, start + 1, tokens[start].low, "pronoun")
    head = -1
    while place < size:
        token = tokens[place]
        tag = token.tag
        if token.is_noun and token.low[:1].isalnum():
            head = place
        elif (
            (tag in _DETERMINERS and place == start)
            or (tag in _DETERMINERS and head < 0 and tokens[place - 1].tag in _DETERMINERS)
            or tag == "CRD"
        ):
            pass
        elif tag in _ADJECTIVES and token.low not in {"such", "due"}:
            if head >= 0 and tag != "AJ0":
                break
        elif (
            (tag in {"VVN", "VVG", "VVD"} and _modifies(tokens, place, start))
            or (token.low in {"'s", "’s"} and head == place - 1)
            or (tag == "AV0" and _grades(tokens, place))
            or (tag == "CJC" and head < 0 and place > start and _joins_adjectives(tokens, place))
            or tag == "PUQ"
            or token.low in {"“", "”", '"', "‘"}
        ):
            pass
        else:
            break
        place += 1
    if head < 0:
        return None
    return Segment("NP", start, head + 1, tokens[head].lemma)


def _joins_adjectives(tokens: list[Token], place: int) -> bool:
    """ "behavioral and biochemical changes"."""
    after = tokens[place + 1 : place + 3]
    return (
        tokens[place - 1].tag in _ADJECTIVES
        and len(after) == 2
        and after[0].tag in _ADJECTIVES
        and (after[1].is_noun or after[1].tag in _ADJECTIVES)
    )


def _stands_alone(tokens: list[Token], place: int) -> bool:
    """ "This causes", "Some of": a determiner that no noun follows."""
    after = tokens[place + 1] if place + 1 < len(tokens) else None
    return tokens[place].low in {"this", "these", "those", "that", "both"} and (
        after is None or after.tag.startswith(_VERBS) or after.tag in {"AV0", "PRF", "PUN"}
    )


def _modifies(tokens: list[Token], place: int, start: int) -> bool:
    """A participle inside a noun phrase: after a determiner or adjective, or at its start before a noun."""
    after = tokens[place + 1] if place + 1 < len(tokens) else None
    if after is None or not (after.is_noun or after.tag in {"AJ0", "VVG"}):
        return False
    before = tokens[place - 1] if place else None
    tag = tokens[place].tag
    if place > start:
        return before is not None and not before.is_noun
    if tag == "VVN":
        return (
            before is None
            or before.low in {",", "and", "or"}
            or before.tag in {"PRP", "PRF", "TO0", "CJS"}
            or before.tag.startswith("VV")
        )
    return False


def _grades(tokens: list[Token], place: int) -> bool:
    after = tokens[place + 1] if place + 1 < len(tokens) else None
    if after is None:
        return False
    low = tokens[place].low
    if low in {"more", "less", "fewer", "most", "least", "too"}:
        return after.is_noun or after.tag in _ADJECTIVES or after.tag == "VVN"
    return (low in word_lists()["adverb_modifier"] or low.endswith("ly")) and after.tag in _ADJECTIVES


def _verb_group(tokens: list[Token], start: int) -> Segment | None:
    """(to | modal | be | have | do | not | adverb)* verb, with its form: fin, inf, ing, or ppl without a form of be."""
    first = tokens[start]
    if not (first.tag.startswith(_VERBS) or (first.tag == "TO0" and _verb_follows(tokens, start + 1))):
        return None
    verbs = [] if first.tag == "VVN" and _opens_subject(tokens, start) else _verbs_from(tokens, start)
    if not verbs:
        return None
    main = verbs[-1]
    auxiliaries = [tokens[at] for at in verbs[:-1]]
    inside = [token for token in tokens[start:main] if token.tag in {"AV0", "XX0", "AVP"}]
    around = [*auxiliaries, *inside, *_adverbs_before(tokens, start)]
    lists = word_lists()
    be = any(token.lemma in _BE_LIKE or token.tag.startswith("VB") for token in auxiliaries)
    return Segment(
        "VG",
        start,
        main + 1,
        tokens[main].lemma,
        _form(tokens, start, main, bool(auxiliaries)),
        passive=tokens[main].tag in {"VVN", "VVD"} and be,
        negated=any(token.low in lists["negation"] for token in around),
        hedged=any(token.low in lists["hedge"] for token in around),
    )


def _opens_subject(tokens: list[Token], place: int) -> bool:
    """ "Reduced levels can lead": a participle at the start of a clause, before a noun that a finite verb follows."""
    if place and tokens[place - 1].low not in {",", ";", "and", "or", "that"}:
        return False
    here = place + 1
    while here < len(tokens) and (tokens[here].is_noun or tokens[here].tag == "AJ0"):
        here += 1
    bare = here > place + 1 and tokens[here - 1].is_noun
    return bare and here < len(tokens) and tokens[here].tag in {"VM0", "VVZ", "VVB", "VVD", "VBZ", "VBB", "VHZ", "VHB"}


def _verbs_from(tokens: list[Token], start: int) -> list[int]:
    """Places of the verbs of the group that begins at `start`; the last is the main verb."""
    verbs: list[int] = []
    place = start + (tokens[start].tag == "TO0")
    while place < len(tokens):
        token = tokens[place]
        if token.tag.startswith(_VERBS):
            if verbs and not _continues(tokens[verbs[-1]], token):
                break
            verbs.append(place)
        elif not (token.tag in {"AV0", "XX0", "AVP"} and _verb_follows(tokens, place)):
            break
        place += 1
    return verbs


def _adverbs_before(tokens: list[Token], start: int) -> list[Token]:
    found: list[Token] = []
    for token in reversed(tokens[max(0, start - 2) : start]):
        if token.tag not in {"AV0", "XX0"}:
            break
        found.append(token)
    return found


def _form(tokens: list[Token], start: int, main: int, helped: bool) -> str:
    tag = tokens[main].tag
    if tokens[start].tag == "TO0" or (tag == "VVI" and not helped and _bare_infinitive(tokens, start)):
        return "inf"
    if helped:
        return "fin"
    return {"VVG": "ing", "VVN": "ppl"}.get(tag, "fin")


def _bare_infinitive(tokens: list[Token], place: int) -> bool:
    """ "helps prevent", "makes cells grow", "to cut and sew": otherwise a base form is a plural verb."""
    earlier = next((token for token in reversed(tokens[:place]) if token.tag.startswith("V")), None)
    if earlier is None:
        return False
    joined = tokens[place - 1].tag == "CJC" or tokens[place - 1].low == ","
    return earlier.lemma in {"help", "let", "make", "have", "see", "watch"} or (joined and earlier.tag == "VVI")


def _continues(auxiliary: Token, token: Token) -> bool:
    """Whether a verb goes on with a verb group whose last word so far is `auxiliary`."""
    if auxiliary.tag.startswith("VM") or auxiliary.tag.startswith("VD"):
        return token.tag.endswith(("I", "B")) or token.tag.startswith(("VB", "VH"))
    if auxiliary.tag.startswith("VB"):
        return token.tag in {"VVN", "VVG", "VVD", "VBG", "VBN", "VHG"}
    if auxiliary.tag.startswith("VH"):
        return token.tag in {"VVN", "VBN", "VVD", "VHN"}
    return False


def _verb_follows(tokens: list[Token], place: int) -> bool:
    """Whether adverbs from here on lead to a verb."""
    while place < len(tokens) and tokens[place].tag in {"AV0", "XX0", "AVP"}:
        place += 1
    return place < len(tokens) and tokens[place].tag.startswith(_VERBS)
