import numpy as np
import pyarrow as pa
import pytest
from graph_builders import chunks_table, documents_table, relation, relations_table
from hypothesis import given, settings
from hypothesis import strategies as st

from hcg_pipeline.errors import EmbeddingError
from hcg_pipeline.graph.evidence import edge_text, link_evidence
from hcg_pipeline.graph.node_edges import seed_edges
from hcg_pipeline.tables import EVIDENCE_LINKS, embeddings_schema

SENTENCE = "Subsidies that are paid to farmers raise the output of farms in the north."
DOCUMENTS = {
    "d": [SENTENCE + " More follows.", "Nothing of the kind. Output of farms grows with subsidies. Rain helps."],
    "e": ["As was said: " + SENTENCE, "Quite another matter."],
}
CHUNKS, TEXTS = chunks_table(DOCUMENTS), documents_table(DOCUMENTS)
WHOLE = {name: " ".join(texts) for name, texts in DOCUMENTS.items()}
SUBSIDY, OUTPUT = "Subsidy(farming, north)", "Output(farming)"


class Planted:
    """An embedder that gives every edge the same unit vector; chunks have theirs in the table."""

    model = "planted"
    dimension = 4

    def __init__(self) -> None:
        self.texts: list[str] = []

    def embed(self, texts):
        self.texts.extend(texts)
        return np.tile(np.array([1, 0, 0, 0], dtype=np.float32), (len(texts), 1))


def _embeddings(*cosines: float) -> pa.Table:
    vectors = [[c, float(np.sqrt(1 - c * c)), 0.0, 0.0] for c in cosines]
    ids = CHUNKS.column("chunk_id").to_pylist()
    rows = [{"chunk_id": chunk_id, "vector": vector} for chunk_id, vector in zip(ids, vectors, strict=True)]
    return pa.Table.from_pylist(rows, schema=embeddings_schema(4))


def _links(edges, cosines, threshold=0.78, embedder=None):
    table = link_evidence(edges, TEXTS, CHUNKS, _embeddings(*cosines), embedder or Planted(), threshold)
    assert table.schema.equals(EVIDENCE_LINKS)
    for row in table.to_pylist():
        assert WHOLE[row["document_id"]][row["start"] : row["end"]] == row["quote"]
    return [(r["kind"], r["chunk_id"], r["quote"], r["similarity"]) for r in table.to_pylist()]


def test_own_quotes_then_the_same_words_elsewhere_then_what_is_close():
    edges = seed_edges(relations_table(relation(SUBSIDY, OUTPUT, SENTENCE, mechanism="money buys seed")))
    embedder = Planted()
    assert _links(edges, (0.95, 0.9, 0.2, 0.1), embedder=embedder) == [
        ("quote", "d.0", SENTENCE, None),
        ("text", "e.0", SENTENCE, None),
        ("semantic", "d.1", "Output of farms grows with subsidies.", pytest.approx(0.9)),
    ]
    assert embedder.texts == ["Subsidy(farming, north) → Output(farming): money buys seed"]


def test_mechanism_taken_from_a_document_is_found_there_by_its_first_200_characters():
    edges = seed_edges(relations_table(relation(SUBSIDY, OUTPUT, "More follows.", start=75, mechanism=SENTENCE)))
    assert _links(edges, (0, 0, 0, 0)) == [("quote", "d.0", "More follows.", None), ("text", "e.0", SENTENCE, None)]


def test_at_most_two_semantic_links_best_first_and_ties_in_corpus_order():
    edges = seed_edges(relations_table(relation(SUBSIDY, OUTPUT, "not in the text at all", start=0)))
    found = _links(edges, (0.8, 0.9, 0.9, 0.9))
    assert [(kind, chunk) for kind, chunk, _, _ in found] == [("semantic", "d.1"), ("semantic", "e.0")]
    assert [kind for kind, *_ in _links(edges, (0.78, 0.77, 0.1, 0.1))] == ["semantic"]
    assert _links(edges, (0.77, 0.77, 0.1, 0.1)) == []


def test_quote_that_does_not_stand_is_left_out():
    edges = seed_edges(
        relations_table(relation(SUBSIDY, OUTPUT, "x" * 20), relation(SUBSIDY, OUTPUT, "gone text", document_id="z"))
    )
    assert _links(edges, (0, 0, 0, 0)) == []


def test_sentence_of_a_semantic_link_falls_back_to_the_chunk():
    edges = seed_edges(relations_table(relation("Zzz(qqq)", "Yyy(www)", "nothing such", mechanism="vvv")))
    assert [quote for _, _, quote, _ in _links(edges, (0, 0, 0, 0.9))] == [DOCUMENTS["e"][1]]


def test_vectors_must_be_there_and_of_the_embedders_length():
    edges = seed_edges(relations_table(relation(SUBSIDY, OUTPUT, SENTENCE)))
    with pytest.raises(EmbeddingError, match=r"1 chunks have no vector, e\.1 first"):
        link_evidence(edges, TEXTS, CHUNKS, _embeddings(0, 0, 0, 0).slice(0, 3), Planted(), 0.5)
    shorter = pa.table(
        {"chunk_id": CHUNKS.column("chunk_id"), "vector": pa.array([[0.0] * 3] * 4, pa.list_(pa.float32(), 3))}
    )
    with pytest.raises(EmbeddingError, match="length 3, the embedder's 4"):
        link_evidence(edges, TEXTS, CHUNKS, shorter, Planted(), 0.5)


def test_no_edges_make_no_links():
    assert _links(seed_edges(relations_table()), (0, 0, 0, 0)) == []


class Hashed:
    model = "hashed"
    dimension = 16

    def embed(self, texts):
        rows = [np.random.default_rng([ord(c) for c in text]).normal(size=16) for text in texts]
        vectors = np.array(rows, dtype=np.float32).reshape(-1, 16)
        return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 40), st.floats(-0.2, 0.6))
def test_semantic_links_agree_with_a_plain_search(count, threshold):
    edges = seed_edges(relations_table(*(relation(f"A(a{n})", f"B(b{n})", "absent", start=500) for n in range(count))))
    embedder = Hashed()
    chunk_ids, texts = CHUNKS.column("chunk_id").to_pylist(), CHUNKS.column("text").to_pylist()
    vectors = embedder.embed(texts)
    embeddings = pa.Table.from_pylist(
        [{"chunk_id": c, "vector": v.tolist()} for c, v in zip(chunk_ids, vectors, strict=True)],
        schema=embeddings_schema(16),
    )
    expected = []
    for edge in edges.to_pylist():
        (vector,) = embedder.embed([edge_text(edge)]).astype(np.float64)
        cosines = [(round(float(v.astype(np.float64) @ vector), 6), -place) for place, v in enumerate(vectors)]
        best = sorted((c for c in cosines if c[0] >= threshold), reverse=True)[:2]
        expected.extend((edge["edge_id"], chunk_ids[-place], cosine) for cosine, place in best)
    links = link_evidence(edges, TEXTS, CHUNKS, embeddings, embedder, threshold).to_pylist()
    assert [(r["edge_id"], r["chunk_id"], r["similarity"]) for r in links] == expected
