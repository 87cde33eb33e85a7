"""Verbs that the tagger took for nouns because a noun could stand there too.

"Shortages push up wages and limit capacity": after "and", a word that can be a verb, in the form of the verb before it
and with an object of its own. "leads to manual overrides": a second verb in a clause, with nothing between, is a noun.
"""

from collections.abc import Sequence

from hcg_pipeline.backends.rules.noun_lexicon import noun_lexicon
from hcg_pipeline.backends.rules.tokens import Token
from hcg_pipeline.backends.rules.wordlists import cues, word_lists

_OBJECT = frozenset({"AT0", "DPS", "AJ0", "AJC", "NN1", "NN2", "NN0"})
_BASE = frozenset({"VVB", "VVI"})
_ENDS_CLAUSE = frozenset({"CJS", "CJT", "DTQ", "AVQ"})
_OPENS_NOUN = frozenset({"to", "in", "from"})
_SHORTEST = 3
_PREFIXES = ("over", "under", "out", "re", "mis", "de", "un", "dis", "pre")


def verb_base(low: str) -> str | None:
    """The base form of a word that could be a verb's base or third person ("overcools": "overcool"), or None."""
    verbs = noun_lexicon().verbs
    for ending, put in (("", ""), ("ies", "y"), ("es", ""), ("s", "")):
        base = low[: len(low) - len(ending)] + put
        if low.endswith(ending) and base in verbs:
            return base
    return None


def prefixed_base(low: str) -> str | None:
    """The base form of a third person that only its prefix keeps out of the lexicon: "overcools", "misaligns"."""
    if not low.endswith("s") or noun_lexicon().singular(low) in noun_lexicon().classes:
        return None
    for prefix in _PREFIXES:
        base = verb_base(low[len(prefix) :]) if low.startswith(prefix) and len(low) > len(prefix) + 3 else None
        if base is not None:
            return prefix + base
    return None


def mend_joined(tokens: list[Token]) -> None:
    """Make a verb of what follows "and" as one, in place."""
    for place in range(2, len(tokens) - 1):
        token = tokens[place]
        if tokens[place - 1].low not in {"and", "or"} or token.tag not in {"NN1", "NN2", "AJ0"}:
            continue
        base = verb_base(token.low)
        if base is None or not _takes(base, token, tokens[place + 1]) or not tokens[place - 2].is_noun:
            continue
        before = _verb_before(tokens, place - 2)
        if before is not None and (before.tag in _BASE if token.low == base else before.tag == "VVZ"):
            token.tag, token.lemma = before.tag, base


def _takes(base: str, token: Token, after: Token) -> bool:
    """Whether a word reads as a causal verb before what follows it: its particle, or an object of its own."""
    found = cues().get(base, ())
    if any(after.low in cue.particles for cue in found):
        return True
    if after.tag not in _OBJECT or base in word_lists()["noun_first"] or (token.tag == "AJ0" and token.low != base):
        return False
    plain = any(not cue.particles for cue in found) and not any(cue.facet for cue in found)
    return plain and f"{token.low} {after.lemma}" not in noun_lexicon().classes


def _verb_before(tokens: Sequence[Token], place: int) -> Token | None:
    """The verb whose object ends at a place, in the same clause."""
    for token in reversed(tokens[: place + 1]):
        if token.tag.startswith("VV") and token.tag not in {"VVN", "VVG"}:
            return token
        if token.tag in _ENDS_CLAUSE or token.low in {",", ";", ":"}:
            return None
    return None


def mend_compounds(tokens: list[Token]) -> None:
    """Make a noun of a second verb that ends what follows a preposition, and opens no clause of its own, in place."""
    for place in range(3, len(tokens)):
        token = tokens[place]
        if token.tag != "VVZ" or noun_lexicon().singular(token.low) not in noun_lexicon().classes:
            continue
        first = place - 1
        while first > 0 and (tokens[first].is_noun or tokens[first].tag == "AJ0"):
            first -= 1
        if first == place - 1 or tokens[first].low not in _OPENS_NOUN or tokens[place - 1].tag == "NN2":
            continue
        if tokens[first - 1].tag in {"VVZ", "VVB", "VVD"}:
            token.tag, token.lemma = "NN2", noun_lexicon().singular(token.low)


def mend_first(tokens: list[Token]) -> None:
    """Make a noun of a first word that was taken for a verb though a subject and its verb follow, in place.

    "Lynch syndrome causes": an order ("Check the oil") has no second verb of its own.
    """
    if len(tokens) < _SHORTEST or tokens[0].tag not in _BASE or not tokens[1].is_noun:
        return
    for place in range(2, len(tokens) - 1):
        token = tokens[place]
        base = verb_base(token.low) if token.tag == "NN2" and tokens[place - 1].tag == "NN1" else None
        if base is not None and _takes(base, token, tokens[place + 1]):
            token.tag, token.lemma = "VVZ", base
        if token.tag in {"VVZ", "VBZ", "VHZ", "VM0"}:
            tokens[0].tag, tokens[0].lemma = "NN1", noun_lexicon().singular(tokens[0].low)
            return
        if not token.is_noun:
            return
