"""A whole build without Dagster: the engine's stages in their order, from a corpus folder to the published tables."""

from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from hcg_pipeline.backends.protocol import LanguageBackend, Usage
from hcg_pipeline.corpus.chunks import split_documents
from hcg_pipeline.corpus.documents import read_documents
from hcg_pipeline.corpus.settings import read_settings
from hcg_pipeline.corpus.windows import pack_windows
from hcg_pipeline.embedding.embedder import Embedder
from hcg_pipeline.graph.corrected import correct_tables
from hcg_pipeline.graph.evidence import edge_text, link_evidence
from hcg_pipeline.graph.node_edges import edge_questions, merge_edges, seed_edges
from hcg_pipeline.graph.published import Graph, assemble_graph
from hcg_pipeline.graph.templates import lift_templates, merge_templates, template_questions
from hcg_pipeline.progress import Silent
from hcg_pipeline.retrieval.calibration import evidence_threshold
from hcg_pipeline.retrieval.lance_tables import vectors_of
from hcg_pipeline.specification.assembly import assemble, ground_relations
from hcg_pipeline.specification.corrections import read_corrections
from hcg_pipeline.specification.dimensions import cut_dimensions, resolve_dimensions
from hcg_pipeline.specification.metrics import resolve_metrics
from hcg_pipeline.specification.tiers import VOCABULARY_WINDOW_WORDS, caps_of, sample_windows
from hcg_pipeline.specification.vocabulary import Vocabulary
from hcg_pipeline.specification.vocabulary_tables import metrics_table, to_vocabulary
from hcg_pipeline.tables import embeddings_schema


@dataclass(frozen=True)
class Built:
    """A graph and what the backend was asked for it."""

    graph: Graph
    usage: Usage
    problems: tuple[str, ...]

    @property
    def bytes(self) -> tuple[bytes, ...]:
        """Nodes, edges and evidence as parquet files."""
        return tuple(_parquet(table) for table in (self.graph.nodes, self.graph.edges, self.graph.evidence))


def propose(folder: Path, backend: LanguageBackend, tier: str, sample: int | None) -> tuple[Vocabulary, Usage]:
    """The vocabulary that a first build pins, and what asking for it cost."""
    _, chunks = _read(folder)
    windows = pack_windows(chunks, VOCABULARY_WINDOW_WORDS)
    windows = windows if sample is None else sample_windows(windows, sample)
    axes = backend.propose_dimensions(windows, Silent())
    ranked = resolve_dimensions(axes.results).table
    measured = backend.propose_metrics(windows, to_vocabulary(ranked).dimensions, Silent())
    metrics = resolve_metrics(measured.results, ranked, None, tier).table
    return to_vocabulary(cut_dimensions(ranked, tier), metrics), axes.usage + measured.usage


def build(folder: Path, pin: Vocabulary, backend: LanguageBackend, embedder: Embedder, tier: str) -> Built:
    """The graph of a corpus folder inside a pinned vocabulary, with the folder's corrections."""
    documents, chunks = _read(folder)
    vectors = embedder.embed(chunks["text"].to_pylist()).reshape(-1)
    column = pa.FixedSizeListArray.from_arrays(pa.array(vectors, pa.float32()), embedder.dimension)
    embeddings = pa.Table.from_arrays([chunks["chunk_id"], column], schema=embeddings_schema(embedder.dimension))

    caps = caps_of(tier)
    read = backend.read_windows(pack_windows(chunks, caps.window_words), pin, Silent())
    assembly = assemble(read.results, pin, chunks)
    closed = Vocabulary(to_vocabulary(assembly.dimensions).dimensions, pin.metrics)
    variables, relations = assembly.variables, assembly.relations

    asked = template_questions(closed, relations, variables, chunks, caps)
    judged = backend.judge_templates(asked, Silent())
    verdicts = (verdict for several in judged.results for verdict in several)
    templates = merge_templates(lift_templates(relations), verdicts, closed)
    stated = seed_edges(relations)
    pairs = edge_questions(templates, variables, chunks, stated, closed, caps)
    borne = backend.judge_edges(pairs, Silent())
    grounded = ground_relations((one for several in borne.results for one in several), closed, chunks)
    edges = merge_edges(stated, grounded.table, templates)

    metrics = metrics_table(pin.metrics)
    corrected = correct_tables(assembly.dimensions, metrics, variables, edges, chunks, read_corrections(folder))
    contexts = embedder.embed([edge_text(edge) for edge in corrected.edges.to_pylist()])
    threshold = evidence_threshold(embedder.model, contexts, vectors_of(embeddings, embedder.dimension))
    links = link_evidence(corrected.edges, documents, chunks, embeddings, embedder, threshold)
    graph = assemble_graph(corrected.variables, corrected.metrics, corrected.edges, links)
    return Built(graph, read.usage + judged.usage + borne.usage, corrected.problems)


def _read(folder: Path) -> tuple[pa.Table, pa.Table]:
    documents, _ = read_documents(folder, Silent())
    return documents, split_documents(documents, read_settings(folder).chunking, Silent())


def _parquet(table: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink, compression="zstd", version="2.6")
    return bytes(sink.getvalue())
