"""Dagster's SQLite storage with its databases kept open: an event costs a write, and no longer three syncs of the disk.

Dagster opens and closes a connection for every event. Each closing is SQLite's last one and so moves the write-ahead
log into the database, with a sync before and after. Here the index of events, and the events of one run, stay open
while the process lives. Writes are synced when the log is moved (`synchronous=NORMAL`): a killed process loses nothing,
and a machine that loses its power at most the last events, with the database whole.
"""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import sqlalchemy
from dagster._core.events.log import EventLogEntry
from dagster._core.storage.event_log import SqliteEventLogStorage
from dagster._core.storage.event_log.sqlite.sqlite_event_log import INDEX_SHARD_NAME
from dagster._core.storage.sqlite import SQLITE_BUSY_TIMEOUT_SECONDS
from dagster._core.storage.sqlite_storage import DagsterSqliteStorage
from dagster._serdes import ConfigurableClassData
from sqlalchemy import Connection, Engine


class KeptOpenEventLog(SqliteEventLogStorage):
    """Dagster's own event log, on the same files."""

    def __init__(self, base_dir: str, inst_data: ConfigurableClassData | None = None) -> None:
        self._engines: dict[str, Engine] = {}
        super().__init__(base_dir, inst_data)

    def store_event(self, event: EventLogEntry) -> None:
        """Store an event, and touch the run's file: by that the UI, in another process, knows that there is more."""
        super().store_event(event)
        os.utime(self.path_for_shard(event.run_id))

    def dispose(self) -> None:
        """Close what is open, which moves what was written into the databases."""
        super().dispose()
        with self._db_lock:
            for shard in list(self._engines):
                self._engines.pop(shard).dispose()

    def wipe(self) -> None:
        """Remove all events."""
        self.dispose()
        super().wipe()

    @contextmanager
    def _connect(self, shard: str) -> Iterator[Connection]:
        with self._db_lock, self._engine(shard).begin() as connection:
            yield connection

    def _engine(self, shard: str) -> Engine:
        """The open engine of a shard. Of the runs, one at a time is kept: a process works on one, and reads many."""
        if shard not in self._engines:
            for other in [name for name in self._engines if INDEX_SHARD_NAME not in (name, shard)]:
                self._engines.pop(other).dispose()
            self._prepare(shard)
            engine = sqlalchemy.create_engine(
                self.conn_string_for_shard(shard),
                pool_size=1,
                max_overflow=0,
                connect_args={"timeout": SQLITE_BUSY_TIMEOUT_SECONDS},
            )
            sqlalchemy.event.listen(engine, "connect", _sync_less_often)
            self._engines[shard] = engine
        return self._engines[shard]

    def _prepare(self, shard: str) -> None:
        """Make a new database's tables, as Dagster does, with an engine of its own."""
        if shard not in self._initialized_dbs:
            engine = sqlalchemy.create_engine(self.conn_string_for_shard(shard), poolclass=sqlalchemy.NullPool)
            self._initdb(engine)
            self._initialized_dbs.add(shard)


class KeptOpenStorage(DagsterSqliteStorage):
    """Runs, events and schedules under one folder, as Dagster's default storage keeps them."""

    def __init__(self, base_dir: str, inst_data: ConfigurableClassData | None = None) -> None:
        super().__init__(base_dir, inst_data)
        self._event_log_storage = KeptOpenEventLog(str(Path(base_dir) / "history" / "runs"))

    @classmethod
    def from_config_value(
        cls, inst_data: ConfigurableClassData | None, config_value: Mapping[str, Any]
    ) -> "KeptOpenStorage":
        """The storage that an instance's settings name."""
        return cls.from_local(**config_value, inst_data=inst_data)


def _sync_less_often(connection: Any, _record: Any) -> None:
    connection.execute("PRAGMA synchronous=NORMAL")
