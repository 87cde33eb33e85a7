"""An unknown model's dimension is read from the vectors that are stored, so that no call is made only to learn it."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from fake_openai import FakeOpenAI
from sqlalchemy import Engine, text

from hcg_pipeline.backends.llm.settings import EmbeddingSettings
from hcg_pipeline.embedding.cache import CachedEmbedder, sqlite_engine, stored_dimension
from hcg_pipeline.embedding.openai import build_openai_embedder
from hcg_pipeline.errors import EmbeddingError


@pytest.fixture
def engine(tmp_path: Path) -> Engine:
    return sqlite_engine(str(tmp_path / "vectors.sqlite"))


@pytest.fixture
def fake() -> Iterator[FakeOpenAI]:
    with FakeOpenAI(dimension=48) as server:
        yield server


def embedder(fake: FakeOpenAI, engine: Engine, model: str = "own-model") -> CachedEmbedder:
    """As a process that starts anew makes it."""
    settings = EmbeddingSettings(model=model, base_url=fake.base_url)
    return CachedEmbedder(build_openai_embedder(settings, dimension=stored_dimension(engine, model)), engine)


def test_the_next_process_asks_nothing_for_what_is_stored(fake: FakeOpenAI, engine: Engine) -> None:
    first = embedder(fake, engine).embed(["worn seals", "old pumps"])
    calls = fake.embedding_calls
    again = embedder(fake, engine)
    assert again.dimension == 48
    assert np.array_equal(again.embed(["worn seals", "old pumps"]), first)
    assert fake.embedding_calls == calls
    again.embed(["new text"])
    assert fake.embedding_calls == calls + 1


def test_what_is_not_known_is_asked_for(fake: FakeOpenAI, engine: Engine) -> None:
    assert stored_dimension(engine, "own-model") is None
    embedder(fake, engine).embed(["worn seals"])
    assert stored_dimension(engine, "own-model") == 48
    assert stored_dimension(engine, "other") is None
    assert embedder(fake, engine, "other").dimension == 48


def test_rows_that_disagree_say_nothing(fake: FakeOpenAI, engine: Engine) -> None:
    embedder(fake, engine).embed(["worn seals", "old pumps"])
    with engine.begin() as connection:
        connection.execute(text("UPDATE embedding_cache SET vector = x'00000000' WHERE rowid = 1"))
    assert stored_dimension(engine, "own-model") is None


def test_a_model_that_changed_under_its_name_is_refused(fake: FakeOpenAI, engine: Engine) -> None:
    embedder(fake, engine).embed(["worn seals"])
    fake.dimension = 32
    with pytest.raises(EmbeddingError, match="length 32 where 48 was expected"):
        embedder(fake, engine).embed(["new text"])
