"""The JSON object is found in a reply however it is wrapped; anything else is refused with a reason."""

import contextlib
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hcg_pipeline.backends.llm.reply_text import NotJsonError, json_object

GOOD = '{"a": [1, {"b": "c}"}]}'


@pytest.mark.parametrize(
    "text",
    [
        GOOD,
        f"\ufeff  {GOOD}\n",
        f"```json\n{GOOD}\n```",
        f"```\n{GOOD}\n```",
        f"Sure! Here you are:\n```json\n{GOOD}\n```\nAnything else?",
        f"```json\n{GOOD}",
        f"The answer is {GOOD} as asked.",
        f'<think>maybe {{"a": 2}}?</think>{GOOD}',
        f'<think>\nmaybe ```json\n{{"a": 2}}\n```\n</think>\n```json\n{GOOD}\n```',
        f'For example {{"x": 1}} would be wrong. So: {GOOD}',
        f"Let {{x}} be a set. {GOOD}",
    ],
)
def test_object_is_found(text: str) -> None:
    assert json_object(text) == {"a": [1, {"b": "c}"}]}


def test_raw_newline_inside_a_string_is_taken() -> None:
    assert json_object('{"a": "x\ny"}') == {"a": "x\ny"}


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "the reply is empty"),
        ("  \n", "the reply is empty"),
        ("<think>hm</think>", "a thought without an answer"),
        ("<think>hm, never ends", "a thought without an answer"),
        ("[1, 2]", "a JSON list, not an object"),
        ('"text"', "a JSON str, not an object"),
        ("null", "a JSON NoneType, not an object"),
        ("lorem ipsum", "no JSON object: 'lorem ipsum'"),
        ('{"a": [1, 2', "no JSON object"),
        ('{"a": [}', "no JSON object"),
    ],
)
def test_what_is_no_object_is_refused(text: str, reason: str) -> None:
    with pytest.raises(NotJsonError, match=reason):
        json_object(text)


def test_part_of_a_broken_object_is_no_answer() -> None:
    with pytest.raises(NotJsonError):
        json_object('{"relations": [{"source": "a"}, {"sou')


def test_deep_nesting_is_refused_and_does_not_crash() -> None:
    with pytest.raises(NotJsonError):
        json_object('{"a":' * 100_000)


@given(st.dictionaries(st.text(), st.text() | st.integers() | st.lists(st.text()), min_size=1))
def test_any_object_survives_a_fence(value: dict[str, object]) -> None:
    assert json_object(f"Here:\n```json\n{json.dumps(value)}\n```\nDone.") == value


@given(st.text())
def test_any_text_gives_an_object_or_the_error(text: str) -> None:
    with contextlib.suppress(NotJsonError):
        assert isinstance(json_object(text), dict)
