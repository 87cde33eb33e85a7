"""One window to its reading: the variables that it speaks of and the relations that it states, inside a vocabulary."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from hcg_pipeline.backends.protocol import ProposedRelation, ProposedVariable, Reading
from hcg_pipeline.backends.rules.causal import Link
from hcg_pipeline.backends.rules.dimensions import lexical_dimension
from hcg_pipeline.backends.rules.groups import Argument, combine
from hcg_pipeline.backends.rules.metrics import arguments
from hcg_pipeline.backends.rules.newcomers import Newcomers
from hcg_pipeline.backends.rules.parsing import Parsed, Parser
from hcg_pipeline.backends.rules.resolve import Resolved, Resolver
from hcg_pipeline.backends.rules.wordlists import word_lists
from hcg_pipeline.corpus.sentences import sentence_spans
from hcg_pipeline.corpus.window import Passage, Window
from hcg_pipeline.specification.vocabulary import Sign, VariableRef

_LONG = 420
_BACK = 0.7
"""How sure it is that a pronoun stands for the subject of the sentence before."""


def read_window(window: Window, resolver: Resolver, newcomers: Newcomers, parser: Parser) -> Reading:
    """A pure function of the window's text and the resolver's vocabulary."""
    sentences = [sentence for passage in window.passages for sentence in parser.passage(passage)]
    added = newcomers.found(sentences)
    if added:
        resolver = resolver.with_entities({key: (name, entity.name) for key, (name, entity) in added.items()})
    variables: dict[tuple[VariableRef, str], ProposedVariable] = {}
    relations: list[ProposedRelation] = []
    for passage in window.passages:
        for resolved in _spoken_of_in(passage, resolver, parser):
            variables.setdefault((resolved.ref, passage.chunk_id), ProposedVariable(resolved.ref, passage.chunk_id))
        for relation in relations_in(passage, resolver, parser):
            relations.append(relation)
            for ref in (relation.source, relation.target):
                variables.setdefault((ref, passage.chunk_id), ProposedVariable(ref, passage.chunk_id))
    return Reading(window.window_id, tuple(added.values()), tuple(variables.values()), tuple(relations))


def relations_in(passage: Passage, resolver: Resolver, parser: Parser) -> list[ProposedRelation]:
    """The relations that a passage states, in order.

    "It", "they" and "the drug" as a cause stand for the subject of the sentence before; the quote then holds both.
    """
    found: list[ProposedRelation] = []
    spans = sentence_spans(passage.text)
    before: Parsed | None = None
    for place, (start, end) in enumerate(spans):
        sentence = parser.sentence(passage.text[start:end])
        subject = _subject(before, resolver) if before is not None else None
        first = spans[place - 1][0] if place else start
        found += relations_of(sentence, passage, resolver, subject, passage.text[first:end])
        before = sentence
    return found


def _spoken_of_in(passage: Passage, resolver: Resolver, parser: Parser) -> Iterator[Resolved]:
    for sentence in parser.passage(passage):
        yield from _spoken_of(sentence, resolver)


def _spoken_of(sentence: Parsed, resolver: Resolver) -> Iterator[Resolved]:
    tokens = sentence.clauses.tokens
    for argument in arguments(sentence):
        resolved = resolver.resolve(tokens, argument)
        if resolved is not None and (resolved.faceted or resolver.foremost(resolved.ref)):
            yield resolved


@dataclass(frozen=True, slots=True)
class Subject:
    """What a sentence is about: its variable, and whether it is spoken of in the plural."""

    resolved: Resolved
    plural: bool


def _subject(sentence: Parsed, resolver: Resolver) -> Subject | None:
    """The variable of a sentence's first noun phrase, where a finite verb follows it."""
    clauses = sentence.clauses
    if clauses.kind(0) != "NP":
        return None
    found, after = clauses.group(0)
    while clauses.kind(after) == "AV":
        after += 1
    if len(found) != 1 or not clauses.is_finite(after):
        return None
    resolved = resolver.resolve(clauses.tokens, found[0])
    if resolved is None or resolved.faceted:
        return None
    segment = clauses.segments[0]
    return Subject(resolved, clauses.tokens[segment.end - 1].tag == "NN2")


def _stands_for(sentence: Parsed, argument: Argument, subject: Subject, resolver: Resolver) -> bool:
    """Whether an argument points back: "it", "they", or "the/this/these" with the noun of the subject's dimension."""
    tokens = sentence.clauses.tokens[argument.start : argument.end]
    first = next((segment.start for segment in sentence.clauses.segments if segment.kind == "NP"), -1)
    if argument.start != first:
        return False
    if len(tokens) == 1:
        return tokens[0].low == ("they" if subject.plural else "it")
    if len(tokens) != 2 or tokens[0].low not in {"the", "this", "these", "such"}:
        return False
    return (
        lexical_dimension(tokens[1].lemma) == resolver.dimension_of(subject.resolved.ref)
        and tokens[1].lemma in word_lists()["generic"]
    )


def relations_of(
    sentence: Parsed, passage: Passage, resolver: Resolver, subject: Subject | None = None, both: str = ""
) -> list[ProposedRelation]:
    """The links of a sentence whose ends are both variables; the surest for each pair.

    `subject` is what the sentence before is about, `both` the text of the two sentences.
    """
    tokens = sentence.clauses.tokens
    best: dict[tuple[VariableRef, VariableRef], ProposedRelation] = {}
    for link in sentence.links:
        causes = [
            (one, sentence.text) for argument in link.causes if (one := resolver.resolve(tokens, argument)) is not None
        ]
        if (
            not causes
            and subject is not None
            and any(_stands_for(sentence, one, subject, resolver) for one in link.causes)
        ):
            causes = [(replace(subject.resolved, quality=_BACK), both)]
        if link.only:
            causes = [one for one in causes if resolver.dimension_of(one[0].ref) in link.only]
        effects = [
            one for argument in link.effects if (one := resolver.resolve(tokens, argument, link.cue)) is not None
        ]
        for cause, quote in causes:
            for effect in effects:
                if link.cue == "mean" and not (cause.turned and effect.turned):
                    continue
                if cause.ref == effect.ref or _same_thing(cause, effect) or _spatial(link, effect, resolver):
                    continue
                sign = combine(combine(cause.polarity, link.sign), effect.polarity)
                confidence = round(link.strength * cause.quality * effect.quality, 3)
                relation = ProposedRelation(
                    cause.ref, effect.ref, mechanism(quote), _sign(sign), confidence, passage.chunk_id, quote
                )
                held = best.get((cause.ref, effect.ref))
                if held is None or held.confidence < confidence:
                    best[cause.ref, effect.ref] = relation
    return list(best.values())


def _same_thing(cause: Resolved, effect: Resolved) -> bool:
    """Two readings of one entity, one of them without a facet, are one mention read twice."""
    return cause.ref.entities[0] == effect.ref.entities[0] and not (cause.faceted and effect.faceted)


def _spatial(link: Link, effect: Resolved, resolver: Resolver) -> bool:
    """ "the tube leading to the stomach" leads nowhere causally."""
    return (
        link.cue == "lead"
        and not effect.faceted
        and resolver.dimension_of(effect.ref) in {"body_part", "place", "structure"}
    )


def _sign(text: str) -> Sign:
    return "+" if text == "+" else "-" if text == "-" else "?"


def mechanism(sentence: str) -> str:
    """The sentence with plain spaces, cut at a clause when it is very long."""
    text = " ".join(sentence.split())
    if len(text) <= _LONG:
        return text
    cut = max(text.rfind(mark, 0, _LONG) for mark in ("; ", ", ", " "))
    return text[:cut].rstrip(" ,;") + " …"
