"""What a backend reads and judges, kept in a database: the same question of the same version is not asked again."""

import hashlib
import threading
from collections.abc import Callable, Sequence
from typing import TypeVar

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
_KEPT = sa.Table(
    "kept",
    sa.MetaData(),
    sa.Column("key", sa.String(32), primary_key=True),
    sa.Column("version", sa.String(200), nullable=False, index=True),
    sa.Column("result", sa.LargeBinary, nullable=False),
)
_READING: TypeAdapter[Reading] = TypeAdapter(Reading)
_VERDICTS: TypeAdapter[tuple[TemplateVerdict, ...]] = TypeAdapter(tuple[TemplateVerdict, ...])
_RELATIONS: TypeAdapter[tuple[ProposedRelation, ...]] = TypeAdapter(tuple[ProposedRelation, ...])

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")


class KeptReadings:
    """A `LanguageBackend` around one that makes no calls: same results, each window and question looked at once.

    Proposals and answers are the inner backend's. What other versions of it found is removed. Every method that keeps
    anything raises `BackendError` where the database cannot be used.
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
        """As the inner backend; it is asked for those windows that are new in this vocabulary."""

        def read(new: Sequence[Window]) -> Outcome[Reading]:
            return self._backend.read_windows(new, vocabulary, progress)

        return self._kept("reading", repr(vocabulary), windows, read, _READING, progress)

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
        """As the inner backend; it is asked those questions that are new."""

        def judge(new: Sequence[TemplateQuestion]) -> Outcome[tuple[TemplateVerdict, ...]]:
            return self._backend.judge_templates(new, progress)

        return self._kept("templates", "", questions, judge, _VERDICTS, progress)

    def judge_edges(
        self, questions: Sequence[EdgeQuestion], progress: Progress
    ) -> Outcome[tuple[ProposedRelation, ...]]:
        """As the inner backend; it is asked those questions that are new."""

        def judge(new: Sequence[EdgeQuestion]) -> Outcome[tuple[ProposedRelation, ...]]:
            return self._backend.judge_edges(new, progress)

        return self._kept("edges", "", questions, judge, _RELATIONS, progress)

    def answer(self, requests: Sequence[AnswerRequest], progress: Progress) -> Outcome[AnswerReply]:
        """As the inner backend."""
        return self._backend.answer(requests, progress)

    def _kept(
        self,
        stage: str,
        context: str,
        items: Sequence[_Item],
        ask: Callable[[Sequence[_Item]], Outcome[_Result]],
        form: TypeAdapter[_Result],
        progress: Progress,
    ) -> Outcome[_Result]:
        root = _digest(f"{self.version}\x1f{stage}\x1f{context}")
        keys = [_digest(f"{root}\x1f{item!r}") for item in items]
        try:
            self._prepare()
            found = self._find(keys, form)
            missing = {key: item for key, item in zip(keys, items, strict=True) if key not in found}
            asked = ask(list(missing.values()))
            if len(asked.results) < len(missing):
                # Some failed, so what belongs to which is not told by its place: keep nothing, and say it as it is.
                return ask(items)
            new = dict(zip(missing, asked.results, strict=True))
            self._keep({key: form.dump_json(result) for key, result in new.items()})
        except SQLAlchemyError as error:
            raise BackendError(
                f"the readings in {self._engine.url!r} cannot be used: {error.__class__.__name__}: {error}. Check that "
                "its folder can be written, or delete the file: it is made anew."
            ) from error
        if items and not missing:
            progress.advance(stage, len(items), len(items))
        return Outcome(tuple(new[key] if key in new else found[key] for key in keys), (), asked.usage)

    def _prepare(self) -> None:
        with self._lock:
            if not self._ready:
                _KEPT.metadata.create_all(self._engine)
                with self._engine.begin() as connection:
                    connection.execute(_KEPT.delete().where(_KEPT.c.version != self.version))
                self._ready = True

    def _find(self, keys: Sequence[str], form: TypeAdapter[_Result]) -> dict[str, _Result]:
        found: dict[str, _Result] = {}
        query = sa.select(_KEPT.c.key, _KEPT.c.result).where(_KEPT.c.key.in_(sa.bindparam("keys", expanding=True)))
        with self._engine.connect() as connection:
            for start in range(0, len(keys), _BLOCK):
                for key, result in connection.execute(query, {"keys": list(keys[start : start + _BLOCK])}):
                    try:
                        found[key] = form.validate_json(result)
                    except ValidationError:
                        continue  # a damaged row is read again, not trusted
        return found

    def _keep(self, results: dict[str, bytes]) -> None:
        rows = [{"key": key, "version": self.version, "result": result} for key, result in results.items()]
        with self._engine.begin() as connection:
            for start in range(0, len(rows), _BLOCK):
                block = rows[start : start + _BLOCK]
                connection.execute(_KEPT.delete().where(_KEPT.c.key.in_([row["key"] for row in block])))
                connection.execute(_KEPT.insert(), block)


def _digest(text: str) -> str:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
