"""What an endpoint turned out to understand: servers and models refuse one or another of the parameters that we send.

The first refusal of a parameter costs one more request; after that the endpoint is asked in its own dialect. Nothing of
this is part of a request's identity: the cache knows a request by what it asks, not by how it was put on the wire.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal
from urllib.parse import urlsplit

from hcg_pipeline.backends.llm.chat import ChatReply, ChatRequest

LimitName = Literal["max_tokens", "max_completion_tokens", ""]
ReplyFormat = Literal["json_schema", "json_object", "prompt"]

_FORMAT_WORDS = (
    "response_format",
    "json_schema",
    "json schema",
    "json_object",
    "schema",
    "grammar",
    "structured output",
)
_CONTEXT_WORDS = (
    "context length",
    "context window",
    "context size",
    "context_length",
    "maximum context",
    "too many tokens",
)


@dataclass(frozen=True, slots=True)
class Dialect:
    """The parameters to send. `reply_format` 'prompt' puts the schema into the prompt and sends no response_format.

    `explained` puts the schema into the prompt as well as into the response_format, for a server that takes the latter
    and then ignores it.
    """

    reply_format: ReplyFormat = "json_schema"
    explained: bool = False
    limit_name: LimitName = "max_tokens"
    temperature: bool = True
    seed: bool = True
    stream: bool = True


def first_dialect(base_url: str) -> Dialect:
    """What to try first. OpenAI and Azure want `max_completion_tokens`; older and local servers know `max_tokens`.

    Only the latter are asked to stream: theirs are the replies that take minutes or run in circles.
    """
    host = urlsplit(base_url).hostname or ""
    hosted = host == "api.openai.com" or host.endswith((".openai.com", ".openai.azure.com"))
    return Dialect(limit_name="max_completion_tokens", stream=False) if hosted else Dialect()


def shows_no_schema(request: ChatRequest, reply: ChatReply) -> bool:
    """Whether a complete `reply` is not even an object with the fields that the schema of `request` requires.

    A server that holds to the schema that it was sent cannot give such a reply.
    """
    if reply.finish_reason != "stop" or reply.refusal or not reply.text.strip():
        return False
    try:
        value = json.loads(reply.text)
    except ValueError:
        return True
    required = request.schema.schema.get("required", ())
    return not isinstance(value, dict) or any(name not in value for name in required)


def says_too_long(refusal: str) -> bool:
    """Whether a refusal is about a prompt (with the room kept for its reply) that overflows the context window."""
    said = refusal.lower()
    return any(word in said for word in _CONTEXT_WORDS)


def simpler(dialect: Dialect, refusal: str) -> Dialect | None:
    """The dialect without the parameter that the endpoint's words name; None if they name none of ours."""
    said = refusal.lower()
    other: Dialect | None = None
    if says_too_long(refusal):
        other = replace(dialect, limit_name="") if dialect.limit_name else None
    elif dialect.limit_name and dialect.limit_name in said:
        other = replace(dialect, limit_name=_other_limit_name(dialect, said))
    elif dialect.stream and "stream" in said:
        other = replace(dialect, stream=False)
    elif dialect.temperature and "temperature" in said:
        other = replace(dialect, temperature=False)
    elif dialect.seed and "seed" in said:
        other = replace(dialect, seed=False)
    elif dialect.reply_format != "prompt" and any(word in said for word in _FORMAT_WORDS):
        other = replace(dialect, reply_format="json_object" if dialect.reply_format == "json_schema" else "prompt")
    return other


def _other_limit_name(dialect: Dialect, said: str) -> LimitName:
    if dialect.limit_name == "max_completion_tokens":
        return "max_tokens"
    return "max_completion_tokens" if "max_completion_tokens" in said else ""


def parameters(request: ChatRequest, dialect: Dialect) -> dict[str, Any]:
    """The keyword arguments of `chat.completions.create` for `request`, in `dialect`."""
    sent: dict[str, Any] = {"model": request.model, "messages": _messages(request, dialect)}
    if dialect.temperature:
        sent["temperature"] = request.temperature
    if dialect.seed:
        sent["seed"] = request.seed
    if dialect.limit_name:
        sent[dialect.limit_name] = request.max_tokens
    if dialect.stream:
        sent |= {"stream": True, "stream_options": {"include_usage": True}}
    if dialect.reply_format == "json_schema":
        schema = {"name": request.schema.name, "schema": dict(request.schema.schema), "strict": True}
        sent["response_format"] = {"type": "json_schema", "json_schema": schema}
    elif dialect.reply_format == "json_object":
        sent["response_format"] = {"type": "json_object"}
    return sent


def _messages(request: ChatRequest, dialect: Dialect) -> Sequence[dict[str, str]]:
    messages = [{"role": message.role, "content": message.content} for message in request.messages]
    if dialect.explained or dialect.reply_format != "json_schema":
        schema = json.dumps(request.schema.schema, ensure_ascii=False, separators=(",", ":"))
        note = (
            "\n\nAnswer with one JSON object and nothing else: no code fence, no comment. It is an instance of the "
            f"JSON schema below; do not repeat the schema itself.\n{schema}"
        )
        place = next((at for at, message in enumerate(messages) if message["role"] == "system"), 0)
        messages[place]["content"] += note
    return messages
