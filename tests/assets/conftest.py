"""A published graph that several tests of assets ask, built once."""

import shutil

import pytest
from endpoints import ENDPOINTS
from fresh_definitions import forget_definitions
from tiny_corpus import write_tiny_corpus


@pytest.fixture(scope="session")
def graph_built_once(tmp_path_factory):
    """A data folder with the tiny corpus and its published graph, to be copied."""
    folder = tmp_path_factory.mktemp("built") / "data"
    folder.mkdir()
    write_tiny_corpus(folder)
    with pytest.MonkeyPatch.context() as patch:
        for name in ENDPOINTS:
            patch.setenv(name, "")
        patch.setenv("HCG_DATA", str(folder))
        forget_definitions()
        from test_building import build

        assert build().success
    return folder


@pytest.fixture
def built(graph_built_once, data):
    """A data folder with the tiny corpus and its published graph."""
    for part in ("corpora", "questions", "store/infections"):
        shutil.copytree(graph_built_once / part, data / part)
    return data
