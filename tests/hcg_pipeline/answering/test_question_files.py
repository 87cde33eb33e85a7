"""Question files in every format, and what is said about those that are wrong."""

import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from hcg_pipeline.answering.questions import Question, find_question_files, read_questions
from hcg_pipeline.errors import QuestionFileError

ROWS = [
    {
        "id": "q1", "question": "What rusts?", "answer": "Iron.", "question_type": "Fact Retrieval",
        "evidence": ["Iron rusts.", "Rust is an oxide."],
    },
    {"id": "q2", "question": "Why, \"really\"?", "answer": "Because of water, air; and salt.", "evidence": "Water."},
    {"id": 3, "question": "Nothing known of this?"},
]  # fmt: skip
EXPECTED = [
    Question("q1", "What rusts?", "Iron.", "Fact Retrieval", ("Iron rusts.", "Rust is an oxide.")),
    Question("q2", 'Why, "really"?', "Because of water, air; and salt.", "", ("Water.",)),
    Question("3", "Nothing known of this?", None, "", ()),
]
CSV = (
    "id,question,answer,question_type,evidence,note\n"
    'q1,What rusts?,Iron.,Fact Retrieval,"[""Iron rusts."", ""Rust is an oxide.""]",x\n'
    'q2,"Why, ""really""?","Because of water, air; and salt.",,Water.,\n'
    "3,Nothing known of this?,,,,\n"
)


def write(path, content, encoding="utf-8"):
    path.write_bytes(content.encode(encoding) if isinstance(content, str) else content)
    return path


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("list.json", json.dumps(ROWS)),
        ("object.json", json.dumps({"questions": ROWS, "source": "here"})),
        ("lines.jsonl", "\n".join(map(json.dumps, ROWS)) + "\n\n"),
        ("LINES.JSONL", "\r\n".join(map(json.dumps, ROWS))),
        ("cells.csv", CSV),
        ("marked.csv", "\ufeff" + CSV),
    ],
)
def test_each_format_reads_the_same(tmp_path, name, content):
    assert read_questions(write(tmp_path / name, content)) == EXPECTED


def test_parquet_reads_the_same(tmp_path):
    columns = {
        "id": ["q1", "q2", "3"],
        "question": [row["question"] for row in ROWS],
        "answer": [row.get("answer") for row in ROWS],
        "question_type": ["Fact Retrieval", None, None],
        "evidence": pa.array([["Iron rusts.", "Rust is an oxide."], ["Water."], None]),
    }
    pq.write_table(pa.table(columns), tmp_path / "q.parquet")
    assert read_questions(tmp_path / "q.parquet") == EXPECTED


def test_graphrag_bench_records_are_read_as_they_are(tmp_path):
    record = {
        "id": "Medical-1", "source": "Medical", "question": "Q?", "answer": "A.", "question_type": "Complex Reasoning",
        "evidence": ["E."], "evidence_relations": "r",
    }  # fmt: skip
    path = write(tmp_path / "q.json", json.dumps([record]))
    assert read_questions(path) == [Question("Medical-1", "Q?", "A.", "Complex Reasoning", ("E.",))]


@pytest.mark.parametrize("encoding", ["utf-16", "cp1252"])
def test_other_encodings_are_recognised(tmp_path, encoding):
    text = "Wodurch entsteht Müdigkeit, wenn die Prüfungen länger dauern und die Gänge überfüllt sind?"
    rows = [{"id": str(number), "question": text} for number in range(20)]
    path = write(tmp_path / "q.json", json.dumps(rows, ensure_ascii=False), encoding)
    assert [question.question for question in read_questions(path)] == [text] * 20


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("q.txt", "x", r"q\.txt: '\.txt' is no question format"),
        ("q.json", "[{", r"q\.json: not JSON"),
        ("q.json", '{"items": []}', r"q\.json: neither a list nor an object"),
        ("q.json", "[]", r"q\.json: no questions in it"),
        ("q.json", '[{"id": "1", "question": "a?"}, 7]', r"q\.json, record 2: a int, not an object"),
        ("q.json", '[{"question": "a?"}]', r"q\.json, record 1: no 'id'"),
        ("q.json", '[{"id": "1"}]', r"q\.json, record 1: no 'question'"),
        ("q.json", '[{"id": "1", "question": "  "}]', r"q\.json, record 1: 'question' is empty"),
        ("q.json", '[{"id": null, "question": "a?"}]', r"q\.json, record 1: 'id' is empty"),
        ("q.json", '[{"id": "1", "question": ["a?"]}]', r"record 1: 'question' is a list, not a text"),
        ("q.json", '[{"id": 1, "question": "a?"}, {"id": "1", "question": "b?"}]', r"record 2: id '1' .* record 1"),
        ("q.jsonl", '{"id": "1", "question": "a?"}\n\n{"id": 2,', r"q\.jsonl, line 3: not JSON"),
        ("q.csv", "id;question\n1;a?\n", r"q\.csv, line 1: no column 'id' among 'id;question'"),
        ("q.csv", "", r"q\.csv: the file is empty"),
        ("q.csv", "\n", r"q\.csv, line 1: no column 'id' among none"),
        ("q.csv", "id,question\n1,a, b?\n", r"q\.csv, line 2: more cells than columns"),
        ("q.csv", 'id,question\n1,"a?\n', r"q\.csv, after line 1: not CSV"),
        ("q.csv", "id,question\n1,a?\n\n1,b?\n", r"q\.csv, line 4: id '1' .* line 2"),
        ("q.csv", "id,question,question\n1,a?,b?\n", r"q\.csv, line 1: two columns 'question'"),
        ("q.jsonl", '{"id": "1", "question": "half \\ud83e of a sign?"}', r"line 1: 'question' holds half a character"),
        ("q.parquet", b"PAR1 broken", r"q\.parquet: not a parquet file"),
        ("q.json", bytes(range(128, 256)) * 3 + b"\x00\x01", r"q\.json: "),
    ],
)
def test_what_is_wrong_is_said_with_file_and_row(tmp_path, name, content, message):
    with pytest.raises(QuestionFileError, match=message):
        read_questions(write(tmp_path / name, content))


def test_what_pandas_writes_for_a_missing_cell_is_missing(tmp_path):
    lines = '{"id": "1", "question": "a?", "answer": NaN, "question_type": NaN, "evidence": [NaN]}\n'
    assert read_questions(write(tmp_path / "q.jsonl", lines)) == [Question("1", "a?")]
    columns = {"id": ["1"], "question": ["a?"], "answer": pa.array([float("nan")])}
    pq.write_table(pa.table(columns), tmp_path / "q.parquet")
    assert read_questions(tmp_path / "q.parquet") == [Question("1", "a?")]


def test_a_missing_file_is_said_to_be_missing(tmp_path):
    with pytest.raises(QuestionFileError, match="cannot be read"):
        read_questions(tmp_path / "none.json")


def test_a_bracket_does_not_make_a_list(tmp_path):
    path = write(tmp_path / "q.csv", 'id,question,evidence\n1,a?,"[sic] so it was written."\n')
    assert read_questions(path)[0].evidence == ("[sic] so it was written.",)


def test_question_files_of_a_folder(tmp_path):
    for name in ("b.jsonl", "a.csv", "C.PARQUET", "notes.txt", ".hidden.json"):
        write(tmp_path / name, "x")
    (tmp_path / "folder.json").mkdir()
    assert [path.name for path in find_question_files(tmp_path)] == ["C.PARQUET", "a.csv", "b.jsonl"]
    assert find_question_files(tmp_path / "none") == []


def test_two_files_of_one_name_are_refused(tmp_path):
    write(tmp_path / "a.csv", "x")
    write(tmp_path / "a.json", "x")
    with pytest.raises(QuestionFileError, match=r"a\.csv and a\.json would both be the question set 'a'"):
        find_question_files(tmp_path)
