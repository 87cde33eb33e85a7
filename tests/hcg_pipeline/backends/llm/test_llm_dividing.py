"""Windows that are too long for the model are asked in halves, and nothing of them is lost."""

from collections.abc import Callable
from typing import Any

import pytest
from fake_openai import CUT_OFF, FINE, FakeOpenAI, Fault

from hcg_pipeline.backends.llm.backend import LlmBackend
from hcg_pipeline.backends.llm.chat import ChatReply, ChatRequest, Message, ReplySchema
from hcg_pipeline.backends.llm.dividing import halves_of
from hcg_pipeline.backends.llm.http import tokens_read_of_a_shortened
from hcg_pipeline.corpus.window import Passage, Window
from hcg_pipeline.errors import BackendError
from hcg_pipeline.progress import Silent
from hcg_pipeline.specification.vocabulary import Dimension, Metric, Vocabulary

Build = Callable[..., LlmBackend]

CAUSES = ("smoking", "drinking", "gambling", "sitting", "shouting")
TEXTS = tuple(f"Chronic {cause} causes bronchitis in many people." for cause in CAUSES)
WINDOW = Window("w", tuple(Passage(f"c-{n}", "d", n * 100, n * 100 + len(text), text) for n, text in enumerate(TEXTS)))
VOCABULARY = Vocabulary((Dimension("thing", "Anything."),), (Metric("ThingRisk", ("thing",), "How likely.", "risk"),))


def passages_in(body: dict[str, Any]) -> int:
    return str(body["messages"][1]["content"]).count("</passage")


def too_long_beyond(passages: int) -> Callable[[dict[str, Any]], Fault]:
    refusal = Fault(status=400, message="the request exceeds the available context size (4096 tokens)")
    return lambda body: refusal if passages_in(body) > passages else FINE


def cut_off_beyond(passages: int) -> Callable[[dict[str, Any]], Fault]:
    return lambda body: CUT_OFF if passages_in(body) > passages else FINE


@pytest.mark.parametrize("rule", [too_long_beyond(2), cut_off_beyond(2)], ids=["context", "reply"])
def test_a_window_in_parts_says_what_it_says_whole(fake: FakeOpenAI, build: Build, tmp_path: Any, rule: Any) -> None:
    whole = build(model="whole").read_windows([WINDOW], VOCABULARY, Silent())
    fake.always(rule)
    parts = build().read_windows([WINDOW], VOCABULARY, Silent())
    assert parts.failures == ()
    assert parts.results == whole.results
    assert [relation.chunk_id for relation in parts.results[0].relations] == [f"c-{n}" for n in range(5)]
    # 5 passages -> 2 and 3 -> the 3 again to 1 and 2
    assert sorted(set(map(passages_in, fake.requests[1:]))) == [1, 2, 3, 5]
    again = build().read_windows([WINDOW], VOCABULARY, Silent())
    assert again.results == parts.results
    assert again.usage.calls == 0


def test_a_single_passage_that_is_too_long_is_a_failure_and_the_rest_is_kept(fake: FakeOpenAI, build: Build) -> None:
    refusal = Fault(status=400, message="maximum context length is 10 tokens")
    fake.always(lambda body: refusal if "gambling" in body["messages"][1]["content"] else FINE)
    outcome = build().read_windows([WINDOW], VOCABULARY, Silent())
    (failure,) = outcome.failures
    assert failure.key == "w"
    assert "window_words in corpus.yaml" in failure.reason
    assert [relation.chunk_id for relation in outcome.results[0].relations] == ["c-0", "c-1", "c-3", "c-4"]


def test_a_context_window_that_holds_nothing_stops_with_the_way_out(fake: FakeOpenAI, build: Build) -> None:
    fake.always(Fault(status=400, message="maximum context length is 10 tokens"))
    windows = [Window(f"w{n}", WINDOW.passages) for n in range(3)]
    with pytest.raises(BackendError, match=r"context window is too small"):
        build().propose_dimensions(windows, Silent())


def test_a_model_that_never_ends_is_given_up_on_the_way_down(fake: FakeOpenAI, build: Build) -> None:
    """5 passages, 2, 1: two calls each; then the window is given up, and with it the stage."""
    fake.always(CUT_OFF)
    with pytest.raises(BackendError, match=r"1 of 1 replies could not be used.*cut off at the token limit, twice"):
        build().read_windows([WINDOW], VOCABULARY, Silent())
    assert [passages_in(body) for body in fake.requests] == [5, 5, 2, 2, 1, 1]


def test_a_prompt_that_the_server_shortens_in_silence_is_divided(fake: FakeOpenAI, build: Build) -> None:
    """As Ollama does: the middle of a long prompt is cut out, and only the count of its tokens tells."""
    passages = tuple(
        Passage(p.chunk_id, "d", p.start, p.end, p.text + " Nobody minds what else is said on this page." * 60)
        for p in WINDOW.passages
    )
    window = Window("w", passages)
    whole = build(model="whole").read_windows([window], VOCABULARY, Silent())
    fake.always(Fault(context=2048))
    parts = build().read_windows([window], VOCABULARY, Silent())
    assert (parts.failures, parts.results) == ((), whole.results)
    assert sorted(set(map(passages_in, fake.requests[1:]))) == [2, 3, 5]
    single = Window("s", (Passage("c", "d", 0, 1, "All that is said is said once more. " * 600),))
    with pytest.raises(BackendError, match=r"read only 2,048 tokens of a prompt of .*OLLAMA_CONTEXT_LENGTH"):
        build().read_windows([single], VOCABULARY, Silent())


@pytest.mark.parametrize(
    ("text", "counted", "shortened"),
    [
        ("word " * 2000, 2000, False),
        ("word " * 2000, 1300, True),
        ("word " * 2000, 7, False),
        ("слово " * 2000, 1300, False),
    ],
)
def test_only_a_plain_case_counts_as_shortened(text: str, counted: int, shortened: bool) -> None:
    request = ChatRequest("m", (Message("user", text),), ReplySchema("s", {}), 0.0, 1, 100, "variables", "k")
    reply = ChatReply(text="{}", finish_reason="stop", refusal="", tokens_in=counted, tokens_out=1, tokens_cached=0)
    assert tokens_read_of_a_shortened(request, reply) == (counted if shortened else None)


def test_proposals_of_all_parts_count(fake: FakeOpenAI, build: Build) -> None:
    fake.always(too_long_beyond(1))
    outcome = build().propose_dimensions([WINDOW], Silent())
    names = {entity.name for proposal in outcome.results for entity in proposal.entities}
    assert names == {*CAUSES, "bronchitis"}
    assert (outcome.failures, outcome.usage.calls) == ((), 5)


def test_halves_are_alike_in_length() -> None:
    lengths = (10, 10, 10, 10, 40)
    window = Window("w", tuple(Passage(f"c{n}", "d", 0, size, "x" * size) for n, size in enumerate(lengths)))
    first, second = halves_of(window)
    assert [passage.chunk_id for passage in first.passages] == ["c0", "c1", "c2", "c3"]
    assert [passage.chunk_id for passage in second.passages] == ["c4"]
    assert first.window_id == second.window_id == "w"
