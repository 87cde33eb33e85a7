"""Time per question of traversal, cones and evidence selection on random graphs, beside the networkx reference."""

import importlib.util
from collections.abc import Callable
from pathlib import Path
from statistics import median
from time import process_time
from types import ModuleType
from typing import Any

import networkx as nx
import numpy as np
import pyarrow as pa

from hcg_pipeline.retrieval.cones import find_cones
from hcg_pipeline.retrieval.evidence import select
from hcg_pipeline.retrieval.graph_arrays import GraphArrays, graph_arrays
from hcg_pipeline.retrieval.graph_mode import Walk, links_of
from hcg_pipeline.retrieval.match import Match
from hcg_pipeline.retrieval.passage_arrays import PassageArrays
from hcg_pipeline.retrieval.settings import RetrievalSettings
from hcg_pipeline.retrieval.terms import count_terms
from hcg_pipeline.retrieval.traverse import traverse

REFERENCE = Path(__file__).parents[1] / "tests/hcg_pipeline/retrieval/networkx_reference.py"
# The paper's largest graph (tier L on the medical corpus), and a hundred times that.
SIZES = ((1_583, 10_000), (158_300, 1_000_000))
MATCHED, METRICS, PASSAGES, SEED = 15, 60, 2_500, 42
# Processor time, so that other processes do not count; of each question the best of three runs.
REPEATS = 3
# The reference searches backwards from every outcome: one question of the small graph is enough to wait for.
REFERENCE_LIMIT = 10_000


def measure_speed() -> dict[str, Any]:
    """Medians in milliseconds, one row a size and method."""
    rows: list[dict[str, Any]] = []
    for nodes, edges in SIZES:
        graph, pairs, confidence = random_graph(nodes, edges)
        rows.append({"graph": f"{nodes:,} / {edges:,}", "method": "arrays", **_arrays(graph)})
        if edges <= REFERENCE_LIMIT:
            times = _reference(graph, pairs, confidence)
            rows.append({"graph": f"{nodes:,} / {edges:,}", "method": "networkx reference", **times})
    return {
        "Milliseconds of processor time a question (variables / edges; half outcomes, 15 matched; median of 30)": rows
    }


def random_graph(nodes: int, edges: int) -> tuple[GraphArrays, np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """A directed graph with edges drawn at random, every second variable an outcome."""
    random = np.random.default_rng(SEED)
    pairs = np.unique(random.integers(0, nodes, size=(edges, 2)), axis=0)
    confidence = random.uniform(0.3, 1, len(pairs))
    names = [f"v{number}" for number in range(nodes)]
    metrics = [f"M{number % METRICS:02d}" for number in range(nodes)]
    roles = ["outcome" if number % 2 else "driver" for number in range(nodes)]
    return graph_arrays(names, metrics, roles, pairs, confidence), pairs, confidence


def _matches(graph: GraphArrays, count: int) -> list[Match]:
    random = np.random.default_rng(SEED + 1)
    return [
        Match(
            random.choice(graph.size, MATCHED, replace=False),
            np.sort(random.uniform(0.35, 0.8, MATCHED).astype(np.float32))[::-1].copy(),
        )
        for _ in range(count)
    ]


def _arrays(graph: GraphArrays) -> dict[str, Any]:
    settings = RetrievalSettings()
    random = np.random.default_rng(SEED + 2)
    passages = _passages(random)
    # One or two passages state each edge.
    counts = random.integers(1, 3, len(graph.source))
    pointers = np.concatenate(([0], np.cumsum(counts)))
    stated = random.integers(0, PASSAGES, int(pointers[-1]))
    rows: list[list[float]] = []
    for match in _matches(graph, 30):
        scores = random.beta(1, 8, PASSAGES).astype(np.float32)
        tries = [_question(graph, match, scores, passages, pointers, stated, settings) for _ in range(REPEATS)]
        rows.append(min(tries, key=sum))
    steps = {name: [row[place] for row in rows] for place, name in enumerate(("traverse", "cones", "evidence"))}
    steps["together"] = [sum(row) for row in rows]
    return {name: round(median(values) * 1000, 2) for name, values in steps.items()}


def _question(
    graph: GraphArrays,
    match: Match,
    scores: np.ndarray[Any, Any],
    passages: PassageArrays,
    pointers: np.ndarray[Any, Any],
    stated: np.ndarray[Any, Any],
    settings: RetrievalSettings,
) -> list[float]:
    """Seconds of the three steps of one question."""
    begin = process_time()
    subgraph = traverse(graph, match.variables, settings.hops)
    traversed = process_time()
    cones = find_cones(graph, subgraph, match, settings)
    coned = process_time()
    links = links_of(graph, Walk(match, subgraph, cones), pointers, stated)
    select(passages, scores, passages.telling, links, settings.words)
    return [traversed - begin, coned - traversed, process_time() - coned]


def _passages(random: np.random.Generator) -> PassageArrays:
    """Passages of 75 words with the word frequencies of a text (Zipf)."""
    words = random.zipf(1.3, size=(PASSAGES, 75)) % 20_000
    texts = [" ".join(f"word{word}" for word in row) for row in words]
    return PassageArrays(
        table=pa.table({"text": texts}),
        vectors=np.zeros((PASSAGES, 1), dtype=np.float32),
        terms=count_terms(texts),
        words=np.full(PASSAGES, 75, dtype=np.int64),
        document=np.zeros(PASSAGES, dtype=np.int64),
    )


def _reference(graph: GraphArrays, pairs: np.ndarray[Any, Any], confidence: np.ndarray[Any, Any]) -> dict[str, Any]:
    plain = _load_reference()
    settings = RetrievalSettings()
    network = nx.DiGraph()
    for number, name in enumerate(graph.names):
        role = "outcome" if graph.endpoint[number] else "driver"
        network.add_node(name, metric=graph.metric_names[graph.metric[number]], role=role)
    for (source, target), value in zip(pairs.tolist(), confidence.tolist(), strict=True):
        network.add_edge(graph.names[source], graph.names[target], confidence=value)
    (match,) = _matches(graph, 1)
    matched = [(graph.names[v], s) for v, s in zip(match.variables, match.similarities, strict=True)]
    subgraph, walked = _timed(lambda: plain.reference_subgraph(network, [name for name, _ in matched], settings.hops))
    _, coned = _timed(lambda: plain.reference_cones(subgraph, matched, settings))
    return {"traverse": walked, "cones": coned, "evidence": "", "together": round(walked + coned, 2)}


def _timed(work: Callable[[], Any]) -> tuple[Any, float]:
    begin = process_time()
    result = work()
    return result, round((process_time() - begin) * 1000, 2)


def _load_reference() -> ModuleType:
    """The plain implementation that the tests compare with."""
    spec = importlib.util.spec_from_file_location("networkx_reference", REFERENCE)
    if spec is None or spec.loader is None:
        raise FileNotFoundError(REFERENCE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
