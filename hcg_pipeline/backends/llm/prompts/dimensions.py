"""Stage `dimensions`: what a window proposes as axes, with the entities that it names on each."""

from pydantic import BaseModel

from hcg_pipeline.backends.llm.prompt import Prompt
from hcg_pipeline.backends.llm.prompts.instructions import instructions
from hcg_pipeline.backends.llm.prompts.passages import label_passages
from hcg_pipeline.backends.llm.prompts.phrases import Phrase, SpokenText, is_name, spoken_text, stands_in, unique
from hcg_pipeline.backends.protocol import ProposedDimension, ProposedEntity
from hcg_pipeline.corpus.window import Window


class EntityReply(BaseModel):
    """An entity and its other spellings."""

    name: Phrase
    aliases: list[Phrase]


class DimensionReply(BaseModel):
    """An axis."""

    name: Phrase
    description: Phrase
    entities: list[EntityReply]


class DimensionsReply(BaseModel):
    """The reply to `dimensions.txt`."""

    dimensions: list[DimensionReply]


def dimensions_prompt(window: Window) -> Prompt[DimensionsReply]:
    """Ask for the dimensions of `window`."""
    return Prompt(
        stage="dimensions",
        key=window.window_id,
        system=instructions("dimensions"),
        user=label_passages(window.passages).text,
        reply=DimensionsReply,
        sets={},
        parts=len(window.passages),
    )


def to_dimensions(reply: DimensionsReply, window: Window) -> list[ProposedDimension]:
    """The proposals in `reply`. Entities that the window does not name, and axes left without any, are not proposed."""
    spoken = spoken_text(passage.text for passage in window.passages)
    proposals: dict[str, ProposedDimension] = {}
    for dimension in reply.dimensions:
        entities = to_entities(dimension.entities, spoken)
        if is_name(dimension.name) and entities and dimension.name.casefold() not in proposals:
            proposals[dimension.name.casefold()] = ProposedDimension(dimension.name, dimension.description, entities)
    return list(proposals.values())


def to_entities(replies: list[EntityReply], spoken: SpokenText) -> tuple[ProposedEntity, ...]:
    """The entities that the window names, by name or alias, each once. An alias that it does not name is dropped."""
    entities: dict[str, ProposedEntity] = {}
    for reply in replies:
        aliases = tuple(alias for alias in unique(reply.aliases) if stands_in(alias, spoken))
        if not is_name(reply.name) or not (aliases or stands_in(reply.name, spoken)):
            continue
        others = tuple(alias for alias in aliases if alias.casefold() != reply.name.casefold())
        entities.setdefault(reply.name.casefold(), ProposedEntity(reply.name, others))
    return tuple(entities.values())
