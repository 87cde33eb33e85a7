"""What the tests of the LLM backend share: a fake endpoint, and a backend that talks to it over real HTTP."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from fake_openai import FakeOpenAI

from hcg_pipeline.backends.llm.assembling import build_llm_backend
from hcg_pipeline.backends.llm.backend import LlmBackend
from hcg_pipeline.backends.llm.cache import open_cache
from hcg_pipeline.backends.llm.settings import EndpointSettings, RetrySettings, Timeouts
from hcg_pipeline.corpus.window import Passage, Window

QUICK_RETRY = RetrySettings(attempts=4, first_wait=0.01, longest_wait=0.05, patience=20)
QUICK_TIMEOUTS = Timeouts(connect=2, read=5, total=8)


@pytest.fixture
def fake() -> Iterator[FakeOpenAI]:
    """A fake endpoint."""
    with FakeOpenAI() as server:
        yield server


@pytest.fixture
def engine(tmp_path: Path) -> sa.Engine:
    """A cache on disk, as in use."""
    return open_cache(f"sqlite:///{tmp_path}/cache.db")


@pytest.fixture
def build(fake: FakeOpenAI, engine: sa.Engine) -> Callable[..., LlmBackend]:
    """Makes a backend for the fake endpoint; keyword arguments are settings."""

    def make(**settings: Any) -> LlmBackend:
        values: dict[str, Any] = {
            "model": "fake-model",
            "base_url": fake.base_url,
            "retry": QUICK_RETRY,
            "timeouts": QUICK_TIMEOUTS,
        }
        return build_llm_backend(EndpointSettings(**(values | settings)), engine)

    return make


@pytest.fixture
def make_windows() -> Callable[[int], list[Window]]:
    """Makes so many windows, each of two passages that state a cause, all different."""

    def make(count: int) -> list[Window]:
        windows = []
        for number in range(count):
            first = f"Report {number}. Chronic smoking causes bronchitis in district {number}."
            second = f"Regular swimming reduces hypertension. Visit {number} went well."
            passages = (
                Passage(f"c{number}a", f"d{number}", 0, len(first), first),
                Passage(f"c{number}b", f"d{number}", 100, 100 + len(second), second),
            )
            windows.append(Window(f"w{number}", passages))
        return windows

    return make
