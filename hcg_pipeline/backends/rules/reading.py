"""One window to its reading: the variables that it speaks of and the relations that it states, inside a vocabulary."""

from collections.abc import Iterator

from hcg_pipeline.backends.protocol import ProposedRelation, ProposedVariable, Reading
from hcg_pipeline.backends.rules.anaphora import Before, after, opening, pointed_at
from hcg_pipeline.backends.rules.causal import Link
from hcg_pipeline.backends.rules.groups import combine
from hcg_pipeline.backends.rules.metrics import arguments
from hcg_pipeline.backends.rules.newcomers import Newcomers
from hcg_pipeline.backends.rules.parsing import Parsed, Parser
from hcg_pipeline.backends.rules.records import reading_spans
from hcg_pipeline.backends.rules.resolve import Resolved, Resolver
from hcg_pipeline.corpus.window import Passage, Window
from hcg_pipeline.specification.vocabulary import Sign, VariableRef

_LONG = 420


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

    What points back ("it", "the drug", "this", "as a result") is read with the sentence before; the quote then holds both.
    """
    found: list[ProposedRelation] = []
    before = Before()
    for start, end in reading_spans(passage.text):
        sentence = parser.sentence(passage.text[start:end])
        found += relations_of(sentence, passage, resolver, before, start)
        before = after(sentence, start, end, before, resolver)
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


def relations_of(
    sentence: Parsed, passage: Passage, resolver: Resolver, before: Before, start: int
) -> list[ProposedRelation]:
    """The links of a sentence whose ends are both variables; the surest for each pair.

    `before` is what it can point back to, `start` the sentence's place in the passage.
    """
    tokens = sentence.clauses.tokens
    best: dict[tuple[VariableRef, VariableRef], ProposedRelation] = {}
    opened = opening(sentence)
    links = sentence.links
    if opened is not None and before.happened:
        effects, cue, strength = opened
        links = (*links, Link((), tuple(effects), "+", strength, cue))
    for link in links:
        causes = [
            (one, sentence.text) for argument in link.causes if (one := resolver.resolve(tokens, argument)) is not None
        ]
        if not causes:
            causes = _pointed(sentence, link, passage, resolver, before, start)
        if link.only:
            causes = [one for one in causes if resolver.dimension_of(one[0].ref) in link.only]
        effects = [
            one for argument in link.effects if (one := resolver.resolve(tokens, argument, link.cue)) is not None
        ]
        if link.onto:
            effects = [one for one in effects if resolver.dimension_of(one.ref) in link.onto]
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


def _pointed(
    sentence: Parsed, link: Link, passage: Passage, resolver: Resolver, before: Before, start: int
) -> list[tuple[Resolved, str]]:
    """Causes that a link only points back to, each with the text from what is pointed at to the sentence's end."""
    end = start + len(sentence.text)
    if not link.causes:
        return [(one, passage.text[before.start : end]) for one in before.happened]
    found = []
    for argument in link.causes:
        stands_for, first = pointed_at(sentence, argument, before, resolver)
        found += [(one, passage.text[start if first is None else first : end]) for one in stands_for]
    return found


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
