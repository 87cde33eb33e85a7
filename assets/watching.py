"""What a sensor remembers of the folders that it watches, and when a change of one is to be acted on."""

from dataclasses import dataclass
from typing import Literal

from pydantic import BaseModel, ConfigDict, ValidationError

QUIET_SECONDS = 10.0
"""How long a folder must stay as it is before a change counts: files are copied one after another, and in parts."""

READING_SECONDS = 20.0
"""How long one tick may read files of new sizes or times. Dagster stops a sensor after 60 s."""


class Watched(BaseModel):
    """One folder: what it looked like at the last tick, and the content that was last acted on."""

    model_config = ConfigDict(extra="forbid")

    seen: str = ""  # fingerprint of sizes and times, at the last tick
    since: float = 0.0  # when it first looked so, in seconds since 1970
    done: str = ""  # the same, when it was last found to hold `content`
    content: str = ""  # fingerprint of what was last acted on
    count: int = 0  # how often it was acted on: going back to an old content needs a run key of its own


class Memory(BaseModel):
    """A sensor's cursor."""

    model_config = ConfigDict(extra="forbid")

    version: Literal[1] = 1
    folders: dict[str, Watched] = {}
    gone: list[str] = []

    @classmethod
    def of(cls, cursor: str | None) -> "Memory":
        """What the cursor holds; nothing where there is none, or one that another version of this code wrote."""
        try:
            return cls.model_validate_json(cursor) if cursor else cls()
        except ValidationError:
            return cls()

    def look(self, name: str, fingerprint: str, now: float) -> "Look":
        """Note what a folder looks like now; says whether it is as it was acted on, still moving, or to be read."""
        watched = self.folders.setdefault(name, Watched())
        if watched.seen != fingerprint:
            watched.seen, watched.since = fingerprint, now
        if watched.content and watched.done == fingerprint:
            return Look(watched, "as before")
        if now - watched.since < QUIET_SECONDS:
            return Look(watched, "moving")
        return Look(watched, "settled")


@dataclass(frozen=True)
class Look:
    """A folder at this tick: `settled` means that it changed, and has been left alone for a while since."""

    watched: Watched
    state: Literal["as before", "moving", "settled"]
