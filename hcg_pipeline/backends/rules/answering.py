"""Extractive answers: the few sentences of the evidence that say what a question asks for.

Sentences are ranked by BM25 (Robertson and Zaragoza 2009) over stemmed words with the evidence as the collection, and
by whether they have the form that the question asks for: a cause for "why", a copula for "what is", a list, a number.
"""

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import snowballstemmer

from hcg_pipeline.backends.protocol import AnswerReply, AnswerRequest
from hcg_pipeline.backends.rules.parsing import Parser
from hcg_pipeline.backends.rules.question_terms import covers, key_terms, stem
from hcg_pipeline.backends.rules.records import reading_spans
from hcg_pipeline.backends.rules.statements import statements
from hcg_pipeline.backends.rules.wordlists import word_lists

_WORD = re.compile(r"[^\W_]+(?:[-'’][^\W_]+)*")
_CAUSAL_QUESTION = re.compile(
    r"\b(why|cause[sd]?|causing|lead|leads|effect|effects|affect|affects|result|results|impact|influence|reason|happen|happens|due|mechanism|contribute[s]?|increase|reduce|prevent)\b",
    re.I,
)
_DEFINITION = re.compile(r"^\s*(what|who)\s+(is|are|was|were)\b|^\s*(define|describe|explain)\b|\bmean(s|t)?\b", re.I)
_NUMBER = re.compile(
    r"\bhow (many|much|often|long|old|large|likely|common)\b"
    r"|\bwhat (percentage|percent|proportion|number|age|year)\b|\bwhen\b",
    re.I,
)
_NOTHING = "The evidence found does not hold an answer to this question."
_SENTENCE_END = re.compile(r"[.!…。;:][\"'”’)\]]*$")
_POINTS_BACK = re.compile(r"^(it|they|this|these|that|those|he|she|such|both|here|there)\b", re.I)
_SENTENCES = 4
_LEAST_COVER = 0.36
_LONG_QUESTION = 8


@dataclass(frozen=True, slots=True)
class _Candidate:
    context: int
    place: int
    text: str
    words: tuple[str, ...]


def answer(request: AnswerRequest, parser: Parser) -> AnswerReply:
    """One to four sentences of the contexts, the one that answers best first, with the contexts that they stand in.

    Not answered where the question's terms, the rarer the more, are not in the contexts or not in these sentences.
    """
    stemmer = snowballstemmer.stemmer("english")
    candidates = _candidates(request.contexts, stemmer)
    asked = Counter(_stems(request.question, stemmer))
    if not candidates or not asked or not covers(request.question, request.contexts, parser):
        return AnswerReply(request.key, _NOTHING, False, ())
    weights = _weights(candidates, asked)
    scores = [_score(one, asked, weights, candidates) * _form(request.question, one, parser) for one in candidates]
    chosen = _choose(candidates, scores, weights)
    terms = key_terms(request.question, parser)
    said = {word for one in chosen for word in one.words}
    total = sum(terms.values())
    # A long instruction names much that no single sentence does.
    least = _LEAST_COVER * min(1.0, _LONG_QUESTION / len(terms)) if terms else 0.0
    if not chosen or sum(weight for word, weight in terms.items() if stem(word) in said) < least * total:
        return AnswerReply(request.key, _NOTHING, False, ())
    text = " ".join(" ".join(one.text.split()) for one in chosen)
    return AnswerReply(request.key, text, True, tuple(sorted({one.context for one in chosen})))


def _stems(text: str, stemmer: "snowballstemmer.stemmer") -> list[str]:
    words = [word.lower().replace("’", "'") for word in _WORD.findall(text)]
    return [
        str(stem)
        for stem in stemmer.stemWords([word for word in words if word not in word_lists()["stop"] and len(word) > 1])
    ]


def _candidates(contexts: Sequence[str], stemmer: "snowballstemmer.stemmer") -> list[_Candidate]:
    found: list[_Candidate] = []
    seen: set[str] = set()
    for number, context in enumerate(contexts):
        for place, (start, end) in enumerate(reading_spans(context)):
            text = context[start:end]
            plain = " ".join(text.split())
            if plain in seen or len(plain) < 20 or not _SENTENCE_END.search(plain):
                # A question, or a heading: no full stop.
                continue
            seen.add(plain)
            found.append(_Candidate(number, place, text, tuple(_stems(plain, stemmer))))
    return found


def _weights(candidates: Sequence[_Candidate], asked: Counter[str]) -> dict[str, float]:
    """Inverse document frequency of the question's words among the sentences.

    A word that no sentence has weighs nearly as much as the rarest that some have: a question about it is not answered.
    """
    size = len(candidates)
    spread = Counter(word for one in candidates for word in set(one.words))
    weights = {word: math.log(1 + (size - spread[word] + 0.5) / (spread[word] + 0.5)) for word in asked if spread[word]}
    absent = 0.9 * max(weights.values(), default=1.0)
    return {word: weights.get(word, absent) for word in asked}


def _score(one: _Candidate, asked: Counter[str], weights: dict[str, float], candidates: Sequence[_Candidate]) -> float:
    mean = sum(len(other.words) for other in candidates) / len(candidates) or 1.0
    counts = Counter(one.words)
    norm = 1.2 * (0.25 + 0.75 * len(one.words) / mean)
    return sum(weights[word] * counts[word] * 2.2 / (counts[word] + norm) for word in asked if counts[word])


def _form(question: str, one: _Candidate, parser: Parser) -> float:
    """How well a sentence's form fits what is asked: above 1 for a fit."""
    factor = 0.8 if _POINTS_BACK.search(one.text) else 1.0
    if _CAUSAL_QUESTION.search(question) and statements(parser.sentence(one.text).clauses):
        factor *= 1.35
    if _DEFINITION.search(question) and re.search(r"\b(is|are|means|refers to|called|known as)\b", one.text):
        factor *= 1.2
    if _NUMBER.search(question) and re.search(r"\d", one.text):
        factor *= 1.25
    return factor


def _choose(candidates: Sequence[_Candidate], scores: Sequence[float], weights: dict[str, float]) -> list[_Candidate]:
    """The best sentence, then those that add question words or come close to it in score (at most four)."""
    order = sorted(range(len(candidates)), key=lambda at: (-scores[at], at))
    if not order or scores[order[0]] <= 0:
        return []
    best = scores[order[0]]
    chosen: list[_Candidate] = []
    covered: set[str] = set()
    for at in order[:40]:
        one = candidates[at]
        new = {word for word in one.words if word in weights} - covered
        gain = sum(weights[word] for word in sorted(new))
        if chosen and not (
            scores[at] >= 0.8 * best or (scores[at] >= 0.5 * best and gain > 0.15 * sum(weights.values()))
        ):
            continue
        if any(_overlap(one.words, other.words) > 0.7 for other in chosen):
            continue
        chosen.append(one)
        covered |= new
        if len(chosen) == _SENTENCES:
            break
    return chosen


def _overlap(first: Sequence[str], second: Sequence[str]) -> float:
    left, right = set(first), set(second)
    return len(left & right) / (min(len(left), len(right)) or 1)
