"""A window that is too long for the model is asked in halves.

A small context window refuses a long prompt, and a bound on the reply cuts off what a dense one has to say. Either way
the window is divided between two passages and each half asked by itself, as often as it takes. A single passage that is
still too long is a failure; if nothing before it could be read, the window is given up without asking for the rest.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from pydantic import BaseModel

from hcg_pipeline.backends.llm.asking import Asked
from hcg_pipeline.backends.llm.prompt import Prompt
from hcg_pipeline.backends.protocol import Failure, Reading, Usage
from hcg_pipeline.corpus.window import Window

R = TypeVar("R", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class WindowQuestion(Generic[R]):
    """A window to ask about, and how a prompt is made of it or of a part of it."""

    stage: str
    window: Window
    prompt_of: Callable[[Window], Prompt[R]]


@dataclass(frozen=True, slots=True)
class Parts(Generic[R]):
    """The replies to a window's parts in order (mostly one, the window's own), and the failures of parts."""

    replies: tuple[tuple[Window, R], ...]
    failures: tuple[Failure, ...]


def ask_window(ask: Callable[[Prompt[R]], Asked[R]], question: WindowQuestion[R]) -> Asked[Parts[R]]:
    """Put the question to the model with `ask`, in halves of halves where it is too long.

    A failure of the whole if no part gave a reply.
    """
    waiting = [question.window]
    replies: list[tuple[Window, R]] = []
    failures: list[Failure] = []
    usage = Usage()
    unanswered = False
    while waiting:
        part = waiting.pop(0)
        asked = ask(question.prompt_of(part))
        usage += asked.usage
        if asked.reply is not None:
            replies.append((part, asked.reply))
        elif asked.too_long:
            waiting[:0] = halves_of(part)
        elif asked.failure is not None:
            failures.append(asked.failure)
            unanswered = asked.unanswered
            if not replies:
                break
    if not replies:
        return Asked(None, failures[0], usage, unanswered=unanswered)
    return Asked(Parts(tuple(replies), tuple(failures)), None, usage)


def halves_of(window: Window) -> tuple[Window, Window]:
    """`window`, of at least two passages, cut between the two that leave its halves most alike in length."""
    lengths = [len(passage.text) for passage in window.passages]
    cut = min(range(1, len(lengths)), key=lambda place: abs(sum(lengths[:place]) - sum(lengths[place:])))
    return Window(window.window_id, window.passages[:cut]), Window(window.window_id, window.passages[cut:])


def joined(readings: Sequence[Reading]) -> Reading:
    """One reading of the readings of a window's parts, of which there is at least one."""
    return Reading(
        readings[0].window_id,
        tuple(dict.fromkeys(entity for reading in readings for entity in reading.entities)),
        tuple(dict.fromkeys(variable for reading in readings for variable in reading.variables)),
        tuple(dict.fromkeys(relation for reading in readings for relation in reading.relations)),
    )
