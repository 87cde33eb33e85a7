"""A prompt: what is asked, the form of a good reply, what can be wrong in one; and the requests that ask it."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from pydantic import BaseModel

from hcg_pipeline.backends.llm.chat import ChatReply, ChatRequest, Message, ReplySchema
from hcg_pipeline.backends.llm.closed_sets import ClosedSets, strict_schema
from hcg_pipeline.backends.llm.streaming import LOOP

R = TypeVar("R", bound=BaseModel)

_QUOTED_REPLY = 6000


@dataclass(frozen=True, slots=True)
class Faults:
    """What is wrong with items of a reply of valid form, in words that the model can act on.

    `hopeless`: no item is without fault.
    """

    problems: tuple[str, ...] = ()
    hopeless: bool = False


def faultless(_reply: BaseModel) -> Faults:
    """For a reply in which nothing can be wrong but its form."""
    return Faults()


@dataclass(frozen=True, slots=True)
class Prompt(Generic[R]):
    """One question to the model. `system` is the same for all prompts of a stage, `user` holds what differs.

    `reply` is the model of a good reply, `sets` are the closed sets that it draws on, `key` says in reports what the
    question was about. With more than one of `parts` the question can be asked of each part by itself. `faults` finds
    items that whoever reads the reply must drop, such as a quote that stands in no passage.
    """

    stage: str
    key: str
    system: str
    user: str
    reply: type[R]
    sets: ClosedSets
    parts: int = 1
    faults: Callable[[R], Faults] = faultless


@dataclass(frozen=True, slots=True)
class Sampling:
    """The parameters that go with every request."""

    model: str
    temperature: float
    seed: int
    max_tokens: int


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


def repair_of(request: ChatRequest, reply: ChatReply, reason: str) -> ChatRequest:
    """The request that has `reply`, which is wrong for `reason`, put right."""
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
