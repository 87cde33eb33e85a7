"""Mode `graph`, the default: match, traverse, cones, evidence. Also what `nodes_only` shows of the same walk."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from hcg_pipeline.retrieval.cones import Cones, find_cones
from hcg_pipeline.retrieval.evidence import NO_LINKS, Choice, Links, reading_order, select
from hcg_pipeline.retrieval.graph_arrays import Floats, GraphArrays, Ints, ranges
from hcg_pipeline.retrieval.index import GraphIndex
from hcg_pipeline.retrieval.match import Match, match_questions
from hcg_pipeline.retrieval.questions import QuestionBatch, Similarity, similarities
from hcg_pipeline.retrieval.retrieval import Cone, Evidence, Mode, Retrieval
from hcg_pipeline.retrieval.settings import RetrievalSettings
from hcg_pipeline.retrieval.strategy import Stopwatch, passages_as_evidence
from hcg_pipeline.retrieval.traverse import Subgraph, traverse

# Of a dense graph's cones only the strongest links are asked for; a budget holds fewer passages than this.
_MOST_LINKS = 200


@dataclass(frozen=True, slots=True)
class Walk:
    """What the graph says about one question."""

    match: Match
    subgraph: Subgraph
    cones: Cones


def walk(index: GraphIndex, match: Match, settings: RetrievalSettings, watch: Stopwatch) -> Walk:
    """Traversal and cones from a match that is not empty."""
    subgraph = traverse(index.graph, match.variables, settings.hops)
    watch.lap("traverse")
    cones = find_cones(index.graph, subgraph, match, settings)
    watch.lap("cones")
    return Walk(match, subgraph, cones)


def graph(index: GraphIndex, batch: QuestionBatch, settings: RetrievalSettings) -> Iterator[Retrieval]:
    """Evidence of the cones' edges and what stands around it, chosen for the question; `fallback` without a match."""
    matches, scored = _matches(index, batch, settings), similarities(batch, index.passages)
    for _ in batch.texts:
        watch = Stopwatch(embed=batch.seconds)
        match = next(matches)
        watch.lap("match")
        similarity = next(scored)
        watch.lap("search")
        if not len(match.variables):
            chosen = select(index.passages, similarity.combined, similarity.stems, NO_LINKS, settings.words)
            watch.lap("evidence")
            passages = _passages(index, chosen, similarity, None)
            yield _unmatched(index, "fallback", match, settings, passages, watch.seconds)
            continue
        found = walk(index, match, settings, watch)
        links = links_of(index.graph, found, index.edge_pointers, index.edge_passages)
        chosen = select(index.passages, similarity.combined, similarity.stems, links, settings.words)
        watch.lap("evidence")
        passages = _passages(index, chosen, similarity, found)
        yield _explained(index, "graph", found, settings, passages, watch.seconds)


def nodes_only(index: GraphIndex, batch: QuestionBatch, settings: RetrievalSettings) -> Iterator[Retrieval]:
    """The same walk, but the contexts are the matched variables' names and the cones' edges in words (Section 6)."""
    texts = index.edges["text"].to_pylist()
    matches = _matches(index, batch, settings)
    for _ in batch.texts:
        watch = Stopwatch(embed=batch.seconds)
        match = next(matches)
        watch.lap("match")
        if not len(match.variables):
            yield _unmatched(index, "nodes_only", match, settings, (), watch.seconds)
            continue
        found = walk(index, match, settings, watch)
        names = [index.graph.names[variable] for variable in match.variables]
        lines = [("; ".join(names), "the matched variables")]
        left = settings.words - len(lines[0][0].split())
        for edge in _strongest_edges(_edge_weights(index.graph, found), settings.words):
            text = texts[index.graph.edge_row[found.subgraph.edges[edge]]]
            left -= len(text.split())
            if left < 0:
                break
            lines.append((text, "an edge of a cone"))
        passages = tuple(Evidence("", "", "", 0, 0, text, why) for text, why in lines)
        watch.lap("evidence")
        yield _explained(index, "nodes_only", found, settings, passages, watch.seconds)


def links_of(graph: GraphArrays, found: Walk, pointers: Ints, passages: Ints) -> Links:
    """The strongest edges of the kept cones with the passages that state them, weighted by what reaches them.

    The passages of the edge in row r are `passages[pointers[r]:pointers[r + 1]]`.
    """
    every = _edge_weights(graph, found)
    edges = _strongest_edges(every, _MOST_LINKS)
    weights = every[edges]
    inside = found.subgraph.edges[edges]
    rows = graph.edge_row[inside]
    starts, ends = pointers[rows], pointers[rows + 1]
    counts = ends - starts
    return Links(np.repeat(inside, counts), passages[ranges(starts, ends)], np.repeat(weights, counts))


def _edge_weights(graph: GraphArrays, found: Walk) -> Floats:
    """(S,): similarity that reaches an edge's source, times its confidence, less for later cones; 0 outside of them."""
    subgraph, cones = found.subgraph, found.cones
    strength = cones.strength[subgraph.source] * graph.confidence[subgraph.edges]
    return np.where(cones.member < len(cones.kept), strength / (1 + 0.1 * cones.member), 0).astype(np.float32)


def _strongest_edges(weights: Floats, most: int) -> Ints:
    """Places of the `most` greatest weights above 0, greatest first; ties by place."""
    places = np.flatnonzero(weights > 0)
    if len(places) > most:
        floor = np.partition(weights[places], -most)[-most]
        places = places[weights[places] >= floor]
    return places[np.argsort(-weights[places], kind="stable")][:most]


def _matches(index: GraphIndex, batch: QuestionBatch, settings: RetrievalSettings) -> Iterator[Match]:
    tau_min = _tau_min(index, settings)
    return match_questions(batch.vectors, index.variable_vectors, index.graph, tau_min, settings)


def _tau_min(index: GraphIndex, settings: RetrievalSettings) -> float:
    return index.manifest.tau_min if settings.tau_min is None else settings.tau_min


def _passages(
    index: GraphIndex, chosen: list[Choice], similarity: Similarity, found: Walk | None
) -> tuple[Evidence, ...]:
    order = reading_order([choice.passage for choice in chosen], index.passages.words)
    whys = [_why(index, chosen[place], similarity, found) for place in order]
    return passages_as_evidence(index, [chosen[place].passage for place in order], whys)


def _why(index: GraphIndex, choice: Choice, similarity: Similarity, found: Walk | None) -> str:
    row = choice.passage
    parts = []
    if found is not None and choice.link >= 0:
        names = index.graph.names
        source, target = index.graph.source[choice.link], index.graph.target[choice.link]
        parts.append(f"states {names[source]} → {names[target]}")
    parts.append(f"meaning {similarity.vector[row]:.2f}, words {similarity.text[row]:.2f} of the best passage's")
    return "; ".join(parts)


def _unmatched(
    index: GraphIndex,
    mode: Mode,
    match: Match,
    settings: RetrievalSettings,
    passages: tuple[Evidence, ...],
    seconds: dict[str, float],
) -> Retrieval:
    """A retrieval for a question that matched nothing, with what came closest."""
    nearest = match.nearest and (index.graph.names[match.nearest[0]], round(match.nearest[1], 6))
    return Retrieval(mode, nearest=nearest, tau_min=_tau_min(index, settings), passages=passages, seconds=seconds)


def _explained(
    index: GraphIndex,
    mode: Mode,
    found: Walk,
    settings: RetrievalSettings,
    passages: tuple[Evidence, ...],
    seconds: dict[str, float],
) -> Retrieval:
    """A retrieval with everything that says how it was found."""
    graph, subgraph, cones = index.graph, found.subgraph, found.cones
    edges = np.bincount(cones.member, minlength=len(cones.kept) + 1)
    return Retrieval(
        mode=mode,
        matched=tuple(
            (graph.names[variable], round(float(similarity), 6))
            for variable, similarity in zip(found.match.variables, found.match.similarities, strict=True)
        ),
        tau_min=_tau_min(index, settings),
        cones=tuple(
            Cone(
                metric=graph.metric_names[cone.metric],
                outcomes=tuple(graph.names[subgraph.nodes[place]] for place in cone.outcomes),
                converging=cone.converging,
                score=round(cone.score, 6),
                edges=int(edges[number]),
            )
            for number, cone in enumerate(cones.kept)
        ),
        passages=passages,
        hops=tuple(
            (graph.names[subgraph.nodes[place]], int(subgraph.hops[place]))
            for cone in cones.kept
            for place in cone.outcomes
        ),
        subgraph_nodes=len(subgraph.nodes),
        subgraph_edges=len(subgraph.edges),
        seconds=seconds,
    )
