"""A reply as an object of the prompt's reply model, or what is wrong with it in words that the model can act on."""

from collections.abc import Sequence
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from hcg_pipeline.backends.llm.chat import ChatReply
from hcg_pipeline.backends.llm.prompt import Prompt
from hcg_pipeline.backends.llm.reply_language import wrong_language
from hcg_pipeline.backends.llm.reply_text import NotJsonError, json_object
from hcg_pipeline.backends.llm.streaming import LOOP

R = TypeVar("R", bound=BaseModel)

_LISTED = 5


class BadReplyError(ValueError):
    """The reply cannot be used; the message says why, in words that the model can act on."""


def validated(reply: ChatReply, prompt: Prompt[R]) -> R:
    """The reply as an object of the prompt's reply model, or `BadReplyError`."""
    if reply.refusal or reply.finish_reason == "content_filter":
        raise BadReplyError(f"the model refused: {reply.refusal[:200] or 'content filter'}")
    if reply.finish_reason == "length":
        raise BadReplyError("the reply was cut off at the token limit")
    if reply.finish_reason == LOOP:
        raise BadReplyError("the reply repeats itself without end")
    try:
        value = json_object(reply.text)
    except NotJsonError as error:
        raise BadReplyError(str(error)) from None
    if "$defs" in value or (value.get("type") == "object" and "properties" in value):
        raise BadReplyError("the reply repeats the JSON schema instead of an instance of it")
    try:
        good = prompt.reply.model_validate(value, context=dict(prompt.sets))
    except ValidationError as error:
        raise BadReplyError(_problems(error)) from None
    except RecursionError:
        raise BadReplyError("the reply is nested too deeply") from None
    if wrong := wrong_language(value, prompt.user):
        raise BadReplyError(wrong)
    return good


def _problems(error: ValidationError) -> str:
    """The first few problems, each with its place in the reply."""
    problems = error.errors(include_url=False, include_context=False, include_input=False)
    return listed([f"{'.'.join(map(str, problem['loc'])) or 'reply'}: {problem['msg']}" for problem in problems])


def listed(problems: Sequence[str]) -> str:
    """The first few problems on one line, and how many more there are."""
    more = f"; and {len(problems) - _LISTED} more" if len(problems) > _LISTED else ""
    return "; ".join(problems[:_LISTED]) + more
