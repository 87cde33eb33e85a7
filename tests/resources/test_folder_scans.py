"""A watched folder's fingerprints change when it does, and reading is only for files that may have changed."""

import os

import pytest

from resources import folder_scans
from resources.folder_scans import content_digests, content_fingerprint, file_fingerprint, scan_folder


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "f" / "deep").mkdir(parents=True)
    (tmp_path / "f" / "a.txt").write_text("one")
    (tmp_path / "f" / "deep" / "b.txt").write_text("two")
    (tmp_path / "f" / ".a.txt.swp").write_text("an editor's")
    (tmp_path / "f" / "~$a.docx").write_text("Word's")
    return tmp_path / "f"


@pytest.fixture
def read(monkeypatch):
    """The names of the files that were opened."""
    names, digest = [], folder_scans._file_digest

    def noting(path):
        names.append(path.name)
        return digest(path)

    monkeypatch.setattr(folder_scans, "_file_digest", noting)
    return names


def content(folder, tmp_path, seconds=60.0):
    digests = content_digests(scan_folder(folder), tmp_path / "known.parquet", seconds)
    return None if digests is None else content_fingerprint(digests)


def test_a_scan_holds_size_and_time_of_every_file_that_is_not_hidden(folder):
    os.utime(folder / "a.txt", ns=(5, 7_000_000_001))
    found = scan_folder(folder).files
    assert list(found) == ["a.txt", "deep/b.txt"]
    assert found["a.txt"] == (3, 7_000_000_001)


def test_a_folder_that_is_not_there_holds_nothing(tmp_path):
    assert scan_folder(tmp_path / "nix").files == {}


def test_a_link_to_nowhere_and_a_link_in_a_circle_do_not_stop_it(folder):
    (folder / "gone").symlink_to(folder / "nix")
    (folder / "round").symlink_to(folder)
    assert list(scan_folder(folder).files) == ["a.txt", "deep/b.txt", "round"]


def test_only_files_of_a_new_size_or_time_are_read(folder, tmp_path, read):
    first = content(folder, tmp_path)
    assert sorted(read) == ["a.txt", "b.txt"]
    read.clear()
    assert content(folder, tmp_path) == first and read == []
    os.utime(folder / "a.txt", (1, 1))
    assert content(folder, tmp_path) == first and read == ["a.txt"]
    (folder / "a.txt").write_text("ONE")
    assert content(folder, tmp_path) != first


def test_going_back_gives_the_old_fingerprint_again(folder, tmp_path):
    first = content(folder, tmp_path)
    (folder / "a.txt").rename(folder / "c.txt")
    renamed = content(folder, tmp_path)
    (folder / "c.txt").rename(folder / "a.txt")
    assert renamed != first
    assert content(folder, tmp_path) == first


def test_without_time_it_goes_on_where_it_stopped(folder, tmp_path, read):
    assert content(folder, tmp_path, seconds=0.0) is None
    clock = iter([0.0, 0.0, 9.0])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("resources.folder_scans.time.monotonic", lambda: next(clock))
        assert content(folder, tmp_path, seconds=5.0) is None
    assert read == ["a.txt"]
    assert content(folder, tmp_path) is not None
    assert read == ["a.txt", "b.txt"]


def test_a_broken_memory_is_read_anew(folder, tmp_path):
    first = content(folder, tmp_path)
    (tmp_path / "known.parquet").write_bytes(b"nothing")
    assert content(folder, tmp_path) == first


def test_file_fingerprint(folder):
    assert file_fingerprint(folder / "nix.yaml") == "none"
    assert file_fingerprint(folder / "a.txt") != file_fingerprint(folder / "deep" / "b.txt")


@pytest.mark.slow
def test_many_files_in_many_folders_are_one_scan(tmp_path):
    for outer in range(5):
        inner = tmp_path / "many" / str(outer)
        inner.mkdir(parents=True)
        for place in range(200):
            (inner / f"{place}.txt").touch()
    scan = scan_folder(tmp_path / "many")
    assert (len(scan.files), len(scan.fingerprint)) == (1_000, 24)
