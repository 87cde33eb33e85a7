"""Reading and writing the LanceDB tables of an index. The only place that knows LanceDB, which is imported late."""

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from hcg_pipeline.embedding.embedder import Vectors
from hcg_pipeline.errors import SnapshotError

# Below this an exact scan is faster than an ANN index and finds everything.
_ANN_ROWS = 50_000


def connect(folder: Path) -> Any:
    """A connection to the tables of a folder."""
    import lancedb  # takes 1 to 2 s and 180 MB

    return lancedb.connect(str(folder))


def write_table(connection: Any, name: str, table: pa.Table, text: str | None) -> None:
    """Writes one table with a full-text index over column `text` and, where it pays, an ANN index over `vector`."""
    written = connection.create_table(name, data=table)
    if not table.num_rows:
        return
    if text is not None:
        from lancedb.index import FTS

        written.create_index(text, config=FTS())
    if "vector" in table.column_names and table.num_rows > _ANN_ROWS:
        from lancedb.index import IvfFlat

        written.create_index("vector", config=IvfFlat(distance_type="cosine"))


def read_table(connection: Any, name: str, columns: list[str] | None = None) -> pa.Table:
    """A whole table, in the order in which it was written. Raises `SnapshotError` if it is missing or damaged."""
    try:
        table = connection.open_table(name)
        wanted = columns if columns is not None else table.schema.names
        found: pa.Table = table.search().select(wanted).limit(max(1, table.count_rows())).to_arrow()
    except (ValueError, OSError, RuntimeError) as error:
        raise SnapshotError(
            f"table '{name}' of the index {connection.uri} cannot be read: {error}. "
            "Build the corpus again: hcg build CORPUS."
        ) from error
    return found.sort_by("row") if "row" in found.column_names else found


def with_rows(table: pa.Table) -> pa.Table:
    """The table with its row numbers as first column `row`, which keep its order."""
    return table.add_column(0, "row", pa.array(np.arange(table.num_rows), type=pa.int64()))


def vector_column(vectors: Vectors) -> pa.FixedSizeListArray:
    """(N, d) float32 as an Arrow column."""
    flat = pa.array(np.ascontiguousarray(vectors, dtype=np.float32).reshape(-1), type=pa.float32())
    return pa.FixedSizeListArray.from_arrays(flat, vectors.shape[1])


def vectors_of(table: pa.Table, dimension: int) -> Vectors:
    """The column `vector` as (N, d) float32."""
    column = table["vector"].combine_chunks()
    if not len(column):
        return np.empty((0, dimension), dtype=np.float32)
    flat = column.chunk(0).flatten() if isinstance(column, pa.ChunkedArray) else column.flatten()
    return np.ascontiguousarray(flat.to_numpy(zero_copy_only=False).reshape(-1, dimension))


def lists_of(table: pa.Table, column: str) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """A list column as (pointers (N+1,), values)."""
    lists = table[column].combine_chunks()
    if isinstance(lists, pa.ChunkedArray):
        lists = lists.chunk(0) if lists.num_chunks else pa.array([], type=lists.type)
    lengths = lists.value_lengths().fill_null(0).to_numpy(zero_copy_only=False)
    return np.concatenate(([0], np.cumsum(lengths))).astype(np.int64), lists.flatten().to_numpy(zero_copy_only=False)
