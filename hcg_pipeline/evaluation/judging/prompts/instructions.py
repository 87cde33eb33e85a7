"""The text files of this package."""

from functools import cache
from importlib.resources import files

TASKS = ("statements", "correctness", "coverage", "faithfulness")


@cache
def instructions(task: str) -> str:
    """What opens every conversation, then the instructions of one of `TASKS`."""
    folder = files(__package__)
    parts = (folder.joinpath(f"{name}.txt").read_text(encoding="utf-8") for name in ("system", task))
    return "\n\n".join(part.strip() for part in parts)
