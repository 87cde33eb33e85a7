"""The text files of this package."""

from functools import cache
from importlib.resources import files

STAGES = ("dimensions", "metrics", "reading", "templates", "edges", "answer")


@cache
def instructions(stage: str) -> str:
    """What opens every conversation, then the instructions of one of `STAGES`."""
    folder = files(__package__)
    parts = (folder.joinpath(f"{name}.txt").read_text(encoding="utf-8") for name in ("system", stage))
    return "\n\n".join(part.strip() for part in parts)
