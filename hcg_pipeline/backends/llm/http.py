"""The HTTP layer: one POST to /chat/completions through the `openai` SDK, in the dialect of the endpoint."""

import threading
from dataclasses import replace
from typing import Any

import openai

from hcg_pipeline.backends.llm.chat import AttemptError, CallError, ChatReply, ChatRequest, TooLongError
from hcg_pipeline.backends.llm.dialect import (
    Dialect,
    first_dialect,
    parameters,
    says_too_long,
    shows_no_schema,
    simpler,
)
from hcg_pipeline.backends.llm.endpoint import (
    RefusedError,
    UnreachableError,
    fetch_json,
    public_url,
    unreachable_for_good,
)
from hcg_pipeline.backends.llm.settings import SettingNames

_NAMES = SettingNames()
# json_schema -> json_object -> prompt, one limit name -> the other -> none, no temperature, no seed, no streaming
_MOST_REFUSALS = 8

_MOST_CHARACTERS_A_TOKEN = 6.5
"""Prompts in plain letters have 3.5 to 5 in the usual vocabularies."""
_SMALLEST_CONTEXT = 1024


class HttpChat:
    """The innermost layer of the chain.

    Remembers which parameters the endpoint refuses, and whether it was ever reached: an address where nobody listens
    from the start is an error at once, a server that goes away in the middle of a night is waited for.
    """

    def __init__(
        self,
        client: openai.OpenAI,
        *,
        total_timeout: float,
        dialect: Dialect | None = None,
        names: SettingNames = _NAMES,
    ) -> None:
        self._names = names
        self._client = client
        self._url = str(client.base_url)
        self._total_timeout = total_timeout
        self._lock = threading.Lock()
        self._dialect = dialect or first_dialect(self._url)
        self._reached = False

    @property
    def dialect(self) -> Dialect | None:
        """What the endpoint turned out to understand; None before it has answered anything."""
        return self._dialect if self._reached else None

    def complete(self, request: ChatRequest) -> ChatReply:
        """See `ChatCall.complete`; raises `AttemptError` too, which the retry layer deals with."""
        dialect = self._dialect
        for _ in range(_MOST_REFUSALS):
            try:
                reply = reply_of(self._post(request, dialect), public_url(self._url))
                if (read := tokens_read_of_a_shortened(request, reply)) is not None:
                    raise _shortened(request, read, public_url(self._url))
                if dialect.reply_format == "json_schema" and not dialect.explained and shows_no_schema(request, reply):
                    # the repair of this reply, and all that is asked from here on, tells the model itself
                    self._remember(dialect, replace(dialect, explained=True))
                return reply
            except RefusedError as refusal:
                self._reached = True
                other = simpler(dialect, refusal.body)
                if other is None:
                    raise _explained(refusal, request.stage) from None
                dialect = self._remember(dialect, other)
        raise CallError(f"{public_url(self._url)} refused the request in every form that it was put in")

    def _post(self, request: ChatRequest, dialect: Dialect) -> dict[str, Any]:
        def call() -> Any:
            return self._client.chat.completions.with_streaming_response.create(**parameters(request, dialect))

        try:
            body = fetch_json(
                call, url=self._url, model=request.model, total_timeout=self._total_timeout, names=self._names
            )
        except UnreachableError as error:
            if self._reached:
                raise
            raise unreachable_for_good(error, self._names) from None
        self._reached = True
        return body

    def _remember(self, refused: Dialect, other: Dialect) -> Dialect:
        """Make `other` the endpoint's dialect, unless another worker has found a simpler one since."""
        with self._lock:
            if self._dialect == refused:
                self._dialect = other
            return self._dialect if self._dialect != refused else other


def tokens_read_of_a_shortened(request: ChatRequest, reply: ChatReply) -> int | None:
    """The tokens that the server read, where that is plainly less than the prompt has; else None.

    Some servers (Ollama) cut the middle out of a prompt that is longer than their context window, and answer what is
    left as if nothing were wrong. Their count of the prompt's tokens shows it. Other scripts than plain letters have no
    such bound, and counts below any context window's size are not believed.
    """
    text = "".join(message.content for message in request.messages)
    if reply.tokens_in < _SMALLEST_CONTEXT or len(text) <= reply.tokens_in * _MOST_CHARACTERS_A_TOKEN:
        return None
    return reply.tokens_in if sum(map(str.isascii, text)) > 0.95 * len(text) else None


def _shortened(request: ChatRequest, read: int, url: str) -> TooLongError:
    length = sum(len(message.content) for message in request.messages)
    return TooLongError(
        f"{url} read only {read:,} tokens of a prompt of {length:,} characters: it cut the rest away. Give it a larger "
        f"context window (Ollama: OLLAMA_CONTEXT_LENGTH), or set a smaller {_window_setting(request.stage)}"
    )


def _window_setting(stage: str) -> str:
    if stage.startswith("judge_"):
        return "--budget for hcg evaluate"
    return "HCG_LLM_ANSWER_WORDS" if stage == "answers" else "window_words in corpus.yaml"


def _explained(refusal: RefusedError, stage: str) -> CallError:
    if says_too_long(refusal.body):
        return TooLongError(
            f"{refusal}. The model's context window is too small for the prompt: set a smaller {_window_setting(stage)}"
        )
    return refusal


def reply_of(body: dict[str, Any], url: str) -> ChatReply:
    """The first choice of a completion. Fields that servers leave out or send as null count as empty."""
    choices = body.get("choices")
    if not isinstance(choices, list) or not choices or not isinstance(choices[0], dict):
        raise AttemptError(f"{url} sent a completion without choices")
    message = choices[0].get("message")
    message = message if isinstance(message, dict) else {}
    usage = body.get("usage")
    usage = usage if isinstance(usage, dict) else {}
    details = usage.get("prompt_tokens_details")
    return ChatReply(
        text=_text_of(message.get("content")),
        finish_reason=str(choices[0].get("finish_reason") or ""),
        refusal=str(message.get("refusal") or ""),
        tokens_in=_count(usage.get("prompt_tokens")),
        tokens_out=_count(usage.get("completion_tokens")),
        tokens_cached=_count(details.get("cached_tokens")) if isinstance(details, dict) else 0,
    )


def _text_of(content: object) -> str:
    if isinstance(content, list):  # some servers send parts
        return "".join(str(part.get("text") or "") for part in content if isinstance(part, dict))
    return content if isinstance(content, str) else ""


def _count(value: object) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0
