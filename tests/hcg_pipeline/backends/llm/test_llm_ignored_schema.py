"""A server that takes `response_format` and ignores it: the model is told the schema in words, from the repair on."""

import json
from collections.abc import Callable
from typing import Any

from fake_openai import FakeOpenAI
from fake_replies import plausible_reply

from hcg_pipeline.backends.llm.backend import LlmBackend
from hcg_pipeline.corpus.window import Window
from hcg_pipeline.progress import Silent

MakeWindows = Callable[[int], list[Window]]


def ignoring(body: dict[str, Any]) -> str:
    """What a model says that never saw the response_format: prose, or what the prompt's own schema asks for."""
    seen = {name: value for name, value in body.items() if name != "response_format"}
    if "JSON schema below" not in body["messages"][0]["content"]:
        return "**Dimensions**\n- condition: bronchitis, hypertension\n- factor: smoking"
    return plausible_reply(seen)


def test_the_repair_and_all_that_follows_carry_the_schema(build: Callable[..., LlmBackend], make_windows: Any) -> None:
    with FakeOpenAI(reply=ignoring) as fake:
        backend = build(base_url=fake.base_url, rate={"concurrency": 1})
        outcome = backend.propose_dimensions(make_windows(8), Silent())
        assert (len(outcome.results), outcome.failures) == (32, ())
        assert fake.chat_calls == 9  # one repair, and the rest knew
        first, repair, *others = (body["messages"][0]["content"] for body in fake.requests)
        assert "JSON schema below" not in first
        schema = repair.splitlines()[-1]
        assert set(json.loads(schema)["properties"]) == {"dimensions"}
        assert all(text == repair for text in others)
        assert all(body["response_format"]["type"] == "json_schema" for body in fake.requests)


def test_how_it_was_told_is_no_part_of_a_request(
    build: Callable[..., LlmBackend], make_windows: MakeWindows, fake: FakeOpenAI
) -> None:
    with FakeOpenAI(reply=ignoring) as deaf:
        build(base_url=deaf.base_url).propose_dimensions(make_windows(8), Silent())
    build().propose_dimensions(make_windows(8), Silent())
    assert fake.chat_calls == 0


def test_a_server_that_holds_to_it_is_told_once(fake: FakeOpenAI, build: Any, make_windows: MakeWindows) -> None:
    build().propose_dimensions(make_windows(8), Silent())
    assert all("JSON schema below" not in body["messages"][0]["content"] for body in fake.requests)
