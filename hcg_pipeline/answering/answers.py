"""A question file answered in one pass: evidence for all questions first, then the backend once with all of them."""

import json
import os
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from hcg_pipeline.answering.questions import Question
from hcg_pipeline.backends.protocol import AnswerReply, AnswerRequest, Failure, LanguageBackend, Usage
from hcg_pipeline.progress import Progress
from hcg_pipeline.retrieval.index import GraphIndex
from hcg_pipeline.retrieval.retrieval import Evidence, Retrieval
from hcg_pipeline.retrieval.retrieve import retrieve
from hcg_pipeline.retrieval.settings import RetrievalSettings
from hcg_pipeline.tables import ANSWERS

NO_EVIDENCE = "The corpus holds no evidence for this question."


@dataclass(frozen=True, slots=True)
class AnsweredQuestions:
    """`answers` (ANSWERS) in the order of the questions, without those that failed; the failures; the cost.

    `dropped_citations` counts those of the replies that named no piece of the evidence; no answer holds them.
    """

    answers: pa.Table
    failures: tuple[Failure, ...]
    usage: Usage
    dropped_citations: int = 0


def answer_questions(
    index: GraphIndex,
    backend: LanguageBackend,
    question_set: str,
    questions: Sequence[Question],
    mode: str,
    settings: RetrievalSettings,
    progress: Progress,
) -> AnsweredQuestions:
    """Answers `questions` (their ids unique) by retrieval mode `mode`.

    Resumable per question without a store of its own: an LLM backend commits each reply to its content-addressed cache,
    so after a kill the finished questions are read from there; the rules backend answers again in less time than a
    lookup takes. An answer depends on its own question and evidence alone, so order and concurrency change nothing.

    A question without any evidence is not sent to the backend: it is `answered = false` and says so. Raises
    `SettingsError` for an unknown mode, `EmbeddingError` and `BackendError` as retrieval and backend do; a single bad
    reply is a failure, not an empty answer.
    """
    retrievals = retrieve(index, [question.question for question in questions], mode, settings)
    return answer_retrieved(backend, question_set, questions, retrievals, progress)


def answer_retrieved(
    backend: LanguageBackend,
    question_set: str,
    questions: Sequence[Question],
    retrievals: Sequence[Retrieval],
    progress: Progress,
) -> AnsweredQuestions:
    """`answer_questions` from the evidence in `retrievals`, one a question in their order."""
    requests = [
        AnswerRequest(key=question.id, question=question.question, contexts=found.contexts)
        for question, found in zip(questions, retrievals, strict=True)
        if found.passages
    ]
    outcome = backend.answer(requests, progress)
    replies = {reply.key: reply for reply in outcome.results}
    rows, dropped = [], 0
    for question, found in zip(questions, retrievals, strict=True):
        reply = replies.get(question.id) if found.passages else AnswerReply(question.id, NO_EVIDENCE, False, ())
        if reply is not None:
            dropped += reply.dropped + sum(not 0 <= place < len(found.passages) for place in set(reply.cited))
            rows.append(_row(question_set, question, found, reply, backend.name))
    return AnsweredQuestions(pa.Table.from_pylist(rows, schema=ANSWERS), outcome.failures, outcome.usage, dropped)


def retrieve_questions(
    index: GraphIndex, question_set: str, questions: Sequence[Question], mode: str, settings: RetrievalSettings
) -> pa.Table:
    """The evidence alone, as ANSWERS with empty answers and backend `none`: no language backend is asked."""
    retrievals = retrieve(index, [question.question for question in questions], mode, settings)
    return evidence_rows(question_set, questions, retrievals)


def evidence_rows(question_set: str, questions: Sequence[Question], retrievals: Sequence[Retrieval]) -> pa.Table:
    """`retrieve_questions` of the evidence in `retrievals`, one a question in their order."""
    rows = [
        _row(question_set, question, found, AnswerReply(question.id, "", False, ()), "none")
        for question, found in zip(questions, retrievals, strict=True)
    ]
    return pa.Table.from_pylist(rows, schema=ANSWERS)


def write_answers_jsonl(answers: pa.Table, path: Path) -> None:
    """Writes ANSWERS as one JSON object a line, by rename: a reader sees the whole file or none.

    Each object has `id, question, question_type, answer, answered, mode, backend, contexts` (the texts in the order in
    which the answering model sees them), `evidence` (per context: document, document_id, chunk_id, start, end, quote),
    `cited`, `matched`, `cones`, `reference`, `reference_evidence`.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".tmp")
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8", newline="\n") as file:
            for batch in answers.to_batches(max_chunksize=64):
                for row in batch.to_pylist():
                    file.write(json.dumps(_object(row), ensure_ascii=False) + "\n")
            file.flush()
            os.fsync(file.fileno())
        Path(temporary).chmod(0o644)
        Path(temporary).replace(path)
    except BaseException:
        with suppress(FileNotFoundError):
            Path(temporary).unlink()
        raise


def _row(question_set: str, question: Question, found: Retrieval, reply: AnswerReply, backend: str) -> dict[str, Any]:
    return {
        "question_set": question_set,
        "id": question.id,
        "question": question.question,
        "question_type": question.question_type,
        "answer": reply.text,
        "answered": reply.answered,
        "mode": found.mode,
        "backend": backend,
        "matched": [{"variable": name, "similarity": similarity} for name, similarity in found.matched],
        "cones": [
            {
                "metric": cone.metric,
                "outcomes": list(cone.outcomes),
                "converging": cone.converging,
                "score": cone.score,
            }
            for cone in found.cones
        ],
        "contexts": list(found.contexts),
        "evidence": [_passage(passage) for passage in found.passages],
        "cited": sorted({place for place in reply.cited if 0 <= place < len(found.passages)}),
        "reference": question.answer,
        "reference_evidence": list(question.evidence),
    }


def _passage(evidence: Evidence) -> dict[str, Any]:
    return {
        "document_id": evidence.document_id,
        "path": evidence.path,
        "chunk_id": evidence.chunk_id,
        "start": evidence.start,
        "end": evidence.end,
        "quote": evidence.text,
    }


def _object(row: Mapping[str, Any]) -> dict[str, Any]:
    first = ("id", "question", "question_type", "answer", "answered", "mode", "backend", "contexts")
    evidence = [
        {"document": passage["path"], **{name: value for name, value in passage.items() if name != "path"}}
        for passage in row["evidence"]
    ]
    rest = ("cited", "matched", "cones", "reference", "reference_evidence")
    return {
        **{name: row[name] for name in first},
        "evidence": evidence,
        **{name: row[name] for name in rest},
    }
