"""`hcg evaluate`: question files answered in several modes, scored, kept, and compared in the corpus's report."""

import time
from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa

from assets.evaluation_plan import Plan
from assets.evaluations import answer_counts, keep_evaluation, questions_hash
from hcg_pipeline.answering.answers import answer_retrieved, evidence_rows
from hcg_pipeline.answering.questions import Question
from hcg_pipeline.backends.llm.backend import LlmBackend
from hcg_pipeline.backends.llm.ledger import StageCost
from hcg_pipeline.backends.protocol import Failure, LanguageBackend, Usage
from hcg_pipeline.evaluation.judging.judge import Judge
from hcg_pipeline.evaluation.judging.settings import GRAPHRAG_BENCH
from hcg_pipeline.evaluation.scoring import Scored, joined_scores, of_system, score_with_judges
from hcg_pipeline.evaluation.systems import SYSTEMS
from hcg_pipeline.progress import Progress
from hcg_pipeline.retrieval.retrieval import Retrieval
from hcg_pipeline.retrieval.retrieve import retrieve
from resources.embedding import EmbeddingModel
from resources.ledgers import RunCalls
from resources.published import open_published
from resources.workspace import Workspace


@dataclass(frozen=True, slots=True)
class Evaluated:
    """Over all systems: SCORES, SYSTEMS, replies that could not be used, judged scores that are missing, the cost.

    `costs` are those of answering and judging, and of vectors; () where no endpoint was asked.
    """

    scores: pa.Table
    systems: pa.Table
    failures: tuple[Failure, ...]
    missing: pa.Table
    costs: tuple[StageCost, ...]


def evaluate(workspace: Workspace, plan: Plan, progress: Progress) -> Evaluated:
    """Answers the plan's questions in each mode with each budget, scores the answers and keeps the scores.

    Each system is kept as soon as it is scored, and each reply as it comes: what was stopped goes on where it was.
    Raises as answering and judging do, and `SnapshotError` before the first build.
    """
    bench = _Bench(workspace, plan, progress)
    scores, systems, missing, failures = [], [], [], list[Failure]()
    try:
        for name, questions in plan.questions.items():
            for mode in plan.asking.modes:
                for words in plan.asking.budgets or (bench.words,):
                    system, scored, answers = bench.evaluate(name, questions, mode, words)
                    keep_evaluation(workspace, plan.corpus, system, scored, answers)
                    scores.append(scored.scores)
                    systems.append(system)
                    missing.append(scored.missing)
                    failures += scored.failures
    finally:
        costs = bench.settle()
    tables = (pa.concat_tables(parts) for parts in (scores, systems, missing))
    return Evaluated(next(tables), next(tables), tuple(failures), next(tables), costs)


class _Bench:
    """One published graph with what is asked of it, who answers and who judges."""

    def __init__(self, workspace: Workspace, plan: Plan, progress: Progress) -> None:
        self._retrieval = workspace.settings(plan.corpus).retrieval
        self._wanted = workspace.settings(plan.corpus).backend
        self._plan = plan
        self._progress = progress
        self._calls: RunCalls | None = None
        embedding = EmbeddingModel.from_environment(workspace.cache)
        if plan.judging.endpoints or isinstance(plan.backend, LlmBackend) or embedding.kind == "openai":
            folder = workspace.corpus_store(plan.corpus) / "ledger"
            language = plan.language
            self._calls = RunCalls(language.cache_engine(), folder, plan.corpus, "evaluate", language.price_list())
            self._calls.settle()  # of a process that was killed: not of this one's cost
        published = open_published(workspace, plan.corpus, embedding, self._calls)
        self._index = published.index
        self._manifest = published.snapshot.manifest
        self._chunks = published.snapshot.table("chunks")

    @property
    def words(self) -> int:
        """The corpus's own budget of evidence."""
        return self._retrieval.words

    def settle(self) -> tuple[StageCost, ...]:
        """Move the calls into the corpus's ledger, and say what they came to."""
        return self._calls.settle() if self._calls else ()

    def evaluate(
        self, question_set: str, questions: Sequence[Question], mode: str, words: int
    ) -> tuple[pa.Table, Scored, pa.Table]:
        """The system as SYSTEMS of one row; over all runs its scores, with the replies that could not be used, and its
        answers, which are ANSWERS with a column `run`.
        """
        settings = self._retrieval.model_copy(update={"words": words})
        asked = [question.question for question in questions]
        retrieve(self._index, asked[:1], mode, settings)  # what is made at first use is no part of the time
        began = time.perf_counter()
        found = retrieve(self._index, asked, mode, settings)
        milliseconds = (time.perf_counter() - began) * 1000 / len(questions)
        tier = self._manifest["built_by"].get("tier", "")
        runs = self._plan.asking.runs
        parts, given, failed, usage, answered = [], [], 0, Usage(), 0
        for run in range(1, runs + 1):
            answers, unusable, cost = self._answer(question_set, questions, found, run)
            failed += len(unusable)
            usage += cost
            answered += sum(answers["answered"].to_pylist())
            given.append(answers.append_column("run", pa.array([run] * len(answers), pa.int64())))
            scored = self._score(answers, run)
            parts.append(
                Scored(
                    of_system(scored.scores, tier, words, run if runs > 1 else None),
                    scored.verdicts,
                    scored.missing,
                    (*unusable, *scored.failures),
                    scored.usage,
                )
            )
        backend = self._plan.backend
        row = {
            "question_set": question_set,
            "file": str(self._plan.file or ""),
            "mode": mode,
            "tier": tier,
            "backend": backend.name if backend else "none",
            "words": words,
            "snapshot_id": self._manifest["snapshot_id"],
            "variables": self._manifest["rows"]["nodes"],
            "edges": self._manifest["rows"]["edges"],
            "failed": failed,
            **answer_counts(evidence_rows(question_set, questions, found)),
            "answered": answered / runs if backend else None,
            **self._costs(usage, len(questions) * runs),
            "milliseconds": milliseconds,
            "model": backend.sampling.model if isinstance(backend, LlmBackend) else None,
            "embedding_model": self._index.embedder.model,
            "runs": runs,
            "asked": questions_hash(questions),
        }
        return pa.Table.from_pylist([row], schema=SYSTEMS), joined_scores(parts), pa.concat_tables(given)

    def _costs(self, usage: Usage, asked: int) -> dict[str, float | None]:
        """Tokens and USD per question, of replies from the cache what they took when they were made."""
        tokens_in, tokens_out = usage.tokens_in + usage.kept_in, usage.tokens_out + usage.kept_out
        backend = self._plan.backend
        if not isinstance(backend, LlmBackend):
            return {"tokens": 0.0, "usd": 0.0}
        price = self._plan.language.price_list().price(backend.sampling.model)
        usd = price.usd(tokens_in, 0, tokens_out) / asked if price else None
        return {"tokens": (tokens_in + tokens_out) / asked, "usd": usd}

    def _answer(
        self, question_set: str, questions: Sequence[Question], found: Sequence[Retrieval], run: int
    ) -> tuple[pa.Table, tuple[Failure, ...], Usage]:
        if self._plan.backend is None:
            return evidence_rows(question_set, questions, found), (), Usage()
        done = answer_retrieved(self._backend(run), question_set, questions, found, self._progress)
        return done.answers, done.failures, done.usage

    def _backend(self, run: int) -> LanguageBackend:
        backend = self._plan.language.backend_for(self._wanted, run)
        return self._calls.of(backend) if self._calls and isinstance(backend, LlmBackend) else backend

    def _judges(self, run: int) -> list[Judge]:
        if self._calls is None or not self._plan.judging.endpoints:
            return []
        judges = self._plan.judging.judges(self._plan.language.cache_engine(), run)
        return [self._calls.of(judge) for judge in judges]

    def _score(self, answers: pa.Table, run: int) -> Scored:
        embedder = self._index.embedder
        return score_with_judges(answers, self._chunks, embedder, self._judges(run), GRAPHRAG_BENCH, self._progress)
