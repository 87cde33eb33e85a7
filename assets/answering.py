"""Answers to every question file of the corpus."""

import dagster as dg
import pyarrow as pa

from assets import checks
from assets.stage_run import LLM_POOL, StageResult, StageRun, stage_asset
from hcg_pipeline import tables
from hcg_pipeline.answering.answers import answer_questions
from hcg_pipeline.answering.questions import find_question_files, read_questions
from hcg_pipeline.backends.protocol import AnswerReply, Failure, Outcome, Usage
from resources.build_choices import BuildChoices
from resources.embedding import EmbeddingModel
from resources.language import LanguageModel
from resources.published import open_published
from resources.workspace import Workspace


@stage_asset(
    "answering",
    tables.ANSWERS,
    version="1",
    deps=["graph_index", "question_files", "retrieval_settings", "language_backend"],
    checks=[
        checks.spec("failed_windows", "answers"),
        checks.spec("cost_within_budget", "answers"),
        checks.spec("answers_have_evidence", "answers"),
    ],
    pool=LLM_POOL,
)
def answers(
    context: dg.AssetExecutionContext,
    workspace: Workspace,
    choices: BuildChoices,
    language: LanguageModel,
    embedding: EmbeddingModel,
) -> StageResult:
    """Every question file of data/questions/<corpus>, answered in one pass from the published graph.

    Each row says why: the evidence with its place, the variables that the question matched, and the outcome cones.
    """
    run = StageRun(context, workspace, choices)
    backend = run.backend(language)
    # All files are read before any question is asked: one that is wrong must not be found after others were paid for.
    files = {file: read_questions(file) for file in find_question_files(workspace.question_folder(run.corpus))}
    parts, failures, usage, dropped = [tables.ANSWERS.empty_table()], list[Failure](), Usage(), 0
    asked = sum(map(len, files.values()))
    if files:
        calls = run.question_calls(embedding, language)
        index = open_published(workspace, run.corpus, embedding, calls).index
    for file, questions in files.items():
        done = answer_questions(index, backend, file.stem, questions, "graph", run.settings.retrieval, run.progress)
        parts.append(done.answers)
        failures += done.failures
        usage += done.usage
        dropped += done.dropped_citations
    table = pa.concat_tables(parts)
    outcome: Outcome[AnswerReply] = Outcome((), tuple(failures), usage)
    yield run.result(
        table,
        columns=["question_set", "id", "question", "answer", "mode"],
        outcome=outcome,
        backend=backend,
        checks=[run.failed_windows("answers", outcome, asked), checks.answers_have_evidence(table)],
        shown={
            "question_files": [file.name for file in files],
            "answered": sum(table["answered"].to_pylist()),
            "unanswerable": sum(not answered for answered in table["answered"].to_pylist()),
            "fallback": table["mode"].to_pylist().count("fallback"),
            "dropped_citations": dropped,
        },
    )
