"""From verdicts on statements to numbers from 0 to 1, as in GraphRAG-Bench (Xiang et al., 2026) and RAGAS."""

from collections.abc import Sequence

import numpy as np

from hcg_pipeline.embedding.embedder import Vectors


def statement_f1(answer: Sequence[bool], reference: Sequence[bool]) -> float:
    """F1 of an answer's statements against its reference's.

    `answer` says of each statement of the answer whether the reference bears it out: true positive or false positive.
    `reference` says of each statement of the reference whether the answer makes it: if not, a false negative. As
    there, F1 is 2·TP / (2·TP + FP + FN); without any statement on either side it is 1.
    """
    if not answer and not reference:
        return 1.0
    true_positives = sum(answer)
    wrong = (len(answer) - true_positives) + (len(reference) - sum(reference))
    return 2 * true_positives / (2 * true_positives + wrong)


def share(verdicts: Sequence[bool]) -> float:
    """The share that is true, of at least one: coverage of a reference's facts, faithfulness of an answer's."""
    return sum(verdicts) / len(verdicts)


def similarities(answers: Vectors, references: Vectors) -> list[float]:
    """(1 + cosine) / 2 row by row, as in GraphRAG-Bench. Rows are L2-normalised."""
    cosines = np.einsum("ij,ij->i", answers.astype(np.float64), references.astype(np.float64))
    return [float(value) for value in np.clip((1 + cosines) / 2, 0, 1)]


def correctness(f1: float, similarity: float, statement_weight: float) -> float:
    """The weighted mean of statement F1 and embedding similarity; GraphRAG-Bench's weight is 0.75."""
    return statement_weight * f1 + (1 - statement_weight) * similarity
