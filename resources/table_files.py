"""Where assets keep their tables: one parquet file per asset and corpus, replaced as a whole or not at all."""

import os
import secrets
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO

import dagster as dg
import pyarrow as pa
import pyarrow.parquet as pq
from upath import UPath

from hcg_pipeline.errors import HcgError
from resources.places import folder_name

_STALE_AFTER_SECONDS = 3600.0


class TableFiles(dg.UPathIOManager):
    """Stores Arrow tables as `<store>/<corpus>/assets/<asset>.parquet`."""

    extension: str | None = ".parquet"

    def __init__(self, store: UPath) -> None:
        super().__init__(base_path=store)

    def get_path_for_partition(self, context: dg.InputContext | dg.OutputContext, path: UPath, partition: str) -> UPath:
        """The file without its ending; the corpus name is quoted, so no key can leave the store."""
        return self._base_path / folder_name(partition) / "assets" / path.name

    def make_directory(self, path: UPath) -> None:
        """Create the folder where the storage has folders; an object store has none."""
        if _is_local(path):
            super().make_directory(path)

    def dump_to_path(self, context: dg.OutputContext, obj: pa.Table, path: UPath) -> None:
        """Write the table. Raises `HcgError` for anything that is not an Arrow table."""
        if not isinstance(obj, pa.Table):
            raise HcgError(f"{path.stem}: assets hand on Arrow tables, not {type(obj).__name__}.")
        if _is_local(path):
            replace_table(Path(str(path)), obj)
        else:
            path.write_bytes(_to_parquet(obj))

    def load_from_path(self, context: dg.InputContext, path: UPath) -> pa.Table:
        """Read the table. Raises `HcgError` if it has not been made yet or is not a parquet file."""
        try:
            return read_table(Path(str(path))) if _is_local(path) else _from_parquet(path.read_bytes(), str(path))
        except FileNotFoundError as error:
            raise HcgError(
                f"{path.stem} of this corpus has not been made yet ({path}): materialize it first, "
                "together with everything upstream of it."
            ) from error


class TableFilesResource(dg.ConfigurableIOManagerFactory[TableFiles]):
    """The IO manager of every asset; `store` is the folder (or URL) under which all corpora are kept."""

    store: str

    def create_io_manager(self, context: Any) -> TableFiles:
        """Build the IO manager over `store`."""
        return TableFiles(UPath(self.store))


def replace_table(path: Path, table: pa.Table) -> None:
    """Write a parquet file so that a reader, or a crash at any moment, finds the old file or the new one."""
    _replace(path, lambda file: _write_parquet(table, file))


def replace_text(path: Path, text: str) -> None:
    """Write a UTF-8 text file in the same way."""
    _replace(path, lambda file: file.write(text.encode()))


def replace_bytes(path: Path, content: bytes) -> None:
    """Write a file in the same way."""
    _replace(path, lambda file: file.write(content))


def _replace(path: Path, write: Callable[[BinaryIO], object]) -> None:
    """The new bytes go to a temporary name in the same folder, are forced to disk and renamed over the old file.

    What a killed writer left behind is removed once it is an hour old.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    _remove_leftovers(path)
    temporary = path.with_name(f".{path.name}.{os.getpid()}-{secrets.token_hex(4)}.tmp")
    try:
        with temporary.open("wb") as file:
            write(file)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def read_table(path: Path) -> pa.Table:
    """Read a parquet file. Raises `FileNotFoundError`, and `HcgError` when it is not one."""
    return _from_parquet(path.read_bytes(), str(path))


def _to_parquet(table: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    _write_parquet(table, sink)
    return bytes(sink.getvalue())


def _write_parquet(table: pa.Table, sink: Any) -> None:
    # The names inside of lists stay as they are, so that a schema is equal to itself after a round trip.
    pq.write_table(table, sink, compression="zstd", use_compliant_nested_type=False)


def _from_parquet(content: bytes, place: str) -> pa.Table:
    try:
        return pq.read_table(pa.BufferReader(content))
    except pa.ArrowInvalid as error:
        raise HcgError(f"{place} is not a parquet file ({error}): materialize the asset again.") from error


def _remove_leftovers(path: Path) -> None:
    for leftover in path.parent.glob(f".{path.name}.*.tmp"):
        if time.time() - leftover.stat().st_mtime > _STALE_AFTER_SECONDS:
            leftover.unlink(missing_ok=True)


def _is_local(path: UPath) -> bool:
    return isinstance(path, Path)
