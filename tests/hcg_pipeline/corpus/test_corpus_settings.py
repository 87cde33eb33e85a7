from pathlib import Path

import pytest

from hcg_pipeline.corpus.settings import ChunkingSettings, CorpusSettings, read_settings
from hcg_pipeline.errors import SettingsError


def _read(folder: Path, text: str) -> CorpusSettings:
    (folder / "corpus.yaml").write_text(text, encoding="utf-8")
    return read_settings(folder)


def test_without_a_file_or_with_an_empty_one_the_defaults_hold(tmp_path: Path) -> None:
    for settings in (read_settings(tmp_path), _read(tmp_path, ""), _read(tmp_path, "# nothing yet\n")):
        assert (settings.tier, settings.backend, settings.window_words) == ("S", None, None)
        assert (settings.chunking.minimum, settings.chunking.target_words, settings.chunking.maximum) == (100, 250, 400)
        assert settings.retrieval.hops == 4


def test_a_file_sets_what_it_names(tmp_path: Path) -> None:
    settings = _read(
        tmp_path,
        "description: Pumps\ntier: XS\nbackend: rules\nwindow_words: 1500\n"
        "chunking: {target_words: 100, maximum_words: 150}\nretrieval: {hops: 2}\n",
    )
    assert (settings.description, settings.tier, settings.backend, settings.window_words) == (
        "Pumps",
        "XS",
        "rules",
        1500,
    )
    assert (settings.chunking.minimum, settings.chunking.maximum) == (40, 150)
    assert settings.retrieval.hops == 2


@pytest.mark.parametrize(
    ("text", "line", "says"),
    [
        ("tier: S\ntiers: M\n", 2, "tiers"),
        ("\n\ntier: XXL\n", 3, "tier"),
        ("tier: S\nchunking:\n  target_words: many\n", 3, "target_words"),
        ("tier: S\nchunking:\n  minimum_words: 300\n", 2, "minimum_words < target_words < maximum_words"),
        ("tier: S\nretrieval:\n  hops: 4\n  jumps: 4\n", 4, "jumps"),
        ("tier: [S\n", 2, "not YAML"),
        ("- tier\n", 1, "expected settings"),
        ("tier: S\nbackend: gpt\n", 2, "backend"),
    ],
)
def test_a_mistake_is_named_with_file_and_line(tmp_path: Path, text: str, line: int, says: str) -> None:
    with pytest.raises(SettingsError) as caught:
        _read(tmp_path, text)
    assert str(caught.value).startswith(f"{tmp_path / 'corpus.yaml'}:{line}: ")
    assert says in str(caught.value)


def test_bounds_follow_the_target() -> None:
    assert (ChunkingSettings(target_words=500).minimum, ChunkingSettings(target_words=500).maximum) == (200, 800)
