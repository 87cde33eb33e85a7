"""A server that speaks the OpenAI API over real HTTP on loopback, in threads, and misbehaves on request.

    with FakeOpenAI() as fake:
        fake.script(throttled(retry_after="1"), Fault(status=500))      # the next two chat calls
        run(base_url=fake.base_url)                                      # or HCG_LLM_BASE_URL=fake.base_url
        assert fake.chat_calls == 3

It serves `/v1/chat/completions` (replies that satisfy the request's JSON schema, made from the prompt's own words by
`fake_replies`), `/v1/embeddings` (hashed bags of words, so similar texts have similar vectors; float or base64),
`/v1/models`, and `/v1/files` and `/v1/batches` (see `fake_batches`). The same request always gets the same reply.
"""

import json
import socket
import struct
import threading
import time
from collections import Counter, deque
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

from fake_batches import FakeBatches, parse_upload
from fake_bodies import as_events, completion, embedding_list, hashed_vector, request_hash
from fake_replies import plausible_reply

__all__ = ["FakeOpenAI", "Fault", "hashed_vector", "request_hash"]

NONSENSE = "lorem banana quux 7 the the the"


@dataclass(frozen=True)
class Fault:
    """What goes wrong with one call. Everything not set goes as usual.

    status: an HTTP error with `message` (and `code`), sent with `headers`.
    content: the assistant's text instead of the plausible one; None leaves it.
    edit: a function from the plausible text to another (cut it off, wrap it).
    finish_reason, refusal: as in the API. usage False: no token counts. context: tokens of the prompt that are read
    and counted at most; the rest is cut away in silence.
    hang: seconds of silence before answering. drip: seconds between single bytes of the body.
    reset: 'start' closes the connection before answering, 'body' in the middle of the body (with a TCP reset).
    body: raw bytes in place of the whole JSON body. ignores_stream: the body comes whole though a stream was asked for.
    """

    status: int = 200
    message: str = "something went wrong"
    code: str | None = None
    headers: dict[str, str] = field(default_factory=dict)
    content: str | None = None
    edit: Callable[[str], str] | None = None
    finish_reason: str = "stop"
    refusal: str | None = None
    usage: bool = True
    context: int | None = None
    hang: float = 0.0
    drip: float = 0.0
    reset: str = ""
    body: bytes | None = None
    ignores_stream: bool = False


FINE = Fault()
EMPTY = Fault(content="")
INVALID_JSON = Fault(content='{"dimensions": [}')
CUT_OFF = Fault(edit=lambda text: text[: max(1, len(text) // 2)], finish_reason="length")
BROKEN_JSON = Fault(edit=lambda text: text[: max(1, len(text) // 2)])
FENCED = Fault(edit=lambda text: f"Here is the JSON:\n```json\n{text}\n```\nI hope that helps.")
THOUGHT = Fault(edit=lambda text: f'<think>First {{"a": 1}}, then…</think>\n{text}')
WRONG_WORDS = Fault(content=NONSENSE)
REFUSAL = Fault(content="", refusal="I cannot help with that.")
NO_USAGE = Fault(usage=False)
RESET_IN_BODY = Fault(reset="body")
RESET_AT_START = Fault(reset="start")
SERVER_ERROR = Fault(status=500)
OUT_OF_QUOTA = Fault(status=429, message="You exceeded your current quota.", code="insufficient_quota")
SCHEMA_ECHO = Fault(content="<schema>")
"""The reply is the request's own JSON schema."""


def throttled(retry_after: str | None = None) -> Fault:
    """A 429; `retry_after` is the header's value: seconds or an HTTP date."""
    headers = {} if retry_after is None else {"Retry-After": retry_after}
    return Fault(status=429, message="Rate limit reached", code="rate_limit_exceeded", headers=headers)


def refuses(parameter: str) -> Callable[[dict[str, Any]], Fault]:
    """A rule: 400 for requests with `parameter` ('json_schema' and 'json_object' are kinds of response_format)."""

    def rule(body: dict[str, Any]) -> Fault:
        carried = set(body) | {(body.get("response_format") or {}).get("type", "")}
        if parameter in carried:
            return Fault(status=400, message=f"Unsupported parameter or value: '{parameter}' for this model")
        return FINE

    return rule


class FakeOpenAI:
    """The server. Use it as a context manager, or `start()` and `stop()`.

    `latency` is how many seconds every reply takes. `dimension` is the length of an embedding. `reply` makes the
    assistant's text from a request body.
    """

    def __init__(
        self,
        *,
        latency: float = 0.0,
        dimension: int = 64,
        models: tuple[str, ...] = ("fake-model",),
        reply: Callable[[dict[str, Any]], str] = plausible_reply,
    ) -> None:
        self.latency = latency
        self.dimension = dimension
        self.models = models
        self.reply = reply
        self.requests: list[dict[str, Any]] = []
        """Bodies of all chat requests, in order of arrival, refused ones included."""
        self.embedding_requests: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        """Headers of all chat and embedding requests, names in lower case."""
        self.completed: Counter[str] = Counter()
        """How often a chat request (by the hash of its body) was answered with status 200 and a whole body."""
        self.batches = FakeBatches(self._in_batch)
        self.in_flight_most = 0
        self.in_flight = 0
        self._lock = threading.Lock()
        self._script: deque[Fault] = deque()
        self._rules: list[Callable[[dict[str, Any]], Fault]] = []
        self._server: ThreadingHTTPServer | None = None
        self._stopping = threading.Event()

    @property
    def base_url(self) -> str:
        """`http://127.0.0.1:<port>/v1`."""
        assert self._server is not None, "start the server first"
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    @property
    def chat_calls(self) -> int:
        """Chat requests that arrived."""
        return len(self.requests)

    @property
    def embedding_calls(self) -> int:
        """Embedding requests that arrived."""
        return len(self.embedding_requests)

    def script(self, *faults: Fault) -> None:
        """The next calls, of either kind, meet these faults, one each, in order of arrival."""
        with self._lock:
            self._script.extend(faults)

    def always(self, rule: Fault | Callable[[dict[str, Any]], Fault]) -> None:
        """Every call that the script leaves alone meets `rule`: a fault, or a function from a request body."""
        with self._lock:
            self._rules.append(rule if callable(rule) else lambda _body, fault=rule: fault)

    def heal(self) -> None:
        """No more faults."""
        with self._lock:
            self._script.clear()
            self._rules.clear()

    def start(self) -> Self:
        """Listen on a free port of 127.0.0.1."""
        self._stopping.clear()
        self._server = _Server(("127.0.0.1", 0), _handler_for(self))
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        return self

    def stop(self) -> None:
        """Stop listening; calls that hang are let go."""
        self._stopping.set()
        if self._server is not None:
            self._server.shutdown()
            self._server.server_close()

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.stop()

    # What follows is for the handler.

    def _in_batch(self, body: dict[str, Any], fault: Fault) -> dict[str, Any]:
        """The completion of a line of a batch file, which counts as completed like any other."""
        with self._lock:
            self.completed[request_hash(body)] += 1
        return completion(self.reply, body, fault)

    def next_fault(self, body: dict[str, Any]) -> Fault:
        with self._lock:
            if self._script:
                return self._script.popleft()
            rules = list(self._rules)
        return next((fault for rule in rules if (fault := rule(body)) is not FINE), FINE)

    def pause(self, seconds: float) -> None:
        if seconds:
            self._stopping.wait(seconds)

    def enter(self, step: int) -> None:
        with self._lock:
            self.in_flight += step
            self.in_flight_most = max(self.in_flight_most, self.in_flight)


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 256

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Clients that hang up are part of the tests."""


def _handler_for(fake: FakeOpenAI) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True
        wbufsize = -1

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 (the name is the base class's)
            """Tests are quiet."""

        def do_GET(self) -> None:
            if self.path.startswith(("/v1/files", "/v1/batches")):
                self._batches(None)
                return
            if self.path.rstrip("/") != "/v1/models":
                self._send(404, json.dumps({"error": {"message": "not found"}}).encode(), FINE)
                return
            models = [{"id": name, "object": "model", "created": 0, "owned_by": "fake"} for name in fake.models]
            self._send(200, json.dumps({"object": "list", "data": models}).encode(), FINE)

        def _batches(self, body: dict[str, Any] | bytes | None) -> None:
            fault = fake.next_fault({"path": self.path}) if fake.batches.faulty else FINE
            if fault.status != 200:
                self._send(fault.status, json.dumps({"error": {"message": fault.message}}).encode(), fault)
                return
            status, payload = fake.batches.answer(self.command, self.path, body)
            if fault.reset == "start":
                self._reset()
            else:
                self._send(status, payload, fault)

        def do_POST(self) -> None:
            raw = self.rfile.read(int(self.headers["Content-Length"] or 0))
            if self.path == "/v1/files":
                self._batches(parse_upload(raw, self.headers["Content-Type"]))
                return
            body = json.loads(raw or b"{}")
            if self.path.startswith("/v1/batches"):
                self._batches(body)
                return
            if self.path == "/v1/chat/completions":
                log, answer = fake.requests, _completion
            elif self.path == "/v1/embeddings":
                log, answer = fake.embedding_requests, _embedding_list
            else:
                self._send(404, json.dumps({"error": {"message": "not found"}}).encode(), FINE)
                return
            log.append(body)
            fake.headers.append({name.lower(): value for name, value in self.headers.items()})
            fault = fake.next_fault(body)
            fake.enter(1)
            try:
                fake.pause(fake.latency + fault.hang)
                if fault.reset == "start":
                    self._reset()
                    return
                self._answer(body, fault, answer)
            finally:
                fake.enter(-1)

        def _answer(self, body: dict[str, Any], fault: Fault, answer: Callable[..., dict[str, Any]]) -> None:
            if fault.status != 200:
                error = {"message": fault.message, "type": fault.code, "code": fault.code, "param": None}
                self._send(fault.status, json.dumps({"error": error}).encode(), fault)
                return
            content_type = "application/json"
            if fault.body is not None:
                payload = fault.body
            elif body.get("stream") and not fault.ignores_stream:
                payload, content_type = as_events(answer(fake, body, fault), body), "text/event-stream"
            else:
                payload = json.dumps(answer(fake, body, fault)).encode()
            if fault.reset == "":
                with fake._lock:
                    fake.completed[request_hash(body)] += 1
            self._send(200, payload, fault, content_type)

        def _send(self, status: int, payload: bytes, fault: Fault, content_type: str = "application/json") -> None:
            self.send_response(status)
            for name, value in fault.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Type", content_type)
            self.send_header("Content-Length", str(len(payload)))
            self.end_headers()
            if fault.reset == "body":
                self.wfile.write(payload[: len(payload) // 2])
                self.wfile.flush()
                self._reset()
            elif fault.drip:
                self._drip(payload, fault.drip)
            else:
                self.wfile.write(payload)
            self.wfile.flush()

        def _drip(self, payload: bytes, seconds: float) -> None:
            for place in range(len(payload)):
                if fake._stopping.is_set():
                    return
                self.wfile.write(payload[place : place + 1])
                self.wfile.flush()
                time.sleep(seconds)

        def _reset(self) -> None:
            """Close with RST: pending data is thrown away, as when a proxy or a process dies."""
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.connection.close()
            self.close_connection = True
            self.wfile = _Nowhere()

    return Handler


class _Nowhere:
    """A file that is closed already: what is written to it is lost."""

    closed = True

    def write(self, _data: bytes) -> None: ...

    def flush(self) -> None: ...

    def close(self) -> None: ...


def _completion(fake: FakeOpenAI, body: dict[str, Any], fault: Fault) -> dict[str, Any]:
    return completion(fake.reply, body, fault)


def _embedding_list(fake: FakeOpenAI, body: dict[str, Any], _fault: Fault) -> dict[str, Any]:
    return embedding_list(fake.dimension, body)
