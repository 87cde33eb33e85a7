"""What the stages ask of a language backend, and what they get back.

Proposals are raw: names may be spelled in many ways and may be wrong. Everything that makes them a specification
(merging, caps, closing the vocabulary, checking quotes against the text) is done above the backend, in one place.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Generic, Protocol, TypeVar

from hcg_pipeline.corpus.window import Passage, Window
from hcg_pipeline.progress import Progress
from hcg_pipeline.specification.vocabulary import Dimension, Metric, Sign, VariableRef, Vocabulary

T_co = TypeVar("T_co", covariant=True)


@dataclass(frozen=True, slots=True)
class Usage:
    """What a stage cost. `cached` calls were answered from the cache and are not in `calls`.

    Their tokens, spent when the replies were made, are the `kept` ones.
    """

    calls: int = 0
    cached: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    kept_in: int = field(default=0, compare=False)
    kept_out: int = field(default=0, compare=False)

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(
            self.calls + other.calls,
            self.cached + other.cached,
            self.tokens_in + other.tokens_in,
            self.tokens_out + other.tokens_out,
            self.kept_in + other.kept_in,
            self.kept_out + other.kept_out,
        )


@dataclass(frozen=True, slots=True)
class Failure:
    """One reply that could not be used even after repair. Never the same as an empty result."""

    stage: str
    key: str
    reason: str
    raw: str


@dataclass(frozen=True, slots=True)
class Outcome(Generic[T_co]):
    """Results in the order of the items asked about (failed items are missing), the failures, and the cost."""

    results: tuple[T_co, ...]
    failures: tuple[Failure, ...] = ()
    usage: Usage = field(default_factory=Usage)


@dataclass(frozen=True, slots=True)
class ProposedEntity:
    """An entity as one reading names it."""

    name: str
    aliases: tuple[str, ...] = ()
    mentions: int = 1


@dataclass(frozen=True, slots=True)
class ProposedDimension:
    """A dimension as one reading (or, for `rules`, the whole corpus) proposes it; `support` counts windows."""

    name: str
    description: str
    entities: tuple[ProposedEntity, ...]
    support: int = 1


@dataclass(frozen=True, slots=True)
class ProposedMetric:
    """A metric as one reading proposes it; `signature` names dimensions."""

    name: str
    signature: tuple[str, ...]
    description: str
    category: str
    support: int = 1


@dataclass(frozen=True, slots=True)
class ProposedVariable:
    """A variable that a chunk speaks of."""

    ref: VariableRef
    chunk_id: str


@dataclass(frozen=True, slots=True)
class ProposedRelation:
    """A cause and its effect as a chunk states them. `quote` must stand in the chunk, or it is no evidence."""

    source: VariableRef
    target: VariableRef
    mechanism: str
    sign: Sign
    confidence: float
    chunk_id: str
    quote: str


@dataclass(frozen=True, slots=True)
class Reading:
    """What one window says, within a vocabulary: entities that it adds, variables, relations."""

    window_id: str
    entities: tuple[tuple[str, ProposedEntity], ...]
    variables: tuple[ProposedVariable, ...]
    relations: tuple[ProposedRelation, ...]


@dataclass(frozen=True, slots=True)
class TemplateQuestion:
    """Tier 1: does `source` drive any of `targets`? `passages` speak of them."""

    source: Metric
    targets: tuple[Metric, ...]
    passages: tuple[Passage, ...]


@dataclass(frozen=True, slots=True)
class TemplateVerdict:
    """A target that the source does drive, and how. Rejected targets are simply absent."""

    source: str
    target: str
    mechanism: str
    confidence: float


@dataclass(frozen=True, slots=True)
class EdgeQuestion:
    """Tier 2: which of these candidate pairs, all of one template, do the passages bear out?"""

    source: Metric
    target: Metric
    mechanism: str
    candidates: tuple[tuple[VariableRef, VariableRef], ...]
    passages: tuple[Passage, ...]


@dataclass(frozen=True, slots=True)
class AnswerRequest:
    """A question and the evidence to answer it from, in reading order. `key` is unique in the batch."""

    key: str
    question: str
    contexts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class AnswerReply:
    """An answer. `answered` is false when the evidence does not hold one; `cited` are places in `contexts`.

    `dropped` counts citations of what is not there, which `cited` leaves out.
    """

    key: str
    text: str
    answered: bool
    cited: tuple[int, ...]
    dropped: int = 0


class LanguageBackend(Protocol):
    """Reads windows, judges candidates, answers questions. Calls run concurrently; results do not depend on that.

    Every method raises `BackendError` when the backend as a whole cannot work, and reports single bad replies as
    failures in the outcome.
    """

    @property
    def name(self) -> str:
        """`rules` or `llm`."""

    @property
    def version(self) -> str:
        """Changes whenever the same input may give another output: model, prompts, code."""

    def propose_dimensions(self, windows: Sequence[Window], progress: Progress) -> Outcome[ProposedDimension]:
        """Axes with example entities, from each window (or from all at once)."""

    def propose_metrics(
        self, windows: Sequence[Window], dimensions: Sequence[Dimension], progress: Progress
    ) -> Outcome[ProposedMetric]:
        """Metrics over the given dimensions, from each window (or from all at once)."""

    def read_windows(self, windows: Sequence[Window], vocabulary: Vocabulary, progress: Progress) -> Outcome[Reading]:
        """Variables and relations of each window. A window's reading depends on it and the vocabulary alone."""

    def judge_templates(
        self, questions: Sequence[TemplateQuestion], progress: Progress
    ) -> Outcome[tuple[TemplateVerdict, ...]]:
        """Per question, the accepted targets."""

    def judge_edges(
        self, questions: Sequence[EdgeQuestion], progress: Progress
    ) -> Outcome[tuple[ProposedRelation, ...]]:
        """Per question, the accepted candidates, each with mechanism, sign, confidence and a quote."""

    def answer(self, requests: Sequence[AnswerRequest], progress: Progress) -> Outcome[AnswerReply]:
        """One answer a request, from its contexts alone."""
