import random
from collections.abc import Callable

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hcg_pipeline.corpus.chunks import chunk_spans, split_documents
from hcg_pipeline.corpus.settings import ChunkingSettings
from hcg_pipeline.progress import Silent
from hcg_pipeline.tables import CHUNKS, DOCUMENTS

_DEFAULT = ChunkingSettings()
_WORDS = [
    "seizure",
    "seal",
    "pump",
    "drug",
    "vibration",
    "neuron",
    "damage",
    "wear",
    "causes",
    "raises",
    "lowers",
    "prevents",
    "the",
    "a",
    "of",
    "in",
    "after",
    "before",
    "when",
]


def _sentence(source: random.Random) -> str:
    words = [
        source.choice(_WORDS) + source.choice(("", "", "s", str(source.randrange(99))))
        for _ in range(source.randint(4, 30))
    ]
    return " ".join(words).capitalize() + "."


def _prose(seed: int, sentences: int) -> list[str]:
    source = random.Random(seed)
    return [_sentence(source) for _ in range(sentences)]


def _documents(*texts: str, paths: tuple[str, ...] = ()) -> pa.Table:
    names = paths or tuple(f"{number}.txt" for number in range(len(texts)))
    rows = {
        "document_id": [f"d{number}" for number in range(len(texts))],
        "path": names,
        "other_paths": [[] for _ in texts],
        "media_type": ["text/plain" for _ in texts],
        "text": texts,
        "characters": [len(text) for text in texts],
        "words": [len(text.split()) for text in texts],
    }
    return pa.table(rows, schema=DOCUMENTS)


def _split(*texts: str, paths: tuple[str, ...] = (), chunking: ChunkingSettings = _DEFAULT) -> list[dict[str, object]]:
    table = split_documents(_documents(*texts, paths=paths), chunking, Silent())
    assert table.schema.equals(CHUNKS)
    return table.to_pylist()


def _ids(text: str) -> set[object]:
    return {row["chunk_id"] for row in _split(text)}


def test_a_short_document_is_one_chunk() -> None:
    [row] = _split("  Seals fail.\nPumps stop. ")
    assert row == {
        "chunk_id": row["chunk_id"],
        "document_id": "d0",
        "position": 0,
        "start": 2,
        "end": 25,
        "text": "Seals fail.\nPumps stop.",
        "words": 4,
    }
    assert len(str(row["chunk_id"])) == 17


def test_chunks_begin_at_headings_and_never_leave_one_behind() -> None:
    section = "\n\n".join(["{}", "Water wears the seal of a pump. " * 20, "Air harms it more. " * 20])
    text = "\n\n".join(section.format(f"Heading {number}") for number in range(6))
    texts = [str(row["text"]) for row in _split(text)]
    assert [line.splitlines()[0] for line in texts] == [f"Heading {number}" for number in range(6)]
    assert not any(line.splitlines()[-1].startswith("Heading") for line in texts)


def test_what_a_colon_announces_stays_with_it() -> None:
    # Of all places a paragraph break is cut first, but not this one.
    text = (
        "Pumps fail for many reasons. " * 40 + "The causes are these:\n\n" + "Wear of the faces is one of them. " * 50
    )
    texts = [str(row["text"]) for row in _split(text)]
    assert len(texts) > 1
    assert not any(chunk.endswith(":") for chunk in texts)


def test_a_paragraph_break_is_cut_rather_than_a_sentence() -> None:
    text = "Pumps fail for many reasons. " * 40 + "\n\n" + "Wear of the faces is one of them. " * 50
    assert [str(row["text"]).split()[0] for row in _split(text)][:2] == ["Pumps", "Wear"]


@settings(max_examples=60)
@given(st.integers(0, 10**6), st.integers(1, 120), st.sampled_from([" ", "\n", "\n\n", "  \n \n"]))
def test_chunks_are_exact_slices_that_cover_the_text(seed: int, sentences: int, separator: str) -> None:
    text = separator.join(_prose(seed, sentences))
    spans = chunk_spans(text, _DEFAULT)
    last = 0
    for start, end in spans:
        assert not text[last:start].strip()
        assert text[start:end] == text[start:end].strip() != ""
        last = end
    assert not text[last:].strip()
    words = [len(text[start:end].split()) for start, end in spans]
    assert max(words) <= 400
    assert all(count >= 100 for count in words[:-1])


@given(st.text(st.sampled_from("ab A.\n•:é漢。")))
def test_any_text_is_covered(text: str) -> None:
    pieces = [text[start:end] for start, end in chunk_spans(text, ChunkingSettings(target_words=20))]
    assert "".join("".join(pieces).split()) == "".join(text.split())


def _insert(sentences: list[str], place: int, new: str) -> list[str]:
    return [*sentences[:place], new, *sentences[place:]]


def _delete(sentences: list[str], place: int, new: str) -> list[str]:
    return [*sentences[:place], *sentences[place + 1 :]]


def _replace(sentences: list[str], place: int, new: str) -> list[str]:
    return [*sentences[:place], new, *sentences[place + 1 :]]


@settings(max_examples=40, deadline=None)
@given(
    st.integers(0, 10**6),
    st.floats(0, 1),
    st.sampled_from([_insert, _delete, _replace]),
    st.sampled_from([" ", "\n\n"]),
)
def test_an_edit_changes_a_handful_of_chunks(
    seed: int, share: float, edit: Callable[[list[str], int, str], list[str]], separator: str
) -> None:
    sentences = _prose(seed, 500)
    place = int(share * (len(sentences) - 1))
    before = _ids(separator.join(sentences))
    after = _ids(separator.join(edit(sentences, place, "Something quite new is said here about the failure of pumps.")))
    assert len(before) >= 25
    assert len(after - before) <= 8
    assert len(before - after) <= 8


def test_a_sentence_at_the_head_of_a_megabyte_changes_a_handful_of_chunks() -> None:
    text = " ".join(_prose(1, 11_000))
    assert len(text) > 1_000_000
    before, after = _ids(text), _ids("A new first sentence. " + text)
    assert len(before) > 600
    assert 1 <= len(after - before) <= 4


def test_the_same_line_ten_thousand_times() -> None:
    line = "The seal is worn and must be replaced at once."
    rows = _split("\n".join([line] * 10_000))
    assert max(int(str(row["words"])) for row in rows) <= 400
    assert len({row["chunk_id"] for row in rows}) == len(rows) > 200
    edited = _split("\n".join(["A new first line.", *[line] * 10_000]))
    assert len({row["chunk_id"] for row in edited} - {row["chunk_id"] for row in rows}) <= 4


def test_a_text_without_white_space_is_cut() -> None:
    rows = _split("漢字仮名交じり文" * 2_000)
    assert all(1_000 <= len(str(row["text"])) <= 2_000 for row in rows[:-1])


def test_ids_depend_on_file_text_and_occurrence() -> None:
    same = "The same short text."
    first, second = _split(same, same, paths=("a.jsonl#1", "a.jsonl#2"))
    assert first["chunk_id"] != second["chunk_id"]
    # A record put before them shifts their numbers and changes no id.
    shifted = _split("New.", same, same, paths=("a.jsonl#1", "a.jsonl#2", "a.jsonl#3"))
    assert [row["chunk_id"] for row in shifted[1:]] == [first["chunk_id"], second["chunk_id"]]
    [elsewhere] = _split(same, paths=("b.jsonl",))
    assert elsewhere["chunk_id"] not in {first["chunk_id"], second["chunk_id"]}


def test_settings_bound_the_length() -> None:
    text = " ".join(_prose(5, 300))
    rows = _split(text, chunking=ChunkingSettings(target_words=60, minimum_words=40, maximum_words=80))
    words = [int(str(row["words"])) for row in rows]
    assert max(words) <= 80
    assert min(words[:-1]) >= 40


def test_the_average_is_near_the_target() -> None:
    rows = _split(" ".join(_prose(9, 6_000)))
    assert sum(int(str(row["words"])) for row in rows) / len(rows) == pytest.approx(250, rel=0.08)
