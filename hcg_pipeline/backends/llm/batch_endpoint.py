"""The Batch API of an endpoint: upload a file of requests, create a batch, look at it, fetch what came of it.

Format: https://platform.openai.com/docs/guides/batch. A line of the input is `{"custom_id", "method", "url", "body"}`,
a line of the output `{"custom_id", "response": {"status_code", "body"}, "error"}`.
"""

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final, TypeVar

import openai

from hcg_pipeline.backends.llm.chat import AttemptError, CallError, ChatReply, ChatRequest
from hcg_pipeline.backends.llm.dialect import Dialect, parameters
from hcg_pipeline.backends.llm.endpoint import NotThereError, fetch, fetch_json, public_url, without_keys
from hcg_pipeline.backends.llm.http import reply_of
from hcg_pipeline.backends.llm.retry import Pacer, with_retries
from hcg_pipeline.backends.llm.settings import RetrySettings, Timeouts
from hcg_pipeline.errors import BackendError

_MARK = "hcg_job"
_URL: Final = "/v1/chat/completions"
_OVER = frozenset({"completed", "failed", "expired", "cancelled"})
_LISTED = 100
_MOST_PAGES = 20

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class BatchState:
    """A batch as the endpoint reports it. `files` hold the lines that came of it, of errors too."""

    batch_id: str
    status: str
    done: int
    files: tuple[str, ...]
    problem: str

    @property
    def over(self) -> bool:
        """Nothing more will come of it."""
        return self.status in _OVER


class BatchEndpoint:
    """Every call is tried again as other calls are; one that fails for good is a `BackendError`."""

    def __init__(self, client: openai.OpenAI, retry: RetrySettings, timeouts: Timeouts, pacer: Pacer) -> None:
        self._client = client
        self._retry = retry
        self._timeouts = timeouts
        self._pacer = pacer
        self.url = public_url(str(client.base_url))

    def create(self, lines: bytes, mark: str) -> BatchState:
        """Upload `lines` and create a batch of them that bears `mark`."""
        upload = self._object(
            lambda: self._client.files.with_streaming_response.create(
                file=(f"hcg-{mark}.jsonl", lines, "application/jsonl"), purpose="batch"
            )
        )
        create = partial(
            self._client.batches.with_streaming_response.create,
            input_file_id=str(upload.get("id")),
            endpoint=_URL,
            completion_window="24h",
            metadata={_MARK: mark},
        )
        tried = False

        def attempt() -> BatchState:
            nonlocal tried
            # after a failure the batch may be there all the same: a second one would be paid for, too
            if tried and (there := self.find(mark)) is not None:
                return there
            tried = True
            return _state(fetch_json(create, url=self.url, model="", total_timeout=self._timeouts.total))

        return self._tried(attempt)

    def state(self, batch_id: str) -> BatchState:
        """How the batch stands."""
        return _state(self._object(lambda: self._client.batches.with_streaming_response.retrieve(batch_id)))

    def find(self, mark: str) -> BatchState | None:
        """The batch that bears `mark`, among the latest 2,000."""
        after: Any = openai.omit
        for _ in range(_MOST_PAGES):
            page = self._object(partial(self._client.batches.with_streaming_response.list, limit=_LISTED, after=after))
            listed = [one for one in page.get("data") or () if isinstance(one, dict)]
            for one in listed:
                if (one.get("metadata") or {}).get(_MARK) == mark:
                    return _state(one)
            if not listed or not page.get("has_more"):
                return None
            after = str(listed[-1].get("id"))
        return None

    def replies(self, state: BatchState) -> dict[str, ChatReply]:
        """The replies that came of a batch that is over, by the key of their request; failed requests have none."""
        found: dict[str, ChatReply] = {}
        for name in state.files:
            for line in self._content(name).splitlines():
                key, reply = _reply(line, self.url)
                if reply is not None:
                    found[key] = reply
        return found

    def _object(self, call: Callable[[], Any]) -> dict[str, Any]:
        def attempt() -> dict[str, Any]:
            return fetch_json(call, url=self.url, model="", total_timeout=self._timeouts.total)

        return self._tried(attempt)

    def _content(self, file_id: str) -> bytes:
        def attempt() -> bytes:
            return fetch(
                lambda: self._client.files.with_streaming_response.content(file_id),
                lambda _headers, pieces: b"".join(pieces),
                url=self.url,
                model="",
                total_timeout=self._timeouts.total,
            )

        return self._tried(attempt)

    def _tried(self, attempt: Callable[[], T]) -> T:
        try:
            return with_retries(attempt, self._retry, self._pacer)
        except NotThereError:
            raise BackendError(
                f"{self.url} has no Batch API, or no longer knows the job or its file (HTTP 404): run again without "
                "--batch"
            ) from None
        except CallError as error:
            raise BackendError(
                f"{error}. Batch jobs that were begun go on by themselves: run the same command again to collect them"
            ) from error


def batch_lines(requests: Mapping[str, ChatRequest], dialect: Dialect) -> Iterable[bytes]:
    """The input lines for `requests` by their keys, in order, each with its newline."""
    whole = replace(dialect, stream=False)
    for key, request in requests.items():
        line = {"custom_id": key, "method": "POST", "url": _URL, "body": parameters(request, whole)}
        yield json.dumps(line, ensure_ascii=True, separators=(",", ":")).encode() + b"\n"


def _state(body: Mapping[str, Any]) -> BatchState:
    counts = body.get("request_counts") or {}
    errors = (body.get("errors") or {}).get("data") or []
    told = "; ".join(str(one.get("message") or one.get("code")) for one in errors if isinstance(one, dict))
    return BatchState(
        batch_id=str(body.get("id") or ""),
        status=str(body.get("status") or ""),
        done=int(counts.get("completed") or 0) + int(counts.get("failed") or 0),
        files=tuple(str(body[name]) for name in ("output_file_id", "error_file_id") if body.get(name)),
        problem=without_keys(told),
    )


def _reply(line: bytes, url: str) -> tuple[str, ChatReply | None]:
    """The key and the reply of an output line; no reply where the request failed or the line cannot be read."""
    try:
        value = json.loads(line)
        response = value["response"] or {}
        if response.get("status_code") != 200:
            return str(value["custom_id"]), None
        return str(value["custom_id"]), reply_of(response["body"], url)
    except (ValueError, KeyError, TypeError, AttributeError, AttemptError):
        return "", None
