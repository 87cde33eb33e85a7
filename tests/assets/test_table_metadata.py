"""Tables as Dagster shows them: columns, previews that carry no markup of the documents, versions from content."""

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from assets.table_metadata import column_schema, content_version, picture, preview
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


def test_preview_shows_the_first_rows_and_how_many_more_there_are():
    table = pa.table({"n": list(range(1000)), "s": ["x"] * 1000})
    assert preview(table, rows=2).value == "| n | s |\n| --- | --- |\n| 0 | x |\n| 1 | x |\n\n… and 998 more rows"
    assert preview(table, ["s"], rows=1).value.startswith("| s |\n| --- |\n| x |\n")


def test_preview_of_lists_structs_numbers_and_nothing():
    table = pa.table(
        {
            "entities": [[{"name": "a", "mentions": 1}, {"name": "b", "mentions": 2}]],
            "share": [0.123456],
            "none": pa.array([None], pa.string()),
        }
    )
    assert preview(table).value.splitlines()[2] == "| a; b | 0.123 |  |"


def test_a_document_cannot_put_markup_on_the_page():
    hostile = "<script>alert(1)</script> ![x](http://e.vil) | `b` **c**\n# d"
    [line] = preview(pa.table({"text": [hostile]})).value.splitlines()[2:]
    assert "<script" not in line.replace("\\<", "")
    assert "![" not in line
    assert line.count(" | ") == 0, "no cell can open another column"


@given(st.text(max_size=200))
def test_a_cell_is_always_one_cell(text):
    lines = preview(pa.table({"text": pa.array([text], pa.string())})).value.split("\n")
    assert len(lines) == 3
    body = lines[2][2:-2]
    assert "|" not in body.replace("\\|", "")


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
