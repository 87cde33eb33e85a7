"""The report of one corpus in Markdown: a table per measure, question types down, retrieval modes across."""

from collections import defaultdict
from collections.abc import Sequence
from statistics import fmean

import pyarrow as pa

from hcg_pipeline.evaluation.measures import MEASURES

_TITLES = {
    "rouge_l": ("ROUGE-L", "F1 of the longest common subsequence of answer and reference, stemmed."),
    "embedding_similarity": ("Embedding similarity", "Cosine of answer and reference."),
}
_ALL = "all"
_MODES = ("graph", "fallback", "graph + fallback", "hybrid", "naive", "nodes_only", "in_context")

Values = dict[tuple[str, str, str], list[float]]


def render_report(corpus: str, scores: pa.Table) -> str:
    """Markdown of SCORES: per measure, the mean by question type and mode, with the number of questions.

    A cell is the mean to three decimals and, in brackets, how many questions it is over; an empty cell has none.
    `fallback` are questions that were asked in mode `graph` and matched nothing; `graph + fallback` is both together.
    """
    values = _collect(scores)
    measures = _ordered({measure for measure, _, _ in values}, MEASURES)
    lines = [f"# Scores of {_plain(corpus)}", ""]
    if not measures:
        return "\n".join([*lines, "No question of this corpus has a reference answer, so nothing was scored.", ""])
    lines += ["Means of values from 0 to 1; in brackets the number of questions.", ""]
    for measure in measures:
        modes = _ordered({mode for name, _, mode in values if name == measure}, _MODES)
        types = sorted({kind for name, kind, _ in values if name == measure} - {_ALL})
        title, about = _title(measure)
        lines += [
            f"## {title}",
            "",
            about,
            "",
            _row(["question type", *modes]),
            _row(["---", *("---:" for _ in modes)]),
        ]
        # With one type the row for all would say the same again.
        for kind in [*types, _ALL] if len(types) != 1 else types:
            cells = [_cell(values.get((measure, kind, mode), ())) for mode in modes]
            lines.append(_row([_plain(kind), *cells]))
        lines.append("")
    return "\n".join(lines)


def _collect(scores: pa.Table) -> Values:
    values: Values = defaultdict(list)
    rows = scores.select(["measure", "question_type", "mode", "value"]).to_pylist()
    fallen = any(row["mode"] == "fallback" for row in rows)
    for row in rows:
        modes = [row["mode"]]
        if fallen and row["mode"] in ("graph", "fallback"):
            modes.append("graph + fallback")
        for mode in modes:
            for kind in (row["question_type"] or "untyped", _ALL):
                values[row["measure"], kind, mode].append(row["value"])
    return dict(values)


def _ordered(names: set[str], first: Sequence[str]) -> list[str]:
    known = [name for name in first if name in names]
    return known + sorted(names - set(known))


def _title(measure: str) -> tuple[str, str]:
    if measure.startswith("reference_recall@"):
        budget = int(measure.partition("@")[2])
        about = "IDF-weighted share of the reference's words, less the question's, in the first words of the context."
        return f"Reference-term recall at {budget:,} words", about
    if measure.startswith("evidence_recall@"):
        budget = int(measure.partition("@")[2])
        return (
            f"Evidence recall at {budget:,} words",
            "Share of the reference's evidence that stands whole in the context.",
        )
    return _TITLES.get(measure, (measure, ""))


def _cell(values: Sequence[float]) -> str:
    return f"{fmean(values):.3f} ({len(values)})" if values else ""


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def _plain(text: str) -> str:
    """A name from a file as text in a Markdown table: no pipes, no line breaks, no markup."""
    flat = " ".join(text.split())
    for sign in "\\|`*_[]<>#":
        flat = flat.replace(sign, f"\\{sign}" if sign not in "<>" else {"<": "&lt;", ">": "&gt;"}[sign])
    return flat
