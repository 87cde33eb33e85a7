"""Applying corrections to the edges of the graph, and the quotes of added edges to their places in the corpus."""

from typing import Any

import pyarrow as pa

from hcg_pipeline.graph.confidence import combined, voted_sign
from hcg_pipeline.graph.edge_rows import EXPERT, Quotes, edge_row
from hcg_pipeline.graph.node_edges import edge_id
from hcg_pipeline.specification.correcting import CorrectionPlan, Step, is_causal, legal_variable
from hcg_pipeline.specification.corrections import AddEdge, DropEdge, FlipEdge, RewordEdge
from hcg_pipeline.specification.dividing import Rewrite
from hcg_pipeline.specification.names import parse_variable
from hcg_pipeline.specification.splitting import Split
from hcg_pipeline.specification.variable_corrections import Corrected
from hcg_pipeline.specification.vocabulary import Vocabulary
from hcg_pipeline.tables import NODE_EDGES

_Edges = dict[tuple[str, str], dict[str, Any]]


def apply_to_edges(edges: pa.Table, plan: CorrectionPlan, chunks: pa.Table) -> Corrected:
    """NODE_EDGES after the corrections, in the order of the file, sorted by source and target.

    Edges follow their variables through renames and merges; edges that become one are joined. An added edge has origin
    'expert' and, where its quote stands in a chunk, that quote. `edges` may leave terminals: those that do under the
    corrected roles are left out at the end. `problems` has a line for each edit of an edge that matched nothing or
    would make a terminal a cause.
    """
    found: _Edges = {(row["source"], row["target"]): row for row in edges.to_pylist()}
    problems: list[str] = []
    quotes = Quotes(chunks)
    for step in plan.steps:
        if step.split is not None:
            found = _divided(found, step.split)
        if step.rewrite is not None:
            found = _rewritten(found, step.rewrite)
        edit = step.correction.edit
        if isinstance(edit, AddEdge):
            problem = _add(found, edit, step, quotes)
        elif isinstance(edit, DropEdge | FlipEdge | RewordEdge):
            problem = _change(found, edit, step.vocabulary)
        else:
            problem = ""
        if problem:
            problems.append(step.correction.problem(problem))
    kept = [row for pair, row in sorted(found.items()) if is_causal(*pair, plan.vocabulary)]
    return Corrected(pa.Table.from_pylist(kept, schema=NODE_EDGES), tuple(problems))


def _rewritten(edges: _Edges, rewrite: Rewrite) -> _Edges:
    names: dict[str, str | None] = {}
    for pair in edges:
        for name in pair:
            ref = parse_variable(name)
            new = rewrite(ref) if name not in names and ref is not None else None
            names.setdefault(name, new.name if new is not None else None)
    moved: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for (source, target), row in edges.items():
        new_source, new_target = names[source], names[target]
        if new_source is not None and new_target is not None and new_source != new_target:
            moved.setdefault((new_source, new_target), []).append(_between(row, new_source, new_target))
    return {pair: _joined(rows) for pair, rows in moved.items()}


def _divided(edges: _Edges, split: Split) -> _Edges:
    """The edges after a split: quotes that speak of the alias alone go to the edge between the renamed ends."""
    moved: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for pair, row in edges.items():
        ends = [parse_variable(name) for name in pair]
        new = [
            split.renamed(ref).name if ref is not None and split.binds(ref) else name
            for ref, name in zip(ends, pair, strict=True)
        ]
        if tuple(new) == pair:
            moved.setdefault(pair, []).append(row)
            continue
        spoken = [split.spoken_of(quote["quote"]) == "alias" for quote in row["quotes"]]
        for renamed in (False, True):
            quotes = [quote for quote, alias in zip(row["quotes"], spoken, strict=True) if alias == renamed]
            if quotes or (not row["quotes"] and not renamed):
                source, target = new if renamed else pair
                part = {**row, "confidence": _portion(row, len(quotes)), "support": len(quotes), "quotes": quotes}
                moved.setdefault((source, target), []).append(_between(part, source, target))
    return {pair: _joined(rows) for pair, rows in moved.items()}


def _portion(row: dict[str, Any], quotes: int) -> float:
    """The confidence that some of an edge's quotes give, each taken to weigh the same: doubts multiply."""
    confidence = float(row["confidence"])
    if quotes == len(row["quotes"]):
        return confidence
    return float(round(1.0 - (1.0 - confidence) ** (quotes / len(row["quotes"])), 6))


def _between(row: dict[str, Any], source: str, target: str) -> dict[str, Any]:
    """The same edge with other ends."""
    one, other = parse_variable(source), parse_variable(target)
    if one is None or other is None or (row["source"], row["target"]) == (source, target):
        return row
    return {
        **row,
        "edge_id": edge_id(source, target),
        "source": source,
        "source_metric": one.metric,
        "source_entities": list(one.entities),
        "target": target,
        "target_metric": other.metric,
        "target_entities": list(other.entities),
    }


def _joined(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Edges of one pair as one: all quotes, sign by weighted vote, mechanism of the most confident."""
    if len(rows) == 1:
        return rows[0]
    ordered = sorted(rows, key=lambda row: (-row["confidence"], row["mechanism"]))
    quotes = {(q["document_id"], q["start"], q["end"]): q for row in ordered for q in row["quotes"]}
    origins = {row["origin"] for row in rows}
    return {
        **ordered[0],
        "sign": voted_sign((row["sign"], row["confidence"]) for row in rows),
        "confidence": combined(row["confidence"] for row in rows),
        "origin": next(origin for origin in (EXPERT, "seed", "judged") if origin in origins),
        "support": len(quotes),
        "quotes": [quotes[place] for place in sorted(quotes)],
    }


def _change(edges: _Edges, edit: DropEdge | FlipEdge | RewordEdge, vocabulary: Vocabulary) -> str:
    """Change an edge in place; returns why not, or ''."""
    pair = (edit.source, edit.target)
    row = edges.get(pair)
    if row is None or not is_causal(*pair, vocabulary):
        return f"{edit.source} → {edit.target}: there is no such edge"
    match edit:
        case DropEdge():
            del edges[pair]
        case RewordEdge():
            edges[pair] = {**row, "mechanism": edit.mechanism}
        case FlipEdge():
            if not is_causal(edit.target, edit.source, vocabulary):
                return f"{edit.source} → {edit.target}: {edit.target} is terminal and causes nothing"
            del edges[pair]
            turned = _between(row, edit.target, edit.source)
            there = edges.get((edit.target, edit.source))
            edges[(edit.target, edit.source)] = _joined([turned, there]) if there is not None else turned
    return ""


def _add(edges: _Edges, edit: AddEdge, step: Step, quotes: Quotes) -> str:
    pair = (edit.source, edit.target)
    source, target = (legal_variable(name, step.vocabulary) for name in pair)
    if source is None or target is None:
        missing = edit.source if source is None else edit.target
        return f"{missing!r}: its metric or entities are not in the vocabulary"
    if not is_causal(*pair, step.vocabulary):
        return f"{edit.source} → {edit.target}: a variable cannot cause itself, and a terminal causes nothing"
    if pair in edges:
        return f"{edit.source} → {edit.target}: that edge is there already; reword or flip it"
    found = quotes.first(edit.quote) if edit.quote else None
    kept = [found] if found is not None else []
    edges[pair] = edge_row(source, target, edit.mechanism, edit.sign, edit.confidence, EXPERT, kept)
    return f"{edit.source} → {edit.target}: its quote stands in no chunk" if edit.quote and found is None else ""
