import json

import networkx as nx
from graph_builders import graph_of
from hypothesis import given
from hypothesis import strategies as st
from test_graph_published import link

from hcg_pipeline.graph.summary import summarise

S, O, P, W = "Subsidy(farming, north)", "Output(farming)", "Price(farming)", "Welfare(north)"  # noqa: E741


def test_numbers_of_a_small_graph():
    graph = graph_of(
        (S, O),
        (O, P),
        (P, O),
        (P, W),
        links=[link(S, O), link(S, O, kind="text"), link(O, P, kind="semantic")],
        extra=("Price(trade)",),
    )
    summary = summarise(graph)
    assert (summary.variables, summary.edges, summary.metrics) == (5, 4, 4)
    assert summary.roles == {"driver": 3, "outcome": 1, "terminal": 1}
    assert summary.categories == {"market": 2, "end": 1, "policy": 1, "production": 1}
    assert summary.evidence_kinds == {"quote": 1, "semantic": 1, "text": 1}
    assert (summary.edges_with_evidence, summary.share_with_evidence) == (2, 0.5)
    assert summary.share_by_kind == {"quote": 0.25, "text": 0.25, "semantic": 0.25}
    assert summary.degrees == {"0": 1, "1": 2, "3-4": 2}
    assert summary.mean_degree == 1.6
    assert (summary.isolated, summary.reciprocal_pairs, summary.feedback_groups, summary.variables_in_feedback) == (
        1,
        1,
        1,
        2,
    )
    assert summary.longest_chains == ((S, O, P, W),)
    assert [(m.metric, m.variables, m.edges) for m in summary.top_metrics][:2] == [("Price", 2, 3), ("Output", 1, 3)]
    assert json.loads(json.dumps(summary.as_json()))["longest_chains"] == [[S, O, P, W]]


def test_empty_graph_has_a_summary():
    summary = summarise(graph_of())
    assert (summary.variables, summary.edges, summary.share_with_evidence, summary.mean_degree) == (0, 0, 1.0, 0.0)
    assert summary.longest_chains == ()


_nodes = [f"{m}({s})" for m in ("Output", "Price") for s in ("farming", "mining", "trade")]
_pairs = st.lists(
    st.tuples(st.sampled_from(_nodes), st.sampled_from(_nodes)).filter(lambda p: p[0] != p[1]), max_size=12
)


@given(_pairs)
def test_chains_are_paths_and_the_longest_where_there_are_no_loops(pairs):
    network = nx.DiGraph(pairs)
    summary = summarise(graph_of(*pairs))
    for chain in summary.longest_chains:
        assert len(set(chain)) == len(chain)
        assert nx.is_path(network, list(chain))
    if pairs and nx.is_directed_acyclic_graph(network):
        assert len(summary.longest_chains[0]) == len(nx.dag_longest_path(network))
        assert summary.feedback_groups == 0
    else:
        assert summary.feedback_groups == sum(len(c) > 1 for c in nx.strongly_connected_components(network))
