"""A cache of vectors in a database, keyed by text and model: an unchanged text is never embedded twice."""

import hashlib
import threading
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Protocol, runtime_checkable

import numpy as np
from sqlalchemy import (
    Column,
    Engine,
    LargeBinary,
    MetaData,
    String,
    Table,
    bindparam,
    create_engine,
    event,
    func,
    select,
)
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.pool import ConnectionPoolEntry
from sqlalchemy.schema import CreateTable
from sqlalchemy.sql.dml import Insert

from hcg_pipeline.backends.llm.ledger import Ledger
from hcg_pipeline.embedding.embedder import Embedder, Vectors
from hcg_pipeline.errors import EmbeddingError

_BLOCK = 500
_LOOKED_AT = 16
_VECTORS = Table(
    "embedding_cache",
    MetaData(),
    Column("text_hash", String(32), primary_key=True),
    Column("model", String(200), primary_key=True),
    Column("vector", LargeBinary, nullable=False),
)


def sqlite_engine(path: str) -> Engine:
    """An engine on a SQLite file that several threads and processes may use at once (WAL, 60 s busy timeout)."""
    engine = create_engine(f"sqlite:///{path}", connect_args={"timeout": 60})

    @event.listens_for(engine, "connect")
    def _set_pragmas(connection: DBAPIConnection, _record: ConnectionPoolEntry) -> None:
        cursor = connection.cursor()
        cursor.execute("PRAGMA busy_timeout=60000")
        cursor.execute("PRAGMA journal_mode=WAL")
        cursor.execute("PRAGMA synchronous=NORMAL")
        cursor.close()

    return engine


@runtime_checkable
class MakesCalls(Protocol):
    """An embedder that asks an endpoint."""

    def recording(self, ledger: Ledger) -> Embedder:
        """The same, with each of its calls noted in `ledger`."""


class CachedEmbedder:
    """An `Embedder` that asks another one only for texts it has not seen.

    Misses are embedded and committed in blocks of 500, so a killed build loses one block at most. Threads and processes
    may share one database: when two of them embed the same text, both return the vector that was stored first.
    `hits` and `misses` count distinct texts per call since this object was made.
    """

    def __init__(self, embedder: Embedder, engine: Engine) -> None:
        self._embedder = embedder
        self._engine = engine
        self._lock = threading.Lock()
        self._ready = False
        self.hits = 0
        self.misses = 0

    def recording(self, ledger: Ledger) -> "CachedEmbedder":
        """This cache before the same embedder, whose calls, if it makes any, `ledger` takes note of."""
        inner = self._embedder
        return CachedEmbedder(inner.recording(ledger) if isinstance(inner, MakesCalls) else inner, self._engine)

    @property
    def makes_calls(self) -> bool:
        """Whether the inner embedder asks an endpoint."""
        return isinstance(self._embedder, MakesCalls)

    @property
    def model(self) -> str:
        """The inner embedder's model."""
        return self._embedder.model

    @property
    def dimension(self) -> int:
        """The inner embedder's dimension."""
        return self._embedder.dimension

    def embed(self, texts: Sequence[str]) -> Vectors:
        """As the inner embedder: float32 (len(texts), dimension), rows L2-normalised.

        Raises `EmbeddingError` when the database or the inner embedder fails; blocks done before that are kept.
        """
        keys = [text_hash(text) for text in texts]
        place = {key: row for row, key in enumerate(dict.fromkeys(keys))}
        first = dict(zip(keys, texts, strict=True))
        vectors = np.empty((len(place), self.dimension), dtype=np.float32)
        hits = 0
        try:
            self._prepare()
            for block in _in_blocks(list(place)):
                found = self._read(block)
                missing = [key for key in block if key not in found]
                if missing:
                    self._write(missing, self._embedder.embed([first[key] for key in missing]))
                    # What is stored counts, not what was made: another process may have been first.
                    found.update(self._read(missing))
                for key, vector in found.items():
                    vectors[place[key]] = vector
                hits += len(block) - len(missing)
                with self._lock:
                    self.misses += len(missing)
        except SQLAlchemyError as error:
            raise EmbeddingError(
                f"the embedding cache {self._engine.url!r} cannot be used: {error.__class__.__name__}: {error}. "
                "Check that its folder can be written, or delete the file: it is rebuilt."
            ) from error
        with self._lock:
            self.hits += hits
        return vectors[[place[key] for key in keys]]

    def _prepare(self) -> None:
        with self._lock:
            if not self._ready:
                with self._engine.begin() as connection:
                    connection.execute(CreateTable(_VECTORS, if_not_exists=True))
                self._ready = True

    def _read(self, keys: Sequence[str]) -> dict[str, Vectors]:
        query = select(_VECTORS.c.text_hash, _VECTORS.c.vector).where(
            _VECTORS.c.model == self.model, _VECTORS.c.text_hash.in_(bindparam("keys", expanding=True))
        )
        size = self.dimension * 4
        with self._engine.connect() as connection:
            rows = connection.execute(query, {"keys": list(keys)}).all()
        # A row of another length is a damaged or foreign one: it is computed again, not trusted.
        return {key: np.frombuffer(blob, dtype="<f4") for key, blob in rows if len(blob) == size}

    def _write(self, keys: Sequence[str], vectors: Vectors) -> None:
        rows = [
            {"text_hash": key, "model": self.model, "vector": vector.astype("<f4").tobytes()}
            for key, vector in zip(keys, vectors, strict=True)
        ]
        with self._engine.begin() as connection:
            connection.execute(_keep_first(self._engine, self.dimension * 4), rows)


def stored_dimension(engine: Engine, model: str) -> int | None:
    """Length of the vectors that are stored for `model`; None if there are none, or they do not agree.

    What a model that nobody has heard of makes is then known without asking its endpoint. Raises `EmbeddingError`.
    """
    some = select(_VECTORS.c.vector).where(_VECTORS.c.model == model).limit(_LOOKED_AT)
    try:
        with engine.begin() as connection:
            connection.execute(CreateTable(_VECTORS, if_not_exists=True))
            lengths = {len(vector) for vector in connection.execute(some).scalars()}
    except SQLAlchemyError as error:
        raise EmbeddingError(
            f"the embedding cache {engine.url!r} cannot be used: {error.__class__.__name__}: {error}. "
            "Check that its folder can be written, or delete the file: it is rebuilt."
        ) from error
    return lengths.pop() // 4 if len(lengths) == 1 else None


def text_hash(text: str) -> str:
    """32 hex digits of the BLAKE2b hash of the text's UTF-8 (lone surrogates are hashed as they are)."""
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def _keep_first(engine: Engine, size: int) -> Insert:
    """An insert that leaves a stored vector alone, unless it is not of `size` bytes."""
    insert = (postgresql if engine.dialect.name == "postgresql" else sqlite).insert(_VECTORS)
    keeping: Insert = insert.on_conflict_do_update(
        index_elements=[_VECTORS.c.text_hash, _VECTORS.c.model],
        set_={"vector": insert.excluded.vector},
        where=func.length(_VECTORS.c.vector) != size,
    )
    return keeping


def _in_blocks(keys: list[str]) -> Iterator[list[str]]:
    remaining = iter(keys)
    while block := list(islice(remaining, _BLOCK)):
        yield block
