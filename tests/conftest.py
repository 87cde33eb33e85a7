"""What all tests share. Its place also puts `tests/` on the import path, for `fake_openai` and `tiny_corpus`."""

from pathlib import Path

import pytest
from fresh_definitions import forget_definitions

_ENDPOINTS = (
    "OPENAI_API_KEY",
    "HCG_LLM_BASE_URL",
    "HCG_LLM_MODEL",
    "HCG_JUDGE_MODEL",
    "HCG_JUDGE_BASE_URL",
    "HCG_JUDGE_API_KEY",
    "HCG_EMBEDDER",
    "HCG_EMBEDDING_BASE_URL",
    "HCG_EMBEDDING_MODEL",
    "DAGSTER_HOME",
)


@pytest.fixture(autouse=True)
def no_endpoint(monkeypatch: pytest.MonkeyPatch) -> None:
    """No test asks an endpoint that is configured outside; blank, so that a .env sets nothing either."""
    for name in _ENDPOINTS:
        monkeypatch.setenv(name, "")


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty data folder, in place of the checkout's, for this process and those that it starts."""
    folder = tmp_path / "data"
    folder.mkdir()
    monkeypatch.setenv("HCG_DATA", str(folder))
    forget_definitions()
    return folder
