"""Extraction windows: what a language backend reads at a time."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Passage:
    """One chunk as a backend sees it. `start` and `end` are character offsets into the document."""

    chunk_id: str
    document_id: str
    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class Window:
    """A run of consecutive chunks of one document. `window_id` depends on the texts alone, not on their place."""

    window_id: str
    passages: tuple[Passage, ...]
