"""The HTTP layer and the mapping of errors, against a real server that misbehaves."""

import socket
import time
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import httpx2
import pytest
from fake_openai import (
    FINE,
    NO_USAGE,
    OUT_OF_QUOTA,
    RESET_AT_START,
    RESET_IN_BODY,
    SERVER_ERROR,
    FakeOpenAI,
    Fault,
    refuses,
    throttled,
)
from pydantic import SecretStr

from hcg_pipeline.backends.llm.chat import AttemptError, CallError, ChatRequest, Message, ReplySchema
from hcg_pipeline.backends.llm.dialect import Dialect, first_dialect, simpler
from hcg_pipeline.backends.llm.endpoint import open_client, public_url, retry_after, without_keys
from hcg_pipeline.backends.llm.http import HttpChat
from hcg_pipeline.backends.llm.settings import Timeouts
from hcg_pipeline.errors import BackendError

KEY = "sk-proj-Abc123SecretSecret"
SCHEMA = {
    "type": "object",
    "properties": {"answer": {"type": "string"}, "answered": {"type": "boolean"}, "cited": {"type": "array"}},
    "required": ["answer", "answered", "cited"],
    "additionalProperties": False,
}
REQUEST = ChatRequest(
    "fake-model", (Message("system", "Be brief."), Message("user", "?")), ReplySchema("answers", SCHEMA), 0.0, 7, 50
)


@pytest.fixture(params=[True, False], ids=["streamed", "whole"])
def chat(fake: FakeOpenAI, request: pytest.FixtureRequest) -> HttpChat:
    return _chat(fake.base_url, stream=request.param)


def _chat(url: str, *, stream: bool = True, **timeouts: float) -> HttpChat:
    values = {"connect": 1.0, "read": 1.0, "total": 1.5} | timeouts
    client = open_client(url, SecretStr(KEY), Timeouts(**values))
    return HttpChat(client, total_timeout=values["total"], dialect=Dialect(stream=stream))


def test_a_reply_with_its_counts(fake: FakeOpenAI, chat: HttpChat) -> None:
    reply = chat.complete(REQUEST)
    assert reply.text.startswith('{"answer":')
    assert reply.finish_reason == "stop"
    assert reply.tokens_in == 80  # of the message and of the schema
    assert reply.tokens_out > 0
    (sent,) = fake.requests
    assert sent["temperature"] == 0.0
    assert sent["seed"] == 7
    assert sent["max_tokens"] == 50
    assert sent["response_format"] == {
        "type": "json_schema",
        "json_schema": {"name": "answers", "schema": SCHEMA, "strict": True},
    }
    assert fake.headers[0]["authorization"] == f"Bearer {KEY}"


def test_missing_usage_counts_as_zero(fake: FakeOpenAI, chat: HttpChat) -> None:
    fake.script(NO_USAGE)
    reply = chat.complete(REQUEST)
    assert (reply.tokens_in, reply.tokens_out, reply.tokens_cached) == (0, 0, 0)


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        (SERVER_ERROR, "answered HTTP 500: something went wrong"),
        (Fault(status=502), "answered HTTP 502"),
        (RESET_AT_START, "broke"),
        (RESET_IN_BODY, "broke off in the middle of a reply"),
        (Fault(body=b'{"choices": [{"mess'), "a body that is not JSON"),
        (Fault(body=b"<html>Bad gateway</html>"), "a body that is not JSON: '<html>Bad gateway"),
        (Fault(body=b"[]"), "JSON that is not an object"),
        (Fault(body=b'{"choices": []}'), "a completion without choices"),
        (Fault(body=b'{"error": {"message": "overloaded", "code": 503}}'), "answered with an error: overloaded"),
    ],
)
def test_what_passes_is_worth_another_attempt(fake: FakeOpenAI, chat: HttpChat, fault: Fault, message: str) -> None:
    fake.script(fault)
    with pytest.raises(AttemptError, match=message) as info:
        chat.complete(REQUEST)
    assert not info.value.throttled
    assert not info.value.slow
    assert chat.complete(REQUEST).finish_reason == "stop"


def test_silence_ends_at_the_read_timeout(fake: FakeOpenAI) -> None:
    fake.script(Fault(hang=20))
    began = time.monotonic()
    with pytest.raises(AttemptError, match="did not answer in time") as info:
        _chat(fake.base_url, read=0.3).complete(REQUEST)
    assert info.value.slow
    assert time.monotonic() - began < 2


def test_a_slow_drip_ends_at_the_total_timeout(fake: FakeOpenAI) -> None:
    fake.script(Fault(drip=0.02))  # some 400 bytes: 8 s
    began = time.monotonic()
    with pytest.raises(AttemptError, match=r"still sending its reply after 0\.5 s") as info:
        _chat(fake.base_url, total=0.5).complete(REQUEST)
    assert info.value.slow
    assert time.monotonic() - began < 2


def test_retry_after_is_read(fake: FakeOpenAI, chat: HttpChat) -> None:
    fake.script(throttled("7"), throttled(), Fault(status=503, headers={"Retry-After": "3"}))
    waits = []
    for _ in range(3):
        with pytest.raises(AttemptError) as info:
            chat.complete(REQUEST)
        waits.append((info.value.throttled, info.value.retry_after))
    assert waits == [(True, 7.0), (True, None), (True, 3.0)]


def test_retry_after_in_its_three_forms() -> None:
    now = datetime(2026, 1, 1, 12, 0, 0, tzinfo=UTC)
    date = format_datetime(now + timedelta(seconds=90), usegmt=True)

    def read(headers: dict[str, str]) -> float | None:
        return retry_after(httpx2.Headers(headers), now=lambda: now)

    assert read({"Retry-After": "1.5"}) == 1.5
    assert read({"Retry-After": date}) == 90.0
    assert read({"Retry-After": format_datetime(now - timedelta(days=1), usegmt=True)}) == 0.0
    assert read({"retry-after-ms": "250", "Retry-After": "9"}) == 0.25
    assert read({"Retry-After": "soon"}) is None
    assert read({}) is None


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        (Fault(status=401, message=f"Incorrect API key provided: {KEY}"), "refused the key .*set OPENAI_API_KEY"),
        (Fault(status=403, message=KEY), "refused the key .*set OPENAI_API_KEY"),
        (OUT_OF_QUOTA, "quota is used up .*Add credit"),
        (Fault(status=402, message="Insufficient Balance"), "quota is used up"),
        (Fault(status=404, message="no such model"), "does not know the model 'fake-model'.*HCG_LLM_MODEL"),
    ],
)
def test_what_no_call_would_survive_stops_at_once_and_shows_no_key(
    fake: FakeOpenAI, chat: HttpChat, fault: Fault, message: str
) -> None:
    fake.script(fault)
    with pytest.raises(BackendError, match=message) as info:
        chat.complete(REQUEST)
    assert KEY not in str(info.value)
    assert info.value.__cause__ is None
    assert "\n" not in str(info.value)


def _free_port() -> int:
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return int(sock.getsockname()[1])


def test_an_address_where_nobody_listens_is_an_error_that_names_it() -> None:
    url = f"http://127.0.0.1:{_free_port()}/v1"
    with pytest.raises(BackendError, match=rf"cannot connect to {url}.*start the server, or set HCG_LLM_BASE_URL"):
        _chat(url).complete(REQUEST)


def test_a_server_that_goes_away_later_is_waited_for(fake: FakeOpenAI, chat: HttpChat) -> None:
    chat.complete(REQUEST)
    chat._client.close()
    fake.stop()
    late = HttpChat(open_client(fake.base_url, None, Timeouts(connect=1, read=1)), total_timeout=2)
    late._reached = True
    with pytest.raises(AttemptError, match="cannot connect"):
        late.complete(REQUEST)


@pytest.mark.parametrize("parameter", ["temperature", "seed", "max_tokens", "json_schema", "stream"])
def test_a_refused_parameter_is_left_out_and_that_is_remembered(fake: FakeOpenAI, parameter: str) -> None:
    chat = _chat(fake.base_url)
    fake.always(refuses(parameter))
    assert chat.complete(REQUEST).finish_reason == "stop"
    assert chat.complete(REQUEST).finish_reason == "stop"
    assert fake.chat_calls == 3
    for sent in fake.requests[1:]:
        assert parameter not in {*sent, sent.get("response_format", {}).get("type")}


def test_without_response_format_the_schema_goes_into_the_prompt(fake: FakeOpenAI, chat: HttpChat) -> None:
    fake.always(refuses("response_format"))
    reply = chat.complete(REQUEST)
    assert reply.text.startswith('{"answer":')
    assert [sent.get("response_format", {}).get("type") for sent in fake.requests] == [
        "json_schema",
        "json_object",
        None,
    ]
    system = fake.requests[-1]["messages"][0]["content"]
    assert system.startswith("Be brief.")
    assert '"properties":{"answer":' in system


def test_a_server_that_refuses_everything_optional_still_answers(fake: FakeOpenAI) -> None:
    chat = _chat(fake.base_url)
    for parameter in ("temperature", "seed", "stream", "response_format", "max_tokens"):
        fake.always(refuses(parameter))
    assert chat.complete(REQUEST).finish_reason == "stop"
    assert set(fake.requests[-1]) == {"model", "messages"}
    assert fake.chat_calls == 7


def test_a_prompt_that_is_too_long_fails_alone_with_the_way_out(fake: FakeOpenAI, chat: HttpChat) -> None:
    fake.always(Fault(status=400, message="This model's maximum context length is 4096 tokens."))
    with pytest.raises(CallError, match=r"context window is too small .* smaller window_words in corpus.yaml"):
        chat.complete(REQUEST)


def test_any_other_refusal_fails_alone(fake: FakeOpenAI, chat: HttpChat) -> None:
    fake.script(Fault(status=400, message="content management policy"))
    with pytest.raises(CallError, match=r"refused the request .*content management policy"):
        chat.complete(REQUEST)
    assert chat.complete(REQUEST).finish_reason == "stop"


def test_openai_is_asked_in_its_own_dialect() -> None:
    hosted = Dialect(limit_name="max_completion_tokens", stream=False)
    assert first_dialect("https://api.openai.com/v1") == hosted
    assert first_dialect("https://x.openai.azure.com/openai/v1/") == hosted
    assert first_dialect("http://localhost:11434/v1") == Dialect(limit_name="max_tokens", stream=True)


def test_real_refusals_are_understood() -> None:
    new = Dialect(limit_name="max_completion_tokens")
    said = "Unknown field: stream_options"
    assert simpler(new, said) == Dialect(limit_name="max_completion_tokens", stream=False)
    said = "Unsupported value: 'temperature' does not support 0 with this model. Only the default (1) is supported."
    assert simpler(new, said) == Dialect(limit_name="max_completion_tokens", temperature=False)
    said = "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."
    assert simpler(Dialect(), said) == new
    said = "Invalid parameter: 'response_format' of type 'json_schema' is not supported with this model."
    assert simpler(new, said) == Dialect(limit_name="max_completion_tokens", reply_format="json_object")
    said = "Failed to parse grammar"
    assert simpler(Dialect(), said) == Dialect(reply_format="json_object")
    said = "This model's maximum context length is 4096 tokens, however you requested 9000 tokens"
    assert simpler(Dialect(), said) == Dialect(limit_name="")
    assert simpler(Dialect(), "I do not like you") is None


def test_content_in_parts_and_null_fields(fake: FakeOpenAI, chat: HttpChat) -> None:
    parts = b'{"choices": [{"message": {"content": [{"type": "text", "text": "a"}, {"text": "b"}]}}], "usage": {}}'
    nulls = b'{"choices": [{"message": {"content": null}, "finish_reason": null}], "usage": {"prompt_tokens": null}}'
    fake.script(Fault(body=parts), Fault(body=nulls))
    assert chat.complete(REQUEST).text == "ab"
    reply = chat.complete(REQUEST)
    assert (reply.text, reply.finish_reason, reply.tokens_in) == ("", "", 0)


def test_without_a_key_a_placeholder_is_sent(fake: FakeOpenAI) -> None:
    HttpChat(open_client(fake.base_url, None, Timeouts()), total_timeout=5).complete(REQUEST)
    assert fake.headers[0]["authorization"] == "Bearer none"


def test_what_is_shown_holds_no_secret() -> None:
    assert public_url("https://user:pass@host:8443/v1/?token=x") == "https://host:8443/v1"
    assert without_keys(f"bad key {KEY} and Bearer abcdefgh\nnext") == "bad key *** and *** next"
    assert without_keys("x" * 400) == "x" * 299 + "…"


def test_a_stream_that_falls_silent_ends_at_the_read_timeout(fake: FakeOpenAI) -> None:
    fake.script(Fault(drip=0.4))
    began = time.monotonic()
    with pytest.raises(AttemptError, match="fell silent in the middle of a reply") as info:
        _chat(fake.base_url, read=0.2, total=30).complete(REQUEST)
    assert info.value.slow
    assert time.monotonic() - began < 2


def test_a_server_that_ignores_stream_is_understood(fake: FakeOpenAI) -> None:
    fake.script(Fault(ignores_stream=True))
    chat = _chat(fake.base_url)
    assert chat.complete(REQUEST) == chat.complete(REQUEST)


def test_a_reply_in_a_circle_is_cut_off_and_called_that(fake: FakeOpenAI) -> None:
    fake.script(Fault(content='{"entities": [' + '{"name": "cancer", "aliases": []}, ' * 2000))
    reply = _chat(fake.base_url).complete(REQUEST)
    assert reply.finish_reason == "loop"
    assert len(reply.text) < 1000


def test_script_of_the_fake_runs_out(fake: FakeOpenAI, chat: HttpChat) -> None:
    fake.script(FINE)
    chat.complete(REQUEST)
    chat.complete(REQUEST)
    assert fake.chat_calls == 2
    assert set(fake.completed.values()) == {2}
