"""Tier 1 and tier 2 from evidence alone: a pair is accepted only where a passage states a cause between its ends."""

from collections.abc import Sequence

from hcg_pipeline.backends.protocol import EdgeQuestion, ProposedRelation, TemplateQuestion, TemplateVerdict
from hcg_pipeline.backends.rules.dimensions import lexical_dimension
from hcg_pipeline.backends.rules.entities import EntityIndex, Mention
from hcg_pipeline.backends.rules.families import family_of
from hcg_pipeline.backends.rules.groups import Argument
from hcg_pipeline.backends.rules.hearst import phrase_key
from hcg_pipeline.backends.rules.parsing import Parsed, Parser
from hcg_pipeline.backends.rules.phrase_reading import PhraseReading, default_facet
from hcg_pipeline.backends.rules.reading import mechanism, relations_in
from hcg_pipeline.backends.rules.resolve import Resolved, Resolver, metric_facet
from hcg_pipeline.backends.rules.tokens import Token
from hcg_pipeline.backends.rules.wordlists import facet_of_noun, word_lists
from hcg_pipeline.specification.vocabulary import Dimension, Entity, Metric, VariableRef, Vocabulary

_DISCOUNT = 0.8


class ExactIndex(EntityIndex):
    """Finds an entity only where nothing before it narrows it: a few candidates do not know of "crop yield" what
    the whole vocabulary knows, that it is not "yield".
    """

    def ending_at(self, tokens: Sequence[Token], start: int, end: int) -> Mention | None:
        """The mention that ends exactly at `end`, unless a noun or a telling adjective stands right before it."""
        found = super().ending_at(tokens, start, end)
        if found is None or found.start == start:
            return found
        before = tokens[found.start - 1]
        lists = word_lists()
        telling = before.is_noun or (
            before.tag == "AJ0"
            and not any(before.low in lists[name] for name in ("modifier", "less", "more", "impaired"))
        )
        return None if telling else found


class ExactResolver(Resolver):
    """Resolves by the metric that a phrase names, or not at all: which metrics there are besides, it cannot know."""

    index_of = ExactIndex

    def _stand_in(self, reading: PhraseReading) -> Resolved | None:
        return None if reading.facet else super()._stand_in(reading)

    def _plain(self, reading: PhraseReading) -> Resolved | None:
        return None


def judge_template(question: TemplateQuestion, parser: Parser) -> tuple[TemplateVerdict, ...]:
    """Targets that a link of the passages leads to from the source; ends are matched by class of head noun and facet.

    No entities come with the question, so the lexicon alone types the phrases, and confidence is discounted for that.
    """
    best: dict[str, TemplateVerdict] = {}
    for passage in question.passages:
        for sentence in parser.passage(passage):
            for link in sentence.links:
                if not any(_speaks_of(question.source, sentence, one) for one in link.causes):
                    continue
                for target in question.targets:
                    if target.name == question.source.name or not any(
                        _speaks_of(target, sentence, one) for one in link.effects
                    ):
                        continue
                    verdict = TemplateVerdict(
                        question.source.name, target.name, mechanism(sentence.text), round(link.strength * _DISCOUNT, 3)
                    )
                    held = best.get(target.name)
                    if held is None or held.confidence < verdict.confidence:
                        best[target.name] = verdict
    return tuple(best[name] for name in sorted(best))


def _speaks_of(metric: Metric, sentence: Parsed, argument: Argument) -> bool:
    clauses = sentence.clauses
    inside = [
        at
        for at, part in enumerate(clauses.segments)
        if part.kind == "NP" and argument.start <= part.start < argument.end
    ]
    if not inside:
        return False
    key = phrase_key(clauses, inside[0])
    facet = argument.facet or facet_of_noun().get(clauses.segments[inside[0]].lemma, "")
    wanted = metric_facet(metric)
    if facet and len(inside) > 1:
        return facet == wanted and lexical_dimension(phrase_key(clauses, inside[1])) == metric.signature[0]
    own = family_of(metric.signature[0], key) or default_facet(metric.signature[0])
    return wanted == own and bool(key) and lexical_dimension(key) == metric.signature[0]


def judge_edge(question: EdgeQuestion, parser: Parser) -> tuple[ProposedRelation, ...]:
    """Candidates that a passage states, each with the sentence that does."""
    resolver = ExactResolver(_vocabulary(question))
    wanted = set(question.candidates)
    best: dict[tuple[VariableRef, VariableRef], ProposedRelation] = {}
    for passage in question.passages:
        for relation in relations_in(passage, resolver, parser):
            pair = (relation.source, relation.target)
            if pair in wanted and (pair not in best or best[pair].confidence < relation.confidence):
                best[pair] = relation
    return tuple(best[pair] for pair in question.candidates if pair in best)


def _vocabulary(question: EdgeQuestion) -> Vocabulary:
    """The small vocabulary that a question itself names."""
    entities: dict[str, dict[str, None]] = {}
    for pair in question.candidates:
        for metric, ref in zip((question.source, question.target), pair, strict=True):
            for dimension, entity in zip(metric.signature, ref.entities, strict=False):
                entities.setdefault(dimension, {})[entity] = None
    dimensions = tuple(
        Dimension(name, "", tuple(Entity(one) for one in names)) for name, names in sorted(entities.items())
    )
    return Vocabulary(dimensions, _unique((question.source, question.target)))


def _unique(metrics: Sequence[Metric]) -> tuple[Metric, ...]:
    return tuple({metric.name: metric for metric in metrics}.values())
