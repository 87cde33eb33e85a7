"""One pass over a corpus for what dimensions are made of: terms, their types, abbreviations, what is a kind of what."""

import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from hcg_pipeline.backends.rules.abbreviations import abbreviations
from hcg_pipeline.backends.rules.contexts import contexts
from hcg_pipeline.backends.rules.hearst import hypernyms, lists
from hcg_pipeline.backends.rules.noun_types import TermTypes
from hcg_pipeline.backends.rules.parsing import Parsed, Parser, distinct, passages_of
from hcg_pipeline.backends.rules.stated_names import SaidSame, agreed, one_long_form, said_same
from hcg_pipeline.backends.rules.terms import Term, TermCounter, candidates, term_key
from hcg_pipeline.corpus.window import Window
from hcg_pipeline.progress import Progress


@dataclass(frozen=True)
class Survey:
    """Terms by falling C-value and their types; short form -> long form key; hypernym -> hyponym keys with counts.

    `same` are pairs of names, as spelled, that the corpus gives one thing; a short form of two things is in neither.
    `linked` counts keys in causes and effects; `keenness` says how much more the corpus uses a word than English does.
    """

    terms: tuple[Term, ...]
    types: TermTypes
    short_forms: dict[str, str]
    same: tuple[tuple[str, str], ...]
    kinds: dict[str, Counter[str]]
    words: int
    passages: tuple[tuple[Parsed, ...], ...]
    linked: Counter[str]
    keenness: dict[str, float]


def survey(windows: Sequence[Window], parser: Parser, stage: str, progress: Progress) -> Survey:
    """Read every passage once."""
    passages = list(passages_of(windows))
    parsed: list[tuple[Parsed, ...]] = []
    for place, passage in enumerate(passages):
        parsed.append(tuple(parser.passage(passage)))
        if place % 50 == 49 or place + 1 == len(passages):
            progress.advance(stage, place + 1, len(passages))
    sentences = distinct(sentence for passage in parsed for sentence in passage)
    counter = TermCounter()
    pairs: list[tuple[str, str]] = []
    groups: list[list[str]] = []
    seen: defaultdict[str, Counter[str]] = defaultdict(Counter)
    shorts: defaultdict[str, Counter[str]] = defaultdict(Counter)
    said: list[SaidSame] = []
    for sentence in sentences:
        clauses = sentence.clauses
        counter.add(clauses.tokens, [segment for segment in clauses.segments if segment.kind == "NP"])
        pairs += hypernyms(clauses)
        groups += lists(clauses)
        for key, context in contexts(clauses):
            seen[key][context] += 1
        for short, long in abbreviations(sentence.text):
            shorts[term_key(short)][term_key(long)] += 1
        said += said_same(clauses)
    words = sum(len(sentence.clauses.tokens) for sentence in sentences)
    terms = tuple(counter.terms(1 if words < 20_000 else 2))
    chosen = one_long_form(shorts)
    kinds: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for narrow, wide in pairs:
        kinds[wide][narrow] += 1
    # "AGE" may be an abbreviation where "age" is a word: what is mostly written small is no short form.
    names = {term.key: term.name for term in terms}
    chosen = {short: long for short, long in chosen.items() if sum(map(str.isupper, names.get(short, "XX"))) > 1}
    types = TermTypes(terms, pairs, groups, chosen, seen)
    linked = Counter(key for sentence in sentences for key in _linked(sentence))
    keenness = {term.key: _keenness(term, words, parser) for term in terms if " " not in term.key}
    same = agreed(said, kinds, chosen)
    return Survey(terms, types, chosen, same, dict(kinds), words, tuple(parsed), linked, keenness)


def _linked(sentence: Parsed) -> Iterator[str]:
    """Keys of what may be a term in the cause or effect of a link, each once for the sentence."""
    clauses = sentence.clauses
    found: dict[str, None] = {}
    for link in sentence.links:
        for argument in (*link.causes, *link.effects):
            for segment in clauses.segments:
                if segment.kind == "NP" and argument.start <= segment.start < argument.end:
                    for first, last, _ in candidates(clauses.tokens, segment):
                        found[term_key(" ".join(token.text for token in clauses.tokens[first:last]))] = None
    yield from found


def _keenness(term: Term, words: int, parser: Parser) -> float:
    """How much more the corpus uses a word than English at large does, as a logarithm (Ahmad's weirdness, 1999)."""
    general = [share for form in (term.key, f"{term.key}s") if (share := parser.commonness(form)) is not None]
    if not general:
        return 9.0
    return math.log(term.frequency / max(words, 20_000)) - math.log(sum(math.exp(share) for share in general))
