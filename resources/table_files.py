"""Where assets keep their tables: one parquet file per asset and corpus, replaced as a whole or not at all.

The same holds for the few other files of a corpus's store. On this machine a new file is renamed over the old one; an
object store shows an object once all of it was put there.
"""

import io
import os
import secrets
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO

import dagster as dg
import pyarrow as pa
import pyarrow.parquet as pq
from upath import UPath

from hcg_pipeline.any_path import AnyPath
from hcg_pipeline.errors import HcgError
from resources.places import folder_name, is_remote

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
        if isinstance(path, Path):
            super().make_directory(path)

    def _handle_transition_to_partitioned_asset(self, context: dg.OutputContext, path: UPath) -> None:
        """Nothing: these assets were never without partitions, and on S3 it would be three requests a table."""

    def dump_to_path(self, context: dg.OutputContext, obj: pa.Table, path: UPath) -> None:
        """Write the table. Raises `HcgError` for anything that is not an Arrow table."""
        if not isinstance(obj, pa.Table):
            raise HcgError(f"{path.stem}: assets hand on Arrow tables, not {type(obj).__name__}.")
        replace_table(path, obj)

    def load_from_path(self, context: dg.InputContext, path: UPath) -> pa.Table:
        """Read the table. Raises `HcgError` if it has not been made yet or is not a parquet file."""
        try:
            return read_table(path)
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
        return TableFiles(UPath(self.store, use_listings_cache=False) if "://" in self.store else UPath(self.store))


def replace_table(path: AnyPath, table: pa.Table) -> None:
    """Write a parquet file so that a reader, or a crash at any moment, finds the old file or the new one."""
    _replace(path, lambda file: _write_parquet(table, file))


def replace_text(path: AnyPath, text: str) -> None:
    """Write a UTF-8 text file in the same way."""
    _replace(path, lambda file: file.write(text.encode()))


def replace_bytes(path: AnyPath, content: bytes) -> None:
    """Write a file in the same way."""
    _replace(path, lambda file: file.write(content))


def remove_folder(folder: AnyPath) -> None:
    """Remove a folder and all that is in it."""
    if is_remote(folder):
        folder.fs.rm(folder.path, recursive=True)
    else:
        shutil.rmtree(str(folder))


def _replace(path: AnyPath, write: Callable[[BinaryIO], object]) -> None:
    """On this machine, new bytes go to a temporary name in the same folder, are forced to disk and renamed.

    What a killed writer left behind is removed once it is an hour old.
    """
    if is_remote(path):
        whole = io.BytesIO()
        write(whole)
        path.fs.pipe_file(path.path, whole.getvalue())
        return
    path = Path(str(path))
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


def read_table(path: AnyPath) -> pa.Table:
    """Read a parquet file. Raises `FileNotFoundError`, and `HcgError` when it is not one."""
    # In one request: `read_bytes` would ask for the object's size first.
    return _from_parquet(path.fs.cat_file(path.path) if is_remote(path) else path.read_bytes(), str(path))


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
