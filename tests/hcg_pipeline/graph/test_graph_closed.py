"""From a backend that says anything at all to a published graph: nothing names what the vocabulary lacks."""

import random

import numpy as np
import pyarrow as pa
from graph_builders import chunks_table, documents_table
from hypothesis import event, given, settings
from hypothesis import strategies as st

from hcg_pipeline.backends.protocol import (
    ProposedDimension,
    ProposedEntity,
    ProposedMetric,
    ProposedRelation,
    ProposedVariable,
    Reading,
    TemplateVerdict,
)
from hcg_pipeline.graph.corrected import correct_tables
from hcg_pipeline.graph.evidence import link_evidence
from hcg_pipeline.graph.node_edges import edge_questions, merge_edges, seed_edges
from hcg_pipeline.graph.published import Graph, assemble_graph
from hcg_pipeline.graph.templates import lift_templates, merge_templates, template_questions
from hcg_pipeline.specification.assembly import assemble, ground_relations
from hcg_pipeline.specification.dimensions import build_dimensions
from hcg_pipeline.specification.metrics import build_metrics
from hcg_pipeline.specification.spec_file import parse_spec, render_spec
from hcg_pipeline.specification.specification import specification_of
from hcg_pipeline.specification.tiers import caps_of
from hcg_pipeline.specification.vocabulary import VariableRef
from hcg_pipeline.specification.vocabulary_tables import to_vocabulary
from hcg_pipeline.tables import embeddings_schema

TEXTS = {
    "d": ["Dear coal makes steel dear. Less coal is dug.", "When steel is dear, fewer ships are built."],
    "e": ["Fewer ships mean less trade in the north. Dear coal makes steel dear."],
}
CHUNKS, DOCUMENTS = chunks_table(TEXTS), documents_table(TEXTS)
WHOLE = {name: " ".join(texts) for name, texts in TEXTS.items()}


class Letters:
    """Embeds a text by its counts of a few letters."""

    model = "letters"
    dimension = 5

    def embed(self, texts):
        rows = np.array([[1 + text.count(c) for c in "aeiou"] for text in texts], dtype=np.float32).reshape(-1, 5)
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)


EMBEDDINGS = pa.Table.from_pylist(
    [
        {"chunk_id": chunk_id, "vector": vector.tolist()}
        for chunk_id, vector in zip(
            CHUNKS.column("chunk_id").to_pylist(), Letters().embed(CHUNKS.column("text").to_pylist()), strict=True
        )
    ],
    schema=embeddings_schema(5),
)

# What a sane backend would say; the strategies below add anything at all to it.
SANE_DIMENSIONS = [
    ProposedDimension("good", "Wares.", tuple(ProposedEntity(n, (), 3) for n in ("coal", "steel", "ship")), 4),
    ProposedDimension("region", "Places.", (ProposedEntity("north", (), 3),), 2),
]
SANE_METRICS = [
    ProposedMetric("price", ("good",), "What it costs. Influences output.", "market", 9),
    ProposedMetric("output of goods", ("good",), "What is made. Driven by price.", "market", 9),
    ProposedMetric("Welfare", ("region",), "How people fare.", "end", 9),
]

_axes = st.sampled_from(["good", "Goods", "region", "trade type", "../up", "<b>", "year"])
_things = st.sampled_from(["coal", "Coal", "steel", "steel (ST)", "ships", "ship", "north", "x, y", "{bad}", "a\x07b"])
_measures = st.sampled_from(["price", "Prices", "output of goods", "Welfare", "death rate", "TradeVolume", "${x}", ""])
_proposed = st.builds(ProposedEntity, _things, st.lists(_things, max_size=1).map(tuple), st.integers(1, 4))
_dimensions = st.lists(
    st.builds(ProposedDimension, _axes, st.just(""), st.lists(_proposed, max_size=4).map(tuple), st.integers(1, 3)),
    max_size=6,
)
_metrics = st.lists(
    st.builds(
        ProposedMetric, _measures, st.lists(_axes, max_size=3).map(tuple), st.text(max_size=9), _axes, st.integers(1, 3)
    ),
    max_size=8,
)
_sane_refs = st.builds(
    VariableRef, st.sampled_from(["Price", "OutputOfGoods"]), st.tuples(st.sampled_from(["coal", "Steel", "ships"]))
) | st.just(VariableRef("Welfare", ("north",)))
_refs = _sane_refs | st.builds(VariableRef, _measures, st.lists(_things, max_size=2).map(tuple))
_chunk_ids = st.sampled_from(["d.0", "d.0", "e.0", "e.0", "d.1", "z.9"])
_relations = st.builds(
    ProposedRelation,
    _refs,
    _refs,
    st.sampled_from(["because", "", "Dear coal makes steel dear."]),
    st.sampled_from(["+", "-", "?", "up"]),
    st.floats(0, 1) | st.floats(allow_nan=True, allow_infinity=True),
    _chunk_ids,
    st.sampled_from([*["dear coal makes steel dear"] * 3, "Fewer  ships mean", "invented words"]),
)
_readings = st.lists(
    st.builds(
        Reading,
        st.just("w"),
        st.lists(st.tuples(_axes, _proposed), max_size=3).map(tuple),
        st.lists(st.builds(ProposedVariable, _refs, _chunk_ids), max_size=5).map(tuple),
        st.lists(_relations, min_size=2, max_size=6).map(tuple),
    ),
    min_size=1,
    max_size=5,
)
_verdicts = st.lists(
    st.builds(
        TemplateVerdict,
        st.sampled_from(["Price", "Welfare", "TradeVolume", "Nothing"]),
        st.sampled_from(["Price", "Welfare", "DeathRate", "OutputOfGoods"]),
        st.sampled_from(["so", ""]),
        st.floats(0, 1),
    ),
    max_size=4,
)
_judged = st.lists(_relations, max_size=5)


def _build(dimensions, metrics, readings, verdicts, judged) -> tuple[Graph, str]:
    axes = build_dimensions([*SANE_DIMENSIONS, *dimensions], "XS")
    measures = build_metrics([*SANE_METRICS, *metrics], axes, None, "XS")
    assembly = assemble(readings, to_vocabulary(axes, measures), CHUNKS)
    vocabulary = to_vocabulary(assembly.dimensions, measures)
    questions = template_questions(vocabulary, assembly.relations, assembly.variables, CHUNKS, caps_of("XS"))
    assert all(q.source.role != "terminal" and q.source not in q.targets for q in questions)
    templates = merge_templates(lift_templates(assembly.relations), verdicts, vocabulary)
    seeds = seed_edges(assembly.relations)
    asked = edge_questions(templates, assembly.variables, CHUNKS, seeds, vocabulary, caps_of("XS"))
    names = set(assembly.variables.column("variable").to_pylist())
    assert all(ref.name in names for q in asked for pair in q.candidates for ref in pair)
    edges = merge_edges(seeds, ground_relations(judged, vocabulary, CHUNKS).table, templates)
    uncorrected = correct_tables(assembly.dimensions, measures, assembly.variables, edges, CHUNKS, ())
    edges, variables = uncorrected.edges, uncorrected.variables
    links = link_evidence(edges, DOCUMENTS, CHUNKS, EMBEDDINGS, Letters(), 0.9)
    graph = assemble_graph(variables, measures, edges, links)

    members = {d.name: {e.name for e in d.entities} for d in vocabulary.dimensions}
    assert [d.name for d in vocabulary.dimensions] == axes.column("dimension").to_pylist()
    for row in graph.nodes.to_pylist():
        signature = vocabulary.metric[row["metric"]].signature
        assert all(e in members[d] for d, e in zip(signature, row["entities"], strict=True))
    roles = {row["variable"]: row["role"] for row in graph.nodes.to_pylist()}
    for row in graph.edges.to_pylist():
        assert row["target"] in roles and roles[row["source"]] != "terminal" and row["source"] != row["target"]
        assert row["evidence"] >= 1
        assert row["sign"] in "+-?" and 0 <= row["confidence"] <= 0.99
    for row in graph.evidence.to_pylist():
        assert WHOLE[row["document_id"]][row["start"] : row["end"]] == row["quote"]
    return graph, render_spec(specification_of(assembly.dimensions, measures, variables, edges))


@settings(max_examples=100, deadline=None)
@given(_dimensions, _metrics, _readings, _verdicts, _judged, st.randoms(use_true_random=False))
def test_the_graph_is_closed_evidenced_and_independent_of_order(
    dimensions, metrics, readings, verdicts, judged, chance: random.Random
):
    graph, spec = _build(dimensions, metrics, readings, verdicts, judged)
    shuffled = [list(items) for items in (dimensions, metrics, readings, verdicts, judged)]
    for items in shuffled:
        chance.shuffle(items)
    assert _build(*shuffled) == (graph, spec)
    assert parse_spec(spec, "g.yaml").ignored == ()
    event(f"edges: {min(graph.edges.num_rows, 3)}")
