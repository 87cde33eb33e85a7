"""What feeds a corpus's assets besides other assets, each as an asset of its own, so that a change of it shows.

They hold no data. Their data versions are digests of what they stand for, so Dagster marks as stale just what a change
concerns: another chunk length, the chunks and what follows; another correction, the corrected graph and what follows.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping
from typing import Any

import dagster as dg

from assets.corpora import CORPORA
from assets.turns import take_turn
from hcg_pipeline.corpus.settings import RESERVED
from hcg_pipeline.specification import corrections, outcomes, spec_file
from resources.build_choices import BuildChoices
from resources.embedding import EmbeddingModel
from resources.folder_scans import Scan, content_fingerprint, file_fingerprint, scan_folder
from resources.language import LanguageModel
from resources.places import folder_name
from resources.workspace import Workspace

_ABOUT = {
    "document_files": "The files of the corpus folder: their paths and contents.",
    "chunking": "How long chunks are: `chunking` of corpus.yaml.",
    "tier": "Caps on dimensions and metrics, and words of a window: `tier` and `window_words` of corpus.yaml.",
    "language_backend": "Who reads and judges: the rules and their version, or the model with prompts and sampling.",
    "embedding_model": "Which model makes the vectors of passages, variables, edges and questions.",
    "evidence_threshold": "How close in meaning a passage must be to be evidence: `retrieval.tau_e` of corpus.yaml.",
    "retrieval_settings": "How questions are matched, traversed and packed: `retrieval` of corpus.yaml.",
    "pinned_specification": "A person's graph_spec.yaml, which takes the place of the automatic vocabulary.",
    "outcomes_file": "A person's outcomes.yaml: which metrics are terminals and outcomes.",
    "corrections_file": "A person's corrections.yaml: edits of the graph.",
    "question_files": "The question files of the corpus: their names and contents.",
}
INPUTS = tuple(_ABOUT)
_AS_LONG_AS_IT_TAKES = float("inf")


@dg.multi_asset(
    name="look_at_inputs",
    specs=[
        dg.AssetSpec(
            name,
            description=about,
            group_name="inputs",
            partitions_def=CORPORA,
            kinds={"yaml"} if name.endswith(("_file", "_specification")) else {"file"},
            owners=["team:knowledge"],
            code_version="1",
        )
        for name, about in _ABOUT.items()
    ],
)
def look_at_inputs(
    context: dg.AssetExecutionContext,
    workspace: Workspace,
    choices: BuildChoices,
    language: LanguageModel,
    embedding: EmbeddingModel,
) -> Iterator[dg.MaterializeResult[None]]:
    """Note the versions of everything that a build reads besides tables. Cheap: unchanged files are not read again."""
    corpus = context.partition_key
    take_turn(context.instance, context.run.run_id, corpus)
    found = settings_versions(workspace, corpus, choices) | folder_versions(workspace, corpus)
    found |= model_versions(workspace, corpus, language, embedding)
    for name in INPUTS:
        shown, version = found[name]
        yield dg.MaterializeResult(asset_key=name, data_version=dg.DataVersion(version), metadata=shown)


Versions = dict[str, tuple[Mapping[str, Any], str]]  # per input, what to show of it, and its data version


def settings_versions(workspace: Workspace, corpus: str, choices: BuildChoices) -> Versions:
    """The inputs that are settings or small files. Raises `SettingsError` where corpus.yaml is wrong."""
    settings = choices.applied_to(workspace.settings(corpus))
    folder = workspace.corpus_folder(corpus)
    retrieval = settings.retrieval.model_dump(mode="json")
    threshold = {"tau_e": retrieval.pop("tau_e")}
    chunking = settings.chunking
    words = {"target": chunking.target_words, "minimum": chunking.minimum, "maximum": chunking.maximum}
    files = {
        "pinned_specification": folder / spec_file.FILE,
        "outcomes_file": folder / outcomes.FILE,
        "corrections_file": folder / corrections.FILE,
    }
    return {
        "chunking": _of(words),
        "tier": _of({"tier": settings.tier, "window_words": settings.window_words or "the tier's"}),
        "evidence_threshold": _of(threshold),
        "retrieval_settings": _of(retrieval),
        **{
            name: ({"file": dg.MetadataValue.path(str(path)), "there": path.is_file()}, file_fingerprint(path))
            for name, path in files.items()
        },
    }


def model_versions(workspace: Workspace, corpus: str, language: LanguageModel, embedding: EmbeddingModel) -> Versions:
    """The inputs that are models. Raises `BackendError`, `EmbeddingError` where one is not configured."""
    wanted = workspace.settings(corpus).backend
    backend = language.backend_for(wanted)
    return {
        "language_backend": _of({"backend": backend.name, "version": backend.version}),
        "embedding_model": _of({"model": embedding.embedder_for(wanted).model}),
    }


def folder_versions(workspace: Workspace, corpus: str) -> Versions:
    """The inputs that are folders of files."""
    found: Versions = {}
    for name, scan in (
        ("document_files", scan_documents(workspace, corpus)),
        ("question_files", scan_questions(workspace, corpus)),
    ):
        version = content_of(workspace, corpus, name, scan, _AS_LONG_AS_IT_TAKES)
        shown = {"folder": dg.MetadataValue.path(str(scan.folder)), "files": len(scan.files)}
        found[name] = (shown, version or "")
    return found


def scan_build(workspace: Workspace, corpus: str) -> Scan:
    """All that a build reads of the corpus's folder: documents, and the settings files at its root."""
    return scan_folder(workspace.corpus_folder(corpus))


def scan_documents(workspace: Workspace, corpus: str) -> Scan:
    """The corpus's document files, without the settings files at the folder's root."""
    scan = scan_build(workspace, corpus)
    return Scan(scan.folder, {path: stamp for path, stamp in scan.files.items() if path not in RESERVED})


def scan_questions(workspace: Workspace, corpus: str) -> Scan:
    """The corpus's question files."""
    return scan_folder(workspace.question_folder(corpus))


def content_of(workspace: Workspace, corpus: str, kind: str, scan: Scan, seconds: float) -> str | None:
    """The content fingerprint of a scan, its digests kept in the cache folder; None if it took over `seconds`."""
    known = workspace.cache / "watched" / f"{kind}-{folder_name(corpus)}.parquet"
    return content_fingerprint(scan, known, seconds)


def _of(content: Mapping[str, Any]) -> tuple[Mapping[str, Any], str]:
    text = json.dumps(content, sort_keys=True)
    return {name: str(value) for name, value in content.items()}, hashlib.blake2b(
        text.encode(), digest_size=12
    ).hexdigest()
