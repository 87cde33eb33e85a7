"""What all tests share. Its place also puts `tests/` on the import path, for `fake_openai` and `tiny_corpus`."""

import os
from pathlib import Path

import pytest
from endpoints import ENDPOINTS
from fresh_definitions import forget_definitions

# Where there is a folder in memory, tests write there: a build is a thousand small writes, each synced to the disk.
_IN_MEMORY = Path("/dev/shm")
if os.access(_IN_MEMORY, os.W_OK):
    os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(_IN_MEMORY))

_PLACES = ("HCG_CORPORA", "HCG_QUESTIONS", "HCG_STORE", "HCG_CACHE")


@pytest.fixture(autouse=True)
def no_endpoint(monkeypatch: pytest.MonkeyPatch) -> None:
    """No test asks an endpoint, or uses a place, that is configured outside; blank, so that a .env sets nothing."""
    for name in (*ENDPOINTS, *_PLACES):
        monkeypatch.setenv(name, "")


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty data folder, in place of the checkout's, for this process and those that it starts."""
    folder = tmp_path / "data"
    folder.mkdir()
    monkeypatch.setenv("HCG_DATA", str(folder))
    forget_definitions()
    return folder
