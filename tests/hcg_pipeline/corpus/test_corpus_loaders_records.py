"""Plain text, JSON, JSONL, CSV and TSV."""

import json

import pytest

from hcg_pipeline.corpus.loaders import kind_of
from hcg_pipeline.corpus.record import Record
from hcg_pipeline.errors import DocumentError


def _load(name: str, content: str | bytes) -> list[Record]:
    kind = kind_of(name)
    assert kind is not None
    return kind.load(content.encode() if isinstance(content, str) else content)


def _text(name: str, content: str | bytes) -> str:
    [record] = _load(name, content)
    assert (record.number, record.reason) == (None, None)
    return record.text


def _json(value: object) -> list[tuple[int | None, str]]:
    return [(record.number, record.text) for record in _load("a.json", json.dumps(value))]


def test_plain_text_is_taken_as_it_is_even_where_it_looks_like_cut_off_json() -> None:
    assert _text("a.txt", '{"name": "John",\n') == '{"name": "John",\n'
    assert _text("a.txt", "Größe".encode("utf-16")) == "Größe"


def test_the_graphrag_bench_corpus_form() -> None:
    assert _json({"corpus_name": "Medical", "context": "Smoking causes cancer."}) == [(None, "Smoking causes cancer.")]
    assert _json([{"corpus_name": "A", "context": "One."}, {"corpus_name": "B", "context": "Two."}]) == [
        (1, "One."),
        (2, "Two."),
    ]


@pytest.mark.parametrize("field", ["text", "context", "content", "body", "abstract", "Text"])
def test_a_field_of_prose_and_the_title_make_the_text(field: str) -> None:
    assert _json({"id": 7, "title": "Seal  wear", field: "Seals wear."}) == [(None, "Seal wear\n\nSeals wear.")]


def test_prose_fields_are_all_taken_once_and_lists_joined() -> None:
    record = {
        "abstract": "Short.",
        "body": ["First part.", "Second part."],
        "text": "Short.",
        "sentences": ["A b.", "C d."],
    }
    assert _json(record) == [(None, "Short.\n\nFirst part.\n\nSecond part.\n\nA b. C d.")]
    assert _json({"title": "Seals", "text": "Seals wear."}) == [(None, "Seals wear.")]


def test_records_within_an_object_are_documents() -> None:
    assert _json({"version": 2, "articles": [{"headline": "H", "text": "One."}, {"text": "Two."}]}) == [
        (1, "H\n\nOne."),
        (2, "Two."),
    ]
    squad = {
        "data": [{"title": "T", "paragraphs": [{"context": "One.", "qas": [{"question": "?"}]}, {"context": "Two."}]}]
    }
    assert _json(squad) == [(1, "T\n\nOne.\n\nTwo.")]


def test_anything_else_is_its_leaves() -> None:
    value = {
        "name": "Pump 7",
        "rate": 3.5,
        "on": True,
        "note": None,
        "place": {"city": "Bonn"},
        "parts": ["seal", "shaft"],
        "tests": [{"kind": "dry"}, {"kind": "wet"}],
    }
    assert _json(value) == [
        (
            None,
            "name: Pump 7\nrate: 3.5\non: true\nplace.city: Bonn\nparts: seal, shaft\ntests.kind: dry\ntests.kind: wet",
        )
    ]
    assert _json("Just a string.") == [(None, "Just a string.")]
    assert _json(["a", "b"]) == [(None, "a, b")]


def test_json_that_is_several_lines_of_json() -> None:
    records = _load("a.json", '{"text": "One."}\n{"text": "Two."}\n')
    assert [(record.number, record.text) for record in records] == [(1, "One."), (2, "Two.")]


def test_json_lines() -> None:
    records = _load("a.jsonl", '{"text": "One."}\r\n\r\n"Two."\r\n{"text": "cut\r\n{"a": 1}')
    assert [(record.number, record.text) for record in records if record.reason is None] == [
        (1, "One."),
        (3, "Two."),
        (5, "a: 1"),
    ]
    [bad] = [record for record in records if record.reason is not None]
    assert bad.number == 4
    assert str(bad.reason).startswith("not valid JSON: ")


def test_text_that_calls_itself_jsonl_is_rejected_as_a_whole() -> None:
    with pytest.raises(DocumentError, match=r"no line of it is JSON \(line 1: .*name it \.txt"):
        _load("a.jsonl", "Just prose.\nMore prose.\n")


def test_rows_are_sentences_with_their_columns() -> None:
    assert _text("a.csv", 'drug,effect\naspirin,"bleeding, ulcers"\nvalproate,tremor.\n') == (
        "drug: aspirin; effect: bleeding, ulcers.\ndrug: valproate; effect: tremor."
    )


@pytest.mark.parametrize(
    ("delimiter", "name"), [(",", "a.csv"), (";", "a.csv"), ("\t", "a.tsv"), ("|", "a.csv"), (";", "a.tsv")]
)
def test_the_delimiter_is_told_from_the_text(delimiter: str, name: str) -> None:
    rows = [["part", "life, hours"], ["seal", "9,000"], ["shaft", "80,000"]]
    quote = '"{}"' if delimiter == "," else "{}"
    content = "\n".join(delimiter.join(quote.format(cell) for cell in row) for row in rows)
    assert _text(name, content) == "part: seal; life, hours: 9,000.\npart: shaft; life, hours: 80,000."


def test_ragged_rows_empty_cells_and_line_breaks_in_cells() -> None:
    assert _text("a.csv", 'a,b,c\n1,2\n3,4,5,6\n\n7,,9\n8,"two\nlines",\n') == (
        "a: 1; b: 2.\na: 3; b: 4; c: 5; 6.\na: 7; c: 9.\na: 8; b: two lines."
    )


def test_without_a_header_rows_are_their_values() -> None:
    assert _text("a.csv", "1,2,3\n4,5,6\n") == "1; 2; 3.\n4; 5; 6."
    assert _text("a.csv", "seal,0.2\nshaft,0.1\n") == "seal: 0.2.\nshaft: 0.1."
    assert _text("a.csv", "text\nSmoking causes cancer.\nRain causes floods!\n") == (
        "text: Smoking causes cancer.\ntext: Rain causes floods!"
    )


def test_csv_in_other_encodings() -> None:
    assert _text("a.csv", "名前,住所\r\n佐藤太郎,東京\r\n".encode("cp932")) == "名前: 佐藤太郎; 住所: 東京."
    assert _text("a.csv", "Team,Cups\nBlues,one\n".encode("utf-16")) == "Team: Blues; Cups: one."


def test_a_cell_of_a_megabyte() -> None:
    cell = "A pump fails when its seal wears. " * 30_000
    assert _text("a.csv", f'id,text\nx,"{cell}"\n').startswith("id: x; text: A pump fails")
