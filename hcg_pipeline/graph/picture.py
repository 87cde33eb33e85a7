"""A picture of the best supported part of a causal graph: causes on the left, what they lead to on the right."""

import io
import textwrap
from collections.abc import Iterable, Mapping

import networkx as nx
import pyarrow as pa

ROLE_COLOURS: Mapping[str, str] = {"terminal": "#f4b6a6", "outcome": "#f7e1a0", "driver": "#cfe3f5"}
SIGN_COLOURS: Mapping[str, str] = {"+": "#2a7f3f", "-": "#b03030", "?": "#777777"}
_COLUMN_WIDTH = 3.4
_ROW_HEIGHT = 0.78
_LABEL_WIDTH = 24
_LETTER = 0.027  # half the width of a letter of the labels, in the units of the picture
_MARGIN = 0.1


def strongest_part(edges: pa.Table, limit: int) -> nx.DiGraph:
    """The connected part around the best supported edges.

    `edges` is an EDGES table. Edges are taken by support, confidence and name; from those, the weakly connected
    component with the most edges is kept, so that the picture reads as one story. At most `limit` edges.
    """
    ranked = sorted(
        edges.select(["source", "target", "sign", "support", "confidence"]).to_pylist(),
        key=lambda row: (-row["support"], -row["confidence"], row["source"], row["target"]),
    )
    whole = nx.DiGraph()
    for row in ranked:
        whole.add_edge(row["source"], row["target"], sign=row["sign"], rank=whole.number_of_edges())
    if not whole:
        return whole
    component = max(nx.weakly_connected_components(whole), key=lambda part: (whole.subgraph(part).size(), min(part)))
    part = nx.DiGraph()
    frontier = sorted(whole.subgraph(component).edges(data=True), key=lambda edge: edge[2]["rank"])
    if frontier:
        part.add_edge(frontier[0][0], frontier[0][1], **frontier[0][2])
    while part.size() < limit:
        touching = [
            edge for edge in frontier if not part.has_edge(edge[0], edge[1]) and (edge[0] in part or edge[1] in part)
        ]
        if not touching:
            break
        source, target, data = touching[0]
        part.add_edge(source, target, **data)
    return part


def _columns(part: nx.DiGraph) -> dict[str, int]:
    """Column of each node: the length of the longest path into it, with loops taken as one step."""
    condensed = nx.condensation(part)
    column: dict[int, int] = {}
    for group in nx.lexicographical_topological_sort(condensed, key=lambda node: min(condensed.nodes[node]["members"])):
        column[group] = max((column[before] + 1 for before in condensed.predecessors(group)), default=0)
    return {node: column[group] for group in condensed for node in condensed.nodes[group]["members"]}


def _positions(part: nx.DiGraph) -> dict[str, tuple[float, float]]:
    """Place nodes by column, and within a column near the mean height of their neighbours (barycentre method)."""
    columns = _columns(part)
    members: dict[int, list[str]] = {}
    for node in sorted(part):
        members.setdefault(columns[node], []).append(node)
    height = {node: float(row) for nodes in members.values() for row, node in enumerate(nodes)}
    for _ in range(12):
        for column in sorted(members):
            nodes = members[column]
            wanted = {
                node: _mean((height[other] for other in nx.all_neighbors(part, node)), height[node]) for node in nodes
            }
            nodes.sort(key=lambda node: (wanted[node], node))
            for row, node in enumerate(nodes):
                height[node] = row - (len(nodes) - 1) / 2
    return {node: (columns[node] * _COLUMN_WIDTH, -height[node] * _ROW_HEIGHT) for node in part}


def _mean(values: Iterable[float], otherwise: float) -> float:
    found = list(values)
    return sum(found) / len(found) if found else otherwise


def _label(node: str) -> list[str]:
    """The lines of a node's box."""
    return textwrap.wrap(node.replace("(", " ("), _LABEL_WIDTH) or [node]


def _beside(place: tuple[float, float], node: str, side: int) -> tuple[float, float]:
    """The middle of the right (1) or left (-1) edge of a node's box, whose width follows from its longest line."""
    return place[0] + side * (_LETTER * max(map(len, _label(node))) + _MARGIN), place[1]


def draw_graph(nodes: pa.Table, edges: pa.Table, limit: int = 28, kind: str = "svg") -> bytes:
    """An image of the strongest part of a graph.

    `nodes` and `edges` are NODES and EDGES tables; `limit` is the number of edges to show; `kind` is `svg` or `png`.
    The same tables give the same bytes. An empty graph gives an image that says so.
    """
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    part = strongest_part(edges, limit)
    place = _positions(part) if part else {}
    roles = dict(zip(nodes["variable"].to_pylist(), nodes["role"].to_pylist(), strict=True))
    wide = max((x for x, _ in place.values()), default=0.0) + _COLUMN_WIDTH
    tall = max((y for _, y in place.values()), default=0.0) - min((y for _, y in place.values()), default=0.0) + 1.6
    with rc_context({"svg.hashsalt": "hcg", "svg.fonttype": "none", "font.family": "DejaVu Sans"}):
        figure = Figure(figsize=(max(wide, 6.0), max(tall, 2.0)), layout="tight")
        axes = figure.add_subplot()
        axes.set_axis_off()
        if not part:
            axes.text(0.5, 0.5, "The graph has no edges.", ha="center", va="center")
        for source, target, data in part.edges(data=True):
            onward = place[target][0] > place[source][0]
            axes.annotate(
                "",
                xy=_beside(place[target], target, -1) if onward else place[target],
                xytext=_beside(place[source], source, 1) if onward else place[source],
                arrowprops={
                    "arrowstyle": "-|>",
                    "color": SIGN_COLOURS[data["sign"]],
                    "shrinkA": 1 if onward else 20,
                    "shrinkB": 1 if onward else 20,
                    "connectionstyle": "arc3,rad=0.05",
                },
            )
        for node, (x, y) in sorted(place.items()):
            label = "\n".join(_label(node))
            box = {"boxstyle": "round,pad=0.35", "facecolor": ROLE_COLOURS[roles[node]], "edgecolor": "#888888"}
            axes.text(x, y, label, ha="center", va="center", fontsize=7, bbox=box, parse_math=False)
        if part:
            axes.set_xlim(-_COLUMN_WIDTH / 2, wide - _COLUMN_WIDTH / 2)
            axes.set_ylim(min(y for _, y in place.values()) - 0.8, max(y for _, y in place.values()) + 0.8)
        image = io.BytesIO()
        figure.savefig(image, format=kind, metadata={"Date": None} if kind == "svg" else {"Software": None}, dpi=110)
    return image.getvalue()
