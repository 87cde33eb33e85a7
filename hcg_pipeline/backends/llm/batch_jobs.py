"""The batch jobs that were begun and not collected yet, in a table beside the cache's.

A job is written down before the endpoint hears of it and again when it has a name there, so that a process that dies
at any moment leaves what the next one needs to find it: its id, or the mark that it was created with.
"""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

import sqlalchemy as sa
from sqlalchemy.schema import CreateTable

from hcg_pipeline.backends.llm.cache import connected

JOBS = sa.Table(
    "llm_batch_jobs",
    sa.MetaData(),
    sa.Column("mark", sa.String(32), primary_key=True),
    sa.Column("endpoint", sa.Text, nullable=False),
    sa.Column("batch_id", sa.Text, nullable=False),
    sa.Column("keys", sa.Text, nullable=False),
)


@dataclass(frozen=True, slots=True)
class Job:
    """A batch job. `batch_id` is '' until the endpoint has given it one; `keys` are those of its requests."""

    mark: str
    batch_id: str
    keys: tuple[str, ...]


class JobBook:
    """The open jobs at one endpoint."""

    def __init__(self, engine: sa.Engine, endpoint: str) -> None:
        self._engine = engine
        self._endpoint = endpoint
        with suppress(sa.exc.IntegrityError), connected(engine) as connection:  # another session is making it just now
            connection.execute(CreateTable(JOBS, if_not_exists=True))

    def open_jobs(self) -> list[Job]:
        """All of them, in the order of their marks."""
        query = sa.select(JOBS).where(JOBS.c.endpoint == self._endpoint).order_by(JOBS.c.mark)
        with connected(self._engine) as connection:
            rows = connection.execute(query).all()
        return [Job(row.mark, row.batch_id, tuple(row.keys.split())) for row in rows]

    def begin(self, mark: str, keys: Sequence[str]) -> Job:
        """Write down a job that is about to be created."""
        row = {"mark": mark, "endpoint": self._endpoint, "batch_id": "", "keys": " ".join(keys)}
        with connected(self._engine) as connection:
            connection.execute(sa.insert(JOBS).values(row))
        return Job(mark, "", tuple(keys))

    def name(self, job: Job, batch_id: str) -> Job:
        """Write down what the endpoint calls the job."""
        with connected(self._engine) as connection:
            connection.execute(sa.update(JOBS).where(JOBS.c.mark == job.mark).values(batch_id=batch_id))
        return Job(job.mark, batch_id, job.keys)

    def close(self, job: Job) -> None:
        """The job is collected, or will never be."""
        with connected(self._engine) as connection:
            connection.execute(sa.delete(JOBS).where(JOBS.c.mark == job.mark))
