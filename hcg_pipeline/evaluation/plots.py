"""The plots of a report: quality against the size of the graph, and against what an answer costs."""

import io
from collections.abc import Mapping, Sequence
from typing import Any

from hcg_pipeline.evaluation.systems import System

_COLOURS = {
    "graph": "#1b6ca8",
    "hybrid": "#d98324",
    "naive": "#7d7d7d",
    "in_context": "#8a5fa8",
    "nodes_only": "#3f9b6b",
}


def frontier(systems: Sequence[System], quality: Mapping[str, float]) -> list[str]:
    """Names of the systems that no other beats: none of at most their size has more quality, smallest first."""
    ranked = sorted((one for one in systems if one.name in quality), key=lambda one: (one.size, -quality[one.name]))
    kept: list[str] = []
    best = float("-inf")
    for one in ranked:
        if quality[one.name] > best:
            best = quality[one.name]
            kept.append(one.name)
    return kept


def draw_plots(systems: Sequence[System], quality: Mapping[str, float], measure: str) -> bytes:
    """An SVG of two plots, `measure` (by system name in `quality`) against size and against cost.

    Size are the variables of the graph that a mode reads, cost the words of evidence that an answer is given. A line
    joins the frontier: the systems that none of at most their size beats. The same numbers give the same bytes.
    """
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    shown = [one for one in systems if one.name in quality]
    with rc_context({"svg.hashsalt": "hcg", "svg.fonttype": "none", "font.family": "DejaVu Sans", "font.size": 8}):
        figure = Figure(figsize=(11, 4.2), layout="constrained")
        size, cost = figure.subplots(1, 2)
        sizes = {one.name: float(one.size) for one in shown}
        _scatter(size, shown, sizes, quality)
        best = frontier(shown, quality)
        size.plot([sizes[name] for name in best], [quality[name] for name in best], color="#bbbbbb", zorder=1)
        size.set_xlabel("variables of the graph that is read (0: none)")
        _scatter(cost, shown, {one.name: one.context_words for one in shown}, quality)
        cost.set_xlabel("words of evidence per question")
        for axes, title in ((size, "Quality and size"), (cost, "Quality and cost")):
            axes.set_title(title)
            axes.set_ylabel(measure, parse_math=False)
            axes.grid(color="#eeeeee")
            axes.set_axisbelow(True)
        image = io.BytesIO()
        figure.savefig(image, format="svg", metadata={"Date": None})
    return image.getvalue()


def _scatter(axes: Any, systems: Sequence[System], places: Mapping[str, float], quality: Mapping[str, float]) -> None:
    for one in systems:
        colour = _COLOURS.get(one.mode, "#555555")
        axes.scatter([places[one.name]], [quality[one.name]], color=colour, zorder=3, s=36)
        axes.annotate(
            one.name,
            (places[one.name], quality[one.name]),
            xytext=(0, 6),
            textcoords="offset points",
            ha="center",
            parse_math=False,
        )
    axes.margins(x=0.4, y=0.2)
