"""Readings of windows, kept in a database: what was read before, within the same vocabulary, is not read again."""

import hashlib
import threading
from collections.abc import Sequence

import sqlalchemy as sa
from pydantic import TypeAdapter, ValidationError
from sqlalchemy.exc import SQLAlchemyError

from hcg_pipeline.backends.protocol import (
    AnswerReply,
    AnswerRequest,
    EdgeQuestion,
    LanguageBackend,
    Outcome,
    ProposedDimension,
    ProposedMetric,
    ProposedRelation,
    Reading,
    TemplateQuestion,
    TemplateVerdict,
)
from hcg_pipeline.corpus.window import Window
from hcg_pipeline.errors import BackendError
from hcg_pipeline.progress import Progress
from hcg_pipeline.specification.vocabulary import Dimension, Vocabulary

_BLOCK = 200
_READINGS = sa.Table(
    "readings",
    sa.MetaData(),
    sa.Column("key", sa.String(32), primary_key=True),
    sa.Column("version", sa.String(200), nullable=False, index=True),
    sa.Column("reading", sa.LargeBinary, nullable=False),
)
_AS_JSON: TypeAdapter[Reading] = TypeAdapter(Reading)


class KeptReadings:
    """A `LanguageBackend` around one that reads without calls: same results, each window read once.

    `name`, `version` and all but `read_windows` are the inner backend's. What other versions of it read is removed.
    Raises `BackendError` where the database cannot be used.
    """

    def __init__(self, backend: LanguageBackend, engine: sa.Engine) -> None:
        self._backend = backend
        self._engine = engine
        self._lock = threading.Lock()
        self._ready = False

    @property
    def name(self) -> str:
        """The inner backend's name."""
        return self._backend.name

    @property
    def version(self) -> str:
        """The inner backend's version."""
        return self._backend.version

    def read_windows(self, windows: Sequence[Window], vocabulary: Vocabulary, progress: Progress) -> Outcome[Reading]:
        """As the inner backend; it is asked for those windows that are new. Failed ones are asked about again."""
        root = hashlib.blake2b(f"{self.version}\x1f{vocabulary!r}".encode("utf-8", "surrogatepass"), digest_size=16)
        keys = [_key(root, window) for window in windows]
        try:
            self._prepare()
            found = self._find(keys)
            missing = [place for place, key in enumerate(keys) if key not in found]
            asked = self._backend.read_windows([windows[place] for place in missing], vocabulary, progress)
            if len(asked.results) < len(missing):
                # Some failed, so which reading is whose is not told by its place: keep none of them.
                return self._backend.read_windows(windows, vocabulary, progress)
            new = {keys[place]: reading for place, reading in zip(missing, asked.results, strict=True)}
            self._keep(new)
        except SQLAlchemyError as error:
            raise BackendError(
                f"the readings in {self._engine.url!r} cannot be used: {error.__class__.__name__}: {error}. Check that "
                "its folder can be written, or delete the file: it is made anew."
            ) from error
        if not missing:
            progress.advance("reading", len(windows), len(windows))
        return Outcome(tuple(new[key] if key in new else found[key] for key in keys), (), asked.usage)

    def propose_dimensions(self, windows: Sequence[Window], progress: Progress) -> Outcome[ProposedDimension]:
        """As the inner backend."""
        return self._backend.propose_dimensions(windows, progress)

    def propose_metrics(
        self, windows: Sequence[Window], dimensions: Sequence[Dimension], progress: Progress
    ) -> Outcome[ProposedMetric]:
        """As the inner backend."""
        return self._backend.propose_metrics(windows, dimensions, progress)

    def judge_templates(
        self, questions: Sequence[TemplateQuestion], progress: Progress
    ) -> Outcome[tuple[TemplateVerdict, ...]]:
        """As the inner backend."""
        return self._backend.judge_templates(questions, progress)

    def judge_edges(
        self, questions: Sequence[EdgeQuestion], progress: Progress
    ) -> Outcome[tuple[ProposedRelation, ...]]:
        """As the inner backend."""
        return self._backend.judge_edges(questions, progress)

    def answer(self, requests: Sequence[AnswerRequest], progress: Progress) -> Outcome[AnswerReply]:
        """As the inner backend."""
        return self._backend.answer(requests, progress)

    def _prepare(self) -> None:
        with self._lock:
            if not self._ready:
                _READINGS.metadata.create_all(self._engine)
                with self._engine.begin() as connection:
                    connection.execute(_READINGS.delete().where(_READINGS.c.version != self.version))
                self._ready = True

    def _find(self, keys: Sequence[str]) -> dict[str, Reading]:
        found: dict[str, Reading] = {}
        query = sa.select(_READINGS.c.key, _READINGS.c.reading).where(
            _READINGS.c.key.in_(sa.bindparam("keys", expanding=True))
        )
        with self._engine.connect() as connection:
            for start in range(0, len(keys), _BLOCK):
                for key, reading in connection.execute(query, {"keys": list(keys[start : start + _BLOCK])}):
                    try:
                        found[key] = _AS_JSON.validate_json(reading)
                    except ValidationError:
                        continue  # a damaged row is read again, not trusted
        return found

    def _keep(self, readings: dict[str, Reading]) -> None:
        rows = [
            {"key": key, "version": self.version, "reading": _AS_JSON.dump_json(reading)}
            for key, reading in readings.items()
        ]
        with self._engine.begin() as connection:
            for start in range(0, len(rows), _BLOCK):
                block = rows[start : start + _BLOCK]
                connection.execute(_READINGS.delete().where(_READINGS.c.key.in_([row["key"] for row in block])))
                connection.execute(_READINGS.insert(), block)


def _key(root: "hashlib.blake2b", window: Window) -> str:
    digest = root.copy()
    digest.update(repr(window).encode("utf-8", "surrogatepass"))
    return digest.hexdigest()
