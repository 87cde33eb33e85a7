"""Closed sets in reply models: a field says which set its value comes from; each call says what is in the set.

`MetricName = Annotated[str, OneOf("metric")]` in a reply model becomes an `enum` in the call's JSON schema and is
checked again when the reply is read, since not every server enforces the schema it is given.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, GetCoreSchemaHandler, GetJsonSchemaHandler, ValidationInfo
from pydantic_core import CoreSchema, core_schema

ClosedSets = Mapping[str, Sequence[str]]

_MARK = "closedSet"
# Keywords that strict structured output does not know, or that only repeat what the prompt says.
_DROPPED = ("title", "default", "minimum", "maximum", "minItems", "maxItems", "minLength", "maxLength")


@dataclass(frozen=True, slots=True)
class OneOf:
    """Annotation of a `str` field: its value is a member of the closed set of this name."""

    set_name: str

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.with_info_after_validator_function(self._check, handler(source))

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        return {"type": "string", _MARK: self.set_name}

    def _check(self, value: str, info: ValidationInfo) -> str:
        members: Sequence[str] = (info.context or {}).get(self.set_name, ())
        if value in members:
            return value
        shown = ", ".join(members[:12]) + (", …" if len(members) > 12 else "")
        raise ValueError(f"{value[:80]!r} is none of: {shown}")


def strict_schema(model: type[BaseModel], sets: ClosedSets) -> dict[str, Any]:
    """The JSON schema of `model` in the strict form: every field required, nothing else allowed, sets as enums.

    Each set is written once, under `$defs`, however many fields draw on it.
    """
    schema = model.model_json_schema()
    definitions = schema.pop("$defs", {})
    used: set[str] = set()
    strict = _strict(schema, used)
    strict_definitions = {name: _strict(part, used) for name, part in sorted(definitions.items())}
    strict_definitions |= {name: {"type": "string", "enum": list(sets[name])} for name in sorted(used)}
    return strict | ({"$defs": strict_definitions} if strict_definitions else {})


def _strict(schema: dict[str, Any], used: set[str]) -> dict[str, Any]:
    if _MARK in schema:
        used.add(schema[_MARK])
        return {"$ref": f"#/$defs/{schema[_MARK]}"}
    result: dict[str, Any] = {}
    for keyword, value in schema.items():
        if keyword in _DROPPED or (keyword == "description" and schema.get("type") == "object"):
            continue
        if keyword == "properties":
            result[keyword] = {name: _strict(part, used) for name, part in value.items()}
        elif isinstance(value, dict):
            result[keyword] = _strict(value, used)
        elif keyword == "anyOf":
            result[keyword] = [_strict(part, used) for part in value]
        else:
            result[keyword] = value
    if schema.get("type") == "object":
        result["required"] = list(schema.get("properties", {}))
        result["additionalProperties"] = False
    return result
