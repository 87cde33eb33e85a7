"""The quality report as a page in Markdown with one picture of plots: same graph, same bytes."""

import io
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from hcg_pipeline.graph.drift import Fit
from hcg_pipeline.graph.picture import ROLE_COLOURS
from hcg_pipeline.graph.quality import COUNTED, Quality

_SHOWN = 20
_MARKUP = re.compile(r"[\\`*_{}\[\]<>#|~$]")


def render_quality(corpus: str, quality: Quality, plots: str) -> str:
    """The page. `plots` is what its image links to: a file name beside it, or a data URL."""
    summary = quality.summary
    lines = [
        f"# Quality of the graph of {_plain(corpus)}",
        "",
        f"{summary.variables:,} variables of {summary.metrics:,} metrics, {summary.edges:,} edges, "
        f"{summary.share_with_evidence:.1%} of them with evidence ({summary.evidence_links:,} pieces).",
        "",
        f"![Plots of sizes, degrees and evidence]({plots})",
        "",
        *_section("Metrics", ("metric", "role", "category", "variables", "edges"), _metrics(quality)),
        *_section("Categories", ("category", "variables"), summary.categories.items()),
        *_section("Roles", ("role", "variables"), summary.roles.items()),
        *_section(
            "Edges",
            ("", "edges"),
            [
                *((f"sign {sign}", count) for sign, count in summary.signs.items()),
                *((f"origin {origin}", count) for origin, count in summary.origins.items()),
            ],
            "By sign (+ more leads to more, - more leads to less, ? not said), and by where they come from: `seed`, "
            "stated in the texts; `judged`, found among likely pairs; `expert`, added by a person.",
        ),
        *_section("Degrees", ("edges of a variable", "variables"), summary.degrees.items()),
        *_section(
            "Evidence",
            ("kind", "share of edges"),
            [(kind, f"{share:.1%}") for kind, share in summary.share_by_kind.items()],
            "An edge may have evidence of several kinds: `quote`, the words that state it; `text`, the same words "
            "elsewhere; `semantic`, a passage close in meaning.",
        ),
        *_listed("Edges without evidence", [" → ".join(pair) for pair in quality.bare], "None."),
        *_section("Reading", ("count", "what"), _counts(quality.counts)),
        f"{quality.merges:,} spellings were taken into another name; the table `merges` has each with its reason. "
        f"Abbreviations of two things, which stand for neither: {', '.join(map(_plain, quality.apart)) or 'none'}.",
        "",
        *_listed("Longest causal chains", [" → ".join(chain) for chain in summary.longest_chains], "None."),
        *_listed(
            "Feedback",
            [" → ".join((*cycle, cycle[0])) for cycle in quality.cycles],
            "No variable reaches itself.",
            f"Groups of variables that all reach each other: {summary.feedback_groups:,}, with "
            f"{summary.variables_in_feedback:,} variables. The shortest cycle of each:",
        ),
        *_listed("Variables without an edge", quality.isolated, "None."),
        *_drift(quality),
    ]
    return "\n".join(lines).rstrip() + "\n"


def draw_quality(quality: Quality, kind: str = "svg") -> bytes:
    """The plots as one image, `svg` or `png`: variables by metric and category, degrees, evidence by kind."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure
    from matplotlib.patches import Patch

    summary = quality.summary
    largest = sorted(summary.top_metrics, key=lambda m: (-m.variables, m.metric))[:_SHOWN]
    with rc_context({"svg.hashsalt": "hcg", "svg.fonttype": "none", "font.family": "DejaVu Sans", "font.size": 8}):
        figure = Figure(figsize=(12, 7.5), layout="constrained")
        metrics, categories, degrees, evidence = figure.subplots(2, 2).flat
        _bars(
            metrics,
            "Variables of the largest metrics",
            {m.metric: m.variables for m in largest},
            [ROLE_COLOURS[m.role] for m in largest],
        )
        metrics.legend(handles=[Patch(color=colour, label=role) for role, colour in ROLE_COLOURS.items()])
        _bars(categories, "Variables by category", summary.categories)
        degrees.set_title("Variables by number of edges")
        bars = degrees.bar(list(summary.degrees), list(summary.degrees.values()), color="#8fb3d9")
        degrees.bar_label(bars, [f"{count:,}" for count in summary.degrees.values()])
        _bars(evidence, "Share of edges with evidence", {"any": summary.share_with_evidence, **summary.share_by_kind})
        evidence.set_xlim(0, 1.12)
        image = io.BytesIO()
        figure.savefig(image, format=kind, metadata={"Date": None} if kind == "svg" else {"Software": None}, dpi=110)
    return image.getvalue()


def _bars(axes: Any, title: str, values: Mapping[str, float], colours: Sequence[str] | str = "#8fb3d9") -> None:
    axes.set_title(title)
    places = range(len(values))
    axes.barh(places, list(values.values()), color=colours)
    axes.set_yticks(places, list(values), parse_math=False)
    axes.invert_yaxis()
    for place, value in zip(places, values.values(), strict=True):
        axes.text(value, place, f" {value:,}" if isinstance(value, int) else f" {value:.1%}", va="center")
    axes.margins(x=0.12)


def _metrics(quality: Quality) -> list[tuple[Any, ...]]:
    ranked = sorted(quality.summary.top_metrics, key=lambda m: (-m.variables, m.metric))
    return [(m.metric, m.role, m.category, m.variables, m.edges) for m in ranked]


def _counts(counts: Mapping[str, int]) -> list[tuple[Any, ...]]:
    return [(count, COUNTED.get(name, name)) for name, count in counts.items()]


def _drift(quality: Quality) -> list[str]:
    drift = quality.drift
    parts = (("all text", drift.all), ("text that the vocabulary was made from", drift.older), ("newest", drift.newest))
    rows = [_fit(name, fit) for name, fit in parts if fit is not None]
    lines = _section(
        "Vocabulary drift",
        ("text", "documents", "passages", "no variable in", "causal sentences", "nothing read from"),
        rows,
        "How much of the text the pinned vocabulary does not reach. A causal sentence is one with a word such as "
        "*causes*, *reduces* or *due to* (English).",
    )
    if drift.newest is None:
        lines += ["No document came after the vocabulary was made, or it is not known from which it was.", ""]
    if drift.words:
        words = ", ".join(f"{_plain(word)} ({count})" for word, count in drift.words)
        lines += [
            f"Words of the newest text (passages) that neither the older text nor the vocabulary has: {words}.",
            "",
        ]
    return lines


def _fit(name: str, fit: Fit) -> tuple[Any, ...]:
    return (name, fit.documents, fit.passages, f"{fit.unspoken:.1%}", fit.statements, f"{fit.unread:.1%}")


def _section(title: str, header: Sequence[str], rows: Iterable[Sequence[Any]], about: str = "") -> list[str]:
    lines = [f"## {title}", "", *([about, ""] if about else [])]
    lines += ["| " + " | ".join(header) + " |", "|" + " --- |" * len(header)]
    lines += ["| " + " | ".join(_cell(value) for value in row) + " |" for row in rows]
    return [*lines, ""]


def _listed(title: str, items: Sequence[str], empty: str, about: str = "") -> list[str]:
    lines = [f"## {title}", ""]
    if not items:
        return [*lines, empty, ""]
    lines += [about, ""] if about else []
    lines += [f"- {_plain(item)}" for item in items[:_SHOWN]]
    if len(items) > _SHOWN:
        lines.append(f"- … and {len(items) - _SHOWN:,} more")
    return [*lines, ""]


def _cell(value: Any) -> str:
    return f"{value:,}" if isinstance(value, int) else _plain(str(value))


def _plain(text: str) -> str:
    return _MARKUP.sub(r"\\\g<0>", " ".join(text.split()))
