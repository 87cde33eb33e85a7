"""General knowledge of nouns: upper classes with their share of use, what is an event or a quantity, irregular plurals.

Made from WordNet 3.0 (Fellbaum 1998) by `lexicon/build_lexicon.py`; licence in `lexicon/LICENSE.wordnet.txt`.
"""

import gzip
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from hcg_pipeline.backends.rules import lexicon as _package

_SIBILANT = ("ches", "shes", "sses", "xes", "zes")
_KEEP = ("ss", "us", "is")
_GREEK = ("oses", "yses", "eses")
_LONG = 7
_RATHER = {"axes": "axis", "lenses": "lens"}
"""Plurals of two nouns, of which WordNet names the rarer."""


@dataclass(frozen=True)
class NounLexicon:
    """`classes`: lemma -> ((class, share), …) best first. `happening` and `measured`: lemmas. `verbs`: base forms."""

    classes: dict[str, tuple[tuple[str, float], ...]]
    happening: frozenset[str]
    measured: frozenset[str]
    irregular: dict[str, str]
    verbs: frozenset[str]

    def _by_old_ending(self, word: str) -> str:
        """ "firemen", and the Greek of "keratoses" and "syntheses"; "" for any other word."""
        if word.endswith("men") and f"{word[:-2]}an" in self.classes:
            return f"{word[:-2]}an"
        greek = f"{word[:-2]}is"
        if word.endswith(_GREEK) and word[:-1] not in self.classes and (greek in self.classes or len(word) > _LONG):
            return greek
        return ""

    def singular(self, word: str) -> str:
        """The lemma of a plural noun in lower case; unknown words lose a plain plural ending."""
        known = self.irregular.get(word) or self._by_old_ending(word)
        if known:
            return known
        if (
            not word.endswith("s")
            or word.endswith(_KEEP)
            or len(word) < 4
            or (word.endswith("ies") and word in self.classes)
        ):
            return word
        if word.endswith("ics") and word[:-1] not in self.classes:
            return word
        candidates = [word[:-1]]
        if word.endswith("ies") and len(word) > 4:
            candidates.insert(0, word[:-3] + "y")
        if word.endswith("ves"):
            candidates += [word[:-3] + "f", word[:-3] + "fe"]
        if word.endswith("es"):
            candidates.insert(0 if word.endswith(_SIBILANT) else len(candidates), word[:-2])
        for candidate in candidates:
            if candidate in self.classes:
                return candidate
        return word if word in self.classes else candidates[0]


def _lines(name: str) -> list[str]:
    return gzip.decompress(files(_package).joinpath(name).read_bytes()).decode("utf-8").splitlines()


@cache
def noun_lexicon() -> NounLexicon:
    """The lexicon, read on first use (about 0.2 s) and kept; it never changes."""
    classes: dict[str, tuple[tuple[str, float], ...]] = {}
    happening, measured = set(), set()
    for line in _lines("nouns.tsv.gz"):
        lemma, kinds, flags = line.split("\t")
        pairs = (kind.split(":") for kind in kinds.split())
        classes[lemma] = tuple((name, int(share) / 100) for name, share in pairs)
        if "e" in flags:
            happening.add(lemma)
        if "q" in flags:
            measured.add(lemma)
    for line in files(_package).joinpath("senses.tsv").read_text("utf-8").splitlines():
        if line.startswith("#"):
            continue
        name, nouns = line.split("\t")
        for noun in nouns.split():
            lemma = noun.replace("-", " ") if noun.replace("-", " ") in classes or noun.count("-") else noun
            rest = tuple((kind, share * 0.15) for kind, share in classes.get(lemma, ()) if kind != name)
            classes[lemma] = ((name, 0.85), *rest)
    irregular = dict(line.split(" ")[:2] for line in _lines("irregular.txt.gz"))
    irregular |= _RATHER
    return NounLexicon(classes, frozenset(happening), frozenset(measured), irregular, frozenset(_lines("verbs.txt.gz")))
