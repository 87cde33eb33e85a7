"""What a loader finds in a file."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Record:
    """One document of a file, or the reason why a part of the file is not one.

    `number` is None for a file that is one document, else the 1-based line, entry or page: it is named `path#number`.
    `reason` is set where the part cannot be read; then `text` counts for nothing.
    """

    text: str = ""
    number: int | None = None
    reason: str | None = None
