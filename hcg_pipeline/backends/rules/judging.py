"""Tier 1 and tier 2 from evidence alone: a pair is accepted only where a passage states a cause between its ends."""

from collections.abc import Sequence

from hcg_pipeline.backends.protocol import EdgeQuestion, ProposedRelation, TemplateQuestion, TemplateVerdict
from hcg_pipeline.backends.rules.dimensions import lexical_dimension
from hcg_pipeline.backends.rules.groups import Argument
from hcg_pipeline.backends.rules.hearst import phrase_key
from hcg_pipeline.backends.rules.parsing import Parsed, Parser
from hcg_pipeline.backends.rules.phrase_reading import default_facet
from hcg_pipeline.backends.rules.reading import mechanism, relations_in
from hcg_pipeline.backends.rules.resolve import Resolver, metric_facet
from hcg_pipeline.backends.rules.wordlists import facet_of_noun
from hcg_pipeline.specification.vocabulary import Dimension, Entity, Metric, VariableRef, Vocabulary

_DISCOUNT = 0.8


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
    return wanted == default_facet(metric.signature[0]) and bool(key) and lexical_dimension(key) == metric.signature[0]


def judge_edge(question: EdgeQuestion, parser: Parser) -> tuple[ProposedRelation, ...]:
    """Candidates that a passage states, each with the sentence that does."""
    resolver = Resolver(_vocabulary(question))
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
