"""Reading a completion that arrives as server-sent events, and noticing one that has begun to repeat itself.

Servers of one's own are slow and their models small: streamed, a read timeout measures silence and not the length of
the reply, and a reply that runs in a circle (common at temperature 0) is cut off when it does, not at the token limit.
"""

import json
from collections.abc import Iterator
from typing import Any

from hcg_pipeline.backends.llm.chat import AttemptError

LOOP = "loop"
"""The finish reason of a reply that was cut off because it repeated itself."""

_LONGEST_PERIOD = 300
_REPEATS = 5
_SHORTEST_LOOP = 400
_CHECK_EVERY = 200


def read_events(pieces: Iterator[bytes], url: str) -> dict[str, Any]:
    """The completion that the events of `pieces` add up to, in the shape of one that came whole.

    Raises `AttemptError` where the stream ends before the reply does, or reports an error. `url` is for the message.
    """
    content: list[str] = []
    length = checked = 0
    refusal = finish = ""
    usage: object = None
    ended = False
    for event in _events(pieces, url):
        if event is None:
            ended = True
            break
        if event.get("error"):
            raise AttemptError(f"{url} broke off with an error: {str(event['error'])[:200]}")
        usage = event.get("usage") or usage
        choices = event.get("choices")
        choice = choices[0] if isinstance(choices, list) and choices and isinstance(choices[0], dict) else {}
        delta = choice.get("delta")
        if isinstance(delta, dict):
            text = delta.get("content")
            if isinstance(text, str):
                content.append(text)
                length += len(text)
            refusal += str(delta.get("refusal") or "")
        finish = str(choice.get("finish_reason") or finish)
        if length - checked >= _CHECK_EVERY:
            checked = length
            if is_looping("".join(content)[-_REPEATS * _LONGEST_PERIOD - 1 :]):
                finish = LOOP
                break
    if not finish and not ended:
        raise AttemptError(f"{url} broke off in the middle of a reply (after {length} characters)")
    message = {"content": "".join(content), "refusal": refusal}
    return {"choices": [{"message": message, "finish_reason": finish}], "usage": usage}


def is_looping(text: str) -> bool:
    """Whether the end of `text` is one piece of at most 300 characters, five times over, and 400 characters or more."""
    for period in range(1, _LONGEST_PERIOD + 1):
        span = max(_REPEATS * period, _SHORTEST_LOOP)
        if len(text) >= span and text[-span + period :] == text[-span:-period]:
            return True
    return False


def _events(pieces: Iterator[bytes], url: str) -> Iterator[dict[str, Any] | None]:
    """The JSON objects of the events' data; None for the `[DONE]` that ends a stream."""
    pending = b""
    for piece in pieces:
        *lines, pending = (pending + piece).split(b"\n")
        for line in lines:
            yield from _event(line.strip(), url)
    yield from _event(pending.strip(), url)


def _event(line: bytes, url: str) -> Iterator[dict[str, Any] | None]:
    if not line.startswith(b"data:"):
        return
    data = line[5:].strip()
    if data == b"[DONE]":
        yield None
        return
    try:
        value = json.loads(data)
    except ValueError:
        raise AttemptError(f"{url} sent an event that is not JSON: {data[:80].decode('utf-8', 'replace')!r}") from None
    if isinstance(value, dict):
        yield value
