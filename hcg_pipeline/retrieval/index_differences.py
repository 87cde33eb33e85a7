"""Whether an index holds what its graph holds: the two are written together, and read together ever after."""

from collections.abc import Iterator, Mapping
from pathlib import Path

import pyarrow as pa

from hcg_pipeline.retrieval import lance_tables as lance

_KEYS = {"chunks": "chunk_id", "variables": "variable", "edges": "edge_id"}


def index_differences(folder: Path, chunks: pa.Table, nodes: pa.Table, edges: pa.Table) -> list[dict[str, str]]:
    """Every passage, variable and edge that only one of graph (CHUNKS, NODES, EDGES) and index (in `folder`) holds.

    Rows of `table`, `row` (its key) and `only` ('graph' or 'index'), sorted. Raises `SnapshotError` where a table of
    the index is missing or cannot be read.
    """
    tables = {"chunks": chunks, "variables": nodes, "edges": edges}
    return list(_differences(folder, tables))


def _differences(folder: Path, tables: Mapping[str, pa.Table]) -> Iterator[dict[str, str]]:
    connection = lance.connect(folder)
    for name, key in _KEYS.items():
        built = set(tables[name][key].to_pylist())
        indexed = set(lance.read_table(connection, name, [key])[key].to_pylist())
        for row in sorted(built ^ indexed):
            yield {"table": name, "row": row, "only": "graph" if row in built else "index"}
