"""How long work reports where it stands. The engine calls it; shells draw bars, Dagster writes logs."""

from typing import Protocol


class Progress(Protocol):
    """Receives `advance(stage, done, total)` with counts of items (files, chunks, windows, questions)."""

    def advance(self, stage: str, done: int, total: int) -> None:
        """Say that `done` of `total` items of `stage` are finished. Called from one thread at a time."""


class Silent:
    """Reports nothing."""

    def advance(self, stage: str, done: int, total: int) -> None:
        """Ignore the report."""
