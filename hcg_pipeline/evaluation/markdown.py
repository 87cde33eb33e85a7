"""Pieces of a report in Markdown: tables, names as plain text, and how measures are called."""

from collections.abc import Iterable, Sequence

from hcg_pipeline.evaluation.judging.naming import split_judged_name

_ABOUT = {
    "rouge_l": ("ROUGE-L", "F1 of the longest common subsequence of answer and reference, stemmed."),
    "embedding_similarity": ("Embedding similarity", "Cosine of answer and reference."),
    "correctness": (
        "Answer correctness",
        "0.75 × F1 of the answer's statements against the reference's + 0.25 × similarity of their embeddings.",
    ),
    "coverage": ("Coverage", "Share of the reference's statements that the answer makes."),
    "faithfulness": ("Faithfulness", "Share of the answer's statements that its evidence bears out."),
    "reference_recall": (
        "Reference-term recall",
        "IDF-weighted share of the reference's words, less the question's, in the first words of the context.",
    ),
    "evidence_recall": ("Evidence recall", "Share of the reference's evidence that stands whole in the context."),
}


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """A Markdown table and an empty line. Cells are plain text; all columns but the first stand to the right."""
    lines = [table_row(header), "| --- |" + " ---: |" * (len(header) - 1)]
    return [*lines, *(table_row(row) for row in rows), ""]


def plain(text: str) -> str:
    """A name from a file as text in a Markdown table: no pipes, no line breaks, no markup."""
    flat = " ".join(text.split())
    for sign in "\\|`*_[]<>#":
        flat = flat.replace(sign, f"\\{sign}" if sign not in "<>" else {"<": "&lt;", ">": "&gt;"}[sign])
    return flat


def measure_title(measure: str) -> tuple[str, str]:
    """What a measure is called, as text in Markdown, and what it is ('' where that is not known)."""
    judged = split_judged_name(measure)
    _, about = _ABOUT.get(judged[0] if judged else measure.partition("@")[0], ("", ""))
    return plain(measure_name(measure)), about


def measure_name(measure: str) -> str:
    """What a measure is called."""
    name, _, budget = measure.partition("@")
    judged = split_judged_name(measure)
    title, _ = _ABOUT.get(judged[0] if judged else name, (measure, ""))
    if judged:
        return f"{title} ({judged[1]})"
    return f"{title} at {int(budget):,} words" if budget.isdigit() else title


def table_row(cells: Sequence[str]) -> str:
    """One line of a table."""
    return "| " + " | ".join(cells) + " |"
