"""One window to its reading: the variables that it speaks of and the relations that it states, inside a vocabulary."""

from collections.abc import Iterator

from hcg_pipeline.backends.protocol import ProposedRelation, ProposedVariable, Reading
from hcg_pipeline.backends.rules.causal import Link
from hcg_pipeline.backends.rules.clauses import combine
from hcg_pipeline.backends.rules.metrics import arguments
from hcg_pipeline.backends.rules.parsing import Parsed, Parser
from hcg_pipeline.backends.rules.resolve import Resolved, Resolver
from hcg_pipeline.corpus.window import Passage, Window
from hcg_pipeline.specification.vocabulary import Sign, VariableRef

_LONG = 420


def read_window(window: Window, resolver: Resolver, parser: Parser) -> Reading:
    """A pure function of the window's text and the resolver's vocabulary."""
    variables: dict[tuple[VariableRef, str], ProposedVariable] = {}
    relations: list[ProposedRelation] = []
    for passage in window.passages:
        for sentence in parser.passage(passage):
            for resolved in _spoken_of(sentence, resolver):
                variables.setdefault((resolved.ref, passage.chunk_id), ProposedVariable(resolved.ref, passage.chunk_id))
            for relation in relations_of(sentence, passage, resolver):
                relations.append(relation)
                for ref in (relation.source, relation.target):
                    variables.setdefault((ref, passage.chunk_id), ProposedVariable(ref, passage.chunk_id))
    return Reading(window.window_id, (), tuple(variables.values()), tuple(relations))


def _spoken_of(sentence: Parsed, resolver: Resolver) -> Iterator[Resolved]:
    tokens = sentence.clauses.tokens
    for argument in arguments(sentence):
        resolved = resolver.resolve(tokens, argument)
        if resolved is not None:
            yield resolved


def relations_of(sentence: Parsed, passage: Passage, resolver: Resolver) -> list[ProposedRelation]:
    """The links of a sentence whose ends are both variables; the surest for each pair and sign."""
    tokens = sentence.clauses.tokens
    best: dict[tuple[VariableRef, VariableRef], ProposedRelation] = {}
    for link in sentence.links:
        causes = [one for argument in link.causes if (one := resolver.resolve(tokens, argument)) is not None]
        if link.only:
            causes = [one for one in causes if resolver.dimension_of(one.ref) in link.only]
        effects = [one for argument in link.effects if (one := resolver.resolve(tokens, argument)) is not None]
        for cause in causes:
            for effect in effects:
                if cause.ref == effect.ref or _spatial(link, effect, resolver):
                    continue
                sign = combine(combine(cause.polarity, link.sign), effect.polarity)
                confidence = round(link.strength * cause.quality * effect.quality, 3)
                relation = ProposedRelation(
                    cause.ref, effect.ref, mechanism(sentence.text), _sign(sign), confidence, passage.chunk_id, sentence.text
                )
                held = best.get((cause.ref, effect.ref))
                if held is None or held.confidence < confidence:
                    best[cause.ref, effect.ref] = relation
    return list(best.values())


def _spatial(link: Link, effect: Resolved, resolver: Resolver) -> bool:
    """ "the tube leading to the stomach" leads nowhere causally."""
    return link.cue == "lead" and not effect.faceted and resolver.dimension_of(effect.ref) in {"body_part", "place", "structure"}


def _sign(text: str) -> Sign:
    return "+" if text == "+" else "-" if text == "-" else "?"


def mechanism(sentence: str) -> str:
    """The sentence with plain spaces, cut at a clause when it is very long."""
    text = " ".join(sentence.split())
    if len(text) <= _LONG:
        return text
    cut = max(text.rfind(mark, 0, _LONG) for mark in ("; ", ", ", " "))
    return text[:cut].rstrip(" ,;") + " …"
