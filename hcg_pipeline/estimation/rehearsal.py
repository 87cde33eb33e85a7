"""A build without a call: each stage's prompts are made as the build makes them, and looked up in the cache.

What the cache holds is read from there, and costs nothing. For the rest another backend stands in, one that reads
without an endpoint: what it proposes goes on to the next stage, whose prompts can then be made. So the first stages are
exact, and the later ones as close as the stand-in is to the model.
"""

import json
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Protocol, TypeVar

import pyarrow as pa
from pydantic import BaseModel

from hcg_pipeline.backends.llm.cache import request_key
from hcg_pipeline.backends.llm.chat import ChatReply, ChatRequest
from hcg_pipeline.backends.llm.prompt import Prompt, Sampling, request_of
from hcg_pipeline.backends.llm.prompts.dimensions import dimensions_prompt, to_dimensions
from hcg_pipeline.backends.llm.prompts.edges import edges_prompt
from hcg_pipeline.backends.llm.prompts.metrics import metrics_prompt, to_metrics
from hcg_pipeline.backends.llm.prompts.reading import reading_task, to_reading
from hcg_pipeline.backends.llm.prompts.templates import templates_prompt, to_verdicts
from hcg_pipeline.backends.llm.validating import BadReplyError, validated
from hcg_pipeline.backends.protocol import LanguageBackend, ProposedMetric, Reading, TemplateVerdict
from hcg_pipeline.corpus.windows import pack_windows
from hcg_pipeline.estimation.spreading import spread_readings
from hcg_pipeline.estimation.typical import reading_tokens, reply_tokens, token_count, typical_metrics
from hcg_pipeline.graph.node_edges import edge_questions, seed_edges
from hcg_pipeline.graph.templates import lift_templates, merge_templates, template_questions
from hcg_pipeline.progress import Progress, Silent
from hcg_pipeline.specification.assembly import assemble
from hcg_pipeline.specification.dimensions import cut_dimensions, resolve_dimensions
from hcg_pipeline.specification.metrics import resolve_metrics
from hcg_pipeline.specification.outcomes import OutcomeConfig
from hcg_pipeline.specification.tiers import VOCABULARY_WINDOW_WORDS, VOCABULARY_WINDOWS, caps_of, sample_windows
from hcg_pipeline.specification.vocabulary import Vocabulary
from hcg_pipeline.specification.vocabulary_tables import to_vocabulary

R = TypeVar("R", bound=BaseModel)
Kept = Callable[[ChatRequest], ChatReply | None]
_MARKS = 12
"""Tokens that stand between the messages of a request."""


class Asks(Protocol):
    """How the build asks: what an LLM backend was made with."""

    @property
    def sampling(self) -> Sampling:
        """The parameters of every request."""

    @property
    def metrics_shown(self) -> int:
        """The most metrics that a window is shown."""


@dataclass(frozen=True, slots=True)
class PlannedBuild:
    """What is built: CHUNKS, the tier, words a window, roles, and a pinned vocabulary (DIMENSIONS, METRICS) if any."""

    chunks: pa.Table
    tier: str
    window_words: int | None = None
    outcomes: OutcomeConfig | None = None
    pinned: tuple[pa.Table, pa.Table] | None = None


@dataclass
class StageTally:
    """The calls of one stage: to be made, and answered from the cache."""

    stage: str
    calls: int = 0
    cached: int = 0
    tokens_in: int = 0
    tokens_out: int = 0


@dataclass
class Rehearsal:
    """Walks through a build. `kept` gives the good reply to a request, if there is one; `reader` stands in."""

    build: PlannedBuild
    asks: Asks
    kept: Kept
    reader: LanguageBackend
    progress: Progress = field(default_factory=Silent)
    _tallies: list[StageTally] = field(default_factory=list)
    _asked: set[str] = field(default_factory=set)

    def run(self) -> list[StageTally]:
        """The tally of each stage that asks, in order."""
        build = self.build
        caps = caps_of(build.tier)
        dimensions, metrics = build.pinned or self._vocabulary()
        vocabulary = to_vocabulary(dimensions, metrics)
        windows = pack_windows(build.chunks, build.window_words or caps.window_words)
        tally = self._stage("variables")
        readings: dict[int, Reading] = {}
        for place, window in enumerate(windows):
            task = reading_task(window, vocabulary, self.asks.metrics_shown)
            if (reply := self._look(tally, task.prompt, 0)) is not None:
                readings[place] = to_reading(reply, task)
        missing = [place for place in range(len(windows)) if place not in readings]
        stood_in = spread_readings(self.reader, [windows[place] for place in missing], vocabulary, self.progress)
        tally.tokens_out += sum(map(reading_tokens, stood_in))
        readings |= dict(zip(missing, stood_in, strict=True))
        assembly = assemble([readings[place] for place in range(len(windows))], vocabulary, build.chunks)
        grown = to_vocabulary(assembly.dimensions, metrics)
        templates = self._templates(assembly.relations, assembly.variables, grown)
        stated = seed_edges(assembly.relations)
        tally = self._stage("node_edges")
        for question in edge_questions(templates, assembly.variables, build.chunks, stated, grown, caps):
            if question.candidates and question.passages:
                self._look(tally, edges_prompt(question), reply_tokens("node_edges"))
        return self._tallies

    def _vocabulary(self) -> tuple[pa.Table, pa.Table]:
        """DIMENSIONS and METRICS of the tier: of the replies that are kept, or without any, as they typically are."""
        packed = pack_windows(self.build.chunks, VOCABULARY_WINDOW_WORDS)
        windows = sample_windows(packed, VOCABULARY_WINDOWS)
        tally = self._stage("dimensions")
        axes = [
            proposal
            for window in windows
            if (reply := self._look(tally, dimensions_prompt(window), reply_tokens("dimensions"))) is not None
            for proposal in to_dimensions(reply, window)
        ]
        axes = axes or list(self.reader.propose_dimensions(windows, self.progress).results)
        ranked = resolve_dimensions(axes).table
        tally = self._stage("metrics")
        bound = to_vocabulary(ranked).dimensions
        quantities: list[ProposedMetric] = []
        for window in windows if bound else ():
            told = self._look(tally, metrics_prompt(window, bound), reply_tokens("metrics"))
            quantities += to_metrics(told) if told is not None else ()
        if not quantities:
            quantities += self.reader.propose_metrics(windows, bound, self.progress).results
            quantities += typical_metrics(bound)
        metrics = resolve_metrics(quantities, ranked, self.build.outcomes, self.build.tier).table
        return cut_dimensions(ranked, self.build.tier), metrics

    def _templates(self, relations: pa.Table, variables: pa.Table, vocabulary: Vocabulary) -> pa.Table:
        """METRIC_TEMPLATES: lifted, judged by kept replies, and for the rest by the stand-in."""
        caps = caps_of(self.build.tier)
        questions = template_questions(vocabulary, relations, variables, self.build.chunks, caps)
        tally = self._stage("metric_templates")
        verdicts: list[TemplateVerdict] = []
        open_questions = []
        for question in questions:
            reply = self._look(tally, templates_prompt(question), reply_tokens("metric_templates"))
            if reply is None:
                open_questions.append(question)
            else:
                verdicts += to_verdicts(reply, question)
        judged = self.reader.judge_templates(open_questions, self.progress).results
        verdicts += [verdict for several in judged for verdict in several]
        return merge_templates(lift_templates(relations), verdicts, vocabulary)

    def _stage(self, stage: str) -> StageTally:
        self._tallies.append(StageTally(stage))
        return self._tallies[-1]

    def _look(self, tally: StageTally, prompt: Prompt[R], reply: int) -> R | None:
        """The reply that is kept for `prompt`; else None, and a call more whose reply takes so many tokens."""
        request = request_of(prompt, self.asks.sampling)
        key = request_key(request)
        if key in self._asked:  # identical passages of two documents are one call
            tally.cached += 1
            return None
        self._asked.add(key)
        kept = self.kept(request)
        if kept is not None:
            with suppress(BadReplyError):
                good = validated(kept, prompt)
                tally.cached += 1
                return good
        schema = json.dumps(request.schema.schema, ensure_ascii=False)
        tally.calls += 1
        tally.tokens_in += sum(token_count(text) for text in (prompt.system, prompt.user, schema)) + _MARKS
        tally.tokens_out += reply
        return None
