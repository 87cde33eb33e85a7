"""Events add up to the completion they are pieces of, however the network cuts them; circles are noticed."""

import json
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hcg_pipeline.backends.llm.chat import AttemptError
from hcg_pipeline.backends.llm.streaming import is_looping, read_events

URL = "http://host/v1"


def event(delta: dict[str, object], finish: str | None = None) -> str:
    return f"data: {json.dumps({'choices': [{'delta': delta, 'finish_reason': finish}]}, ensure_ascii=False)}\n\n"


USAGE = {"prompt_tokens": 5, "completion_tokens": 2}
STREAM = (
    ": a comment\n\n"
    + event({"role": "assistant", "content": ""})
    + event({"content": '{"a": "é'})
    + event({"content": '🙂"}'})
    + event({}, "stop")
    + f"data: {json.dumps({'choices': [], 'usage': USAGE})}\r\n\r\ndata: [DONE]\n\n"
).encode()
WHOLE = {
    "choices": [{"message": {"content": '{"a": "é🙂"}', "refusal": ""}, "finish_reason": "stop"}],
    "usage": USAGE,
}


@given(st.integers(1, len(STREAM)))
def test_cuts_anywhere_make_no_difference(size: int) -> None:
    pieces = (STREAM[at : at + size] for at in range(0, len(STREAM), size))
    assert read_events(pieces, URL) == WHOLE


def test_a_stream_without_a_final_line_break_is_whole() -> None:
    assert read_events(iter([STREAM.strip()]), URL) == WHOLE


def test_a_stream_that_ends_early_is_no_reply() -> None:
    with pytest.raises(AttemptError, match=r"host/v1 broke off in the middle of a reply \(after 2 characters\)"):
        read_events(iter([event({"content": "ab"}).encode()]), URL)


def test_a_stream_that_names_its_end_is_whole_without_done() -> None:
    whole = read_events(iter([(event({"content": "ab"}) + event({}, "length")).encode()]), URL)
    assert whole["choices"] == [{"message": {"content": "ab", "refusal": ""}, "finish_reason": "length"}]


def test_errors_and_rubbish_in_a_stream() -> None:
    with pytest.raises(AttemptError, match=r"broke off with an error: .*overloaded"):
        read_events(iter([b'data: {"error": {"message": "overloaded"}}\n\n']), URL)
    with pytest.raises(AttemptError, match="an event that is not JSON"):
        read_events(iter([b"data: {broken\n\n"]), URL)


def test_a_refusal_is_kept() -> None:
    stream = event({"refusal": "I can"}) + event({"refusal": "not."}) + event({}, "stop")
    assert read_events(iter([stream.encode()]), URL)["choices"][0]["message"]["refusal"] == "I cannot."


def test_reading_stops_soon_after_a_circle_begins() -> None:
    read = 0

    def endless() -> Iterator[bytes]:
        nonlocal read
        yield event({"content": '{"names": ['}).encode()
        while True:
            read += 1
            yield event({"content": '"lung cancer", '}).encode()

    assert read_events(endless(), URL)["choices"][0]["finish_reason"] == "loop"
    assert read * len('"lung cancer", ') < 700


@pytest.mark.parametrize(
    ("text", "looping"),
    [
        ("a" * 400, True),
        ("a" * 399, False),
        ("x" * 50 + "abc" * 134, True),
        ("".join(f'{{"name": "entity {n}", "aliases": []}}, ' for n in range(100)), False),
        ('{"name": "cancer", "aliases": []}, ' * 12, True),
        ('{"name": "cancer", "aliases": []}, ' * 4, False),
        ("z" + ("q" * 299 + "r") * 5, True),
        ("", False),
    ],
)
def test_what_is_a_circle(text: str, looping: bool) -> None:
    assert is_looping(text) is looping
