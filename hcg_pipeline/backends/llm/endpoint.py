"""Talking to an OpenAI-compatible endpoint: open a client, read a body within a deadline, say what went wrong.

The SDK's own retries are off (`retry` does that), and every exception that it or the HTTP library below it can raise
comes out as `AttemptError` (worth another attempt), `RefusedError` (this request as it stands is not), or
`BackendError` (no request is). No message holds a key.
"""

import json
import re
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, Protocol, TypeVar
from urllib.parse import urlsplit

import httpx2
import openai
from pydantic import SecretStr

from hcg_pipeline.backends.llm.chat import AttemptError, CallError
from hcg_pipeline.backends.llm.settings import SettingNames, Timeouts
from hcg_pipeline.backends.llm.streaming import read_events
from hcg_pipeline.errors import BackendError

_KEYS = re.compile(r"\bBearer\s+\S+|\b(?:sk|pk|key|gsk|xai)[-_][A-Za-z0-9_*.\-]{6,}")
_NO_MONEY = ("insufficient_quota", "billing_hard_limit_reached", "billing_not_active", "insufficient_balance")
_PASSING = frozenset({408, 409, 425, 429})

_NAMES = SettingNames()

T = TypeVar("T")


class NotThereError(BackendError):
    """The endpoint does not know the address or the model (HTTP 404)."""


class RefusedError(CallError):
    """The endpoint refused this request as it stands (HTTP 400, 413, 422). `body` is its own message."""

    def __init__(self, message: str, body: str) -> None:
        super().__init__(message)
        self.body = body


class StreamedBody(Protocol):
    """What the SDK's `with_streaming_response` methods yield."""

    @property
    def headers(self) -> httpx2.Headers:
        """The response's headers."""

    def iter_bytes(self, chunk_size: int | None = None) -> Iterator[bytes]:
        """The body as it arrives."""


def open_client(base_url: str, api_key: SecretStr | None, timeouts: Timeouts) -> openai.OpenAI:
    """A client for `base_url`. Without a key it sends a placeholder: local servers want none, the SDK insists."""
    return openai.OpenAI(
        api_key=api_key.get_secret_value() if api_key and api_key.get_secret_value() else "none",
        base_url=base_url,
        timeout=openai.Timeout(timeouts.read, connect=timeouts.connect),
        max_retries=0,
    )


def public_url(url: str) -> str:
    """`url` without a user name, a password or a query, fit to be shown."""
    parts = urlsplit(url)
    host = parts.hostname or ""
    return f"{parts.scheme}://{host}{f':{parts.port}' if parts.port else ''}{parts.path.rstrip('/')}"


def without_keys(text: str, limit: int = 300) -> str:
    """`text` on one line, with whatever looks like a key starred out, cut to `limit` characters."""
    line = " ".join(_KEYS.sub("***", text).split())
    return line if len(line) <= limit else f"{line[: limit - 1]}…"


def fetch_json(
    call: Callable[[], AbstractContextManager[StreamedBody]],
    *,
    url: str,
    model: str,
    total_timeout: float,
    names: SettingNames = _NAMES,
    clock: Callable[[], float] = time.monotonic,
) -> dict[str, Any]:
    """The JSON object with which the endpoint answers `call`, read to the end within `total_timeout` seconds.

    `call` opens a streamed response of the SDK; events that add up to a completion (see `streaming`) count as one
    object, too. `url`, `model` and `names` are for the error messages. Raises `AttemptError`, `RefusedError` or
    `BackendError`.
    """

    def read(headers: httpx2.Headers, pieces: Iterator[bytes]) -> dict[str, Any]:
        if "event-stream" in headers.get("content-type", ""):
            return read_events(pieces, public_url(url))
        return _object_of(b"".join(pieces), url)

    return fetch(call, read, url=url, model=model, total_timeout=total_timeout, names=names, clock=clock)


def fetch(
    call: Callable[[], AbstractContextManager[StreamedBody]],
    read: Callable[[httpx2.Headers, Iterator[bytes]], T],
    *,
    url: str,
    model: str,
    total_timeout: float,
    names: SettingNames = _NAMES,
    clock: Callable[[], float] = time.monotonic,
) -> T:
    """What `read` makes of the headers and the body with which the endpoint answers `call`. Else as `fetch_json`."""
    deadline = clock() + total_timeout

    def in_time(pieces: Iterator[bytes]) -> Iterator[bytes]:
        for piece in pieces:
            yield piece
            if clock() > deadline:
                late = f"{public_url(url)} was still sending its reply after {total_timeout:g} s"
                raise AttemptError(late, slow=True)

    try:
        with call() as response:
            return read(response.headers, in_time(response.iter_bytes()))
    except openai.APIStatusError as error:
        raise _status_error(error, url, model, names) from None
    except openai.APITimeoutError as error:
        raise AttemptError(f"{public_url(url)} did not answer in time ({_cause(error)})", slow=True) from None
    except openai.APIConnectionError as error:
        if isinstance(error.__cause__, (httpx2.ConnectError, httpx2.UnsupportedProtocol)):
            raise UnreachableError(f"cannot connect to {public_url(url)} ({_cause(error)})") from None
        raise AttemptError(f"the connection to {public_url(url)} broke ({_cause(error)})") from None
    except httpx2.TimeoutException as error:
        raise AttemptError(
            f"{public_url(url)} fell silent in the middle of a reply ({_cause(error)})", slow=True
        ) from None
    except httpx2.HTTPError as error:
        raise AttemptError(f"{public_url(url)} broke off in the middle of a reply ({_cause(error)})") from None


class UnreachableError(AttemptError):
    """No connection could be made. Permanent if none ever could, else the server may be restarting."""


def unreachable_for_good(error: UnreachableError, names: SettingNames) -> BackendError:
    """The error for an endpoint that never answered."""
    return BackendError(f"{error}: start the server, or set {names.base_url} to the endpoint's address")


def _cause(error: Exception) -> str:
    cause = error.__cause__ or error
    return without_keys(f"{type(cause).__name__}: {cause}" if str(cause) else type(cause).__name__, 160)


def _object_of(body: bytes, url: str) -> dict[str, Any]:
    try:
        value = json.loads(body)
    except ValueError:
        start = without_keys(body[:200].decode("utf-8", "replace"), 80)
        raise AttemptError(f"{public_url(url)} sent a body that is not JSON: {start!r}") from None
    if not isinstance(value, dict):
        raise AttemptError(f"{public_url(url)} sent JSON that is not an object: {without_keys(str(value), 80)!r}")
    error = value.get("error")
    if error:  # some gateways report an upstream error with status 200
        raise AttemptError(f"{public_url(url)} answered with an error: {without_keys(_message_of(value))}")
    return value


def _status_error(error: openai.APIStatusError, url: str, model: str, names: SettingNames) -> Exception:
    status = error.status_code
    shown = public_url(url)
    said = without_keys(_message_of(error.body) or error.message)
    codes = {str(getattr(error, name, "") or "") for name in ("code", "type")}
    if status in (401, 403):
        return BackendError(f"{shown} refused the key (HTTP {status}): set {names.api_key} to one that it accepts")
    if status == 402 or codes.intersection(_NO_MONEY) or any(word in said for word in _NO_MONEY):
        return BackendError(
            f"{shown} says that the account's quota is used up (HTTP {status}): {said}. Add credit or set another "
            f"{names.api_key} and run again; finished calls are kept"
        )
    if status == 404:
        return NotThereError(
            f"{shown} does not know the model {model!r}, or is not the right address (HTTP 404): {said}. Set "
            f"{names.model} to a model that it serves, or {names.base_url} to its address, which usually ends in /v1"
        )
    if status in _PASSING or status >= 500:
        return AttemptError(
            f"{shown} answered HTTP {status}: {said}",
            retry_after=retry_after(error.response.headers),
            throttled=status == 429 or (status == 503 and "retry-after" in error.response.headers),
        )
    return RefusedError(f"{shown} refused the request (HTTP {status}): {said}", _message_of(error.body) or said)


def _message_of(body: object) -> str:
    """The text of an error body, in any of the shapes that servers use."""
    if isinstance(body, dict):
        inner = body.get("error", body)
        if isinstance(inner, dict):
            said = inner.get("message") or inner.get("detail") or inner
            param = inner.get("param")
            return f"{said} (param: {param})" if param else str(said)
        return str(inner)
    return "" if body is None else str(body)


def retry_after(headers: httpx2.Headers, now: Callable[[], datetime] = lambda: datetime.now(UTC)) -> float | None:
    """Seconds that the headers ask to wait: `retry-after-ms`, or `Retry-After` in seconds or as a date (RFC 9110)."""
    milliseconds = headers.get("retry-after-ms", "")
    try:
        return max(0.0, float(milliseconds) / 1000)
    except ValueError:
        pass  # absent or malformed: the standard header decides
    value = headers.get("retry-after", "")
    try:
        return max(0.0, float(value))
    except ValueError:
        pass  # not a number: perhaps a date
    try:
        date = parsedate_to_datetime(value)
    except ValueError:
        return None
    if date.tzinfo is None:
        date = date.replace(tzinfo=UTC)
    return max(0.0, (date - now()).total_seconds())
