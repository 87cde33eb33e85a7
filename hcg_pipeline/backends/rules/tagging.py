"""Text to tagged sentences: tokens with offsets, BNC C5 tags and lemmas (HanTa; Wartena 2019), with repairs.

HanTa is a trigram tagger over morphemes; it knows no syntax, so a plural noun and the third person of a verb
("rises", "blocks") are often mixed up. `_repair` decides them by whether their clause has a verb.
"""

import math
import re
from dataclasses import dataclass
from threading import Lock

from HanTa.HanoverTagger import HanoverTagger

from hcg_pipeline.backends.rules.noun_lexicon import NounLexicon, noun_lexicon
from hcg_pipeline.backends.rules.wordlists import cues, word_map

_TOKEN = re.compile(
    r"(?<=[\w)\]])-(?:induced|mediated|driven|caused|related|associated)\b|[^\W_]+(?=n['’]t\b)|n['’]t\b|['’](?:s|re|ve|ll|d|m)\b|[^\W_]+(?:(?:-(?!(?:induced|mediated|driven|caused|related|associated)\b)|[.&+]|::|['’](?!(?:s|re|ve|ll|d|m)\b))[^\W_]+)*%?|\.\.\.|\S"
)
_NUMBER = re.compile(r"^[.,:/%$€£+-]*\d[\d.,:/%$€£+-]*(?:st|nd|rd|th)?$")
_FINITE = ("VBB", "VBD", "VBZ", "VDB", "VDD", "VDZ", "VHB", "VHD", "VHZ", "VM0", "VVB", "VVD", "VVZ")
_CLAUSE_START = ("CJS", "CJT", "DTQ", "AVQ")
_NOUNS = ("NN0", "NN1", "NN2", "NP0", "UNC")
_MAX_TOKENS = 120


@dataclass(slots=True)
class Token:
    """A word: as written, lower case, lemma, C5 tag, and characters [start, end) of the sentence."""

    text: str
    low: str
    lemma: str
    tag: str
    start: int
    end: int

    @property
    def is_noun(self) -> bool:
        """Nouns, names and unknown words."""
        return self.tag in _NOUNS


class Tagger:
    """Tags sentences. Safe to call from several threads; the model is read from the installed package."""

    def __init__(self) -> None:
        self._model = HanoverTagger("morphmodel_en.pgz")
        self._lock = Lock()
        self._lexicon = noun_lexicon()
        self._cue_verbs = (
            frozenset(cues()) | frozenset(word_map("changes.tsv")) | frozenset(word_map("verb_facets.tsv"))
        )
        self._words: dict[tuple[str, str], str] = {}

    def tag(self, sentence: str) -> list[Token]:
        """Tokens of a sentence, at most 120: what is longer is no sentence but a table or a list."""
        spans = [match.span() for match in _TOKEN.finditer(sentence)][:_MAX_TOKENS]
        if not spans:
            return []
        words = [sentence[start:end] for start, end in spans]
        # An all-capitals line would be read as names.
        shown = [word.lower() if word.isupper() and len(word) > 5 else word.replace("’", "'") for word in words]
        with self._lock:
            tags = self._model.tag_sent(shown, taglevel=0)
            lemmas = [self._lemma(word, tag) for word, tag in zip(shown, tags, strict=True)]
        tokens = [
            Token(word, shown_word.lower(), lemma, tag, start, end)
            for word, shown_word, lemma, tag, (start, end) in zip(words, shown, lemmas, tags, spans, strict=True)
        ]
        self._repair(tokens)
        return tokens

    def commonness(self, word: str) -> float | None:
        """Natural logarithm of a word's share of general English (HanTa's training text), or None if it is not there."""
        known = self._model.cache.get(word.lower())
        return math.log(sum(math.exp(probability) for _, probability in known)) if known else None

    def _lemma(self, word: str, tag: str) -> str:
        low = word.lower()
        known = self._words.get((low, tag))
        if known is None:
            known = self._make_lemma(low, word, tag)
            if len(self._words) < 200_000:
                self._words[low, tag] = known
        return known

    def _make_lemma(self, low: str, word: str, tag: str) -> str:
        if tag.startswith("V"):
            return str(self._model.analyze(word, tag)[0]).lower()
        if tag in _NOUNS:
            return self._lexicon.singular(low)
        return low

    def _repair(self, tokens: list[Token]) -> None:
        for place, token in enumerate(tokens):
            if _NUMBER.match(token.low):
                token.tag, token.lemma = "CRD", token.low
            elif token.low.startswith("-") and len(token.low) > 1:
                token.tag = "AJ0"
            elif token.low in _ALWAYS:
                token.tag = _ALWAYS[token.low]
            elif token.tag == "CRD" and token.low[:1].isalpha() and token.low not in _NUMBER_WORDS:
                token.tag = "NN1"
            elif self._is_strange_noun(tokens, place):
                token.tag, token.lemma = (
                    ("NN2" if token.low.endswith("s") else "NN1"),
                    self._lexicon.singular(token.low),
                )
                if place and tokens[place - 1].tag == "TO0":
                    tokens[place - 1].tag = "PRP"
            elif token.tag == "VVI" and place and tokens[place - 1].low in {"that", "which", "who"}:
                token.tag = "VVB"
            elif token.tag == "ZZ0" and place and tokens[place - 1].is_noun and token.text.isupper():
                token.tag = "NN1"
            elif (
                place
                and token.text[0].isupper()
                and token.tag[:2] in {"VV", "AV"}
                and tokens[place - 1].tag in {"AT0", "NP0"}
            ):
                token.tag, token.lemma = "NP0", token.low
            elif token.low in {"which", "who", "whom", "whose"}:
                token.tag = "DTQ"
            elif (
                len(token.text) > 1
                and token.text.isupper()
                and token.tag in {"AV0", "ITJ", "PNP", "AJ0", "VVB", "VVI", "UNC"}
            ):
                token.tag, token.lemma = "NN1", token.low
            elif token.tag == "UNC" and token.low[:1].isalpha():
                token.tag, token.lemma = "NN1", self._lexicon.singular(token.low)
        self._gerunds(tokens)
        for start, end, subordinate in _clauses(tokens):
            finite = [place for place in range(start, end) if tokens[place].tag in _FINITE]
            if not finite or (
                subordinate
                and len(finite) == 1
                and tokens[finite[0]].tag == "VVD"
                and len(_worded(tokens, finite[0], end)) == 2
            ):
                self._find_verb(tokens, start, end, subordinate)

    def _is_strange_noun(self, tokens: list[Token], place: int) -> bool:
        """A word that the tagger does not know and took for a verb, adverb or adjective, but that stands as a noun."""
        token = tokens[place]
        low, tag = token.low, token.tag
        if len(low) < 4 or not any(letter.isalpha() for letter in low) or low in self._model.cache:
            return False
        if tag in {"VVI", "VVB", "VVZ"}:
            return _verb_base(low, self._lexicon) is None
        if tag == "AV0":
            return not low.endswith(("ly", "wise", "wards")) and "-" not in low
        if tag != "AJ0":
            return False
        after = tokens[place + 1] if place + 1 < len(tokens) else None
        if after is not None and (
            after.is_noun or (after.tag in {"AJ0", "VVG", "VVN"} and after.low not in {"and", "or"})
        ):
            return False
        return self._lexicon.singular(low) in self._lexicon.classes or not low.endswith(_ADJECTIVAL)

    def _gerunds(self, tokens: list[Token]) -> None:
        """An -ing form that stands where a noun stands ("Smoking is", "nausea, vomiting, and") is one."""
        for place, token in enumerate(tokens):
            before = tokens[place - 1] if place else None
            after = tokens[place + 1] if place + 1 < len(tokens) else None
            if (
                token.tag == "VVI"
                and before is not None
                and before.tag == "TO0"
                and place > 1
                and tokens[place - 2].lemma in _TO_NOUN
            ):
                # "leads to gangrene": no infinitive follows these verbs.
                before.tag, token.tag, token.lemma = "PRP", "NN1", self._lexicon.singular(token.low)
                continue
            if token.tag != "VVG":
                continue
            if (
                after is not None
                and after.is_noun
                and token.lemma not in self._cue_verbs
                and token.low in self._lexicon.classes
            ):
                if (
                    before is not None
                    and before.tag in {"VVZ", "VVB", "VVI", "VVD", "PRP", "PRF"}
                    and before.low not in {"by", "from", "for", "of", "without"}
                ):
                    token.tag, token.lemma = "NN1", token.low
                    continue
            alone = after is None or after.low in {",", ".", ";", ")", "and", "or", "of"} or after.tag in _FINITE
            opens = before is None or before.low in {",", "(", "and", "or", "as", "including"}
            stands = (
                opens
                or (before is not None
                and before.tag in {"PRP", "PRF", "AT0", "DPS", "AJ0", "VVB", "VVI", "VVZ"}
                and before.low != "from")
            )
            named = before is not None and before.tag in {"NN1", "AJ0"} and after is not None and after.tag in _FINITE
            if (alone and stands) or named:
                token.tag, token.lemma = "NN1", token.low

    def _find_verb(self, tokens: list[Token], start: int, end: int, subordinate: bool) -> None:
        """A clause without a finite verb: the noun that can be one, if its neighbours let it, becomes one."""
        first = tokens[start]
        base = _verb_base(first.low, self._lexicon) if first.tag == "NN2" and start + 1 < end else None
        if base in cues() and tokens[start - 1].low == "," and any(token.tag == "VVZ" for token in tokens[:start]):
            # "activates A, damages B and kills C"
            if tokens[start + 1].is_noun or tokens[start + 1].tag in {"AT0", "DPS", "AJ0"}:
                first.tag, first.lemma = "VVZ", str(base)
                return
        for place in range(start + 1, end):
            token = tokens[place]
            before = tokens[place - 1]
            base = _verb_base(token.low, self._lexicon)
            if before.low in {"who", "that", "which"} and before.tag in {"DTQ", "CJT"} and base is not None:
                token.tag, token.lemma = ("VVB" if token.low == base else "VVZ"), base
                return
            if (
                token.tag == "AJC"
                and base in cues()
                and (before.tag == "NN2" or before.low in {"they", "that"})
                and place + 1 < end
            ):
                token.tag, token.lemma = "VVB", str(base)
                return
            if token.tag == "VVI" and before.is_noun:
                token.tag = "VVB"
                return
            opening = before.tag == "VVG" and place - 1 == start
            if token.tag not in {"NN2", "NN1", "AJ0"} or not (
                before.is_noun or opening or before.tag in {"PNP", "DT0", "VVD"}
            ):
                continue
            past = _past_base(token.low, self._lexicon) if token.tag == "AJ0" else None
            if past in self._cue_verbs and before.is_noun and place + 1 < end:
                token.tag, token.lemma = "VVD", str(past)
                return
            if base is None or (base not in self._cue_verbs):
                continue
            plural = before.tag == "NN2" or before.low in {"they", "we", "you", "these", "those"}
            if (token.low == base) != plural and not (plural and _inside_preposition(tokens, place - 1)):
                continue
            after = tokens[place + 1] if place + 1 < end else None
            opens = after is not None and after.tag in {
                "AT0", "DT0", "DPS", "AJ0", "AJC", "NN2", "NN1", "NN0", "NP0", "PRP", "AVP", "CRD", "VVG", "AV0",
            }  # fmt: skip
            particle = after is not None and after.low in {p for cue in cues().get(base, ()) for p in cue.particles}
            bare = all(not cue.particles for cue in cues().get(base, ())) and base in cues()
            happens = base in word_map("changes.tsv") or base in word_map("verb_facets.tsv")
            intransitive = happens and (subordinate or after is None)
            if particle or (bare and opens and after is not None and after.tag != "PRP") or intransitive:
                token.tag = "VVZ" if token.low != base else "VVB"
                token.lemma = base
                if opening:
                    before.tag, before.lemma = "NN1", before.low
                elif before.tag == "VVD":
                    before.tag = "VVN"
                return


_TO_NOUN = frozenset(
    {
        "lead",
        "contribute",
        "predispose",
        "rise",
        "due",
        "owing",
        "attributable",
        "exposure",
        "resistance",
        "damage",
        "relate",
        "amount",
    }
)
_ADJECTIVAL = (
    "al",
    "ic",
    "ous",
    "ive",
    "ary",
    "ful",
    "less",
    "able",
    "ible",
    "ed",
    "ing",
    "ant",
    "ent",
    "ar",
    "oid",
    "ish",
    "some",
    "like",
    "ory",
    "ile",
)
_NUMBER_WORDS = frozenset(
    ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety", "hundred", "thousand", "million", "billion", "trillion", "dozen"]
)
_ALWAYS = {
    "because": "CJS", "if": "CJS", "although": "CJS", "whereas": "CJS", "due": "AJ0", "without": "PRP", "via": "PRP",
    "including": "PRP", "such": "DT0", "e.g": "AV0", "i.e": "AV0", "therefore": "AV0", "thus": "AV0", "hence": "AV0",
    "cannot": "VM0", "n't": "XX0", "'ll": "VM0", "'re": "VBB", "'ve": "VHB", "'m": "VBB", "per": "PRP", "during": "PRP", "unlike": "PRP", "despite": "PRP", "nearby": "AJ0",
}  # fmt: skip


def _verb_base(low: str, lexicon: NounLexicon) -> str | None:
    """The base form of a word that could be a verb's base or third person, or None."""
    if low in lexicon.verbs:
        return low
    for ending, put in (("ies", "y"), ("es", ""), ("s", "")):
        if low.endswith(ending) and low[: -len(ending)] + put in lexicon.verbs:
            return low[: -len(ending)] + put
    return None


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


def _inside_preposition(tokens: list[Token], place: int) -> bool:
    """Whether the noun at a place ends a phrase that a preposition opens, so that it is not the subject."""
    while place >= 0 and (tokens[place].is_noun or tokens[place].tag in {"AJ0", "AT0", "DPS", "CRD"}):
        place -= 1
    return place >= 0 and tokens[place].tag in {"PRP", "PRF"}


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
