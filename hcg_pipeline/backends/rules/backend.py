"""The offline language backend: deterministic, no network, no key. See the modules that it calls for the methods."""

from collections.abc import Callable, Sequence
from functools import cache
from hashlib import blake2b
from importlib.metadata import version
from importlib.resources import files
from typing import TypeVar

import hcg_pipeline.backends.rules as _rules
from hcg_pipeline.backends.protocol import (
    AnswerReply,
    AnswerRequest,
    EdgeQuestion,
    Outcome,
    ProposedDimension,
    ProposedMetric,
    ProposedRelation,
    Reading,
    TemplateQuestion,
    TemplateVerdict,
)
from hcg_pipeline.backends.rules import answering, dimensions, judging, metrics
from hcg_pipeline.backends.rules import lexicon as _lexicon
from hcg_pipeline.backends.rules import words as _words
from hcg_pipeline.backends.rules.newcomers import Newcomers
from hcg_pipeline.backends.rules.parsing import Parser, passages_of
from hcg_pipeline.backends.rules.reading import read_window
from hcg_pipeline.backends.rules.resolve import Resolver
from hcg_pipeline.backends.rules.survey import survey
from hcg_pipeline.corpus.window import Window
from hcg_pipeline.progress import Progress
from hcg_pipeline.specification.vocabulary import Dimension, Vocabulary

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")


class RulesBackend:
    """Implements `LanguageBackend` with term extraction, lexico-syntactic patterns and causal cues.

    Each sentence is parsed once in the life of the object; methods may be called from several threads.
    """

    def __init__(self) -> None:
        self.parser = Parser()
        """Shared by all methods, so that each sentence is parsed once; also serves measurements."""

    @property
    def name(self) -> str:
        """`rules`."""
        return "rules"

    @property
    def version(self) -> str:
        """A digest of the rules, their word lists and lexicon, and the tagger's version."""
        return _version()

    def propose_dimensions(self, windows: Sequence[Window], progress: Progress) -> Outcome[ProposedDimension]:
        """Dimensions of the whole corpus by falling support, each with its entities."""
        return Outcome(tuple(dimensions.propose(survey(windows, self.parser, "dimensions", progress))))

    def propose_metrics(
        self, windows: Sequence[Window], dimensions: Sequence[Dimension], progress: Progress
    ) -> Outcome[ProposedMetric]:
        """Metrics of the whole corpus over the given dimensions by falling support."""
        passages = list(passages_of(windows))
        parsed = _each(passages, self.parser.passage, "metrics", progress)
        return Outcome(tuple(metrics.propose(parsed, dimensions)))

    def read_windows(self, windows: Sequence[Window], vocabulary: Vocabulary, progress: Progress) -> Outcome[Reading]:
        """The variables and relations of each window."""
        resolver = Resolver(vocabulary)
        newcomers = Newcomers(resolver, self.parser.commonness)
        return Outcome(
            tuple(_each(windows, lambda one: read_window(one, resolver, newcomers, self.parser), "reading", progress))
        )

    def judge_templates(
        self, questions: Sequence[TemplateQuestion], progress: Progress
    ) -> Outcome[tuple[TemplateVerdict, ...]]:
        """Targets that a passage states to be driven by the source."""
        return Outcome(
            tuple(_each(questions, lambda one: judging.judge_template(one, self.parser), "templates", progress))
        )

    def judge_edges(
        self, questions: Sequence[EdgeQuestion], progress: Progress
    ) -> Outcome[tuple[ProposedRelation, ...]]:
        """Candidates that a passage states."""
        return Outcome(tuple(_each(questions, lambda one: judging.judge_edge(one, self.parser), "edges", progress)))

    def answer(self, requests: Sequence[AnswerRequest], progress: Progress) -> Outcome[AnswerReply]:
        """Sentences of the evidence that answer each question."""
        return Outcome(tuple(_each(requests, lambda one: answering.answer(one, self.parser), "answers", progress)))


@cache
def _version() -> str:
    digest = blake2b(version("hanta").encode(), digest_size=6)
    for folder in (_rules, _words, _lexicon):
        for file in sorted(files(folder).iterdir(), key=lambda entry: entry.name):
            if file.is_file() and file.name.endswith((".py", ".tsv", ".gz")):
                digest.update(file.name.encode() + file.read_bytes())
    return f"rules-{digest.hexdigest()}"


def _each(items: Sequence[_Item], work: Callable[[_Item], _Result], stage: str, progress: Progress) -> list[_Result]:
    found = []
    for place, item in enumerate(items, start=1):
        found.append(work(item))
        if place % 20 == 0 or place == len(items):
            progress.advance(stage, place, len(items))
    return found
