"""The cache embeds each text once per model, survives kills and is shared by threads and processes."""

import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from sqlalchemy import text as sql

from hcg_pipeline.embedding.cache import CachedEmbedder, sqlite_engine, text_hash
from hcg_pipeline.errors import EmbeddingError


class CountingEmbedder:
    """Two dimensions, told by the text's length; counts what it is asked and fails from `fail_at` texts on."""

    def __init__(self, model="counting-1", fail_at=None):
        self.model = model
        self.dimension = 2
        self.asked = []
        self.fail_at = fail_at
        self._lock = threading.Lock()

    def embed(self, texts):
        with self._lock:
            if self.fail_at is not None and len(self.asked) + len(texts) > self.fail_at:
                raise EmbeddingError("the endpoint is down")
            self.asked.extend(texts)
        angles = np.array([len(text) / 10 for text in texts])
        return np.stack([np.cos(angles), np.sin(angles)], axis=1).astype(np.float32)


@pytest.fixture
def engine(tmp_path):
    engine = sqlite_engine(str(tmp_path / "cache.db"))
    yield engine
    engine.dispose()


def test_each_distinct_text_is_embedded_once(engine):
    inner = CountingEmbedder()
    cached = CachedEmbedder(inner, engine)
    texts = ["a", "bb", "a", "ccc"]
    first = cached.embed(texts)
    assert inner.asked == ["a", "bb", "ccc"]
    assert (cached.hits, cached.misses) == (0, 3)
    assert np.array_equal(first, CountingEmbedder().embed(texts))
    assert np.array_equal(cached.embed(["ccc", "dddd"]), CountingEmbedder().embed(["ccc", "dddd"]))
    assert inner.asked == ["a", "bb", "ccc", "dddd"]
    assert (cached.hits, cached.misses) == (1, 4)


def test_vectors_outlive_the_object_bit_for_bit(engine):
    texts = [f"text {number}" for number in range(1200)]
    written = CachedEmbedder(CountingEmbedder(), engine).embed(texts)
    later = CachedEmbedder(CountingEmbedder(fail_at=0), engine)
    assert np.array_equal(later.embed(texts), written)
    assert (later.hits, later.misses) == (1200, 0)


def test_another_model_is_another_key(engine):
    CachedEmbedder(CountingEmbedder("one"), engine).embed(["a"])
    other = CountingEmbedder("two")
    CachedEmbedder(other, engine).embed(["a"])
    assert other.asked == ["a"]


def test_finished_blocks_survive_a_failure(engine):
    texts = [f"text {number:04d}" for number in range(1200)]
    with pytest.raises(EmbeddingError, match="the endpoint is down"):
        CachedEmbedder(CountingEmbedder(fail_at=1100), engine).embed(texts)
    again = CountingEmbedder()
    CachedEmbedder(again, engine).embed(texts)
    assert again.asked == texts[1000:]


def test_a_damaged_row_is_computed_again(engine):
    CachedEmbedder(CountingEmbedder(), engine).embed(["a"])
    with engine.begin() as connection:
        connection.execute(sql("UPDATE embedding_cache SET vector = x'00'"))
    inner = CountingEmbedder()
    vectors = CachedEmbedder(inner, engine).embed(["a"])
    assert inner.asked == ["a"]
    assert np.array_equal(vectors, CountingEmbedder().embed(["a"]))
    # The repaired vector replaces the damaged one.
    third = CachedEmbedder(CountingEmbedder(fail_at=0), engine)
    assert np.array_equal(third.embed(["a"]), vectors)


def test_no_texts_touch_nothing(engine):
    assert CachedEmbedder(CountingEmbedder(), engine).embed([]).shape == (0, 2)


def test_threads_share_one_cache(engine):
    cached = CachedEmbedder(CountingEmbedder(), engine)
    texts = [f"{'x' * number}" for number in range(1, 300)]
    with ThreadPoolExecutor(8) as pool:
        results = list(pool.map(lambda shift: cached.embed(texts[shift:] + texts[:shift]), range(0, 160, 10)))
    expected = CountingEmbedder().embed(texts)
    for shift, result in zip(range(0, 160, 10), results, strict=True):
        assert np.array_equal(result, np.concatenate([expected[shift:], expected[:shift]]))
    with engine.connect() as connection:
        assert connection.execute(sql("SELECT count(*) FROM embedding_cache")).scalar_one() == 299


_WRITER = """
import sys
import numpy as np
from hcg_pipeline.embedding.cache import CachedEmbedder, sqlite_engine

class Inner:
    model, dimension = "m", 2
    def embed(self, texts):
        return np.array([[len(text), 1] for text in texts], dtype=np.float32)

cached = CachedEmbedder(Inner(), sqlite_engine(sys.argv[1]))
for begin in range(0, 200, 20):
    cached.embed(["y" * n for n in range(begin, begin + 20)])
"""


def test_processes_that_start_at_once_share_one_file(tmp_path):
    path = str(tmp_path / "shared.db")
    writers = [
        subprocess.Popen([sys.executable, "-c", _WRITER, path], stderr=subprocess.PIPE, text=True) for _ in range(4)
    ]
    for writer in writers:
        _, errors = writer.communicate(timeout=60)
        assert writer.returncode == 0, errors
    engine = sqlite_engine(path)
    with engine.connect() as connection:
        assert connection.execute(sql("SELECT count(*) FROM embedding_cache")).scalar_one() == 200
        assert connection.execute(sql("PRAGMA journal_mode")).scalar_one() == "wal"
    engine.dispose()


def test_an_unusable_database_says_so(tmp_path):
    engine = sqlite_engine(str(tmp_path / "no" / "such" / "folder" / "cache.db"))
    with pytest.raises(EmbeddingError, match="embedding cache"):
        CachedEmbedder(CountingEmbedder(), engine).embed(["a"])


def test_the_key_is_the_text_alone():
    assert text_hash("a") == text_hash("a") != text_hash("b")
    assert len(text_hash("\ud800")) == 32
