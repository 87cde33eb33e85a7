"""Mode `graph`, the default: match, traverse, cones, evidence. Also what `nodes_only` shows of the same walk."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from hcg_pipeline.retrieval.cones import Cones, find_cones
from hcg_pipeline.retrieval.evidence import NO_LINKS, Choice, Links, reading_order, select
from hcg_pipeline.retrieval.graph_arrays import Floats, Ints, ranges
from hcg_pipeline.retrieval.index import GraphIndex
from hcg_pipeline.retrieval.match import Match, match_questions
from hcg_pipeline.retrieval.questions import QuestionBatch, Similarity, similarities
from hcg_pipeline.retrieval.retrieval import Cone, Evidence, Mode, Retrieval
from hcg_pipeline.retrieval.settings import RetrievalSettings
from hcg_pipeline.retrieval.strategy import Stopwatch, passage_evidence
from hcg_pipeline.retrieval.traverse import Subgraph, traverse

# What a full-strength link adds to a passage's score, which is at most 1 without it.
_LINK_BONUS = 0.05
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
    matches = _matches(index, batch, settings)
    for match, similarity in zip(matches, similarities(batch, index.passages), strict=True):
        watch = Stopwatch()
        if not len(match.variables):
            chosen = select(index.passages, similarity.combined, NO_LINKS, similarity.stems, settings.words)
            watch.lap("evidence")
            passages = _passages(index, chosen, similarity, None)
            yield Retrieval(mode="fallback", passages=passages, seconds=watch.seconds)
            continue
        found = walk(index, match, settings, watch)
        links = cone_links(index, found)
        scores = _with_links(similarity.combined, links)
        chosen = select(index.passages, scores, links, similarity.stems, settings.words)
        watch.lap("evidence")
        passages = _passages(index, chosen, similarity, found)
        yield _explained(index, "graph", found, passages, watch.seconds)


def nodes_only(index: GraphIndex, batch: QuestionBatch, settings: RetrievalSettings) -> Iterator[Retrieval]:
    """The same walk, but the contexts are the matched variables' names and the cones' edges in words (Section 6)."""
    texts = index.edges["text"].to_pylist()
    for match in _matches(index, batch, settings):
        watch = Stopwatch()
        if not len(match.variables):
            yield Retrieval(mode="nodes_only", seconds=watch.seconds)
            continue
        found = walk(index, match, settings, watch)
        names = [index.graph.names[variable] for variable in match.variables]
        lines = [("; ".join(names), "the matched variables")]
        left = settings.words - len(lines[0][0].split())
        for edge in _ranked_edges(index, found):
            text = texts[index.graph.edge_row[edge]]
            left -= len(text.split())
            if left < 0:
                break
            lines.append((text, "an edge of a cone"))
        passages = tuple(Evidence("", "", "", 0, 0, text, why) for text, why in lines)
        watch.lap("evidence")
        yield _explained(index, "nodes_only", found, passages, watch.seconds)


def cone_links(index: GraphIndex, found: Walk) -> Links:
    """The edges of the kept cones with the passages that state them, weighted by what reaches them, strongest first."""
    edges = _ranked_edges(index, found)[:_MOST_LINKS]
    weights = _edge_weights(index, found)[edges]
    inside = found.subgraph.edges[edges]
    rows = index.graph.edge_row[inside]
    starts, ends = index.edge_pointers[rows], index.edge_pointers[rows + 1]
    passages = index.edge_passages[ranges(starts, ends)]
    counts = ends - starts
    return Links(np.repeat(inside, counts), passages, np.repeat(weights, counts).astype(np.float32))


def _edge_weights(index: GraphIndex, found: Walk) -> Floats:
    """(S,): similarity that reaches an edge's source, times its confidence, less for later cones."""
    subgraph, cones = found.subgraph, found.cones
    strength = cones.strength[subgraph.source] * index.graph.confidence[subgraph.edges]
    return np.where(cones.member < len(cones.kept), strength / (1 + 0.1 * cones.member), 0).astype(np.float32)


def _ranked_edges(index: GraphIndex, found: Walk) -> Ints:
    """Places in the subgraph's edges of those in a kept cone, by weight."""
    weights = _edge_weights(index, found)
    order = np.argsort(-weights, kind="stable")
    return order[weights[order] > 0]


def _with_links(scores: Floats, links: Links) -> Floats:
    if not len(links.passage):
        return scores
    bonus = np.zeros_like(scores)
    np.maximum.at(bonus, links.passage, links.weight / links.weight.max())
    boosted = scores + np.float32(_LINK_BONUS) * bonus
    raised: Floats = boosted / boosted.max()
    return raised


def _matches(index: GraphIndex, batch: QuestionBatch, settings: RetrievalSettings) -> Iterator[Match]:
    tau_min = index.manifest.tau_min if settings.tau_min is None else settings.tau_min
    return match_questions(batch.vectors, index.variable_vectors, index.graph, tau_min, settings)


def _passages(
    index: GraphIndex, chosen: list[Choice], similarity: Similarity, found: Walk | None
) -> tuple[Evidence, ...]:
    rows = [choice.passage for choice in chosen]
    return tuple(
        passage_evidence(index, rows[place], _why(index, chosen[place], similarity, found))
        for place in reading_order(rows, index.passages.words)
    )


def _why(index: GraphIndex, choice: Choice, similarity: Similarity, found: Walk | None) -> str:
    row = choice.passage
    parts = []
    if found is not None and choice.link >= 0:
        names = index.graph.names
        source, target = index.graph.source[choice.link], index.graph.target[choice.link]
        parts.append(f"states {names[source]} → {names[target]}")
    parts.append(f"cosine {similarity.vector[row]:.2f} and full text {similarity.text[row]:.2f} of the best")
    return "; ".join(parts)


def _explained(
    index: GraphIndex, mode: Mode, found: Walk, passages: tuple[Evidence, ...], seconds: dict[str, float]
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
