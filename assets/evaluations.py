"""Evaluations that are kept: `<corpus store>/evaluations/<system>/`, one folder a question set and system.

A system that is evaluated again takes the place of its old scores; all of them together make the corpus's report.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from assets.stage_run import failure_table
from hcg_pipeline.answering.questions import Question
from hcg_pipeline.any_path import AnyPath
from hcg_pipeline.evaluation.judging.answers import MISSING
from hcg_pipeline.evaluation.page import as_html
from hcg_pipeline.evaluation.report import draw_report, render_report
from hcg_pipeline.evaluation.scoring import Scored
from hcg_pipeline.evaluation.significance import fallback_as_graph
from hcg_pipeline.evaluation.systems import SYSTEMS
from hcg_pipeline.tables import SCORES
from resources.places import folder_name
from resources.table_files import read_table, remove_folder, replace_bytes, replace_table, replace_text
from resources.workspace import Workspace

_PLOTS = "benchmark_report.svg"


@dataclass(frozen=True, slots=True)
class Kept:
    """Everything that is kept of a corpus: SCORES, SYSTEMS and MISSING."""

    scores: pa.Table
    systems: pa.Table
    missing: pa.Table


@dataclass(frozen=True, slots=True)
class Report:
    """The files of a report, the folder of what it shows, its text, and its plots as SVG (b'' without any)."""

    page: AnyPath
    html: AnyPath
    evaluations: AnyPath
    markdown: str
    plots: bytes


def keep_evaluation(
    workspace: Workspace, corpus: str, systems: pa.Table, scored: Scored, answers: pa.Table | None = None
) -> AnyPath:
    """Keep the scores of the one system in `systems` (SYSTEMS, one row) on one question set. Returns the folder.

    `answers` are those that were scored, unless an asset keeps them.
    """
    [row] = systems.to_pylist()
    name = "-".join(str(row[part]) for part in ("question_set", "mode", "tier", "backend", "words"))
    folder = _folder(workspace, corpus) / folder_name(name)
    replace_table(folder / "verdicts.parquet", scored.verdicts)
    replace_table(folder / "missing.parquet", scored.missing)
    replace_table(folder / "failures.parquet", failure_table(scored.failures))
    if answers is not None:
        replace_table(folder / "answers.parquet", answers)
    replace_table(folder / "scores.parquet", scored.scores)
    replace_table(folder / "systems.parquet", systems)
    return folder


def read_evaluations(workspace: Workspace, corpus: str) -> Kept:
    """All that is kept, in the order of the systems' names."""
    parts: dict[str, list[pa.Table]] = {"scores": [SCORES.empty_table()], "systems": [SYSTEMS.empty_table()]}
    parts["missing"] = [MISSING.empty_table()]
    for folder in sorted(_folder(workspace, corpus).glob("*/systems.parquet"), key=str):
        for name, tables in parts.items():
            tables.append(read_table(folder.with_name(f"{name}.parquet")))
    # What was kept by an older version lacks columns that came later; they are null there.
    kept = (pa.concat_tables(parts[name], promote_options="default") for name in ("scores", "systems", "missing"))
    return Kept(*kept)


def forget_question_sets(workspace: Workspace, corpus: str, kept: Sequence[str]) -> None:
    """Remove evaluations of the corpus's own question files that are not among `kept` any more."""
    for path in sorted(_folder(workspace, corpus).glob("*/systems.parquet"), key=str):
        [row] = read_table(path).to_pylist()
        if not row["file"] and row["question_set"] not in kept:
            remove_folder(path.parent)


def answer_counts(answers: pa.Table) -> Mapping[str, float]:
    """Of ANSWERS: how many `questions`, how many were `answered`, and how many `context_words` each was given."""
    words = [sum(len(text.split()) for text in contexts) for contexts in answers["contexts"].to_pylist()]
    return {
        "questions": len(words),
        "answered": float(sum(answers["answered"].to_pylist())),
        "context_words": sum(words) / len(words) if words else 0.0,
    }


def questions_hash(questions: Sequence[Question]) -> str:
    """What tells whether two evaluations asked the same: a hash of ids, questions, references and types."""
    content = [(one.id, one.question, one.answer, one.question_type, one.evidence) for one in questions]
    return hashlib.blake2b(json.dumps(content).encode(), digest_size=8).hexdigest()


def write_report(workspace: Workspace, corpus: str, latest: pa.Table | None = None) -> Report:
    """The report of all that is kept, in Markdown and HTML. `latest` are scores to take where none are kept."""
    kept = read_evaluations(workspace, corpus)
    scores = kept.scores if latest is None or kept.scores.num_rows else latest
    # Only systems that have scores: a file without references has nothing to compare.
    scored = set(zip(*(fallback_as_graph(scores)[name].to_pylist() for name in ("question_set", "mode")), strict=True))
    there = [(row["question_set"], row["mode"]) in scored for row in kept.systems.to_pylist()]
    systems = kept.systems.filter(pa.array(there, pa.bool_()))
    owed = kept.missing.filter(pc.is_in(kept.missing["question_set"], scores["question_set"].combine_chunks().unique()))
    plots = draw_report(scores, systems)
    text = render_report(corpus, scores, systems, owed, _PLOTS if plots else "")
    folder = workspace.corpus_store(corpus) / "reports"
    pages = (folder / "benchmark_report.md", folder / "benchmark_report.html")
    report = Report(*pages, _folder(workspace, corpus), text, plots)
    replace_text(report.page, text)
    replace_text(report.html, as_html(f"Scores of {corpus}", text, _PLOTS, plots))
    if plots:
        replace_bytes(folder / _PLOTS, plots)
    return report


def _folder(workspace: Workspace, corpus: str) -> AnyPath:
    return workspace.corpus_store(corpus) / "evaluations"
