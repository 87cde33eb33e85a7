"""One call to a chat model: what goes in, what comes out, and the protocol that every layer of the chain satisfies."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from hcg_pipeline.errors import HcgError


@dataclass(frozen=True, slots=True)
class Message:
    """One turn of a conversation."""

    role: Literal["system", "user", "assistant"]
    content: str


@dataclass(frozen=True, slots=True)
class ReplySchema:
    """The JSON schema that a reply must satisfy, under the name that the endpoint is told."""

    name: str
    schema: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """All that decides a reply, and (`stage`, `key`) what it is for; the latter two are for reports alone."""

    model: str
    messages: tuple[Message, ...]
    schema: ReplySchema
    temperature: float
    seed: int
    max_tokens: int
    stage: str = field(default="", compare=False)
    key: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class ChatReply:
    """A model's reply as it came. Token counts are the endpoint's own, 0 where it gives none.

    `cached` is true when the reply came from the cache, `good` when it was found valid before. `tokens_cached` are
    input tokens that the endpoint billed at its prompt-caching rate. `refusal` is the model's own refusal message, or
    ''. `seconds` from the first attempt to the reply and `retries` in between are for the ledger alone.
    """

    text: str
    finish_reason: str
    refusal: str = ""
    tokens_in: int = 0
    tokens_out: int = 0
    tokens_cached: int = 0
    cached: bool = False
    good: bool = False
    seconds: float = field(default=0.0, compare=False)
    retries: int = field(default=0, compare=False)


class ChatCall(Protocol):
    """A layer of the chain. Thread-safe: many workers call one object."""

    def complete(self, request: ChatRequest) -> ChatReply:
        """The reply to `request`.

        Raises `CallError` where this one request got no reply, and `BackendError` where no request will.
        """


class KeptChat(ChatCall, Protocol):
    """A `ChatCall` that keeps replies, and is told by whoever validates them which ones are good."""

    def accept(self, request: ChatRequest, reply: ChatReply) -> None:
        """`reply` is a valid answer to `request`: keep it as that."""

    def forget(self, request: ChatRequest) -> None:
        """What is kept for `request` is no valid answer: never serve it again."""


class CallError(HcgError):
    """One request got no reply, after all that could be done for it. Others may fare better.

    `seconds` and `retries` say what was tried; the retry layer sets them.
    """

    seconds: float = 0.0
    retries: int = 0


class TooLongError(CallError):
    """The prompt, with room for its reply, is more than the model's context window holds."""


class AttemptError(HcgError):
    """An attempt failed in a way that often passes: 429, 5xx, a reset, a timeout, a body that breaks off.

    `retry_after` is what the endpoint asked to wait, in seconds, if it did; `throttled` says that it was for going too
    fast. A `slow` failure took a whole timeout, and counts twice against the attempts. `retry` raises `CallError` when
    it gives up, so nothing above it sees this error.
    """

    def __init__(
        self, message: str, *, retry_after: float | None = None, throttled: bool = False, slow: bool = False
    ) -> None:
        super().__init__(message)
        self.slow = slow
        self.retry_after = retry_after
        self.throttled = throttled


def estimate_tokens(text: str) -> int:
    """Roughly how many tokens `text` is, on the high side for any script: 3 ASCII characters or 2/3 of another each.

    For pacing and packing only; what is billed comes from the endpoint's own counts.
    """
    ascii_characters = sum(character.isascii() for character in text) if not text.isascii() else len(text)
    return ascii_characters // 3 + (len(text) - ascii_characters) * 3 // 2 + 1


def estimate_input_tokens(request: ChatRequest) -> int:
    """Roughly how many input tokens `request` is."""
    return sum(estimate_tokens(message.content) + 4 for message in request.messages)
