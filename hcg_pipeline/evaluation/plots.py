"""The plots of a report: quality against the size of the graph, and against what an answer costs."""

import io
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from hcg_pipeline.evaluation.systems import System

_COLOURS = {
    "graph": "#1b6ca8",
    "hybrid": "#d98324",
    "naive": "#7d7d7d",
    "in_context": "#8a5fa8",
    "nodes_only": "#3f9b6b",
}

_LEAST_SPAN = 0.1
_Plot = tuple[str, str, Callable[[System], float]]
"""Title, what the places are, and a system's place."""


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
    """An SVG of plots of `measure` (by system name in `quality`) against size, words of evidence and, if known, tokens.

    Size are the variables of the graph that a mode reads; words and tokens are per question. A line joins the frontier:
    the systems that none of at most their size beats. Points are numbered as in the list beside them. The same numbers
    give the same bytes.
    """
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    shown = [one for one in systems if one.name in quality]
    plots: list[_Plot] = [
        ("Quality and size", "variables of the graph that is read (0: none)", lambda one: float(one.size)),
        ("Quality and evidence", "words of evidence per question", lambda one: one.context_words),
    ]
    if all(one.tokens for one in shown):
        plots.append(("Quality and tokens", "tokens per question", lambda one: one.tokens or 0.0))
    with rc_context({"svg.hashsalt": "hcg", "svg.fonttype": "none", "font.family": "DejaVu Sans", "font.size": 8}):
        figure = Figure(figsize=(4.5 * len(plots) + 2, max(3.6, 1.2 + 0.17 * len(shown))), layout="constrained")
        figure.patch.set_facecolor("white")
        all_axes = figure.subplots(1, len(plots), squeeze=False)[0]
        for axes, (title, about, of) in zip(all_axes, plots, strict=True):
            places = {one.name: of(one) for one in shown}
            _scatter(axes, shown, places, quality)
            axes.set_title(title)
            axes.set_xlabel(about)
        best = frontier(shown, quality)
        sizes = [float(one.size) for name in best for one in shown if one.name == name]
        all_axes[0].plot(sizes, [quality[name] for name in best], color="#bbbbbb", zorder=1)
        all_axes[0].set_ylabel(measure, parse_math=False)
        handles, labels = all_axes[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside right upper", frameon=False)
        image = io.BytesIO()
        figure.savefig(image, format="svg", metadata={"Date": None})
    return image.getvalue()


def _scatter(axes: Any, systems: Sequence[System], places: Mapping[str, float], quality: Mapping[str, float]) -> None:
    """One numbered point a system; the axis of places does not go below 0."""
    for number, one in enumerate(systems, start=1):
        label = f"{number}  {one.name}"
        place = (places[one.name], quality[one.name])
        axes.scatter(*place, color=_COLOURS.get(one.mode, "#555555"), zorder=3, s=30, label=label)
        offset = (0, 5)
        axes.annotate(str(number), place, xytext=offset, textcoords="offset points", ha="center")
    axes.margins(x=0.12, y=0.15)
    low, high = axes.get_ylim()
    if high - low < _LEAST_SPAN:  # else a tie would fill the height of the plot
        axes.set_ylim((low + high - _LEAST_SPAN) / 2, (low + high + _LEAST_SPAN) / 2)
    most = max(places.values(), default=0.0)
    axes.set_xlim(left=max(axes.get_xlim()[0], -0.06 * (most or 1.0)))
    axes.grid(color="#eeeeee")
    axes.set_axisbelow(True)
