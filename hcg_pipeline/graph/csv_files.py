"""The published graph as CSV: nodes, edges and evidence, for spreadsheets and for whatever reads nothing else."""

import csv
import io
from collections.abc import Mapping
from typing import Any

import pyarrow as pa

from hcg_pipeline.graph.published import Graph

_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def csv_files(graph: Graph) -> dict[str, str]:
    """`nodes.csv`, `edges.csv` and `evidence.csv` by name: the columns of NODES, EDGES and EVIDENCE_LINKS (RFC 4180).

    Lists are joined with ' | '. A longer text that a spreadsheet would take for a formula (it begins with = + - @) gets
    an apostrophe before it; the sign of an edge stays as it is.
    """
    tables = {"nodes": graph.nodes, "edges": graph.edges, "evidence": graph.evidence}
    return {f"{name}.csv": _csv(table) for name, table in tables.items()}


def _csv(table: pa.Table) -> str:
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, table.column_names, lineterminator="\r\n")
    writer.writeheader()
    writer.writerows(_row(row) for row in table.to_pylist())
    return text.getvalue()


def _row(row: Mapping[str, Any]) -> dict[str, Any]:
    return {name: _cell(value) for name, value in row.items()}


def _cell(value: Any) -> Any:
    if isinstance(value, list):
        value = " | ".join(value)
    if isinstance(value, str) and len(value) > 1 and value.startswith(_FORMULA):
        return "'" + value
    return value
