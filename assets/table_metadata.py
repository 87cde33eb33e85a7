"""Arrow tables as Dagster shows them: a column schema, a preview, a version that follows the content."""

import base64
import hashlib
import math
from collections.abc import Mapping, Sequence
from typing import Any

import dagster as dg
import pyarrow as pa

_CELL = 90


def column_schema(schema: pa.Schema) -> dg.TableSchema:
    """The `dagster/column_schema` of a table: name, Arrow type, and what tables.py says each column holds."""
    return dg.TableSchema(
        columns=[
            dg.TableColumn(
                name=field.name,
                type=_type_name(field.type),
                description=(field.metadata or {}).get(b"description", b"").decode() or None,
                constraints=dg.TableColumnConstraints(nullable=field.nullable),
            )
            for field in schema
        ]
    )


def preview(table: pa.Table, columns: Sequence[str] | None = None, rows: int = 6) -> dg.TableMetadataValue:
    """The first rows, as a table that the UI shows in place. Lists and long texts are cut to what fits into a cell."""
    shown = table.select(list(columns) if columns else table.column_names).slice(0, rows)
    return dg.MetadataValue.table(
        records=[dg.TableRecord({name: _cell(value) for name, value in row.items()}) for row in shown.to_pylist()],
        schema=dg.TableSchema([dg.TableColumn(field.name, _cell_type(field.type)) for field in shown.schema]),
    )


def rows_preview(rows: Sequence[Mapping[str, Any]]) -> dg.TableMetadataValue:
    """Plain rows, all of them, as a table like `preview`'s."""
    return preview(pa.Table.from_pylist([dict(row) for row in rows]), rows=len(rows))


def picture(svg: bytes) -> dg.MarkdownMetadataValue:
    """An SVG image as Markdown that Dagster's UI shows in place."""
    return dg.MetadataValue.md(f"![graph](data:image/svg+xml;base64,{base64.b64encode(svg).decode()})")


def content_version(table: pa.Table) -> dg.DataVersion:
    """A data version that two tables share if and only if they hold the same values in the same order."""
    sink = hashlib.blake2b(digest_size=16)
    plain = table.cast(pa.schema([field.remove_metadata() for field in table.schema])).combine_chunks()
    stream = pa.BufferOutputStream()
    with pa.ipc.new_stream(stream, plain.schema) as writer:
        writer.write_table(plain, max_chunksize=65_536)
    sink.update(stream.getvalue())
    return dg.DataVersion(sink.hexdigest())


def _cell(value: object) -> str | int | float | bool | None:
    """A value as JSON has it: what is no number becomes text on one line."""
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, float):
        return float(f"{value:.3g}") if math.isfinite(value) else str(value)
    if isinstance(value, list):
        value = "; ".join(_inner(item) for item in value[:6]) + ("; …" if len(value) > 6 else "")
    text = " ".join(str(value).split())
    return text if len(text) <= _CELL else text[: _CELL - 1] + "…"


def _cell_type(kind: pa.DataType) -> str:
    """The type of a column of cells: numbers and truth values as they are, all else as text."""
    plain = pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind)
    return str(kind) if plain else "string"


def _inner(item: object) -> str:
    """What stands for one item of a list: an entity by its name, a quote by its words."""
    if isinstance(item, dict):
        return str(next((item[key] for key in ("name", "quote", "variable", "metric") if key in item), item))
    return f"{item:.3g}" if isinstance(item, float) else str(item)


def _type_name(kind: pa.DataType) -> str:
    if pa.types.is_struct(kind):
        return "struct<" + ", ".join(f"{field.name}: {_type_name(field.type)}" for field in kind) + ">"
    if pa.types.is_list(kind):
        return f"list<{_type_name(kind.value_type)}>"
    if pa.types.is_fixed_size_list(kind):
        return f"list<{_type_name(kind.value_type)}>[{kind.list_size}]"
    return str(kind)
