"""`LlmBackend`: the language backend that asks a chat model."""

import hashlib
import json
from collections.abc import Callable, Sequence
from copy import copy
from typing import TypeVar

from pydantic import BaseModel

from hcg_pipeline.backends.llm.asking import Asked, ask
from hcg_pipeline.backends.llm.batches import Batches
from hcg_pipeline.backends.llm.chat import ChatRequest, KeptChat
from hcg_pipeline.backends.llm.dividing import Parts, WindowQuestion, ask_window, joined
from hcg_pipeline.backends.llm.ledger import Ledger, Unrecorded
from hcg_pipeline.backends.llm.mapping import ask_all, failures_of, total_usage
from hcg_pipeline.backends.llm.prompt import Prompt, Sampling, request_of
from hcg_pipeline.backends.llm.prompts.answer import AnswerReply as AnswerModel
from hcg_pipeline.backends.llm.prompts.answer import answer_prompt, to_answer, unanswerable
from hcg_pipeline.backends.llm.prompts.dimensions import DimensionsReply, dimensions_prompt, to_dimensions
from hcg_pipeline.backends.llm.prompts.edges import EdgesReply, edges_prompt, to_relations
from hcg_pipeline.backends.llm.prompts.instructions import STAGES, instructions
from hcg_pipeline.backends.llm.prompts.metrics import MetricsReply, metrics_prompt, to_metrics
from hcg_pipeline.backends.llm.prompts.reading import ReadingReply, ReadingTask, reading_task, to_reading
from hcg_pipeline.backends.llm.prompts.templates import TemplatesReply, templates_prompt, to_verdicts
from hcg_pipeline.backends.protocol import (
    AnswerReply,
    AnswerRequest,
    EdgeQuestion,
    Failure,
    Outcome,
    ProposedDimension,
    ProposedMetric,
    ProposedRelation,
    Reading,
    TemplateQuestion,
    TemplateVerdict,
)
from hcg_pipeline.corpus.window import Window
from hcg_pipeline.errors import BackendError
from hcg_pipeline.progress import Progress
from hcg_pipeline.specification.vocabulary import Dimension, Vocabulary

R = TypeVar("R", bound=BaseModel)
T = TypeVar("T")
S = TypeVar("S")

CODE_VERSION = 1
"""Raise it when this package's code makes other prompts of the same input, or other proposals of the same reply."""

_REPLIES: tuple[type[BaseModel], ...] = (
    DimensionsReply,
    MetricsReply,
    ReadingReply,
    TemplatesReply,
    EdgesReply,
    AnswerModel,
)


class LlmBackend:
    """The `LanguageBackend` that asks a chat model, one prompt a window, question or batch of candidates.

    `chat` is the whole chain (see the package's text). `workers` prompts are worked on at a time. `metrics_shown`
    bounds the metrics that a window is shown, `answer_words` (None: no bound) the contexts of a question.
    """

    def __init__(
        self,
        chat: KeptChat,
        sampling: Sampling,
        *,
        workers: int = 8,
        metrics_shown: int = 64,
        answer_words: int | None = None,
        batches: Batches | None = None,
    ) -> None:
        self._ledger: Ledger = Unrecorded()
        self._batches = batches
        self._in_batches = False
        self._chat = chat
        self._sampling = sampling
        self._workers = workers
        self._metrics_shown = metrics_shown
        self._answer_words = answer_words

    @property
    def sampling(self) -> Sampling:
        """The parameters that go with every request."""
        return self._sampling

    @property
    def metrics_shown(self) -> int:
        """The most metrics that a window is shown."""
        return self._metrics_shown

    def recording(self, ledger: Ledger) -> "LlmBackend":
        """This backend, with the same chain, whose calls `ledger` takes note of."""
        other = copy(self)
        other._ledger = ledger
        return other

    def in_batches(self) -> "LlmBackend":
        """This backend, with the same chain, that sends what it can through the Batch API first (see `batches`).

        Raises `BackendError` where it was made without one.
        """
        if self._batches is None:
            raise BackendError("this LLM backend was set up without the Batch API: run again without --batch")
        other = copy(self)
        other._in_batches = True
        return other

    @property
    def name(self) -> str:
        """`llm`."""
        return "llm"

    @property
    def version(self) -> str:
        """The model's name and a hash of everything else that decides what the same input gives."""
        content = {
            "code": CODE_VERSION,
            "sampling": [self._sampling.temperature, self._sampling.seed, self._sampling.max_tokens],
            "shown": [self._metrics_shown, self._answer_words],
            "prompts": [instructions(stage) for stage in STAGES],
            "replies": [reply.model_json_schema() for reply in _REPLIES],
        }
        digest = hashlib.blake2b(json.dumps(content, sort_keys=True).encode(), digest_size=6).hexdigest()
        return f"{self._sampling.model}/{digest}"

    def propose_dimensions(self, windows: Sequence[Window], progress: Progress) -> Outcome[ProposedDimension]:
        """Axes with entities, window by window. See `LanguageBackend`."""
        return self._ask_windows(windows, dimensions_prompt, _each_part(to_dimensions), progress)

    def propose_metrics(
        self, windows: Sequence[Window], dimensions: Sequence[Dimension], progress: Progress
    ) -> Outcome[ProposedMetric]:
        """Metrics over `dimensions`, window by window. Without a dimension there is nothing to ask."""
        if not dimensions:
            return Outcome(())

        def prompt_of(window: Window) -> Prompt[MetricsReply]:
            return metrics_prompt(window, dimensions)

        return self._ask_windows(windows, prompt_of, _each_part(lambda reply, _: to_metrics(reply)), progress)

    def read_windows(self, windows: Sequence[Window], vocabulary: Vocabulary, progress: Progress) -> Outcome[Reading]:
        """Variables, relations and new entities of each window, in one call each."""
        if not vocabulary.metrics:
            return Outcome(tuple(Reading(window.window_id, (), (), ()) for window in windows))

        def task_of(window: Window) -> ReadingTask:
            return reading_task(window, vocabulary, self._metrics_shown)

        def reading_of(parts: Parts[ReadingReply]) -> list[Reading]:
            return [joined([to_reading(reply, task_of(part)) for part, reply in parts.replies])]

        return self._ask_windows(windows, lambda window: task_of(window).prompt, reading_of, progress)

    def judge_templates(
        self, questions: Sequence[TemplateQuestion], progress: Progress
    ) -> Outcome[tuple[TemplateVerdict, ...]]:
        """Per question, the targets that its source drives. A question without targets costs no call."""
        return self._each_asked(
            questions, lambda question: bool(question.targets), templates_prompt, to_verdicts, lambda _: (), progress
        )

    def judge_edges(
        self, questions: Sequence[EdgeQuestion], progress: Progress
    ) -> Outcome[tuple[ProposedRelation, ...]]:
        """Per question, the candidates that its passages bear out. Without candidates or passages there are none."""
        return self._each_asked(
            questions,
            lambda question: bool(question.candidates and question.passages),
            edges_prompt,
            to_relations,
            lambda _: (),
            progress,
        )

    def answer(self, requests: Sequence[AnswerRequest], progress: Progress) -> Outcome[AnswerReply]:
        """One answer a request, from its contexts alone. A request without contexts costs no call."""
        return self._each_asked(
            requests,
            lambda request: any(context.strip() for context in request.contexts),
            lambda request: answer_prompt(request, self._answer_words),
            lambda reply, request: to_answer(reply, request, self._answer_words),
            unanswerable,
            progress,
        )

    def _ask(self, prompt: Prompt[R]) -> Asked[R]:
        return ask(self._chat, self._sampling, prompt, self._ledger)

    def _through_batches(
        self, requests_of: Callable[[Sequence[T]], list[ChatRequest]], progress: Progress
    ) -> Callable[[Sequence[T]], None] | None:
        """What a stage does with the prompts that its canary leaves, before it asks them: nothing, or a batch."""
        batches = self._batches
        if batches is None or not self._in_batches:
            return None
        return lambda left: batches.fill(requests_of(left), self._ledger, progress)

    def _ask_windows(
        self,
        windows: Sequence[Window],
        prompt_of: Callable[[Window], Prompt[R]],
        results_of: Callable[[Parts[R]], Sequence[T]],
        progress: Progress,
    ) -> Outcome[T]:
        """The results of all windows in order; a window of which only a part failed has both, results and failures."""
        if not windows:
            return Outcome(())
        stage = prompt_of(windows[0]).stage
        questions = [WindowQuestion(stage, window, prompt_of) for window in windows]

        def requests_of(left: Sequence[WindowQuestion[R]]) -> list[ChatRequest]:
            return [request_of(prompt_of(question.window), self._sampling) for question in left]

        before = self._through_batches(requests_of, progress)
        asked = ask_all(lambda question: ask_window(self._ask, question), questions, self._workers, progress, before)
        results: list[T] = []
        failures: list[Failure] = []
        for one in asked:
            if one.failure is not None:
                failures.append(one.failure)
            if one.reply is not None:
                failures.extend(one.reply.failures)
                results.extend(results_of(one.reply))
        return Outcome(tuple(results), tuple(failures), total_usage(asked))

    def _each_asked(
        self,
        items: Sequence[T],
        worth_asking: Callable[[T], bool],
        prompt_of: Callable[[T], Prompt[R]],
        result_of: Callable[[R, T], S],
        without_asking: Callable[[T], S],
        progress: Progress,
    ) -> Outcome[S]:
        """One result an item, in order: asked for where that is worth a call, else made without one."""

        def requests_of(left: Sequence[Prompt[R]]) -> list[ChatRequest]:
            return [request_of(prompt, self._sampling) for prompt in left]

        prompts = [prompt_of(item) for item in items if worth_asking(item)]
        before = self._through_batches(requests_of, progress)
        asked = ask_all(self._ask, prompts, self._workers, progress, before)
        answers = iter(asked)
        results: list[S] = []
        for item in items:
            if not worth_asking(item):
                results.append(without_asking(item))
            elif (reply := next(answers).reply) is not None:
                results.append(result_of(reply, item))
        return Outcome(tuple(results), failures_of(asked), total_usage(asked))


def _each_part(results_of: Callable[[R, Window], Sequence[T]]) -> Callable[[Parts[R]], Sequence[T]]:
    """The results of a window's parts, one after the other."""
    return lambda parts: [result for part, reply in parts.replies for result in results_of(reply, part)]
