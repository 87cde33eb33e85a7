"""Stage `variables`: the variables, relations and new entities of a window, in a vocabulary. One call a window."""

from dataclasses import dataclass
from typing import Annotated

from pydantic import BaseModel, Field

from hcg_pipeline.backends.llm.closed_sets import OneOf
from hcg_pipeline.backends.llm.prompt import Faults, Prompt
from hcg_pipeline.backends.llm.prompts.dimensions import EntityReply, to_entities
from hcg_pipeline.backends.llm.prompts.instructions import instructions
from hcg_pipeline.backends.llm.prompts.passages import LabelledPassages, label_passages
from hcg_pipeline.backends.llm.prompts.phrases import Phrase, is_name, spoken_text, stands_in
from hcg_pipeline.backends.llm.prompts.vocabulary_text import dimensions_text, entities_text, metrics_text
from hcg_pipeline.backends.llm.vocabulary_view import VocabularyView, known_names, view_for
from hcg_pipeline.backends.protocol import ProposedEntity, ProposedRelation, ProposedVariable, Reading
from hcg_pipeline.corpus.window import Window
from hcg_pipeline.specification.vocabulary import Sign, VariableRef, Vocabulary

SIGNS: tuple[Sign, ...] = ("+", "-", "?")


class NewEntityReply(EntityReply):
    """An entity that the vocabulary lacks, on one of its dimensions."""

    dimension: Annotated[str, OneOf("dimension")]


class RefReply(BaseModel):
    """A variable by its parts."""

    metric: Annotated[str, OneOf("metric")]
    entities: list[Phrase]


class VariableReply(RefReply):
    """A variable and a passage that speaks of it."""

    passage: Annotated[str, OneOf("passage")]


class RelationReply(BaseModel):
    """A cause and its effect as a passage states them."""

    source: RefReply
    target: RefReply
    mechanism: Phrase
    sign: Annotated[str, OneOf("sign")]
    confidence: float = Field(ge=0, le=1, allow_inf_nan=False)
    passage: Annotated[str, OneOf("passage")]
    quote: str


class ReadingReply(BaseModel):
    """The reply to `reading.txt`."""

    entities: list[NewEntityReply]
    variables: list[VariableReply]
    relations: list[RelationReply]


@dataclass(frozen=True, slots=True)
class ReadingTask:
    """A window, what of the vocabulary it is shown, and the prompt that asks for its reading."""

    window: Window
    view: VocabularyView
    passages: LabelledPassages
    prompt: Prompt[ReadingReply]


def reading_task(window: Window, vocabulary: Vocabulary, metrics_shown: int) -> ReadingTask:
    """Ask what `window` says. It is shown at most `metrics_shown` metrics: those that its words touch most."""
    passages = label_passages(window.passages)
    view = view_for(vocabulary, " ".join(passage.text for passage in window.passages), metrics_shown)
    sections = (
        dimensions_text(view.dimensions),
        metrics_text(view.metrics),
        entities_text(view.named),
        passages.text,
    )
    prompt = Prompt(
        stage="variables",
        key=window.window_id,
        system=instructions("reading"),
        user="\n\n".join(section for section in sections if section),
        reply=ReadingReply,
        sets={
            "dimension": [dimension.name for dimension in view.dimensions],
            "metric": [metric.name for metric in view.metrics],
            "passage": list(passages.labels),
            "sign": SIGNS,
        },
        parts=len(window.passages),
        faults=lambda reply: _faults(reply, view, passages),
    )
    return ReadingTask(window, view, passages, prompt)


def _faults(reply: ReadingReply, view: VocabularyView, passages: LabelledPassages) -> Faults:
    """Relations that cannot stand: a quote from nowhere, or an end whose entities do not fit its metric."""
    signatures = {metric.name: metric.signature for metric in view.metrics}
    problems: list[str] = []
    faulty = 0
    for place, relation in enumerate(reply.relations):
        wrong = [
            f"relations.{place}.{end}: {ref.metric} takes {len(signature)} entities ({', '.join(signature)}), "
            f"not {len(ref.entities)}"
            for end, ref in (("source", relation.source), ("target", relation.target))
            if len(signature := signatures[ref.metric]) != len(ref.entities)
        ]
        if passages.find(relation.passage, relation.quote) is None:
            wrong.append(f"relations.{place}.quote: not the words of passage {relation.passage}; copy them exactly")
        problems += wrong
        faulty += bool(wrong)
    return Faults(tuple(problems), hopeless=0 < faulty == len(reply.relations))


def to_reading(reply: ReadingReply, task: ReadingTask) -> Reading:
    """The proposals in `reply`, under global chunk ids.

    An entity that the vocabulary lacks is proposed only if the window names it, whether the model lists it or only uses
    it in a variable. References with a wrong number of entities are kept as they are: assembly drops and counts them.
    """
    variables = [
        ProposedVariable(_ref(variable), task.passages.by_label[variable.passage].chunk_id)
        for variable in reply.variables
    ]
    relations = [_relation(relation, task.passages) for relation in reply.relations]
    refs = [variable.ref for variable in variables]
    refs += [ref for relation in relations for ref in (relation.source, relation.target)]
    return Reading(
        window_id=task.window.window_id,
        entities=_new_entities(reply, refs, task),
        variables=tuple(dict.fromkeys(variables)),
        relations=tuple(dict.fromkeys(relations)),
    )


def _ref(reply: RefReply) -> VariableRef:
    return VariableRef(reply.metric, tuple(reply.entities))


def _relation(reply: RelationReply, passages: LabelledPassages) -> ProposedRelation:
    chunk_id, quote = passages.locate(reply.passage, reply.quote)
    sign = next(sign for sign in SIGNS if sign == reply.sign)
    return ProposedRelation(
        _ref(reply.source), _ref(reply.target), reply.mechanism, sign, reply.confidence, chunk_id, quote
    )


def _new_entities(
    reply: ReadingReply, refs: list[VariableRef], task: ReadingTask
) -> tuple[tuple[str, ProposedEntity], ...]:
    spoken = spoken_text(passage.text for passage in task.window.passages)
    known = {dimension.name: known_names(dimension) for dimension in task.view.dimensions}
    added: dict[tuple[str, str], ProposedEntity] = {}
    for entry in reply.entities:
        for entity in to_entities([entry], spoken):
            if entity.name.casefold() not in known[entry.dimension]:
                added.setdefault((entry.dimension, entity.name.casefold()), entity)
    aliases = {(dimension, alias.casefold()) for (dimension, _), entity in added.items() for alias in entity.aliases}
    signatures = {metric.name: metric.signature for metric in task.view.metrics}
    for ref in refs:
        for dimension, name in zip(signatures[ref.metric], ref.entities, strict=False):
            place = (dimension, name.casefold())
            if place in added or place in aliases or place[1] in known[dimension]:
                continue
            if is_name(name) and stands_in(name, spoken):
                added[place] = ProposedEntity(name)
    return tuple((dimension, entity) for (dimension, _), entity in added.items())
