"""`hcg evaluate`: question files answered in several modes, scored, kept, and compared in the corpus's report."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from assets.evaluations import evidence_counts, keep_evaluation, published_tier
from hcg_pipeline.answering.answers import answer_retrieved, evidence_rows
from hcg_pipeline.answering.questions import Question, find_question_files, read_questions
from hcg_pipeline.backends.protocol import Failure, Usage
from hcg_pipeline.errors import EvaluationError
from hcg_pipeline.evaluation.judging.settings import GRAPHRAG_BENCH
from hcg_pipeline.evaluation.scoring import Scored, of_system, score_with_judges
from hcg_pipeline.evaluation.systems import SYSTEMS
from hcg_pipeline.progress import Progress
from hcg_pipeline.retrieval.retrieval import Retrieval
from hcg_pipeline.retrieval.retrieve import retrieve
from hcg_pipeline.retrieval.settings import RetrievalSettings
from resources.asking import answering_backend
from resources.embedding import EmbeddingModel
from resources.judging import Judges
from resources.language import LanguageModel
from resources.published import Published, open_published
from resources.workspace import Workspace


@dataclass(frozen=True, slots=True)
class Asking:
    """What is to be compared: modes, budgets of evidence in words, and how often everything is asked."""

    modes: tuple[str, ...]
    budgets: tuple[int, ...]
    retrieve_only: bool
    runs: int


@dataclass(frozen=True, slots=True)
class Evaluated:
    """Over all systems: SCORES, SYSTEMS, replies that could not be used, judged scores that are missing."""

    scores: pa.Table
    systems: pa.Table
    failures: tuple[Failure, ...]
    missing: pa.Table


def question_files(workspace: Workspace, corpus: str, file: Path | None) -> list[Path]:
    """The file, or every question file of the corpus. Raises `EvaluationError` where there is none."""
    if file is not None:
        return [file]
    folder = workspace.question_folder(corpus)
    found = find_question_files(folder)
    if not found:
        raise EvaluationError(f"There are no question files in {folder}: put one there, or name one after the corpus.")
    return found


def evaluate_files(
    workspace: Workspace, corpus: str, file: Path | None, asking: Asking, progress: Progress
) -> Evaluated:
    """Answers the files in each mode with each budget, scores the answers and keeps the scores.

    Raises as answering, judging and reading questions do, `SnapshotError` before the first build, and
    `EvaluationError` for several runs of what is the same every time, or files without any reference answer.
    """
    files = {path.stem: read_questions(path) for path in question_files(workspace, corpus, file)}
    if not any(question.answer for questions in files.values() for question in questions):
        raise EvaluationError(
            "None of the questions has a reference `answer`, so there is nothing to score: add answers to the file, or "
            "use hcg answer."
        )
    published = open_published(workspace, corpus, EmbeddingModel.from_environment(workspace.cache))
    bench = _Bench(workspace, corpus, published, str(file) if file else "", asking, progress)
    scores, systems, missing, failures = [], [], [], list[Failure]()
    for name, questions in files.items():
        for mode in asking.modes:
            for words in asking.budgets or (bench.settings.words,):
                system, scored, unusable = bench.evaluate(name, questions, mode, words)
                keep_evaluation(workspace, corpus, system, scored)
                scores.append(scored.scores)
                systems.append(system)
                missing.append(scored.missing)
                failures += [*unusable, *scored.failures]
    return Evaluated(pa.concat_tables(scores), pa.concat_tables(systems), tuple(failures), pa.concat_tables(missing))


class _Bench:
    """One published graph with what is asked of it and who judges."""

    def __init__(
        self, workspace: Workspace, corpus: str, published: Published, file: str, asking: Asking, progress: Progress
    ) -> None:
        self.settings: RetrievalSettings = workspace.settings(corpus).retrieval
        self._workspace = workspace
        self._corpus = corpus
        self._index = published.index
        self._snapshot = published.snapshot
        self._chunks = published.snapshot.table("chunks")
        self._tier = published_tier(workspace, corpus, published.snapshot)
        self._file = file
        self._asking = asking
        self._progress = progress
        self._judging = Judges() if asking.retrieve_only else Judges.from_environment()
        backend = LanguageModel.from_environment(workspace.cache).backend_for(workspace.settings(corpus).backend)
        self._backend = "none" if asking.retrieve_only else backend.name
        if asking.runs > 1 and not self._judging.endpoints and self._backend != "llm":
            raise EvaluationError(
                "--runs needs an LLM that answers or judges: retrieval and the rules backend give the same every time."
            )

    def evaluate(
        self, question_set: str, questions: Sequence[Question], mode: str, words: int
    ) -> tuple[pa.Table, Scored, list[Failure]]:
        """The system as SYSTEMS of one row, its scores over all runs, and answers' replies that were not usable."""
        settings = self.settings.model_copy(update={"words": words})
        retrieve(
            self._index, [questions[0].question], mode, settings
        )  # what is made at first use is no part of the time
        began = time.perf_counter()
        found = retrieve(self._index, [question.question for question in questions], mode, settings)
        milliseconds = (time.perf_counter() - began) * 1000 / len(questions)
        parts, failures, usage = [], list[Failure](), Usage()
        for run in range(1, self._asking.runs + 1):
            answers, unusable, cost = self._answer(question_set, questions, found, run)
            failures += unusable
            usage += cost
            scored = self._score(answers, run)
            number = run if self._asking.runs > 1 else None
            parts.append((of_system(scored.scores, self._tier, words, number), scored))
        row = {
            "question_set": question_set,
            "file": self._file,
            "mode": mode,
            "tier": self._tier,
            "backend": self._backend,
            "words": words,
            "snapshot_id": self._snapshot.snapshot_id,
            "variables": self._snapshot.manifest["rows"]["nodes"],
            "edges": self._snapshot.manifest["rows"]["edges"],
            "failed": len(failures),
            **evidence_counts(evidence_rows(question_set, questions, found)),
            # A reply from the cache costs nothing today, which says nothing of what it costs.
            "tokens": None
            if usage.cached
            else (usage.tokens_in + usage.tokens_out) / len(questions) / self._asking.runs,
            "milliseconds": milliseconds,
        }
        return pa.Table.from_pylist([row], schema=SYSTEMS), _joined(parts), failures

    def _answer(
        self, question_set: str, questions: Sequence[Question], found: Sequence[Retrieval], run: int
    ) -> tuple[pa.Table, tuple[Failure, ...], Usage]:
        if self._asking.retrieve_only:
            return evidence_rows(question_set, questions, found), (), Usage()
        with answering_backend(self._workspace, self._corpus, run=run) as backend:
            done = answer_retrieved(backend, question_set, questions, found, self._progress)
        return done.answers, done.failures, done.usage

    def _score(self, answers: pa.Table, run: int) -> Scored:
        judges = []
        if self._judging.endpoints:
            judges = self._judging.judges(LanguageModel.from_environment(self._workspace.cache).cache_engine(), run)
        embedder = self._index.embedder
        return score_with_judges(answers, self._chunks, embedder, judges, GRAPHRAG_BENCH, self._progress)


def _joined(parts: Sequence[tuple[pa.Table, Scored]]) -> Scored:
    usage, failures = Usage(), tuple[Failure, ...]()
    for _, scored in parts:
        usage += scored.usage
        failures += scored.failures
    return Scored(
        pa.concat_tables([scores for scores, _ in parts]),
        pa.concat_tables([scored.verdicts for _, scored in parts]),
        pa.concat_tables([scored.missing for _, scored in parts]),
        failures,
        usage,
    )
