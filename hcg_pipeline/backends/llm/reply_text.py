"""The JSON object inside a model's reply, however the model has wrapped it."""

import json
import re
from typing import Any

_THOUGHT = re.compile(r"<(think|thinking|reasoning)>.*?(</\1>|\Z)", re.DOTALL | re.IGNORECASE)
_FENCE = re.compile(r"```[\w-]*\s*\n(.*?)(?:\n\s*```|\Z)", re.DOTALL)
_DECODER = json.JSONDecoder()


class NotJsonError(ValueError):
    """There is no JSON object in the reply; the message says what is there instead."""


def json_object(text: str) -> dict[str, Any]:
    """The JSON object in `text`: all of it, or after a thinking block, in a code fence, or with prose around it.

    Of several, the last that is not inside another counts: models think aloud first. Raises `NotJsonError`.
    """
    bare = _THOUGHT.sub("", text).strip().lstrip("\ufeff")
    if not bare:
        raise NotJsonError("the reply is empty" if not text.strip() else "the reply is a thought without an answer")
    fenced = [match.group(1) for match in _FENCE.finditer(bare)]
    for candidate in (bare, *reversed(fenced)):
        try:
            value = json.loads(candidate, strict=False)
        except ValueError:
            continue
        except RecursionError:
            raise NotJsonError("the reply is nested too deeply") from None
        if isinstance(value, dict):
            return value
        raise NotJsonError(f"the reply is a JSON {type(value).__name__}, not an object")
    found = _outermost_objects(bare)
    if found:
        return found[-1]
    raise NotJsonError(f"the reply holds no JSON object: {' '.join(bare.split())[:80]!r}")


def _outermost_objects(text: str) -> list[dict[str, Any]]:
    """The complete JSON objects in `text` that lie in no other, in order. A broken one hides what is inside of it."""
    found: list[dict[str, Any]] = []
    at = text.find("{")
    while at >= 0:
        try:
            value, end = _DECODER.raw_decode(text, at)
        except (ValueError, RecursionError):
            # `{` in prose: go on behind it, unless it opens an object that breaks off (then its parts are no answer)
            if re.match(r'\{\s*"', text[at:]):
                return found
            at = text.find("{", at + 1)
            continue
        if isinstance(value, dict):
            found.append(value)
        at = text.find("{", end)
    return found
