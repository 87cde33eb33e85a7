"""Measures that need no judge: what share of a reference the context holds, and how close an answer is to it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from hcg_pipeline.embedding.embedder import Embedder
from hcg_pipeline.retrieval.terms import count_terms, stems
from hcg_pipeline.tables import SCORES

WORD_BUDGETS = (750, 1500, 3000, 6000)
ROUGE = "rouge_l"
SIMILARITY = "embedding_similarity"


def recall_measure(budget: int) -> str:
    """Name of reference-term recall at a budget of words."""
    return f"reference_recall@{budget}"


def evidence_measure(budget: int) -> str:
    """Name of evidence recall at a budget of words."""
    return f"evidence_recall@{budget}"


MEASURES = (
    *(recall_measure(budget) for budget in WORD_BUDGETS),
    *(evidence_measure(budget) for budget in WORD_BUDGETS),
    ROUGE,
    SIMILARITY,
)


@dataclass(frozen=True)
class TermWeights:
    """How rare each stem is in a corpus: ln((N + 1) / (n + 1)) for a stem in n of N chunks; `unseen` where n is 0."""

    weight: Mapping[str, float]
    unseen: float

    def of(self, stem: str) -> float:
        """The weight of a stem."""
        return self.weight.get(stem, self.unseen)


def term_weights(texts: Sequence[str]) -> TermWeights:
    """IDF weights of the stems of a corpus, given its chunks."""
    terms = count_terms(texts)
    holding = np.asarray((terms.counts > 0).sum(axis=0)).ravel()
    size = len(texts)
    weights = np.log((size + 1) / (holding + 1))
    return TermWeights(dict(zip(terms.vocabulary, weights.tolist(), strict=True)), float(np.log(size + 1)))


def reference_terms(question: str, reference: str, evidence: Sequence[str]) -> frozenset[str]:
    """The stems of a reference (answer and evidence) that the question does not give away."""
    return frozenset(stems(" ".join([reference, *evidence]))) - frozenset(stems(question))


def reference_recall(
    wanted: frozenset[str], contexts: Sequence[str], weights: TermWeights, budgets: Sequence[int] = WORD_BUDGETS
) -> list[float] | None:
    """Per budget of B words, the IDF-weighted share of `wanted` stems in the first B words of the contexts.

    None where there is nothing to find: no wanted stem, or none that weighs anything.
    """
    weight = {stem: weights.of(stem) for stem in sorted(wanted)}
    total = sum(weight.values())
    if total <= 0:
        return None
    words = _first_words(contexts, max(budgets))
    shares, found, begin = dict.fromkeys(budgets, 0.0), set[str](), 0
    for budget in sorted(budgets):
        found.update(stem for stem in stems(" ".join(words[begin:budget])) if stem in weight)
        begin = budget
        shares[budget] = sum(weight[stem] for stem in sorted(found)) / total
    return [shares[budget] for budget in budgets]


def evidence_recall(
    pieces: Sequence[str], contexts: Sequence[str], budgets: Sequence[int] = WORD_BUDGETS
) -> list[float]:
    """Per budget of B words, the share of `pieces` that stand whole in the first B words of the contexts.

    White space does not count. `pieces` must not be empty.
    """
    words = _first_words(contexts, max(budgets))
    wanted = [_spaced(piece) for piece in pieces]
    shares = []
    for budget in budgets:
        context = _spaced(" ".join(words[:budget]))
        shares.append(sum(piece in context for piece in wanted) / len(wanted))
    return shares


def _spaced(text: str) -> str:
    """The words with one space between and around them, so that a piece is found at whole words only."""
    return f" {' '.join(text.split())} "


def _first_words(contexts: Sequence[str], count: int) -> list[str]:
    words: list[str] = []
    for context in contexts:
        words.extend(context.split())
        if len(words) >= count:
            break
    return words[:count]


def score_answers(answers: pa.Table, chunks: pa.Table, embedder: Embedder) -> pa.Table:
    """SCORES of ANSWERS, for the questions that have a reference answer.

    `reference_recall@B` for B of 750, 1,500, 3,000 and 6,000 words, with stems weighted by their rarity in `chunks`
    (CHUNKS); `evidence_recall@B` where pieces of the reference evidence stand word for word in the corpus, over those
    pieces; of answers that a backend wrote also `rouge_l` (F1, stemmed, as GraphRAG-Bench has it) and
    `embedding_similarity` (cosine of answer and reference, not below 0). An unanswered question keeps its scores. Rows
    are in the order of `answers`, then of `MEASURES`.
    """
    rows = [row for row in answers.to_pylist() if row["reference"]]
    texts = chunks["text"].to_pylist()
    weights = term_weights(texts)
    corpus = _spaced(" ".join(texts))
    written = [row for row in rows if row["backend"] != "none"]
    similar = iter(_similarities(written, embedder))
    overlap = _RougeL()
    scores: list[dict[str, Any]] = []
    for row in rows:
        values = {**dict(_recalls(row, weights)), **dict(_evidence_recalls(row, corpus))}
        if row["backend"] != "none":
            values[ROUGE] = overlap.f1(row["reference"], row["answer"])
            values[SIMILARITY] = next(similar)
        scores.extend(_score(row, measure, values[measure]) for measure in MEASURES if measure in values)
    return pa.Table.from_pylist(scores, schema=SCORES)


def _recalls(row: Mapping[str, Any], weights: TermWeights) -> Iterator[tuple[str, float]]:
    wanted = reference_terms(row["question"], row["reference"], row["reference_evidence"])
    shares = reference_recall(wanted, row["contexts"], weights)
    if shares is not None:
        yield from zip((recall_measure(budget) for budget in WORD_BUDGETS), shares, strict=True)


def _evidence_recalls(row: Mapping[str, Any], corpus: str) -> Iterator[tuple[str, float]]:
    pieces = [piece for piece in row["reference_evidence"] if _spaced(piece) in corpus]
    if pieces:
        shares = evidence_recall(pieces, row["contexts"])
        yield from zip((evidence_measure(budget) for budget in WORD_BUDGETS), shares, strict=True)


def _similarities(rows: Sequence[Mapping[str, Any]], embedder: Embedder) -> list[float]:
    answers = embedder.embed([row["answer"] for row in rows])
    references = embedder.embed([row["reference"] for row in rows])
    cosine = (answers.astype(np.float64) * references.astype(np.float64)).sum(axis=1)
    return [round(float(value), 6) for value in np.clip(cosine, 0, 1)]


class _RougeL:
    def __init__(self) -> None:
        from rouge_score import rouge_scorer  # imports nltk: only where answers are scored

        self._scorer = rouge_scorer.RougeScorer(["rougeL"], use_stemmer=True)

    def f1(self, reference: str, answer: str) -> float:
        return round(float(self._scorer.score(reference, answer)["rougeL"].fmeasure), 6)


def _score(row: Mapping[str, Any], measure: str, value: float) -> dict[str, Any]:
    return {
        "question_set": row["question_set"],
        "id": row["id"],
        "question_type": row["question_type"],
        "mode": row["mode"],
        "measure": measure,
        "value": round(value, 6),
        "backend": row["backend"],
    }
