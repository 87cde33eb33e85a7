"""Tables as Dagster shows them: columns, previews, versions from content."""

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from assets.table_metadata import column_schema, content_version, picture, preview, rows_preview
from hcg_pipeline.tables import DIMENSIONS, EVIDENCE_LINKS, embeddings_schema


def test_column_schema_takes_names_types_and_descriptions():
    columns = {column.name: column for column in column_schema(EVIDENCE_LINKS).columns}
    assert list(columns) == EVIDENCE_LINKS.names
    assert columns["start"].type == "int64"
    assert columns["start"].description == "first character in the document"
    assert columns["similarity"].constraints.nullable
    assert not columns["quote"].constraints.nullable
    [vector] = [column for column in column_schema(embeddings_schema(256)).columns if column.name == "vector"]
    assert vector.type == "list<float>[256]"
    [entities] = [column for column in column_schema(DIMENSIONS).columns if column.name == "entities"]
    assert entities.type == "list<struct<name: string, aliases: list<string>, mentions: int64>>"


def rows_of(shown):
    return [dict(record.data) for record in shown.records]


def test_preview_shows_the_first_rows_as_a_table():
    table = pa.table({"n": list(range(1000)), "s": ["x"] * 1000})
    shown = preview(table, rows=2)
    assert rows_of(shown) == [{"n": 0, "s": "x"}, {"n": 1, "s": "x"}]
    assert [(column.name, column.type) for column in shown.schema.columns] == [("n", "int64"), ("s", "string")]
    assert rows_of(preview(table, ["s"], rows=1)) == [{"s": "x"}]


def test_preview_of_lists_structs_numbers_and_nothing():
    table = pa.table(
        {
            "entities": [[{"name": "a", "mentions": 1}, {"name": "b", "mentions": 2}]],
            "share": [0.123456],
            "odd": [float("nan")],
            "sure": [True],
            "none": pa.array([None], pa.string()),
        }
    )
    shown = preview(table)
    assert rows_of(shown) == [{"entities": "a; b", "share": 0.123, "odd": "nan", "sure": True, "none": None}]
    assert [column.type for column in shown.schema.columns] == ["string", "double", "double", "bool", "string"]


def test_rows_are_shown_even_where_there_are_none():
    assert rows_of(rows_preview([{"word": "a", "passages": 2}])) == [{"word": "a", "passages": 2}]
    assert rows_of(rows_preview([])) == []


@given(st.text(max_size=300))
def test_a_cell_is_one_line_that_is_not_long(text):
    [[cell]] = [list(row.values()) for row in rows_of(preview(pa.table({"text": pa.array([text], pa.string())})))]
    assert len(cell) <= 90
    assert cell.splitlines() in ([], [cell])


def test_picture_is_an_image():
    assert picture(b"<svg/>").value == "![graph](data:image/svg+xml;base64,PHN2Zy8+)"


def test_a_version_follows_values_order_and_types_and_nothing_else():
    table = pa.table({"x": [1, 2, 3], "s": ["a", None, "c"]})
    version = content_version(table)
    chunked = pa.concat_tables([table.slice(0, 1), table.slice(1)])
    assert content_version(chunked) == version
    assert content_version(table.replace_schema_metadata({"note": "other"})) == version
    described = table.cast(pa.schema([pa.field("x", pa.int64(), metadata={"d": "y"}), table.schema.field("s")]))
    assert content_version(described) == version
    for other in (
        table.slice(0, 2),
        table.take([1, 0, 2]),
        table.rename_columns(["y", "s"]),
        table.set_column(0, "x", pa.array([1, 2, 4])),
        table.set_column(0, "x", table["x"].cast(pa.int32())),
    ):
        assert content_version(other) != version
