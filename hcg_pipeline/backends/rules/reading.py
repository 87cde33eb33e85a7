"""One window to its reading: the variables that it speaks of and the relations that it states, inside a vocabulary."""

from collections.abc import Iterator, Sequence

from hcg_pipeline.backends.protocol import ProposedRelation, ProposedVariable, Reading
from hcg_pipeline.backends.rules.anaphora import Before, after, opening, pointed_at
from hcg_pipeline.backends.rules.causal import Link
from hcg_pipeline.backends.rules.entities import shouts
from hcg_pipeline.backends.rules.groups import Argument, combine
from hcg_pipeline.backends.rules.metrics import arguments
from hcg_pipeline.backends.rules.newcomers import Newcomers
from hcg_pipeline.backends.rules.parsing import Parsed, Parser
from hcg_pipeline.backends.rules.records import reading_spans, stated_by_columns
from hcg_pipeline.backends.rules.resolve import Resolved, Resolver
from hcg_pipeline.backends.rules.stated_names import named_here
from hcg_pipeline.backends.rules.terms import of_the_text
from hcg_pipeline.backends.rules.wordlists import word_lists
from hcg_pipeline.corpus.window import Passage, Window
from hcg_pipeline.specification.vocabulary import Sign, VariableRef

_LONG = 420
_THINGS = frozenset(
    {"component", "equipment", "software", "structure", "vehicle", "body_part", "organization", "place"}
)
_COLUMNS = 0.7
"""How sure the names of two columns are that the one value caused the other."""


def read_window(window: Window, resolver: Resolver, newcomers: Newcomers, parser: Parser) -> Reading:
    """A pure function of the window's text and the resolver's vocabulary."""
    sentences = [sentence for passage in window.passages for sentence in parser.passage(passage)]
    here = named_here(sentences, resolver.index.exact)
    added = dict(here.added)
    shouted = {key for key, (_, entity) in added.items() if any(map(shouts, entity.aliases))}
    added |= {key: new for key, new in newcomers.found(sentences).items() if key not in added}
    if added or here.hidden:
        names = {key: (dimension, entity.name) for key, (dimension, entity) in added.items()}
        resolver = resolver.with_entities(names, shouted, here.hidden)
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

    What points back ("it", "the drug", "this", "as a result") is read with the sentence before, and quoted with it.
    """
    found: list[ProposedRelation] = []
    before = Before()
    for start, end in reading_spans(passage.text):
        sentence = parser.sentence(passage.text[start:end])
        found += relations_of(sentence, passage, resolver, before, start)
        before = after(sentence, start, end, before, resolver)
    return [*found, *_of_columns(passage, resolver, parser)]


def _of_columns(passage: Passage, resolver: Resolver, parser: Parser) -> Iterator[ProposedRelation]:
    """Relations between the values of a record whose columns are named as cause and effect."""
    text = passage.text
    for stated in stated_by_columns(text):
        ends = []
        for first, last in (stated.cause, stated.effect):
            clauses = parser.sentence(text[first:last]).clauses
            named = clauses.group(0)[0]
            ends.append(resolver.resolve(clauses.tokens, named[0]) if named else None)
        cause, effect = ends
        if cause is None or effect is None or cause.ref == effect.ref or _same_thing(cause, effect):
            continue
        quote = text[min(stated.cause[0], stated.effect[0]) : max(stated.cause[1], stated.effect[1])]
        sign = _sign(combine(cause.polarity, effect.polarity))
        confidence = round(_COLUMNS * cause.quality * effect.quality, 3)
        yield ProposedRelation(cause.ref, effect.ref, mechanism(quote), sign, confidence, passage.chunk_id, quote)


def _spoken_of_in(passage: Passage, resolver: Resolver, parser: Parser) -> Iterator[Resolved]:
    for sentence in parser.passage(passage):
        yield from _spoken_of(sentence, resolver)


def _spoken_of(sentence: Parsed, resolver: Resolver) -> Iterator[Resolved]:
    tokens = sentence.clauses.tokens
    for argument in arguments(sentence):
        resolved = resolver.resolve(tokens, argument)
        if resolved is not None and resolver.foremost(resolved.ref):
            yield resolved


def relations_of(
    sentence: Parsed, passage: Passage, resolver: Resolver, before: Before, start: int
) -> list[ProposedRelation]:
    """The links of a sentence whose ends are both variables; the surest for each pair.

    `before` is what it can point back to, `start` the sentence's place in the passage.
    """
    best: dict[tuple[VariableRef, VariableRef], ProposedRelation] = {}
    opened = opening(sentence)
    links = sentence.links
    if opened is not None and before.happened:
        happening, cue, strength = opened
        links = (*links, Link((), tuple(happening), "+", strength, cue))
    for link in links:
        causes, effects = link_ends(link, sentence, resolver, before, start)
        for cause, first in causes:
            for effect, second in effects:
                if link.cue == "mean" and not (cause.turned and effect.turned):
                    continue
                if cause.ref == effect.ref or _same_thing(cause, effect) or _no_effect(link, effect, resolver):
                    continue
                sign = combine(combine(cause.polarity, link.sign), effect.polarity)
                confidence = round(link.strength * cause.quality * effect.quality, 3)
                quote = passage.text[min(first, second) : start + len(sentence.text)]
                relation = ProposedRelation(
                    cause.ref, effect.ref, mechanism(quote), _sign(sign), confidence, passage.chunk_id, quote
                )
                held = best.get((cause.ref, effect.ref))
                if held is None or held.confidence < confidence:
                    best[cause.ref, effect.ref] = relation
    return list(best.values())


End = tuple[Resolved, int]
"""A variable, and where in the passage the text begins that names it."""


def link_ends(
    link: Link, sentence: Parsed, resolver: Resolver, before: Before, start: int
) -> tuple[list[End], list[End]]:
    """The variables of the causes and of the effects of a link, as far as its cue allows their kinds."""
    causes = _ends(link.causes, link.effects, sentence, resolver, before, start)
    effects = _ends(link.effects, link.causes, sentence, resolver, before, start, link.cue)
    if not link.causes:
        causes = [(one, before.start) for one in before.happened]
    causes = [one for one in causes if one[0].ref.entities[0].rsplit(" ")[-1] not in word_lists()["unheard"]]
    causes = [one for one in causes if not of_the_text(one[0].ref.entities[0])]
    effects = [one for one in effects if not of_the_text(one[0].ref.entities[0])]
    if link.only:
        causes = [one for one in causes if resolver.dimension_of(one[0].ref) in link.only]
    if link.onto:
        effects = [one for one in effects if resolver.dimension_of(one[0].ref) in link.onto]
    return causes, effects


def _ends(
    arguments: Sequence[Argument],
    other: Sequence[Argument],
    sentence: Parsed,
    resolver: Resolver,
    before: Before,
    start: int,
    cue: str = "",
) -> list[End]:
    """The variables of arguments, each with where in the passage the text that names it begins.

    `other` is the other side of the link. What only points back counts where no argument beside it has a variable of
    its own.
    """
    tokens = sentence.clauses.tokens
    found = [(one, start) for argument in arguments if (one := resolver.resolve(tokens, argument, cue)) is not None]
    if not found:
        for argument in arguments:
            stands_for, first = pointed_at(sentence, argument, other, before, resolver)
            found += [(one, start if first is None else first) for one in stands_for]
    return found


def _same_thing(cause: Resolved, effect: Resolved) -> bool:
    """Two readings of one entity, one of them without a facet, are one mention read twice."""
    return cause.ref.entities[0] == effect.ref.entities[0] and not (cause.faceted and effect.faceted)


def _no_effect(link: Link, effect: Resolved, resolver: Resolver) -> bool:
    """Whether an effect is a mere thing, of which nothing is said that could come of something.

    "the tube leading to the stomach" leads nowhere causally, what "allows a server" says nothing of how it runs, and
    no kidney is caused.
    """
    if effect.faceted or resolver.dimension_of(effect.ref) not in _THINGS:
        return False
    verb = link.cue.split(" ", maxsplit=1)[0]
    lists = word_lists()
    return verb in lists["weak_giving"] or (verb in lists["bringing"] and effect.polarity == "+" and not effect.turned)


def _sign(text: str) -> Sign:
    return "+" if text == "+" else "-" if text == "-" else "?"


def mechanism(sentence: str) -> str:
    """The sentence with plain spaces, cut at a clause when it is very long."""
    text = " ".join(sentence.split())
    if len(text) <= _LONG:
        return text
    cut = max(text.rfind(mark, 0, _LONG) for mark in ("; ", ", ", " "))
    return text[:cut].rstrip(" ,;") + " …"
