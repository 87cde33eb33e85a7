"""A small corpus with a hand-made graph, indexed once for the tests of this folder."""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pytest

from hcg_pipeline.embedding.wordllama import WordLlamaEmbedder
from hcg_pipeline.retrieval.index import build_index, open_index
from hcg_pipeline.tables import CHUNKS, DOCUMENTS, EDGES, EVIDENCE_LINKS, NODES, embeddings_schema

DOCUMENTS_TEXT = {
    "garden/soil.txt": (
        "Heavy rain washes nitrogen out of sandy soil. Low nitrogen makes leaves turn yellow. "
        "Yellow leaves catch less light. Less light means that the plant grows slowly. "
        "Gardeners add compost in spring. Compost holds water and feeds earthworms."
    ),
    "garden/water.txt": (
        "Drought closes the pores of the leaves. Closed pores stop the plant from taking in air. "
        "Mulch keeps the ground moist. A thick layer of bark lasts for two years."
    ),
    "kitchen/bread.txt": (
        "Warm dough rises faster because yeast grows in the warmth. Salt slows yeast down. "
        "Slow rising gives the bread a stronger taste. A hot oven makes a hard crust."
    ),
}
VARIABLES = [
    ("RainAmount(sandy soil)", "RainAmount", "driver"),
    ("NitrogenLevel(sandy soil)", "NitrogenLevel", "driver"),
    ("LeafColour(yellow)", "LeafColour", "outcome"),
    ("PlantGrowth(plant)", "PlantGrowth", "terminal"),
    ("YeastGrowth(dough)", "YeastGrowth", "driver"),
    ("BreadTaste(bread)", "BreadTaste", "terminal"),
]
EDGE_ROWS = [
    (0, 1, "Heavy rain washes nitrogen out of sandy soil.", "-"),
    (1, 2, "Low nitrogen makes leaves turn yellow.", "-"),
    (2, 3, "Less light means that the plant grows slowly.", "-"),
    (4, 5, "Slow rising gives the bread a stronger taste.", "-"),
]


@dataclass(frozen=True)
class Tables:
    documents: pa.Table
    chunks: pa.Table
    embeddings: pa.Table
    nodes: pa.Table
    edges: pa.Table
    evidence: pa.Table


@pytest.fixture(scope="session")
def wordllama():
    return WordLlamaEmbedder()


@pytest.fixture(scope="session")
def tables(wordllama) -> Tables:
    documents, chunks = [], []
    for number, (path, text) in enumerate(DOCUMENTS_TEXT.items()):
        common = {"document_id": f"d{number}", "words": len(text.split()), "text": text}
        documents.append(
            {**common, "path": path, "other_paths": [], "media_type": "text/plain", "characters": len(text)}
        )
        chunks.append({**common, "chunk_id": f"c{number}", "position": 0, "start": 0, "end": len(text)})
    by_text = {text: number for number, text in enumerate(DOCUMENTS_TEXT.values())}
    nodes = [
        {
            "variable": name, "metric": metric, "entities": [name[len(metric) + 1 : -1]], "role": role,
            "description": "", "mentions": 1, "chunk_ids": ["c2" if "Yeast" in name or "Bread" in name else "c0"],
            "category": "", "in_degree": 0, "out_degree": 0, "added_by": "corpus",
        }
        for name, metric, role in VARIABLES
    ]  # fmt: skip
    edges, evidence = [], []
    for number, (source, target, quote, sign) in enumerate(EDGE_ROWS):
        text = next(text for text in by_text if quote in text)
        edges.append(
            {
                "edge_id": f"e{number}", "source": VARIABLES[source][0], "target": VARIABLES[target][0],
                "mechanism": quote, "sign": sign, "confidence": 0.9, "origin": "seed", "support": 1, "evidence": 1,
            }
        )  # fmt: skip
        evidence.append(
            {
                "edge_id": f"e{number}", "chunk_id": f"c{by_text[text]}", "document_id": f"d{by_text[text]}",
                "start": text.index(quote), "end": text.index(quote) + len(quote), "quote": quote, "kind": "quote",
                "similarity": None,
            }
        )  # fmt: skip
    vectors = wordllama.embed([chunk["text"] for chunk in chunks])
    column = pa.FixedSizeListArray.from_arrays(pa.array(vectors.reshape(-1)), wordllama.dimension)
    return Tables(
        documents=pa.Table.from_pylist(documents, schema=DOCUMENTS),
        chunks=pa.Table.from_pylist(chunks, schema=CHUNKS),
        embeddings=pa.table([["c0", "c1", "c2"], column], schema=embeddings_schema(wordllama.dimension)),
        nodes=pa.Table.from_pylist(nodes, schema=NODES),
        edges=pa.Table.from_pylist(edges, schema=EDGES),
        evidence=pa.Table.from_pylist(evidence, schema=EVIDENCE_LINKS),
    )


@pytest.fixture(scope="session")
def built(tables, wordllama, tmp_path_factory):
    """(folder, manifest) of the built index."""
    folder = tmp_path_factory.mktemp("index") / "index"
    manifest = build_index(
        folder,
        tables.chunks,
        tables.embeddings,
        tables.nodes,
        tables.edges,
        tables.evidence,
        tables.documents,
        wordllama,
    )
    return folder, manifest


@pytest.fixture(scope="session")
def index(built, wordllama):
    return open_index(built[0], wordllama)


class FixedEmbedder:
    """Another model, of the dimension given."""

    def __init__(self, model="other-model", dimension=256):
        self.model, self.dimension = model, dimension

    def embed(self, texts):
        return np.ones((len(texts), self.dimension), dtype=np.float32) / np.sqrt(np.float32(self.dimension))
