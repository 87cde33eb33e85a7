"""Prompts are logged only on request, and then where only their owner can read them."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from fake_openai import SERVER_ERROR, FakeOpenAI

from hcg_pipeline.backends.llm.backend import LlmBackend
from hcg_pipeline.corpus.window import Window
from hcg_pipeline.errors import SettingsError
from hcg_pipeline.progress import Silent

Build = Callable[..., LlmBackend]
MakeWindows = Callable[[int], list[Window]]


def test_each_call_that_is_made_is_a_line(
    fake: FakeOpenAI, build: Build, make_windows: MakeWindows, tmp_path: Path
) -> None:
    file = tmp_path / "transcript.jsonl"
    build(transcript=file, api_key="sk-very-secret-key").propose_dimensions(make_windows(3), Silent())
    lines = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    assert sorted(line["key"] for line in lines) == ["w0", "w1", "w2"]
    for line in lines:
        assert line["stage"] == "dimensions"
        assert "Chronic smoking causes bronchitis" in line["messages"][1]["content"]
        assert json.loads(line["reply"])["dimensions"]
    assert "very-secret" not in file.read_text(encoding="utf-8")
    assert file.stat().st_mode & 0o777 == 0o600
    build(transcript=file).propose_dimensions(make_windows(3), Silent())
    assert len(file.read_text(encoding="utf-8").splitlines()) == 3, "what the cache answers is not asked"


def test_a_call_without_a_reply_is_a_line_with_its_error(
    fake: FakeOpenAI, build: Build, make_windows: MakeWindows, tmp_path: Path
) -> None:
    file = tmp_path / "transcript.jsonl"
    fake.script(*[SERVER_ERROR] * 4)
    build(transcript=file, rate={"concurrency": 1}).propose_dimensions(make_windows(2), Silent())
    first, second = (json.loads(line) for line in file.read_text(encoding="utf-8").splitlines())
    assert "gave up after 4 attempts" in first["error"]
    assert "reply" in second


def test_a_file_that_cannot_be_written_stops_with_its_name(
    fake: FakeOpenAI, build: Build, make_windows: MakeWindows, tmp_path: Path
) -> None:
    with pytest.raises(SettingsError, match=r"nowhere/t.jsonl.*HCG_LLM_TRANSCRIPT"):
        build(transcript=tmp_path / "nowhere" / "t.jsonl").propose_dimensions(make_windows(1), Silent())
