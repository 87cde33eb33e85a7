"""One prompt, one validated reply: ask, check, have a bad reply repaired once, or report it with its raw text."""

import json
from dataclasses import dataclass
from typing import Generic, TypeVar

from pydantic import BaseModel, ValidationError

from hcg_pipeline.backends.llm.budget import BudgetError
from hcg_pipeline.backends.llm.chat import (
    CallError,
    ChatReply,
    ChatRequest,
    KeptChat,
    Message,
    ReplySchema,
    TooLongError,
)
from hcg_pipeline.backends.llm.closed_sets import ClosedSets, strict_schema
from hcg_pipeline.backends.llm.ledger import Ledger, Unrecorded
from hcg_pipeline.backends.llm.reply_language import wrong_language
from hcg_pipeline.backends.llm.reply_text import NotJsonError, json_object
from hcg_pipeline.backends.llm.streaming import LOOP
from hcg_pipeline.backends.protocol import Failure, Usage
from hcg_pipeline.errors import BackendError

R = TypeVar("R", bound=BaseModel)
A = TypeVar("A")

_QUOTED_REPLY = 6000
_UNRECORDED = Unrecorded()


@dataclass(frozen=True, slots=True)
class Prompt(Generic[R]):
    """One question to the model. `system` is the same for all prompts of a stage, `user` holds what differs.

    `reply` is the model of a good reply, `sets` are the closed sets that it draws on, `key` says in reports what the
    question was about. With more than one of `parts` the question can be asked of each part by itself.
    """

    stage: str
    key: str
    system: str
    user: str
    reply: type[R]
    sets: ClosedSets
    parts: int = 1


@dataclass(frozen=True, slots=True)
class Sampling:
    """The parameters that go with every request."""

    model: str
    temperature: float
    seed: int
    max_tokens: int


@dataclass(frozen=True, slots=True)
class Asked(Generic[A]):
    """What came of a prompt: a reply, or a failure; and what it cost."""

    reply: A | None
    failure: Failure | None
    usage: Usage
    unanswered: bool = False
    """The failure is the endpoint's, which gave no reply at all."""
    too_long: bool = False
    """The failure is for want of room, in the context window or for the reply, and the prompt can be divided."""


class BadReplyError(ValueError):
    """The reply cannot be used; the message says why, in words that the model can act on."""


def ask(chat: KeptChat, sampling: Sampling, prompt: Prompt[R], ledger: Ledger = _UNRECORDED) -> Asked[R]:
    """Put `prompt` to the model and validate the reply; a bad one is sent back once with what is wrong with it.

    A repaired reply is kept as the answer to the original request, so that the next build asks neither again.
    `ledger` takes note of both calls. `BackendError` passes through.
    """
    request = request_of(prompt, sampling)
    try:
        reply = _complete(chat, request, ledger)
    except CallError as error:
        too_long = isinstance(error, TooLongError) and prompt.parts > 1
        failure = Failure(prompt.stage, prompt.key, str(error), "")
        return Asked(None, failure, Usage(), unanswered=not too_long, too_long=too_long)
    try:
        good = validated(reply, prompt)
    except BadReplyError as bad:
        ledger.replied(request, reply, "invalid")
        return _repair(chat, prompt, request, reply, bad, ledger)
    if not reply.good:
        chat.accept(request, reply)
    ledger.replied(request, reply, "ok")
    return Asked(good, None, _usage(reply))


def _complete(chat: KeptChat, request: ChatRequest, ledger: Ledger) -> ChatReply:
    """The reply to `request`; where there is none, the ledger has a line on that, unless nothing was sent."""
    try:
        return chat.complete(request)
    except BudgetError:
        raise
    except (CallError, BackendError) as error:
        ledger.unanswered(request, error)
        raise


def _repair(
    chat: KeptChat, prompt: Prompt[R], request: ChatRequest, reply: ChatReply, bad: BadReplyError, ledger: Ledger
) -> Asked[R]:
    """Ask for a better reply than `reply`, which is `bad`."""
    repair = _repair_request(request, reply, str(bad))
    try:
        second = _complete(chat, repair, ledger)
    except CallError as error:  # the first reply stays in the cache, so the next build goes straight to the repair
        failure = Failure(prompt.stage, prompt.key, f"{bad}; the repair got no reply: {error}", _raw(reply))
        too_long = isinstance(error, TooLongError) and prompt.parts > 1
        return Asked(None, failure, _usage(reply), unanswered=not too_long, too_long=too_long)
    usage = _usage(reply) + _usage(second)
    try:
        good = validated(second, prompt)
    except BadReplyError as still_bad:
        # Replies cut off twice stay in the cache where the prompt can be divided: the next build divides it at once.
        too_long = second.finish_reason == "length" and prompt.parts > 1
        ledger.replied(repair, second, "divided" if too_long else "failed")
        if not too_long:
            chat.forget(request)
            chat.forget(repair)
        reason = f"{still_bad}; before the repair: {bad}" if str(still_bad) != str(bad) else f"{bad}, twice"
        return Asked(None, Failure(prompt.stage, prompt.key, reason, _raw(second)), usage, too_long=too_long)
    chat.accept(request, second)
    chat.forget(repair)
    ledger.replied(repair, second, "repaired")
    return Asked(good, None, usage)


def _raw(reply: ChatReply) -> str:
    return reply.text or reply.refusal


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
    shown = [f"{'.'.join(map(str, problem['loc'])) or 'reply'}: {problem['msg']}" for problem in problems[:5]]
    more = f"; and {len(problems) - 5} more" if len(problems) > 5 else ""
    return "; ".join(shown) + more


def request_of(prompt: Prompt[R], sampling: Sampling) -> ChatRequest:
    """The request that `ask` begins with."""
    return ChatRequest(
        model=sampling.model,
        messages=(Message("system", prompt.system), Message("user", prompt.user)),
        schema=ReplySchema(prompt.stage, strict_schema(prompt.reply, prompt.sets)),
        temperature=sampling.temperature,
        seed=sampling.seed,
        max_tokens=sampling.max_tokens,
        stage=prompt.stage,
        key=prompt.key,
    )


def _repair_request(request: ChatRequest, reply: ChatReply, reason: str) -> ChatRequest:
    said = (reply.text or reply.refusal or "(nothing)")[:_QUOTED_REPLY]
    advice = (
        " Answer again with less: only the most important items, each in few words."
        if reply.finish_reason in ("length", LOOP)
        else " Answer again, with that put right."
    )
    return ChatRequest(
        model=request.model,
        messages=(
            *request.messages,
            Message("assistant", said),
            Message("user", f"That reply cannot be used. {json.dumps(reason, ensure_ascii=False)}.{advice}"),
        ),
        schema=request.schema,
        temperature=request.temperature,
        seed=request.seed,
        max_tokens=request.max_tokens,
        stage=request.stage,
        key=request.key,
    )


def _usage(reply: ChatReply) -> Usage:
    if reply.cached:
        return Usage(cached=1)
    return Usage(calls=1, tokens_in=reply.tokens_in, tokens_out=reply.tokens_out)
