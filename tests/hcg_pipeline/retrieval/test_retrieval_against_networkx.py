"""The arrays agree with the plain networkx reference: matched set, subgraph, cones and their order."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from networkx_reference import reference_cones, reference_links, reference_match, reference_subgraph

from hcg_pipeline.retrieval.cones import find_cones
from hcg_pipeline.retrieval.graph_arrays import graph_arrays
from hcg_pipeline.retrieval.graph_mode import Walk, links_of
from hcg_pipeline.retrieval.match import Match, match_questions
from hcg_pipeline.retrieval.settings import RetrievalSettings
from hcg_pipeline.retrieval.traverse import traverse


@st.composite
def problems(draw):
    """A graph with cycles, self-loops and ties, similarities on a coarse grid, and settings."""
    size = draw(st.integers(1, 24))
    metric_count = draw(st.integers(1, 6))
    roles = draw(st.lists(st.sampled_from(["driver", "outcome", "terminal"]), min_size=6, max_size=6))
    metrics = draw(st.lists(st.integers(0, metric_count - 1), min_size=size, max_size=size))
    places = st.integers(0, size - 1)
    edges = draw(st.lists(st.tuples(places, places), unique=True, max_size=60))
    confidence = draw(st.lists(st.sampled_from([0.0, 0.25, 0.5, 0.9, 1.0]), min_size=len(edges), max_size=len(edges)))
    grid = st.sampled_from([-0.2, 0.0, 0.25, 0.3, 0.35, 0.4, 0.4375, 0.6])
    similarities = draw(st.lists(grid, min_size=size, max_size=size))
    settings = RetrievalSettings(
        tau_min=draw(st.sampled_from([0.0, 0.35, 0.5])),
        metrics=draw(st.integers(1, 6)),
        band=draw(st.sampled_from([0.0, 0.2, 0.5])),
        per_metric=draw(st.integers(1, 4)),
        hops=draw(st.integers(0, 5)),
        cones=draw(st.integers(1, 6)),
        order=draw(st.sampled_from(["paper", "similarity"])),
    )
    return metrics, roles, edges, confidence, np.array(similarities, dtype=np.float32), settings


@given(problems())
def test_arrays_agree_with_networkx(problem):
    metrics, roles, edges, confidence, similarities, settings = problem
    names = [f"v{number:02d}" for number in range(len(metrics))]
    metric_names = [f"M{metric}" for metric in metrics]
    role_of = [roles[metric] for metric in metrics]
    arrays = graph_arrays(names, metric_names, role_of, edges, confidence)
    reference = nx.DiGraph()
    for name, metric, role in zip(names, metric_names, role_of, strict=True):
        reference.add_node(name, metric=metric, role=role)
    for (source, target), value in zip(edges, confidence, strict=True):
        reference.add_edge(names[source], names[target], confidence=value)

    # A one-dimensional 'embedding': the product of question [1] and variable [s] is the similarity itself.
    (match,) = match_questions(
        np.ones((1, 1), dtype=np.float32), similarities[:, None], arrays, settings.tau_min, settings
    )
    expected = reference_match(
        dict(zip(names, similarities, strict=True)),
        dict(zip(names, metric_names, strict=True)),
        settings.tau_min,
        settings.metrics,
        settings.band,
        settings.per_metric,
    )
    found = [(names[v], s) for v, s in zip(match.variables, match.similarities, strict=True)]
    assert found == expected

    seeds = [name for name, _ in expected]
    wanted = reference_subgraph(reference, seeds, settings.hops)
    subgraph = traverse(arrays, match.variables, settings.hops)
    assert [names[node] for node in subgraph.nodes] == sorted(wanted)
    edge_names = {(names[arrays.source[e]], names[arrays.target[e]]) for e in subgraph.edges}
    assert edge_names == set(wanted.edges)
    assert len(subgraph.edges) == wanted.number_of_edges()
    for node, hops in zip(subgraph.nodes, subgraph.hops, strict=True):
        nearest = min(
            nx.shortest_path_length(reference, seed, names[node])
            for seed in seeds
            if nx.has_path(reference, seed, names[node])
        )
        assert hops == nearest

    cones = find_cones(arrays, subgraph, match, settings)
    expected_cones = reference_cones(wanted, expected, settings)
    assert [arrays.metric_names[cone.metric] for cone in cones.kept] == [cone.metric for cone in expected_cones]
    for cone, other in zip(cones.kept, expected_cones, strict=True):
        assert tuple(names[subgraph.nodes[place]] for place in cone.outcomes) == other.outcomes
        assert cone.converging == other.converging
        assert cone.score == other.score
    for place, edge in enumerate(subgraph.edges):
        target = names[arrays.target[edge]]
        ranks = [rank for rank, cone in enumerate(expected_cones) if target in cone.nodes]
        assert cones.member[place] == (ranks[0] if ranks else len(expected_cones))

    # The edge in row r of the published table is stated by passages 2 r and 2 r + 1.
    rows = np.arange(len(edges))
    links = links_of(arrays, Walk(match, subgraph, cones), np.arange(len(edges) + 1) * 2, np.arange(len(edges) * 2))
    stated = reference_links(wanted, expected, expected_cones, settings)
    place = {edges_: row for row, edges_ in zip(rows, edges, strict=True)}
    found_links = {}
    for edge, passage, weight in zip(links.link, links.passage, links.weight, strict=True):
        ends = (arrays.source[edge], arrays.target[edge])
        assert passage // 2 == place[tuple(int(end) for end in ends)]
        found_links.setdefault((names[ends[0]], names[ends[1]]), []).append(weight)
    assert set(found_links) == set(stated)
    assert all(values == [pytest.approx(stated[ends], rel=1e-6)] * 2 for ends, values in found_links.items())
    assert np.all(np.diff(links.weight) <= 0)


def test_more_matched_variables_than_bits_in_a_word():
    # 70 sources, each to the one outcome: the count must not stop at 64.
    arrays = graph_arrays(
        [f"s{n}" for n in range(70)] + ["o"], [f"M{n}" for n in range(70)] + ["O"], ["driver"] * 70 + ["outcome"],
        [(n, 70) for n in range(70)], [1.0] * 70,
    )  # fmt: skip
    match = Match(np.arange(70), np.full(70, 0.5, dtype=np.float32))
    subgraph = traverse(arrays, match.variables, 1)
    (cone,) = find_cones(arrays, subgraph, match, RetrievalSettings()).kept
    assert cone.converging == 70
    assert cone.score == pytest.approx(70 * 0.5 * 0.7, rel=1e-6)


def test_match_follows_the_papers_worked_thresholds():
    # Table 4's text: best 0.65 admits from 0.35 on; best 0.40 from 0.32 on; best 0.34 keeps nothing.
    metrics = ["A", "A", "A", "B", "B", "B", "C"]
    values = np.array([0.65, 0.36, 0.34, 0.40, 0.33, 0.31, 0.34], dtype=np.float32)
    arrays = graph_arrays([f"v{n}" for n in range(7)], metrics, ["driver"] * 7, [], [])
    (match,) = match_questions(np.ones((1, 1), dtype=np.float32), values[:, None], arrays, 0.35, RetrievalSettings())
    assert match.variables.tolist() == [0, 3, 1, 4]


def test_a_cone_counts_paths_that_are_longer_than_the_traversal():
    # s reaches b in two hops; o is one hop from t. In the subgraph s reaches o through b, over three edges.
    names = ["s", "a", "b", "t", "o"]
    arrays = graph_arrays(names, names, ["driver"] * 4 + ["outcome"], [(0, 1), (1, 2), (2, 3), (3, 4)], [1.0] * 4)
    match = Match(np.array([0, 3]), np.array([0.8, 0.5], dtype=np.float32))
    subgraph = traverse(arrays, match.variables, 2)
    (cone,) = find_cones(arrays, subgraph, match, RetrievalSettings(hops=2)).kept
    assert cone.converging == 2
    # Only t is within two hops of o: 0.5 · 0.7.
    assert cone.score == pytest.approx(0.35)


def test_nothing_matched_spans_nothing():
    arrays = graph_arrays(["a", "b"], ["A", "B"], ["driver", "outcome"], [(0, 1)], [1.0])
    none = np.empty(0, dtype=np.int64)
    subgraph = traverse(arrays, none, 4)
    assert len(subgraph.nodes) == len(subgraph.edges) == 0
    assert find_cones(arrays, subgraph, Match(none, np.empty(0, dtype=np.float32)), RetrievalSettings()).kept == ()


def test_a_graph_without_variables_matches_nothing():
    arrays = graph_arrays([], [], [], [], [])
    (match,) = match_questions(
        np.ones((1, 2), dtype=np.float32), np.empty((0, 2), np.float32), arrays, 0.3, RetrievalSettings()
    )
    assert len(match.variables) == 0
    assert match.nearest is None


def test_where_nothing_matches_the_closest_is_named():
    values = np.array([0.1, 0.3, 0.2], dtype=np.float32)
    arrays = graph_arrays(["a", "b", "c"], ["A", "C", "B"], ["driver"] * 3, [], [])
    (match,) = match_questions(np.ones((1, 1), dtype=np.float32), values[:, None], arrays, 0.35, RetrievalSettings())
    assert match.nearest == (1, pytest.approx(0.3))
