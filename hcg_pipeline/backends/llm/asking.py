"""One prompt, one validated reply: ask, check, have a bad reply repaired once, or report it with its raw text."""

from contextlib import suppress
from dataclasses import dataclass
from typing import Generic, TypeVar

from pydantic import BaseModel

from hcg_pipeline.backends.llm.budget import BudgetError
from hcg_pipeline.backends.llm.chat import CallError, ChatReply, ChatRequest, KeptChat, TooLongError
from hcg_pipeline.backends.llm.ledger import Ledger, Unrecorded
from hcg_pipeline.backends.llm.prompt import Faults, Prompt, Sampling, repair_of, request_of
from hcg_pipeline.backends.llm.validating import BadReplyError, listed, validated
from hcg_pipeline.backends.protocol import Failure, Usage
from hcg_pipeline.errors import BackendError

R = TypeVar("R", bound=BaseModel)
A = TypeVar("A")

_UNRECORDED = Unrecorded()


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


def ask(chat: KeptChat, sampling: Sampling, prompt: Prompt[R], ledger: Ledger = _UNRECORDED) -> Asked[R]:
    """Put `prompt` to the model and validate the reply; a bad one is sent back once with what is wrong with it.

    So is one of valid form with faulty items. Where the second is no better, the first is the answer unless it has no
    item without fault: that is a failure. A repaired reply is kept as the answer to the original request, so that the
    next build asks neither again. `ledger` takes note of both calls. `BackendError` passes through.
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
        faults = prompt.faults(good)
        if faults.problems:
            ledger.replied(request, reply, "invalid")
            return _improve(chat, prompt, request, _Valid(reply, good, faults), ledger)
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
    repair = repair_of(request, reply, str(bad))
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


@dataclass(frozen=True, slots=True)
class _Valid(Generic[R]):
    """A reply of valid form, what it says, and its faults."""

    reply: ChatReply
    good: R
    faults: Faults


def _improve(chat: KeptChat, prompt: Prompt[R], request: ChatRequest, first: _Valid[R], ledger: Ledger) -> Asked[R]:
    """Ask for a reply with fewer faults than `first`; the better of both, unless it has no item without fault."""
    repair = repair_of(request, first.reply, listed(first.faults.problems))
    try:
        reply = _complete(chat, repair, ledger)
    except CallError as error:  # the first reply stays pending, so the next build goes straight to the repair
        if first.faults.hopeless:
            reason = f"{listed(first.faults.problems)}; the repair got no reply: {error}"
            failure = Failure(prompt.stage, prompt.key, reason, _raw(first.reply))
            return Asked(None, failure, _usage(first.reply), unanswered=True)
        return Asked(first.good, None, _usage(first.reply))
    usage = _usage(first.reply) + _usage(reply)
    best = first
    with suppress(BadReplyError):  # then the first reply is the better one
        good = validated(reply, prompt)
        second = _Valid(reply, good, prompt.faults(good))
        best = min(second, first, key=lambda valid: (valid.faults.hopeless, len(valid.faults.problems)))
    chat.forget(repair)
    if best.faults.hopeless:
        chat.forget(request)
        ledger.replied(repair, reply, "failed")
        reason = f"{listed(best.faults.problems)}; so after a repair"
        return Asked(None, Failure(prompt.stage, prompt.key, reason, _raw(best.reply)), usage)
    chat.accept(request, best.reply)
    ledger.replied(repair, reply, "failed" if best is first else "repaired")
    return Asked(best.good, None, usage)


def _raw(reply: ChatReply) -> str:
    return reply.text or reply.refusal


def _usage(reply: ChatReply) -> Usage:
    if reply.cached:
        return Usage(cached=1, kept_in=reply.tokens_in, kept_out=reply.tokens_out)
    return Usage(calls=1, tokens_in=reply.tokens_in, tokens_out=reply.tokens_out)
