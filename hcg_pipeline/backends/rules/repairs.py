"""Mending tags by what is known of verbs and nouns.

HanTa is a trigram tagger over morphemes; it knows no syntax, so a plural noun and the third person of a verb ("rises",
"blocks") are often mixed up. Here they are decided by whether their clause has a verb. Words that the tagger does not
know are nouns where a noun can stand.
"""

import re
from collections.abc import Collection

from hcg_pipeline.backends.rules.noun_lexicon import NounLexicon, noun_lexicon
from hcg_pipeline.backends.rules.second_verbs import mend_compounds, mend_first, mend_joined, prefixed_base, verb_base
from hcg_pipeline.backends.rules.tokens import Token
from hcg_pipeline.backends.rules.wordlists import cues, word_lists, word_map

_NUMBER = re.compile(r"^[.,:/%$€£+-]*\d[\d.,:/%$€£+-]*(?:st|nd|rd|th)?$")
_FINITE = ("VBB", "VBD", "VBZ", "VDB", "VDD", "VDZ", "VHB", "VHD", "VHZ", "VM0", "VVB", "VVD", "VVZ")
_CLAUSE_START = ("CJS", "CJT", "DTQ", "AVQ")
_ALWAYS = {
    "because": "CJS", "if": "CJS", "although": "CJS", "whereas": "CJS", "due": "AJ0", "without": "PRP", "via": "PRP",
    "including": "PRP", "such": "DT0", "e.g": "AV0", "i.e": "AV0", "therefore": "AV0", "thus": "AV0", "hence": "AV0",
    "cannot": "VM0", "n't": "XX0", "'ll": "VM0", "'re": "VBB", "'ve": "VHB", "'m": "VBB",
    "per": "PRP", "during": "PRP", "unlike": "PRP", "despite": "PRP", "nearby": "AJ0",
}  # fmt: skip


_OPENS_CLAUSE = frozenset({"by", "from", "for", "of", "without"})
_OPENS_OBJECT = frozenset(["AT0", "DT0", "DPS", "AJ0", "AJC", "NN2", "NN1", "NN0", "NP0", "AVP", "CRD", "VVG", "AV0"])
_BEFORE_NOUN = frozenset({"PRP", "PRF", "AT0", "DPS", "AJ0", "VVB", "VVI", "VVZ"})


class Repairs:
    """Mends the tags of sentences. `known` holds the word forms that the tagger has seen in training."""

    def __init__(self, known: Collection[str]) -> None:
        self._known = known
        self._lexicon = noun_lexicon()
        self._lists = word_lists()
        self._cue_verbs = (
            frozenset(cues()) | frozenset(word_map("changes.tsv")) | frozenset(word_map("verb_facets.tsv"))
        )

    def repair(self, tokens: list[Token]) -> None:
        """Change tags and lemmas in place."""
        for place, token in enumerate(tokens):
            tag = self._word_tag(tokens, place)
            if tag is not None:
                token.tag = tag
                token.lemma = self._lexicon.singular(token.low) if tag in {"NN1", "NN2"} else token.lemma
        self._gerunds(tokens)
        for start, end, subordinate in _clauses(tokens):
            finite = [place for place in range(start, end) if tokens[place].tag in _FINITE]
            past = len(finite) == 1 and tokens[finite[0]].tag == "VVD" and len(_worded(tokens, finite[0], end)) == 2
            if not finite or (subordinate and past):
                self._find_verb(tokens, start, end, subordinate)
        mend_first(tokens)
        mend_compounds(tokens)
        mend_joined(tokens)

    def _word_tag(self, tokens: list[Token], place: int) -> str | None:
        """Another tag for a word, from the word and its neighbour on the left; None keeps it."""
        token = tokens[place]
        low, text = token.low, token.text
        before = tokens[place - 1] if place else None
        fixed = _ALWAYS.get(low) or ("AJ0" if low.startswith("-") and len(low) > 1 else None)
        if _NUMBER.match(low):
            fixed = "CRD"
        elif fixed is None and token.tag == "CRD" and low[:1].isalpha() and low not in self._lists["number"]:
            fixed = "NN1"
        if fixed is not None:
            return fixed
        if self._is_strange_noun(tokens, place):
            if before is not None and before.tag == "TO0":
                before.tag = "PRP"
            return "NN2" if low.endswith("s") else "NN1"
        if before is not None:
            beside = _by_left_neighbour(token, before)
            if beside is not None:
                return beside
        shout = len(text) > 1 and text.isupper() and token.tag in {"AV0", "ITJ", "PNP", "AJ0", "VVB", "VVI"}
        return "NN1" if shout or (token.tag == "UNC" and low[:1].isalpha()) else None

    def _is_strange_noun(self, tokens: list[Token], place: int) -> bool:
        """A word that the tagger does not know and took for a verb, adverb or adjective, but that stands as a noun."""
        token = tokens[place]
        low, tag = token.low, token.tag
        if len(low) < 4 or not any(letter.isalpha() for letter in low) or low in self._known:
            return False
        if tag in {"VVI", "VVB", "VVZ"}:
            return verb_base(low) is None
        if tag == "AV0":
            return not low.endswith(("ly", "wise", "wards")) and "-" not in low
        if tag != "AJ0":
            return False
        after = tokens[place + 1] if place + 1 < len(tokens) else None
        if after is not None and (
            after.is_noun or (after.tag in {"AJ0", "VVG", "VVN"} and after.low not in {"and", "or"})
        ):
            return False
        return self._lexicon.singular(low) in self._lexicon.classes or not low.endswith(
            tuple(sorted(self._lists["adjective_ending"]))
        )

    def _gerunds(self, tokens: list[Token]) -> None:
        """An -ing form that stands where a noun stands ("Smoking is", "nausea, vomiting, and") is one."""
        for place, token in enumerate(tokens):
            before = tokens[place - 1] if place else None
            after = tokens[place + 1] if place + 1 < len(tokens) else None
            if token.tag == "VVI" and place > 1 and tokens[place - 1].tag == "TO0":
                if tokens[place - 2].lemma in self._lists["to_noun"]:
                    # "leads to gangrene": no infinitive follows these verbs.
                    tokens[place - 1].tag, token.tag, token.lemma = "PRP", "NN1", self._lexicon.singular(token.low)
            elif token.tag == "VVG" and (self._compounds(token, before, after) or _stands_as_noun(before, after)):
                token.tag, token.lemma = "NN1", token.low

    def _compounds(self, token: Token, before: Token | None, after: Token | None) -> bool:
        """ "accelerates bearing wear": a noun in -ing before a noun, where no clause in -ing can be."""
        if before is None or after is None or not after.is_noun or token.lemma in self._cue_verbs:
            return False
        opened = before.tag in {"VVZ", "VVB", "VVI", "VVD", "PRP", "PRF"}
        return opened and before.low not in _OPENS_CLAUSE and token.low in self._lexicon.classes

    def _find_verb(self, tokens: list[Token], start: int, end: int, subordinate: bool) -> None:
        """A clause without a finite verb: the first word that can be one, if its neighbours let it, becomes one."""
        if self._goes_on(tokens, start, end):
            return
        for place in range(start + 1, end):
            token, before = tokens[place], tokens[place - 1]
            found = self._plain_verb(token, before, place + 1 < end)
            if found is None and token.tag == "NN2" and place + 1 < end and tokens[place + 1].tag in {"AT0", "DPS"}:
                unlisted = prefixed_base(token.low)
                found = None if unlisted is None else ("VVZ", unlisted)
            if found is None and token.tag in {"NN2", "NN1", "AJ0"}:
                found = self._verb_from_noun(tokens, place, start, end, subordinate)
            if found is not None:
                token.tag, token.lemma = found
                return

    def _goes_on(self, tokens: list[Token], start: int, end: int) -> bool:
        """ "activates A, damages B and kills C": a verb after a comma, as the verb before it."""
        first = tokens[start]
        base = verb_base(first.low) if first.tag == "NN2" and start + 1 < end else None
        if base not in cues() or tokens[start - 1].low != "," or not any(one.tag == "VVZ" for one in tokens[:start]):
            return False
        if not (tokens[start + 1].is_noun or tokens[start + 1].tag in {"AT0", "DPS", "AJ0"}):
            return False
        first.tag, first.lemma = "VVZ", str(base)
        return True

    def _plain_verb(self, token: Token, before: Token, more: bool) -> tuple[str, str] | None:
        """Verbs that their form and left neighbour tell: "people who smoke", "statins lower", "rates reduce"."""
        base = verb_base(token.low)
        if before.low in {"who", "that", "which"} and before.tag in {"DTQ", "CJT"} and base is not None:
            return ("VVB" if token.low == base else "VVZ"), base
        plural = before.tag == "NN2" or before.low in {"they", "that"}
        if token.tag in {"AJC", "AV0"} and base is not None and base in cues() and plural and more:
            return "VVB", base
        if token.tag == "VVI" and before.is_noun:
            return "VVB", token.lemma
        past = _past_base(token.low, self._lexicon) if token.tag == "AJ0" else None
        if past in self._cue_verbs and before.is_noun and more:
            return "VVD", str(past)
        return None

    def _verb_from_noun(
        self, tokens: list[Token], place: int, start: int, end: int, subordinate: bool
    ) -> tuple[str, str] | None:
        """ "the price rises": what was taken for a noun, if it agrees with its subject and goes on as a verb does."""
        token, before = tokens[place], tokens[place - 1]
        base = verb_base(token.low)
        opening = before.tag == "VVG" and place - 1 == start
        nominal = before.tag == "AJ0" and before.low.rpartition("-")[2] in self._lexicon.classes and "-" in before.low
        # "Undervoltage causes": an unknown word that opens a clause was taken for an adjective.
        nominal |= before.tag == "AJ0" and place - 1 == start and before.low not in self._known
        stands = before.is_noun or opening or nominal or before.tag in {"PNP", "DT0", "VVD"}
        if base not in self._cue_verbs or not stands:
            return None
        plural = before.tag == "NN2" or before.low in {"they", "we", "you", "these", "those"}
        if (token.low == base) != plural and (token.low == base) != _plural_subject(tokens, place - 1, start):
            return None
        after = tokens[place + 1] if place + 1 < end else None
        if not self._goes_on_as_verb(str(base), after, subordinate):
            return None
        if opening:
            before.tag, before.lemma = "NN1", before.low
        elif before.tag == "VVD":
            before.tag = "VVN"
        elif nominal:
            before.tag = "NN1"
        return ("VVZ" if token.low != base else "VVB"), str(base)

    def _goes_on_as_verb(self, base: str, after: Token | None, subordinate: bool) -> bool:
        particles = {particle for cue in cues().get(base, ()) for particle in cue.particles}
        if after is not None and after.low in particles:
            return True
        bare = base in cues() and all(not cue.particles for cue in cues()[base])
        if bare and after is not None and after.tag in _OPENS_OBJECT:
            return True
        happens = base in word_map("changes.tsv") or base in word_map("verb_facets.tsv")
        return happens and (subordinate or after is None)


def _by_left_neighbour(token: Token, before: Token) -> str | None:
    if token.tag == "VVI" and before.low in {"that", "which", "who"}:
        return "VVB"
    if token.tag == "ZZ0" and before.is_noun and token.text.isupper():
        return "NN1"
    if token.text[0].isupper() and token.tag[:2] in {"VV", "AV"} and before.tag in {"AT0", "NP0"}:
        return "NP0"
    return "DTQ" if token.low in {"which", "who", "whom", "whose"} else None


def _stands_as_noun(before: Token | None, after: Token | None) -> bool:
    alone = after is None or after.low in {",", ".", ";", ")", "and", "or", "of"} or after.tag in _FINITE
    if before is None or before.low in {",", "(", "and", "or", "as", "including"}:
        return alone
    if before.tag in {"NN1", "AJ0"} and after is not None and after.tag in _FINITE:
        return True
    return alone and before.low != "from" and before.tag in _BEFORE_NOUN


def _past_base(low: str, lexicon: NounLexicon) -> str | None:
    """The base form of a word in -ed that could be a verb's past, or None."""
    if not low.endswith("ed"):
        return None
    stems = (
        low[:-1],
        low[:-2],
        low[:-3] if low[-3:-2] == low[-4:-3] else "",
        low[:-3] + "y" if low.endswith("ied") else "",
    )
    return next((stem for stem in stems if stem in lexicon.verbs), None)


def _plural_subject(tokens: list[Token], place: int, start: int) -> bool:
    """Whether the noun at a place, the last before a verb, ends a subject in the plural.

    Of "variants in a gene" that is the noun before the preposition; "a, b and c" is plural.
    """
    here = place
    while here >= start:
        while here >= start and (tokens[here].is_noun or tokens[here].tag in {"AJ0", "AT0", "CRD", "DPS"}):
            here -= 1
        if here > start and tokens[here].tag in {"PRP", "PRF"} and tokens[here - 1].is_noun:
            here -= 1
            place = here
            continue
        break
    return tokens[place].tag == "NN2" or (here >= start and tokens[here].low == "and")


def _worded(tokens: list[Token], start: int, end: int) -> list[Token]:
    return [token for token in tokens[start:end] if token.low[:1].isalnum()]


def _clauses(tokens: list[Token]) -> list[tuple[int, int, bool]]:
    """Token ranges between clause boundaries, and whether a subordinator opens the clause or the one before it."""
    ranges: list[tuple[int, int, bool]] = []
    start, subordinate, previous = 0, False, False
    for place, token in enumerate([*tokens, None]):
        opens = token is not None and token.tag in _CLAUSE_START
        following = tokens[place + 1 : place + 3] if token is not None and token.tag == "CJC" else []
        joins = any(after.tag in _FINITE for after in following[:1]) or (
            len(following) == 2 and following[0].tag == "AV0" and following[1].tag in _FINITE
        )
        if token is None or opens or joins or token.low in {",", ";", ":", "(", ")"}:
            if place > start:
                ranges.append((start, place, subordinate or previous))
            previous = subordinate
            subordinate = opens
            start = place + 1 if token is not None and not opens else place
    if not any(token.tag in _FINITE for token in tokens):
        return [(start, end, True) for start, end, _ in ranges]
    return ranges
