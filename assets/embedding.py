"""From passages to vectors."""

import dagster as dg
import pyarrow as pa

from assets.stage_run import StageResult, StageRun, stage_asset
from hcg_pipeline import tables
from resources.build_choices import BuildChoices
from resources.embedding import EmbeddingModel
from resources.language import LanguageModel
from resources.workspace import Workspace

_ANY_DIMENSION = pa.schema(
    [
        tables.embeddings_schema(1).field("chunk_id"),
        tables.embeddings_schema(1).field("vector").with_type(pa.list_(pa.float32())),
    ]
)


@stage_asset("embedding", _ANY_DIMENSION, version="1", deps=["embedding_model"])
def embeddings(
    context: dg.AssetExecutionContext,
    chunks: pa.Table,
    workspace: Workspace,
    choices: BuildChoices,
    embedding: EmbeddingModel,
    language: LanguageModel,
) -> StageResult:
    """One vector per chunk, L2-normalised. Cached by text and model: an unchanged text is never embedded twice."""
    run = StageRun(context, workspace, choices)
    embedder = run.embedder(embedding, language)
    total = chunks.num_rows
    run.progress.advance("embeddings", 0, total)
    vectors = embedder.embed(chunks["text"].to_pylist())
    run.progress.advance("embeddings", total, total)
    schema = tables.embeddings_schema(embedder.dimension)
    column = pa.FixedSizeListArray.from_arrays(pa.array(vectors.reshape(-1), pa.float32()), embedder.dimension)
    table = pa.Table.from_arrays([chunks["chunk_id"], column], schema=schema)
    yield run.result(
        table,
        shown={
            "embedding_model": embedder.model,
            "dimension": embedder.dimension,
            "embedded": embedder.misses,
            "from_cache": embedder.hits,
        },
    )
