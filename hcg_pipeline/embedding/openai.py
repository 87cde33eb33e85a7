"""Embeddings from an OpenAI-compatible endpoint, packed to its limits."""

import base64
import binascii
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from copy import copy
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import openai

from hcg_pipeline.backends.llm.chat import AttemptError, CallError, estimate_tokens
from hcg_pipeline.backends.llm.endpoint import (
    RefusedError,
    UnreachableError,
    fetch_json,
    open_client,
    public_url,
    unreachable_for_good,
)
from hcg_pipeline.backends.llm.ledger import EmbeddingCall, Ledger, Unrecorded
from hcg_pipeline.backends.llm.limiter import Limiter
from hcg_pipeline.backends.llm.retry import Tried, with_retries_counted
from hcg_pipeline.backends.llm.settings import EmbeddingSettings
from hcg_pipeline.embedding.embedder import Vectors
from hcg_pipeline.embedding.wordllama import normalise
from hcg_pipeline.errors import BackendError, EmbeddingError

_KNOWN_DIMENSIONS = {
    "text-embedding-3-small": 1536,
    "text-embedding-3-large": 3072,
    "text-embedding-ada-002": 1536,
}


@dataclass
class _Learned:
    """What the endpoint turned out to be like, for all that ask it."""

    dimension: int | None
    format: str = "base64"
    reached: bool = False
    lock: threading.Lock = field(default_factory=threading.Lock)


class OpenAIEmbedder:
    """An `Embedder` that asks an endpoint. Texts are packed into as few requests as its limits allow."""

    def __init__(
        self, client: openai.OpenAI, settings: EmbeddingSettings, limiter: Limiter, dimension: int | None = None
    ) -> None:
        self._client = client
        self._settings = settings
        self._limiter = limiter
        self._url = str(client.base_url)
        self._learned = _Learned(settings.dimension or _KNOWN_DIMENSIONS.get(settings.model) or dimension)
        self._ledger: Ledger = Unrecorded()

    def recording(self, ledger: Ledger) -> "OpenAIEmbedder":
        """This embedder, whose calls `ledger` takes note of."""
        other = copy(self)
        other._ledger = ledger
        return other

    @property
    def model(self) -> str:
        """The model's name; with `@` and a dimension where other vectors than the model's own are asked for."""
        asked = self._settings.dimension
        return self._settings.model if asked is None else f"{self._settings.model}@{asked}"

    @property
    def dimension(self) -> int:
        """Length of a vector: as set, as known for the model, or else found out by embedding one word."""
        if self._learned.dimension is None:
            self._request(["dimension"])
        if self._learned.dimension is None:
            raise EmbeddingError(f"{public_url(self._url)} sent no vector of {self._settings.model!r}")
        return self._learned.dimension

    def embed(self, texts: Sequence[str]) -> Vectors:
        """An array (len(texts), dimension) of float32, rows of length 1. Raises `EmbeddingError`.

        A text without a word (endpoints refuse the empty string) gets the first unit vector. A text above the model's
        limit is embedded in pieces: the mean of their vectors, weighted by length, as OpenAI's cookbook has it.
        """
        pieces = [_pieces(text, self._settings.tokens_per_input) for text in texts]
        flat = [piece for parts in pieces for piece in parts]
        batches = pack(flat, self._settings.inputs_per_request, self._settings.tokens_per_request)
        if not batches:
            return normalise(np.zeros((len(texts), self.dimension), dtype=np.float32)) if texts else self._nothing()
        with ThreadPoolExecutor(min(len(batches), self._settings.rate.concurrency)) as executor:
            futures = [executor.submit(self._request, batch) for batch in batches]
            try:
                vectors = np.concatenate([future.result() for future in futures])
            except BaseException:
                executor.shutdown(wait=True, cancel_futures=True)
                raise
        rows = np.zeros((len(texts), vectors.shape[1]), dtype=np.float32)
        at = 0
        for row, parts in enumerate(pieces):
            if parts:
                weights = np.array([len(part) for part in parts], dtype=np.float32)
                rows[row] = weights @ vectors[at : at + len(parts)]
                at += len(parts)
        return normalise(rows)

    def _nothing(self) -> Vectors:
        return np.zeros((0, self.dimension), dtype=np.float32)

    def _request(self, texts: Sequence[str]) -> Vectors:
        """The vectors of one request's texts, of length 1."""
        tokens = sum(map(estimate_tokens, texts))
        counted = 0

        def attempt() -> Vectors:
            nonlocal counted
            vectors, counted = self._attempt(texts)
            return vectors

        try:
            with self._limiter.admit(tokens):
                vectors, tried = with_retries_counted(attempt, self._settings.retry, self._limiter)
        except (BackendError, CallError) as error:
            failed = Tried(error.seconds, error.retries) if isinstance(error, CallError) else Tried(0.0, 0)
            self._note(len(texts), tokens, False, failed, answered=False)
            raise EmbeddingError(str(error)) from error
        self._limiter.succeeded(tokens, counted)
        self._note(len(texts), counted or tokens, counted > 0, tried, answered=True)
        return normalise(vectors)

    def _note(self, texts: int, tokens: int, counted: bool, tried: Tried, *, answered: bool) -> None:
        call = EmbeddingCall(self._settings.model, texts, tokens, counted, tried.seconds, tried.retries, answered)
        self._ledger.embedded(call)

    def _attempt(self, texts: Sequence[str]) -> tuple[Vectors, int]:
        """The vectors of the texts, and their tokens as the endpoint counts them; 0 if it does not."""
        try:
            body = self._post(texts)
        except UnreachableError as error:
            if self._learned.reached:
                raise
            raise unreachable_for_good(error, self._settings.names) from None
        except RefusedError as refusal:
            if self._learned.format != "base64" or "encoding_format" not in refusal.body:
                raise
            self._learned.format = "float"
            body = self._post(texts)
        self._learned.reached = True
        return self._vectors_of(body, len(texts)), _tokens_of(body)

    def _post(self, texts: Sequence[str]) -> dict[str, Any]:
        asked: dict[str, Any] = {
            "model": self._settings.model,
            "input": list(texts),
            "encoding_format": self._learned.format,
        }
        if self._settings.dimension is not None:
            asked["dimensions"] = self._settings.dimension

        def call() -> Any:
            return self._client.embeddings.with_streaming_response.create(**asked)

        settings = self._settings
        return fetch_json(
            call, url=self._url, model=settings.model, total_timeout=settings.timeouts.total, names=settings.names
        )

    def _vectors_of(self, body: dict[str, Any], count: int) -> Vectors:
        data = body.get("data")
        entries = [entry for entry in data if isinstance(entry, dict)] if isinstance(data, list) else []
        by_place = {entry.get("index", place): entry.get("embedding") for place, entry in enumerate(entries)}
        if sorted(by_place, key=str) != sorted(range(count), key=str):
            raise AttemptError(f"{public_url(self._url)} sent {len(entries)} vectors for {count} texts")
        rows = [_vector(by_place[place]) for place in range(count)]
        lengths = {len(row) for row in rows}
        with self._learned.lock:
            expected = self._learned.dimension or min(lengths)
            if lengths != {expected} or not expected:
                raise BackendError(
                    f"{public_url(self._url)} sent vectors of length {', '.join(map(str, sorted(lengths)))} where "
                    f"{expected} was expected of {self._settings.model!r}: set the embedding dimension to what it sends"
                )
            self._learned.dimension = expected
        return np.stack(rows)


def _tokens_of(body: dict[str, Any]) -> int:
    usage = body.get("usage")
    tokens = usage.get("prompt_tokens") if isinstance(usage, dict) else None
    return tokens if isinstance(tokens, int) and not isinstance(tokens, bool) and tokens > 0 else 0


def build_openai_embedder(
    settings: EmbeddingSettings, *, limiter: Limiter | None = None, dimension: int | None = None
) -> OpenAIEmbedder:
    """An embedder for the endpoint of `settings`. Makes no call. Share one `limiter` between users of an endpoint.

    `dimension` is what the model's vectors are known to have, so that it need not be asked for it; None: not known.
    """
    client = open_client(settings.base_url, settings.api_key, settings.timeouts)
    return OpenAIEmbedder(client, settings, limiter or Limiter(settings.rate), dimension)


def pack(texts: Sequence[str], most_inputs: int, most_tokens: int) -> list[list[str]]:
    """`texts` in order, in as few runs as hold at most `most_inputs` texts and about `most_tokens` tokens each.

    Tokens are estimated on the high side. A text that alone exceeds `most_tokens` is a run of its own.
    """
    batches: list[list[str]] = []
    held = 0
    for text in texts:
        tokens = estimate_tokens(text)
        if not batches or len(batches[-1]) >= most_inputs or held + tokens > most_tokens:
            batches.append([])
            held = 0
        batches[-1].append(text)
        held += tokens
    return batches


def _pieces(text: str, most_tokens: int) -> list[str]:
    """`text` without lone surrogates, cut evenly into pieces of at most about `most_tokens` tokens; [] if wordless."""
    sound = text.encode("utf-8", "replace").decode("utf-8")
    if not sound.strip():
        return []
    count = -(-estimate_tokens(sound) // most_tokens)
    size = -(-len(sound) // count)
    return [piece for at in range(0, len(sound), size) if (piece := sound[at : at + size]).strip()]


def _vector(value: object) -> Vectors:
    """A vector as endpoints send it: little-endian float32 in base64, or a list of numbers."""
    try:
        if isinstance(value, str):
            row = np.frombuffer(base64.b64decode(value, validate=True), dtype="<f4").astype(np.float32)
        else:
            row = np.asarray(value, dtype=np.float32)
    except (ValueError, TypeError, binascii.Error) as error:
        raise AttemptError(f"the endpoint sent a vector that is neither base64 nor numbers ({error})") from None
    if row.ndim != 1 or not np.isfinite(row).all():
        raise AttemptError("the endpoint sent a vector that is not a row of finite numbers")
    return row
