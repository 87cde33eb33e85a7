"""From files to passages: documents, the files that could not be read, and chunks."""

import dagster as dg
import pyarrow as pa

from assets import checks
from assets.corpora import CORPORA
from assets.stage_run import StageResult, StageRun, stage_asset, stage_output
from hcg_pipeline import tables
from hcg_pipeline.any_path import AnyPath
from hcg_pipeline.corpus.chunks import split_documents
from hcg_pipeline.corpus.documents import read_files
from hcg_pipeline.errors import CorpusError
from resources.build_choices import BuildChoices
from resources.workspace import Workspace

_GROUP = "corpus"


@dg.multi_asset(
    name="read_corpus",
    partitions_def=CORPORA,
    outs={
        "documents": stage_output(
            _GROUP,
            tables.DOCUMENTS,
            version="1",
            description="One row per source file (or per record of a record file): its path, media type and text.",
        ),
        "rejected": stage_output(
            _GROUP,
            tables.REJECTED,
            version="1",
            description="Files that could not be read, each with the reason and the way out. Empty is good.",
        ),
    },
    deps=["document_files"],
    check_specs=[checks.spec("no_rejected_files", "rejected")],
)
def read_corpus(context: dg.AssetExecutionContext, workspace: Workspace, choices: BuildChoices) -> StageResult:
    """Read every file of the corpus folder; what cannot be read becomes a row of `rejected`."""
    run = StageRun(context, workspace, choices)
    folder = workspace.corpus_folder(run.corpus)
    documents, rejected = read_files(workspace.document_files(run.corpus), run.progress)
    yield run.result(
        documents,
        asset="documents",
        columns=["path", "media_type", "words", "text"],
        shown={
            "folder": dg.MetadataValue.path(str(folder)),
            "words": sum(documents["words"].to_pylist()),
            "rejected": rejected.num_rows,
        },
    )
    yield run.result(rejected, asset="rejected", checks=[checks.no_rejected_files(rejected)])
    if documents.num_rows == 0:
        # After both outputs, so that the reasons can be read; a graph that is published stays.
        raise CorpusError(_nothing_to_read(run.corpus, folder, rejected))


def _nothing_to_read(corpus: str, folder: AnyPath, rejected: pa.Table) -> str:
    if rejected.num_rows == 0:
        return f"Corpus {corpus!r} is empty: put documents in {folder}."
    first = rejected.slice(0, 1).to_pylist()[0]
    return (
        f"Corpus {corpus!r} has no document that can be read: all {rejected.num_rows} files of {folder} were rejected, "
        f"the first, {first['path']}, because {first['reason']}"
    )


@stage_asset(_GROUP, tables.CHUNKS, version="1", deps=["chunking"], checks=[checks.spec("spans_exact", "chunks")])
def chunks(
    context: dg.AssetExecutionContext, documents: pa.Table, workspace: Workspace, choices: BuildChoices
) -> StageResult:
    """Sentence-aligned passages of the documents, with character offsets. An edit moves only the chunks it touches."""
    run = StageRun(context, workspace, choices)
    table = split_documents(documents, run.settings.chunking, run.progress)
    words = table["words"].to_pylist()
    yield run.result(
        table,
        columns=["text", "words", "start", "end", "document_id"],
        checks=[checks.spans_exact("chunks", documents, table, "text")],
        shown={"words_per_chunk": round(sum(words) / len(words), 1) if words else 0.0},
    )
