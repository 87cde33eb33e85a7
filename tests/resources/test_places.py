"""Corpus names become folder names that cannot leave the store or meet one another."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from resources.places import CHECKOUT, data_folder, folder_name


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
