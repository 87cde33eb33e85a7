"""What a retrieval hands back: the evidence of one question, and everything that explains it."""

from dataclasses import dataclass, field
from typing import Literal

Mode = Literal["graph", "nodes_only", "naive", "in_context", "hybrid", "fallback"]


@dataclass(frozen=True, slots=True)
class Evidence:
    """One piece of context. `text` is document[start:end], whole sentences of the corpus.

    The exception is mode `nodes_only`, whose texts are edges in words and stand in no document: `document_id`, `path`
    and `chunk_id` are then empty and the span is 0, 0. `why` says in plain words what made it worth its place.
    """

    chunk_id: str
    document_id: str
    path: str
    start: int
    end: int
    text: str
    why: str


@dataclass(frozen=True, slots=True)
class Cone:
    """The outcomes of one metric and what reaches them (Definition 4).

    `converging` counts the matched variables that reach any of `outcomes` inside the subgraph; `score` is their
    similarity, discounted by hops and edge confidence; `edges` counts those whose best cone it is.
    """

    metric: str
    outcomes: tuple[str, ...]
    converging: int
    score: float
    edges: int = 0


@dataclass(frozen=True, slots=True)
class Retrieval:
    """The evidence for one question in reading order, and how it was found.

    `matched` holds (variable, similarity), best first, where a metric's best reached `tau_min`; `nearest` is the
    variable that came closest where none did. `hops` (outcome, hops from the nearest matched variable) of
    the cones; `seconds` the time of each step. Questions are matched and searched in blocks: the first of a block
    takes the block's time.
    """

    mode: Mode
    matched: tuple[tuple[str, float], ...] = ()
    nearest: tuple[str, float] | None = None
    tau_min: float | None = None
    cones: tuple[Cone, ...] = ()
    passages: tuple[Evidence, ...] = ()
    hops: tuple[tuple[str, int], ...] = ()
    subgraph_nodes: int = 0
    subgraph_edges: int = 0
    seconds: dict[str, float] = field(default_factory=dict, compare=False)

    @property
    def contexts(self) -> tuple[str, ...]:
        """The texts in the order in which the answering model sees them."""
        return tuple(passage.text for passage in self.passages)
