"""What a question is about, and whether evidence speaks of it at all.

A term weighs as much as it tells: minus the logarithm of its share of general English. A term that none of the evidence
has, such as a country in a question about a price there, means that the evidence does not answer, whatever else fits.
The bounds were set on the questions of the sample corpora and on questions beside the point.
"""

import re
from collections.abc import Sequence
from functools import cache

import snowballstemmer

from hcg_pipeline.backends.rules.parsing import Parser
from hcg_pipeline.backends.rules.wordlists import word_lists

_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_COMMON = 7.0
_UNKNOWN = 15.0
_LEAST = 0.3
_SAME = 6
_SHORT = 4
_MIDDLE = 7
_ABSENT_SHORT = 0.24
_ABSENT_MIDDLE = 0.4
_ABSENT_LONG = 0.6


@cache
def stem(word: str) -> str:
    """The stem of a word (Porter 2)."""
    return str(snowballstemmer.stemmer("english").stemWord(word.lower().replace("’", "'")))


def key_terms(question: str, parser: Parser) -> dict[str, float]:
    """Content word of a question, in lower case -> its weight."""
    lists = word_lists()
    found: dict[str, float] = {}
    for match in _WORD.finditer(question):
        low = match.group().lower().replace("’", "'")
        if len(low) > 1 and low not in lists["stop"] and low not in lists["asking"]:
            found.setdefault(low, _weight(low, parser))
    return found


def _weight(word: str, parser: Parser) -> float:
    known = [share for form in (word, word.removesuffix("s")) if (share := parser.commonness(form)) is not None]
    return max(min(_UNKNOWN, -max(known, default=-_UNKNOWN)) - _COMMON, _LEAST)


def covers(question: str, contexts: Sequence[str], parser: Parser) -> bool:
    """Whether the evidence has enough of the question's terms, and every proper name in it.

    A short question may lack less than a long one; abbreviations may be written out in the evidence.
    """
    terms = key_terms(question, parser)
    if not terms:
        return True
    words = {word.lower() for context in contexts for word in _WORD.findall(context)}
    stems = {stem(word) for word in words}
    starts = {one[:_SAME] for one in stems}
    # "Which drug …" is answered by a drug, not by the word.
    named = [word for word in terms if word.removesuffix("s") not in word_lists()["generic"]]
    absent = [word for word in named if stem(word) not in stems and stem(word)[:_SAME] not in starts]
    names = _names(question)
    if any(word in names for word in absent):
        return False
    shouted = {
        match.group().lower() for match in _WORD.finditer(question) if match.group()[1:].upper() == match.group()[1:]
    }
    lacking = sum(terms[word] for word in absent if word not in shouted)
    size = len(terms)
    most = _ABSENT_SHORT if size <= _SHORT else _ABSENT_MIDDLE if size <= _MIDDLE else _ABSENT_LONG
    return lacking <= most * sum(terms.values())


def _names(question: str) -> set[str]:
    """Words with one capital, in front, that do not open a sentence."""
    found = set()
    for match in _WORD.finditer(question):
        before = question[: match.start()].rstrip()
        text = match.group()
        if before and before[-1] not in ".?!:\"“'‘" and text[0].isupper() and text[1:].islower():
            found.add(text.lower())
    return found
