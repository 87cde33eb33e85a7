import os
import time
from collections.abc import Callable, Mapping
from hashlib import blake2b
from pathlib import Path

import pyarrow as pa
import pytest

from hcg_pipeline.corpus.documents import read_documents, require_documents
from hcg_pipeline.corpus.loaders import KINDS, ending_list, kind_of
from hcg_pipeline.errors import CorpusError
from hcg_pipeline.progress import Silent
from hcg_pipeline.tables import DOCUMENTS, REJECTED

Corpus = Callable[[Mapping[str, bytes | str]], Path]


def _read(folder: Path) -> tuple[dict[str, dict[str, object]], dict[str, str]]:
    documents, rejected = read_documents(folder, Silent())
    assert documents.schema.equals(DOCUMENTS)
    assert rejected.schema.equals(REJECTED)
    rows = {row["path"]: row for row in documents.to_pylist()}
    reasons = {row["path"]: row["reason"] for row in rejected.to_pylist()}
    assert len(rows) == documents.num_rows
    assert len(reasons) == rejected.num_rows
    assert all(reason and "\n" not in reason for reason in reasons.values())
    return rows, reasons


class _Steps:
    def __init__(self) -> None:
        self.seen: list[tuple[str, int, int]] = []

    def advance(self, stage: str, done: int, total: int) -> None:
        self.seen.append((stage, done, total))


def test_a_document_row_holds_what_the_schema_says(corpus: Corpus) -> None:
    rows, reasons = _read(corpus({"sub/deep/Seal wear.TXT": "Wear  of the\r\nseal. \n"}))
    text = "Wear  of the\nseal."
    assert rows == {
        "sub/deep/Seal wear.TXT": {
            "document_id": "d" + blake2b(text.encode()).hexdigest()[:16],
            "path": "sub/deep/Seal wear.TXT",
            "other_paths": [],
            "media_type": "text/plain",
            "text": text,
            "characters": 18,
            "words": 4,
        }
    }
    assert reasons == {}


def test_the_same_text_is_one_document_with_its_other_places(corpus: Corpus) -> None:
    folder = corpus(
        {"b.txt": "Same text.\n", "a/c.md": "Same text.", "d.jsonl": '{"text": "Same text."}\n', "e.txt": "Other."}
    )
    rows, _ = _read(folder)
    assert list(rows) == ["a/c.md", "e.txt"]
    assert rows["a/c.md"]["other_paths"] == ["b.txt", "d.jsonl#1"]


def test_records_of_a_file_stay_in_their_order(corpus: Corpus) -> None:
    lines = "".join(f'{{"text": "Record {number}."}}\n' for number in range(1, 13))
    rows, _ = _read(corpus({"a.jsonl": lines, "a.jsonl.txt": "After it."}))
    assert list(rows) == [*(f"a.jsonl#{number}" for number in range(1, 13)), "a.jsonl.txt"]


def test_settings_hidden_and_system_files_are_passed_over(corpus: Corpus) -> None:
    hidden = (".DS_Store", ".git/config.txt", "sub/.hidden.txt", "~$lock.docx", "Thumbs.db", "__MACOSX/x.txt")
    reserved = ("corpus.yaml", "outcomes.yaml", "graph_spec.yaml", "corrections.yaml")
    rows, reasons = _read(
        corpus({**dict.fromkeys([*hidden, *reserved], "x: 1"), "a.txt": "Text.", "sub/corpus.yaml": "a: 1"})
    )
    assert list(rows) == ["a.txt"]
    assert list(reasons) == ["sub/corpus.yaml"]


def test_an_ending_that_is_not_read_says_which_are(corpus: Corpus) -> None:
    _, reasons = _read(corpus({"slides.pptx": b"PK", "LICENSE": "text"}))
    assert reasons["slides.pptx"] == f"files ending in '.pptx' are not read: convert it to one of {ending_list()}"
    assert reasons["LICENSE"].startswith("files without an ending are not read")
    for ending in (".txt", ".md", ".html", ".pdf", ".docx", ".csv", ".json", ".jsonl"):
        assert ending in ending_list().split(", ")


def test_one_bad_file_of_each_kind_is_a_row_with_its_reason_and_the_rest_is_read(corpus: Corpus) -> None:
    expected = {
        "binary.txt": (bytes(range(256)) * 20, "binary data"),
        "broken.docx": (b"PK\x03\x04 not really", "not a DOCX file, or damaged"),
        "broken.pdf": (b"%PDF-1.4\nnothing", "(PdfStreamError: Stream has ended unexpectedly)"),
        "broken.xml": ("<a><b></a>", "not well-formed XML"),
        "cut.json": ('{"text": "abc", "more": [1, 2', "not valid JSON: Expecting ',' delimiter at line 1, column 30"),
        "deep.json": ("[" * 100_000, "RecursionError"),
        "empty.csv": (b"", "the file is empty"),
        "empty.docx": (b"", "the file is empty"),
        "empty.html": (b"", "the file is empty"),
        "empty.json": (b"", "the file is empty"),
        "empty.md": (b"", "the file is empty"),
        "empty.pdf": (b"", "the file is empty"),
        "empty.txt": (b"", "the file is empty"),
        "marks.txt": ("--- *** ---", "no letter or digit"),
        "nothing.jsonl": ("\n \n", "no record in it"),
        "old.docx": (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600), "encrypted or Office 97-2003"),
        "pdf.txt": (b"%PDF-1.4 ...", "give the file the ending .pdf"),
        "rows.csv": (",,\n,,\n", "no row with anything in it"),
        "white.html": ("<html><body> </body></html>", "no text in it"),
        "white.txt": (" \n\t\n ", "no text in it"),
    }
    files = {name: content for name, (content, _) in expected.items()}
    rows, reasons = _read(corpus({**files, "good.txt": "Good text."}))
    assert list(rows) == ["good.txt"]
    assert sorted(reasons) == sorted(expected)
    for name, (_, reason) in expected.items():
        assert reason in reasons[name], name


def test_rejected_rows_say_type_and_size(corpus: Corpus) -> None:
    _, rejected = read_documents(corpus({"a.csv": b"", "b.bin": b"12345"}), Silent())
    assert [(row["path"], row["media_type"], row["bytes"]) for row in rejected.to_pylist()] == [
        ("a.csv", "text/csv", 0),
        ("b.bin", "application/octet-stream", 5),
    ]


def test_links_are_followed_within_the_folder_only(corpus: Corpus, tmp_path_factory: pytest.TempPathFactory) -> None:
    outside = tmp_path_factory.mktemp("outside")
    (outside / "secret.txt").write_text("Secret.")
    folder = corpus({"sub/a.txt": "Inside."})
    (folder / "inside.txt").symlink_to(folder / "sub" / "a.txt")
    (folder / "out.txt").symlink_to(outside / "secret.txt")
    (folder / "out").symlink_to(outside)
    (folder / "again").symlink_to(folder)
    (folder / "dead.txt").symlink_to("nowhere.txt")
    (folder / "circle.txt").symlink_to("circle.txt")
    rows, reasons = _read(folder)
    assert list(rows) == ["inside.txt"]
    assert rows["inside.txt"]["other_paths"] == ["sub/a.txt"]
    assert sorted(reasons) == ["circle.txt", "dead.txt", "out", "out.txt"]
    assert "leads out of the corpus folder" in reasons["out.txt"]
    assert "leads out of the corpus folder" in reasons["out"]
    assert "leads nowhere" in reasons["dead.txt"]


def test_a_corpus_folder_may_be_a_link_itself(corpus: Corpus, tmp_path_factory: pytest.TempPathFactory) -> None:
    link = tmp_path_factory.mktemp("corpora") / "mine"
    link.symlink_to(corpus({"a.txt": "Text."}))
    assert list(_read(link)[0]) == ["a.txt"]


def test_what_is_no_file_is_not_opened(corpus: Corpus) -> None:
    folder = corpus({"folder.txt/in.txt": "Inside the folder."})
    os.mkfifo(folder / "pipe.txt")
    rows, reasons = _read(folder)
    assert list(rows) == ["folder.txt/in.txt"]
    assert reasons["folder.txt"].startswith("a folder, not a file")
    assert reasons["pipe.txt"].startswith("a device, pipe or socket")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_without_permission(corpus: Corpus) -> None:
    folder = corpus({"closed.txt": "Text.", "shut/a.txt": "Text."})
    (folder / "closed.txt").chmod(0)
    (folder / "shut").chmod(0)
    try:
        _, reasons = _read(folder)
    finally:
        (folder / "shut").chmod(0o700)
    assert "permission" in reasons["closed.txt"]
    assert "permission" in reasons["shut"]


def test_a_file_that_may_not_be_opened_is_rejected(corpus: Corpus, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(path: Path) -> bytes:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(Path, "read_bytes", refuse)
    _, reasons = _read(corpus({"closed.txt": "Text."}))
    assert reasons == {"closed.txt": "the file may not be opened: give yourself permission to read it"}


def test_a_name_that_is_not_utf8_is_shown_escaped(corpus: Corpus) -> None:
    folder = corpus({})
    with open(os.path.join(os.fsencode(folder), b"bad\xff.txt"), "w") as file:  # noqa: PTH118, PTH123
        file.write("Odd name.")
    assert list(_read(folder)[0]) == ["bad\\xff.txt"]


def test_bad_records_are_rows_of_their_own(corpus: Corpus) -> None:
    lines = '{"text": "Good."}\n{"text": "cut\n\n{"text": ""}\n{"title": "T", "abstract": "Fine."}\n'
    rows, reasons = _read(corpus({"a.jsonl": lines}))
    assert {path: row["text"] for path, row in rows.items()} == {"a.jsonl#1": "Good.", "a.jsonl#5": "T\n\nFine."}
    assert list(reasons) == ["a.jsonl#2", "a.jsonl#4"]
    assert reasons["a.jsonl#2"].startswith("not valid JSON: Unterminated string")


def test_any_exception_of_a_library_becomes_a_reason_with_its_class(
    corpus: Corpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    def explode(data: bytes) -> str:
        raise ZeroDivisionError("division\nby zero.")

    monkeypatch.setattr("hcg_pipeline.corpus.loaders.plain_text.decode", explode)
    _, reasons = _read(corpus({"a.txt": "Text."}))
    assert "(ZeroDivisionError: division by zero)" in reasons["a.txt"]


def test_progress_counts_files(corpus: Corpus) -> None:
    steps = _Steps()
    read_documents(corpus({"a.txt": "A.", "b.bin": "x", "c.jsonl": '{"text": "C."}\n{"text": "D."}'}), steps)
    assert steps.seen == [("documents", 1, 3), ("documents", 2, 3), ("documents", 3, 3)]


def test_missing_and_empty_folders(tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match="there is no corpus folder"):
        read_documents(tmp_path / "nowhere", Silent())
    documents, rejected = read_documents(tmp_path, Silent())
    assert (documents.num_rows, rejected.num_rows) == (0, 0)
    with pytest.raises(CorpusError, match=r"there is no document in .*: put files there that end in \.txt, "):
        require_documents(documents, rejected, tmp_path)


def test_a_folder_without_a_readable_file_says_why(corpus: Corpus) -> None:
    folder = corpus({f"{number}.txt": b"" for number in range(7)})
    documents, rejected = read_documents(folder, Silent())
    with pytest.raises(CorpusError) as caught:
        require_documents(documents, rejected, folder)
    assert f"none of the 7 files in {folder} can be read. 0.txt: the file is empty" in str(caught.value)
    assert str(caught.value).endswith("; and 2 more")


def test_one_readable_file_is_enough(corpus: Corpus) -> None:
    folder = corpus({"a.txt": "Text.", "b.txt": b""})
    require_documents(*read_documents(folder, Silent()), folder)


def test_every_kind_has_a_loader_and_endings_in_lower_case() -> None:
    for kind in KINDS:
        assert callable(kind.load)
        assert all(kind_of(f"x{ending.upper()}") is kind for ending in kind.endings)
    assert kind_of("x") is None
    assert kind_of(".txt") is None


def test_ten_thousand_records_and_a_long_line_are_read_in_seconds(corpus: Corpus) -> None:
    lines = "".join(
        f'{{"title": "Title {n}", "text": "Text number {n} is about pumps and seals."}}\n' for n in range(10_000)
    )
    folder = corpus({"many.jsonl": lines, "long.txt": "One sentence about a pump that never stops. " * 50_000})
    start = time.perf_counter()
    documents, _ = read_documents(folder, Silent())
    assert documents.num_rows == 10_001
    assert time.perf_counter() - start < 10


def test_the_tables_do_not_depend_on_the_order_of_the_disk(corpus: Corpus, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = corpus({f"{name}/{name}.txt": f"Text {name}." for name in "cab"} | {"z.txt": b"", "y.txt": b""})
    before = read_documents(folder, Silent())
    walk = os.walk

    def backwards(top: Path, **options: bool) -> object:
        for current, folders, names in walk(top, **options):
            folders.sort(reverse=True)
            yield current, folders, sorted(names, reverse=True)

    monkeypatch.setattr(os, "walk", backwards)
    after = read_documents(folder, Silent())
    assert all(isinstance(table, pa.Table) and table.equals(other) for table, other in zip(before, after, strict=True))
