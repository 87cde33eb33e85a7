"""The endpoint's embedder over real HTTP: order, packing, both encodings, odd texts, retries, and errors."""

import base64
import json
import struct

import numpy as np
import pytest
from fake_openai import RESET_IN_BODY, SERVER_ERROR, FakeOpenAI, Fault, hashed_vector, refuses, throttled
from hypothesis import given
from hypothesis import strategies as st

from hcg_pipeline.backends.llm.chat import estimate_tokens
from hcg_pipeline.backends.llm.ledger import EmbeddingCall, Unrecorded
from hcg_pipeline.backends.llm.settings import EmbeddingSettings, RetrySettings, Timeouts
from hcg_pipeline.embedding.openai import OpenAIEmbedder, build_openai_embedder, pack
from hcg_pipeline.errors import EmbeddingError

FIRST_UNIT = [1.0] + [0.0] * 15


@pytest.fixture
def fake():
    with FakeOpenAI(dimension=16) as server:
        yield server


def embedder(fake: FakeOpenAI, **settings: object) -> OpenAIEmbedder:
    values = {
        "model": "fake-embedding",
        "base_url": fake.base_url,
        "retry": RetrySettings(attempts=4, first_wait=0.01, longest_wait=0.05, patience=10),
        "timeouts": Timeouts(connect=1, read=2, total=3),
    }
    return build_openai_embedder(EmbeddingSettings(**(values | settings)))


def test_rows_are_the_texts_vectors_in_order_whatever_the_packing(fake: FakeOpenAI) -> None:
    texts = [f"text number {n} about topic {n % 7}" for n in range(50)]
    expected = np.array([hashed_vector(text, 16) for text in texts], dtype=np.float32)
    vectors = embedder(fake).embed(texts)
    assert vectors.dtype == np.float32
    assert fake.embedding_calls == 1
    np.testing.assert_allclose(vectors, expected, atol=1e-6)
    np.testing.assert_allclose(embedder(fake, inputs_per_request=3).embed(texts), expected, atol=1e-6)
    assert fake.embedding_calls == 1 + 17


def test_rows_have_length_one_though_the_endpoints_have_not(fake: FakeOpenAI) -> None:
    body = {"data": [{"index": 1, "embedding": [0, 5, 0]}, {"index": 0, "embedding": [3, 4, 0]}]}
    fake.script(Fault(body=json.dumps(body).encode()))
    np.testing.assert_allclose(embedder(fake).embed(["a", "b"]), [[0.6, 0.8, 0], [0, 1, 0]], atol=1e-6)


def test_base64_is_asked_for_and_floats_are_taken(fake: FakeOpenAI) -> None:
    one = embedder(fake)
    in_base64 = one.embed(["some text"])
    assert fake.embedding_requests[0]["encoding_format"] == "base64"
    fake.always(refuses("encoding_format"))
    with pytest.raises(EmbeddingError):
        embedder(fake).embed(["some text"])
    fake.heal()
    fake.always(
        lambda body: (
            Fault(status=400, message="encoding_format base64 is not supported")
            if body["encoding_format"] == "base64"
            else Fault()
        )
    )
    other = embedder(fake)
    np.testing.assert_allclose(other.embed(["some text"]), in_base64, atol=1e-6)
    other.embed(["more"])
    assert fake.embedding_requests[-1]["encoding_format"] == "float"  # remembered


def test_texts_without_a_word_cost_no_call_and_have_a_direction(fake: FakeOpenAI) -> None:
    vectors = embedder(fake, dimension=16).embed(["", "  \n"])
    assert vectors.tolist() == [FIRST_UNIT, FIRST_UNIT]
    assert fake.embedding_calls == 0
    mixed = embedder(fake).embed(["", "word"])
    assert mixed[0].tolist() == FIRST_UNIT
    np.testing.assert_allclose(mixed[1], hashed_vector("word", 16), atol=1e-6)
    assert fake.embedding_requests[-1]["input"] == ["word"]


def test_nothing_to_embed(fake: FakeOpenAI) -> None:
    assert embedder(fake, dimension=16).embed([]).shape == (0, 16)
    assert fake.embedding_calls == 0


def test_a_text_above_the_limit_is_embedded_in_pieces(fake: FakeOpenAI) -> None:
    text = "apple banana cherry " * 100
    vectors = embedder(fake, tokens_per_input=100).embed([text, "apple"])
    sent = fake.embedding_requests[0]["input"]
    assert "".join(sent[:-1]) == text
    assert all(estimate_tokens(piece) <= 101 for piece in sent)
    assert float(vectors[0] @ np.array(hashed_vector(text, 16), dtype=np.float32)) > 0.95


def test_lone_surrogates_do_not_stop_it(fake: FakeOpenAI) -> None:
    assert embedder(fake).embed(["bad \ud800 text"]).shape == (1, 16)


def test_dimension_is_known_set_or_found_out_once(fake: FakeOpenAI) -> None:
    assert embedder(fake, model="text-embedding-3-small").dimension == 1536
    assert embedder(fake, dimension=8).dimension == 8
    assert fake.embedding_calls == 0
    one = embedder(fake)
    assert (one.dimension, one.dimension) == (16, 16)
    assert fake.embedding_calls == 1


def test_a_dimension_that_is_set_is_asked_for_and_is_part_of_the_name(fake: FakeOpenAI) -> None:
    one = embedder(fake, dimension=8)
    assert one.embed(["word"]).shape == (1, 8)
    assert fake.embedding_requests[0]["dimensions"] == 8
    assert one.model == "fake-embedding@8"
    assert embedder(fake).model == "fake-embedding"


@pytest.mark.parametrize("fault", [SERVER_ERROR, throttled("0.02"), RESET_IN_BODY, Fault(body=b'{"data": []}')])
def test_what_passes_is_tried_again(fake: FakeOpenAI, fault: Fault) -> None:
    fake.script(fault, fault)
    assert embedder(fake).embed(["word"]).shape == (1, 16)
    assert fake.embedding_calls == 3


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        (Fault(status=401, message="bad key sk-abcdefghij"), "refused the key .*set OPENAI_API_KEY"),
        (Fault(status=404), "does not know the model 'fake-embedding'.*HCG_EMBEDDING_MODEL"),
        (Fault(status=400, message="input too long"), "refused the request .*input too long"),
        (SERVER_ERROR, "HTTP 500.*gave up after 4 attempts"),
        (Fault(body=b'{"data": [{"index": 0, "embedding": ["x"]}]}'), "neither base64 nor numbers"),
        (Fault(body=b'{"data": [{"index": 0, "embedding": "???"}]}'), "neither base64 nor numbers"),
        (Fault(body=b'{"data": [{"index": 0, "embedding": [NaN, 1]}]}'), "finite numbers"),
        (Fault(body=b'{"data": [{"index": 5, "embedding": [1]}]}'), "sent 1 vectors for 1 texts"),
    ],
)
def test_errors_are_one_line_with_the_way_out(fake: FakeOpenAI, fault: Fault, message: str) -> None:
    fake.always(fault)
    with pytest.raises(EmbeddingError, match=message) as info:
        embedder(fake).embed(["word"])
    assert "\n" not in str(info.value)
    assert "sk-abcdefghij" not in str(info.value)


def test_a_dimension_that_changes_is_refused(fake: FakeOpenAI) -> None:
    one = embedder(fake)
    one.embed(["word"])
    fake.dimension = 8
    with pytest.raises(EmbeddingError, match="vectors of length 8 where 16 was expected"):
        one.embed(["word"])


def test_base64_of_another_length_than_floats_is_refused(fake: FakeOpenAI) -> None:
    broken = base64.b64encode(struct.pack("<2f", 1, 2) + b"x").decode()
    fake.always(Fault(body=json.dumps({"data": [{"index": 0, "embedding": broken}]}).encode()))
    with pytest.raises(EmbeddingError, match="neither base64 nor numbers"):
        embedder(fake).embed(["word"])


@given(st.lists(st.text(max_size=40), max_size=30), st.integers(1, 5), st.integers(1, 60))
def test_packing_keeps_order_and_limits(texts: list[str], most_inputs: int, most_tokens: int) -> None:
    batches = pack(texts, most_inputs, most_tokens)
    assert [text for batch in batches for text in batch] == texts
    for batch in batches:
        assert 1 <= len(batch) <= most_inputs
        assert len(batch) == 1 or sum(map(estimate_tokens, batch)) <= most_tokens


def test_the_estimate_is_not_below_real_tokenizers() -> None:
    """Counts of cl100k_base, taken from its published examples and from counting by hand."""
    assert estimate_tokens("tiktoken is great!") >= 6
    assert estimate_tokens("antidisestablishmentarianism") >= 6
    assert estimate_tokens("お誕生日おめでとう") >= 9
    assert estimate_tokens("2 + 2 = 4") >= 4


class Noting(Unrecorded):
    """A ledger that keeps what it is told."""

    def __init__(self) -> None:
        self.calls: list[EmbeddingCall] = []

    def embedded(self, call: EmbeddingCall) -> None:
        self.calls.append(call)


def test_every_call_is_noted_with_what_it_took(fake: FakeOpenAI) -> None:
    noted = Noting()
    one = embedder(fake, inputs_per_request=2)
    fake.script(SERVER_ERROR)
    one.recording(noted).embed(["one two", "three", "four five six"])
    assert sorted((c.texts, c.tokens, c.counted, c.answered) for c in noted.calls) == [
        (1, 3, True, True),
        (2, 3, True, True),
    ]
    assert sum(call.retries for call in noted.calls) == 1
    fake.script(*[SERVER_ERROR] * 4)
    with pytest.raises(EmbeddingError, match="gave up after 4 attempts"):
        one.recording(noted).embed(["seven"])
    failed = noted.calls[-1]
    assert (failed.texts, failed.retries, failed.answered) == (1, 3, False)
    one.embed(["eight"])
    assert len(noted.calls) == 3


def test_what_the_endpoint_turned_out_to_be_like_is_known_to_all_that_ask_it(fake: FakeOpenAI) -> None:
    one = embedder(fake)
    one.recording(Noting()).embed(["word"])
    calls = fake.embedding_calls
    assert one.dimension == 16
    assert fake.embedding_calls == calls
