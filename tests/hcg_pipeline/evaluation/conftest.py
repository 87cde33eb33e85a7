"""A scripted judge's endpoint, and judges that ask it."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from fake_openai import FakeOpenAI
from scripted_judge import scripted_judge

from hcg_pipeline.backends.llm.cache import open_cache
from hcg_pipeline.backends.llm.settings import (
    EndpointSettings,
    RetrySettings,
    SettingNames,
    Timeouts,
)
from hcg_pipeline.evaluation.judging.judge import Judge, build_judge


@pytest.fixture
def fake() -> Iterator[FakeOpenAI]:
    """A scripted judge's endpoint."""
    with FakeOpenAI(reply=scripted_judge) as server:
        yield server


@pytest.fixture
def engine(tmp_path: Path) -> sa.Engine:
    """A cache on disk, as in use."""
    return open_cache(f"sqlite:///{tmp_path}/cache.db")


@pytest.fixture
def build(fake: FakeOpenAI, engine: sa.Engine) -> Callable[..., Judge]:
    """Makes a judge at the fake endpoint; keyword arguments are settings."""

    def make(name: str | None = None, **settings: Any) -> Judge:
        values: dict[str, Any] = {
            "model": "judge-1",
            "base_url": fake.base_url,
            "retry": RetrySettings(attempts=2, first_wait=0.01, longest_wait=0.02, patience=5),
            "timeouts": Timeouts(connect=1, read=2, total=3),
            "names": SettingNames(model="MY_MODEL", base_url="MY_URL", api_key="MY_KEY"),
        }
        return build_judge(EndpointSettings(**(values | settings)), engine, name=name)

    return make
