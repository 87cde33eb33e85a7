"""Corpus names become folder names that cannot leave the store or meet one another."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hcg_pipeline.errors import SettingsError
from resources.places import (
    CHECKOUT,
    cache_folder,
    chosen_places,
    data_folder,
    folder_name,
    is_remote,
    machine_store,
    part,
)


@pytest.mark.parametrize(
    ("name", "folder"),
    [
        ("epilepsy", "epilepsy"),
        ("a b", "a b"),
        ("..", "%2E%2E"),
        ("a*b", "a%2Ab"),
        ("Ünïcode", "%C3%9Cn%C3%AFcode"),
        ("a/b", "a%2Fb"),
        ("cache", "%63ache"),
        ("Dagster", "%44agster"),
        ("v1.2", "v1%2E2"),
    ],
)
def test_folder_name(name, folder):
    assert folder_name(name) == folder


@given(st.text(min_size=1, max_size=100))
def test_every_name_is_one_safe_segment(name):
    folder = folder_name(name)
    assert "/" not in folder and "\\" not in folder and "." not in folder and "\0" not in folder
    assert len(folder.encode()) <= 200
    assert folder.lower() not in ("cache", "dagster")


@given(st.lists(st.text(min_size=1, max_size=100), min_size=2, max_size=20, unique=True))
def test_different_names_have_different_folders(names):
    assert len({folder_name(name) for name in names}) == len(names)


def test_long_names_that_differ_at_the_end_differ():
    one, other = folder_name("ä" * 99 + "x"), folder_name("ä" * 99 + "y")
    assert one != other
    assert len(one) <= 200


def test_data_folder_follows_the_variable(monkeypatch, tmp_path):
    monkeypatch.setenv("HCG_DATA", str(tmp_path / "elsewhere"))
    assert data_folder() == tmp_path / "elsewhere"
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HCG_DATA", "relative")
    assert data_folder() == tmp_path / "relative"
    monkeypatch.delenv("HCG_DATA")
    assert data_folder() == CHECKOUT / "data"
    assert Path(data_folder()).is_absolute()


@pytest.fixture
def unset(monkeypatch):
    for name in ("HCG_DATA", "HCG_CORPORA", "HCG_QUESTIONS", "HCG_STORE", "HCG_CACHE"):
        monkeypatch.delenv(name, raising=False)


def test_each_part_is_in_the_data_folder_unless_its_own_variable_names_another_place(unset, monkeypatch, tmp_path):
    monkeypatch.setenv("HCG_DATA", str(tmp_path))
    assert [part(name) for name in ("corpora", "questions", "store")] == [
        tmp_path / name for name in ("corpora", "questions", "store")
    ]
    assert (machine_store(), cache_folder()) == (tmp_path / "store", tmp_path / "store" / "cache")
    monkeypatch.setenv("HCG_CORPORA", "/shared/corpora")
    assert (part("corpora"), part("questions")) == (Path("/shared/corpora"), tmp_path / "questions")


def test_what_must_be_on_this_machine_is_where_the_rest_is_on_s3(unset, monkeypatch, tmp_path):
    monkeypatch.setenv("HCG_DATA", "s3://bucket/some/prefix/")
    assert str(part("store")) == "s3://bucket/some/prefix/store"
    assert is_remote(part("store")) and not is_remote(tmp_path)
    assert machine_store() == CHECKOUT / "data" / "store"
    assert cache_folder() == CHECKOUT / "data" / "store" / "cache"
    monkeypatch.setenv("HCG_CACHE", str(tmp_path))
    assert cache_folder() == tmp_path
    monkeypatch.setenv("HCG_STORE", str(tmp_path / "store"))
    assert machine_store() == tmp_path / "store"


def test_a_process_in_another_folder_is_given_absolute_places(unset, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HCG_STORE", "built")
    monkeypatch.setenv("HCG_CORPORA", "s3://bucket/corpora")
    assert chosen_places() == {
        "HCG_DATA": str(CHECKOUT / "data"),
        "HCG_STORE": str(tmp_path / "built"),
        "HCG_CORPORA": "s3://bucket/corpora",
    }


@pytest.mark.parametrize("url", ["gs://bucket/x", "s3://", "https://example.org/data"])
def test_what_is_neither_a_folder_nor_on_s3_is_refused_in_one_line(unset, monkeypatch, url):
    monkeypatch.setenv("HCG_DATA", url)
    with pytest.raises(SettingsError, match=r"HCG_DATA is '.*': it is a folder, or s3://bucket/prefix\."):
        data_folder()


def test_a_cache_on_s3_is_refused(unset, monkeypatch):
    monkeypatch.setenv("HCG_CACHE", "s3://bucket/cache")
    with pytest.raises(SettingsError, match="HCG_CACHE is 's3://bucket/cache': caches lie on this machine"):
        cache_folder()


def test_without_what_reads_s3_the_way_out_is_said(unset, monkeypatch):
    monkeypatch.setenv("HCG_DATA", "s3://bucket/x")
    monkeypatch.setattr("resources.places.find_spec", lambda name: None)
    with pytest.raises(SettingsError, match=r"HCG_DATA is on S3, and s3fs is not installed: pip install"):
        data_folder()
