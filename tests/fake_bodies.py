"""The JSON bodies with which `FakeOpenAI` answers: completions, whole or as events, embeddings, token counts."""

import base64
import hashlib
import json
import math
import re
import struct
from collections.abc import Callable
from typing import Any

_PIECE = re.compile(r" ?[A-Z]?[a-z]{1,10}| ?[A-Z]{1,3}| ?\d{1,3}|[^\W\d_a-zA-Z]| ?[^\w\s]{1,5}|_|\s+")


def count_tokens(text: str) -> int:
    """About as many tokens as a byte-pair encoding makes of `text`: words in pieces, marks in runs.

    Within a tenth of o200k_base on English prompts and on JSON replies.
    """
    return len(_PIECE.findall(text))


def request_hash(body: dict[str, Any]) -> str:
    """What `FakeOpenAI.completed` counts by."""
    return hashlib.blake2b(json.dumps(body, sort_keys=True).encode(), digest_size=8).hexdigest()


def completion(reply: Callable[[dict[str, Any]], str], body: dict[str, Any], fault: Any) -> dict[str, Any]:
    """A chat completion with the text that `reply` makes, or with what `fault` makes of it."""
    if fault.content == "<schema>":
        text = json.dumps(((body.get("response_format") or {}).get("json_schema") or {}).get("schema", {}))
    else:
        text = reply(body) if fault.content is None else fault.content
    if fault.edit is not None:
        text = fault.edit(text)
    message = {"role": "assistant", "content": text, "refusal": fault.refusal}
    sent = [str(message["content"]) for message in body["messages"]]
    schema = (body.get("response_format") or {}).get("json_schema")
    tokens_in = sum(count_tokens(text) + 4 for text in sent) + (count_tokens(json.dumps(schema)) if schema else 0)
    tokens_in = min(tokens_in, fault.context or tokens_in)
    tokens_out = count_tokens(text)
    usage = {
        "prompt_tokens": tokens_in,
        "completion_tokens": tokens_out,
        "total_tokens": tokens_in + tokens_out,
        "prompt_tokens_details": {"cached_tokens": 0},
    }
    return {
        "id": "chatcmpl-fake",
        "object": "chat.completion",
        "created": 0,
        "model": body["model"],
        "choices": [{"index": 0, "message": message, "finish_reason": fault.finish_reason, "logprobs": None}],
        "usage": usage if fault.usage else None,
    }


def as_events(completion: dict[str, Any], body: dict[str, Any]) -> bytes:
    """A completion as server-sent events, some characters each."""
    choice = completion["choices"][0]
    text, refusal = choice["message"]["content"], choice["message"]["refusal"]
    deltas: list[dict[str, Any]] = [{"role": "assistant", "content": ""}]
    deltas += [{"content": text[at : at + 50]} for at in range(0, len(text), 50)]
    deltas += [{"refusal": refusal}] if refusal else []
    events = [{"choices": [{"index": 0, "delta": delta, "finish_reason": None}]} for delta in deltas]
    events.append({"choices": [{"index": 0, "delta": {}, "finish_reason": choice["finish_reason"]}]})
    if (body.get("stream_options") or {}).get("include_usage") and completion["usage"]:
        events.append({"choices": [], "usage": completion["usage"]})
    lines = [json.dumps({"object": "chat.completion.chunk", **event}) for event in events]
    return "".join(f"data: {line}\n\n" for line in (*lines, "[DONE]")).encode()


def embedding_list(length: int, body: dict[str, Any]) -> dict[str, Any]:
    """Vectors of `length`, or of the length that is asked for."""
    texts = body["input"] if isinstance(body["input"], list) else [body["input"]]
    dimension = body.get("dimensions") or length
    vectors = [hashed_vector(text, dimension) for text in texts]
    in_base64 = body.get("encoding_format") == "base64"
    data = [
        {"object": "embedding", "index": place, "embedding": _base64(vector) if in_base64 else vector}
        for place, vector in enumerate(vectors)
    ]
    tokens = sum(len(text.split()) for text in texts)
    usage = {"prompt_tokens": tokens, "total_tokens": tokens}
    return {"object": "list", "model": body["model"], "data": data, "usage": usage}


def _base64(vector: list[float]) -> str:
    return base64.b64encode(struct.pack(f"<{len(vector)}f", *vector)).decode()


def hashed_vector(text: str, dimension: int) -> list[float]:
    """A bag of word stems, hashed into `dimension` places, with a sign; of length 1."""
    vector = [0.0] * dimension
    for word in re.findall(r"\w+", text.casefold()):
        digest = hashlib.blake2b(word[:6].encode(), digest_size=8).digest()
        place = int.from_bytes(digest[:6]) % dimension
        vector[place] += 1.0 if digest[7] % 2 else -1.0
    length = math.sqrt(sum(value * value for value in vector))
    if not length:
        return [1.0] + [0.0] * (dimension - 1)
    return [value / length for value in vector]
