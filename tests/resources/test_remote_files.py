"""What lies in an object store is listed as it is, and copied once; a copy is never of another content."""

import os
import time

import pytest
from object_store import BUCKET, empty_bucket
from upath import UPath

from resources.folder_scans import content_digests, file_fingerprint, scan_folder
from resources.places import place
from resources.remote_files import Copies, StorageError, list_files, list_folders


@pytest.fixture
def bucket(monkeypatch):
    return empty_bucket(monkeypatch)


@pytest.fixture
def folder(bucket):
    """A corpus's prefix; others begin with the same letters."""
    for key, text in (
        ("a.txt", "one"),
        ("deep/b c#?.txt", "two"),
        (".a.txt.swp", "an editor's"),
        ("deep/~$b.docx", "Word's"),
        ("deep/", ""),
    ):
        bucket.put_object(Key=f"corpora/hearts/{key}", Body=text.encode())
    bucket.put_object(Key="corpora/hearts2/c.txt", Body=b"another corpus")
    return place(f"s3://{BUCKET}/corpora/hearts")


def test_every_object_below_a_prefix_is_listed_by_name(folder):
    listed = list_files(folder)
    assert list(listed) == [".a.txt.swp", "a.txt", "deep/b c#?.txt", "deep/~$b.docx"]
    assert (listed["a.txt"].size, listed["a.txt"].key) == (3, f"{BUCKET}/corpora/hearts/a.txt")
    assert list_files(folder / "nix") == {}


def test_first_parts_of_keys_are_the_folders(folder):
    assert list_folders(folder.parent) == ["hearts", "hearts2"]
    assert list_folders(folder / "nix") == []


def test_a_new_object_is_listed_at_once(folder, bucket):
    list_files(folder)
    bucket.put_object(Key="corpora/hearts/new.txt", Body=b"3")
    assert "new.txt" in list_files(folder)


def test_a_bucket_that_is_not_there_is_one_clear_line(bucket):
    for ask in (list_files, list_folders):
        with pytest.raises(StorageError, match=r"s3://nobody-has-this/x cannot be read \(.*bucket.*\): check"):
            ask(place("s3://nobody-has-this/x"))


def test_a_scan_changes_with_names_and_contents_and_reads_nothing(folder, bucket, tmp_path):
    first = scan_folder(folder)
    assert list(first.files) == ["a.txt", "deep/b c#?.txt"], "hidden ones do not count"
    digests = content_digests(first, tmp_path / "known.parquet", 0.0)
    assert list(digests) == list(first.files) and not (tmp_path / "known.parquet").exists()
    bucket.put_object(Key="corpora/hearts/a.txt", Body=b"one")
    assert scan_folder(folder).fingerprint == first.fingerprint, "put again, but the same"
    bucket.put_object(Key="corpora/hearts/a.txt", Body=b"two")
    changed = scan_folder(folder)
    assert changed.fingerprint != first.fingerprint
    bucket.put_object(Key="corpora/hearts/a.txt", Body=b"one")
    assert scan_folder(folder).fingerprint == first.fingerprint
    bucket.Object("corpora/hearts/a.txt").delete()
    assert list(scan_folder(folder).files) == ["deep/b c#?.txt"]


def test_file_fingerprints_are_those_of_the_same_content_here(folder, tmp_path):
    (tmp_path / "a.txt").write_text("one")
    assert file_fingerprint(folder / "a.txt") == file_fingerprint(tmp_path / "a.txt")
    assert file_fingerprint(folder / "nix.yaml") == "none"


def test_copies_are_made_once_and_of_what_was_listed(folder, bucket, tmp_path, monkeypatch):
    copies, listed = Copies(tmp_path / "copies"), list_files(folder)
    files = list(listed.values())
    assert copies.fetch(folder, files) == []
    assert copies.path(listed["deep/b c#?.txt"]).read_text() == "two"
    monkeypatch.setattr(type(UPath(folder).fs), "get", None)
    assert copies.fetch(folder, files) == [], "nothing is asked for again"


def test_what_went_or_changed_since_it_was_listed_is_said(folder, bucket, tmp_path):
    copies, listed = Copies(tmp_path / "copies"), list_files(folder)
    bucket.Object("corpora/hearts/a.txt").delete()
    bucket.put_object(Key="corpora/hearts/deep/b c#?.txt", Body=b"TWO")
    lost = copies.fetch(folder, list(listed.values()))
    assert [file.name for file in lost] == ["a.txt", "deep/b c#?.txt"]
    kept = [path.read_text() for path in (tmp_path / "copies").rglob("*") if path.is_file()]
    assert sorted(kept) == ["Word's", "an editor's"], "and no half of them is left"


def test_a_large_upload_whose_tag_says_nothing_is_asked_for_its_tag(folder, bucket, tmp_path):
    part = b"x" * (5 << 20)
    upload = bucket.Object("corpora/hearts/large.txt").initiate_multipart_upload()
    tags = [upload.Part(number).upload(Body=body)["ETag"] for number, body in ((1, part), (2, b"end"))]
    upload.complete(
        MultipartUpload={"Parts": [{"PartNumber": number, "ETag": tag} for number, tag in enumerate(tags, 1)]}
    )
    copies, file = Copies(tmp_path / "copies"), list_files(folder)["large.txt"]
    assert file.tag.endswith('-2"')
    assert copies.fetch(folder, [file]) == []
    assert copies.path(file).read_bytes() == part + b"end"


def test_copies_that_nobody_asked_for_in_a_day_are_removed(folder, tmp_path):
    copies, listed = Copies(tmp_path / "copies"), list_files(folder)
    copies.fetch(folder, list(listed.values()))
    old = time.time() - 2 * 24 * 3600
    for file in listed.values():
        os.utime(copies.path(file), (old, old))
    copies.fetch(folder, [listed["a.txt"]])
    copies.forget_unused([listed["deep/b c#?.txt"]])
    assert {name for name, file in listed.items() if copies.path(file).exists()} == {"a.txt", "deep/b c#?.txt"}
