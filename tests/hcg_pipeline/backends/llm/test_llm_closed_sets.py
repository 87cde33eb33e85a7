"""Closed sets: enums in the schema that is sent, checked again in the reply that comes."""

from typing import Annotated

import pytest
from pydantic import BaseModel, Field, ValidationError

from hcg_pipeline.backends.llm.closed_sets import OneOf, strict_schema
from hcg_pipeline.backends.llm.prompt import Prompt
from hcg_pipeline.backends.llm.prompts.answer import AnswerReply
from hcg_pipeline.backends.llm.prompts.dimensions import DimensionsReply
from hcg_pipeline.backends.llm.prompts.edges import EdgesReply
from hcg_pipeline.backends.llm.prompts.metrics import MetricsReply
from hcg_pipeline.backends.llm.prompts.reading import ReadingReply
from hcg_pipeline.backends.llm.prompts.templates import TemplatesReply


class Part(BaseModel):
    """A part."""

    colour: Annotated[str, OneOf("colour")]
    weight: float = Field(ge=0, le=1, allow_inf_nan=False)


class Whole(BaseModel):
    """A whole."""

    title: str
    parts: list[Part]


SETS = {"colour": ["red", "blue"]}


def test_schema_is_strict_and_names_each_set_once() -> None:
    assert strict_schema(Whole, SETS) == {
        "type": "object",
        "properties": {
            "title": {"type": "string"},
            "parts": {"type": "array", "items": {"$ref": "#/$defs/Part"}},
        },
        "required": ["title", "parts"],
        "additionalProperties": False,
        "$defs": {
            "Part": {
                "type": "object",
                "properties": {"colour": {"$ref": "#/$defs/colour"}, "weight": {"type": "number"}},
                "required": ["colour", "weight"],
                "additionalProperties": False,
            },
            "colour": {"type": "string", "enum": ["red", "blue"]},
        },
    }


def test_member_passes_and_other_values_do_not() -> None:
    good = {"title": "t", "parts": [{"colour": "red", "weight": "0.5"}]}
    assert Whole.model_validate(good, context=SETS).parts[0].weight == 0.5
    bad = {"title": "t", "parts": [{"colour": "Red", "weight": 0.5}]}
    with pytest.raises(ValidationError, match=r"'Red' is none of: red, blue"):
        Whole.model_validate(bad, context=SETS)


def test_without_a_context_nothing_is_a_member() -> None:
    with pytest.raises(ValidationError):
        Part.model_validate({"colour": "red", "weight": 0})


@pytest.mark.parametrize("weight", ["NaN", float("nan"), float("inf"), -0.1, 1.1, "much", None])
def test_confidence_outside_zero_to_one_is_refused(weight: object) -> None:
    with pytest.raises(ValidationError):
        Part.model_validate({"colour": "red", "weight": weight}, context=SETS)


@pytest.mark.parametrize(
    "reply", [DimensionsReply, MetricsReply, ReadingReply, TemplatesReply, EdgesReply, AnswerReply]
)
def test_every_reply_model_is_strict_throughout(reply: type[BaseModel]) -> None:
    sets = {name: ["x"] for name in ("dimension", "metric", "passage", "sign", "target", "pair")}
    schema = strict_schema(reply, sets)
    for part in (schema, *schema.get("$defs", {}).values()):
        if part.get("type") == "object":
            assert part["required"] == list(part["properties"])
            assert part["additionalProperties"] is False
    assert "closedSet" not in str(schema)


def test_prompt_carries_its_sets() -> None:
    prompt = Prompt("s", "k", "sys", "user", Whole, SETS)
    assert prompt.sets["colour"] == ["red", "blue"]
