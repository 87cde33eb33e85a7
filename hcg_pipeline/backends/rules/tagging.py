"""Text to tagged sentences: BNC C5 tags and lemmas by HanTa (Wartena 2019), mended by `repairs.py`."""

import math
from threading import Lock

from HanTa.HanoverTagger import HanoverTagger

from hcg_pipeline.backends.rules.noun_lexicon import noun_lexicon
from hcg_pipeline.backends.rules.repairs import Repairs
from hcg_pipeline.backends.rules.tokens import NOUNS, Token, word_spans

_LONGEST_WORD = 45
_PLAIN = str.maketrans("’\u2010\u2011", "'--")
_ANY_NOUN = "item"


class Tagger:
    """Tags sentences. Safe to call from several threads; the model is read from the installed package."""

    def __init__(self) -> None:
        self._model = HanoverTagger("morphmodel_en.pgz")
        self._lock = Lock()
        self._lexicon = noun_lexicon()
        self._repairs = Repairs(self._model.cache)
        self._words: dict[tuple[str, str], str] = {}

    def tag(self, sentence: str) -> list[Token]:
        """Tokens of a sentence, at most 120: what is longer is no sentence but a table or a list."""
        spans = word_spans(sentence)
        if not spans:
            return []
        words = [sentence[start:end] for start, end in spans]
        shown = [_shown(word) for word in words]
        with self._lock:
            tags = self._model.tag_sent(shown, taglevel=0)
            lemmas = [self._lemma(word, tag) for word, tag in zip(shown, tags, strict=True)]
        tokens = [
            Token(word, word.lower().translate(_PLAIN), lemma, tag, start, end)
            for word, lemma, tag, (start, end) in zip(words, lemmas, tags, spans, strict=True)
        ]
        self._repairs.repair(tokens)
        return tokens

    def commonness(self, word: str) -> float | None:
        """Natural logarithm of a word's share of general English (HanTa's training text), None if it is not there."""
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
        if tag in NOUNS:
            return self._lexicon.singular(low)
        return low


def _shown(word: str) -> str:
    """A word as the tagger is to see it: no word of 45 letters or more, which it would need minutes for.

    An all-capitals line would be read as names.
    """
    if len(word) >= _LONGEST_WORD:
        return _ANY_NOUN
    return word.lower() if word.isupper() and len(word) > 5 else word.translate(_PLAIN)
