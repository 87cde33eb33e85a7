"""What feeds a corpus's assets besides other assets, each as an asset of its own, so that a change of it shows.

They hold no data. Their data versions are digests of what they stand for, so Dagster marks as stale just what a change
concerns: another chunk length, the chunks and what follows; another correction, the corrected graph and what follows.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import dagster as dg

from assets.corpora import CORPORA
from assets.pins import replacement
from assets.turns import take_turn
from hcg_pipeline.corpus.settings import RESERVED
from hcg_pipeline.specification import corrections, outcomes, spec_file
from resources.build_choices import BuildChoices
from resources.embedding import EmbeddingModel
from resources.folder_scans import Scan, content_digests, content_fingerprint, file_fingerprint, scan_folder
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
    "replaced_vocabulary": "The vocabulary that `hcg respec` pinned in place of the first one.",
    "outcomes_file": "A person's outcomes.yaml: which metrics are terminals and outcomes.",
    "corrections_file": "A person's corrections.yaml: edits of the graph.",
    "question_files": "The question files of the corpus: their names and contents.",
}
INPUTS = tuple(_ABOUT)
INPUT_TAG = "hcg/input"
"""What each of them is tagged with: in the UI, `tag:"hcg/input"` selects them."""
# Each is in the group that it feeds, so that the lineage of a group starts with what it depends on.
_GROUPS = {
    "document_files": "corpus",
    "chunking": "corpus",
    "embedding_model": "embedding",
    "evidence_threshold": "graph",
    "corrections_file": "graph/corrections",
    "question_files": "answering",
    "retrieval_settings": "answering",
}
_SHARED_GROUP = "specification/settings"
_AS_LONG_AS_IT_TAKES = float("inf")


@dg.multi_asset(
    name="look_at_inputs",
    specs=[
        dg.AssetSpec(
            name,
            description=about,
            group_name=_GROUPS.get(name, _SHARED_GROUP),
            tags={INPUT_TAG: ""},
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
    found = settings_versions(workspace, corpus, choices, language) | folder_versions(workspace, corpus)
    found |= model_versions(workspace, corpus, language, embedding)
    for name in INPUTS:
        shown, version = found[name]
        yield dg.MaterializeResult(asset_key=name, data_version=dg.DataVersion(version), metadata=shown)


Versions = dict[str, tuple[Mapping[str, Any], str]]  # per input, what to show of it, and its data version


def settings_versions(workspace: Workspace, corpus: str, choices: BuildChoices, language: LanguageModel) -> Versions:
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
    replaced = replacement(workspace, corpus, settings.backend or language.backend, settings.tier)
    return {
        "chunking": _of(words),
        "replaced_vocabulary": _of({"replaced_by": replaced or "nothing"}),
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


def folder_versions(workspace: Workspace, corpus: str, seconds: float = _AS_LONG_AS_IT_TAKES) -> Versions:
    """The inputs that are folders of files; none of them if reading what changed takes more than `seconds`."""
    build, asked = scan_build(workspace, corpus), scan_questions(workspace, corpus)
    documents = read_build(workspace, corpus, build, seconds)
    questions = read_questions(workspace, corpus, asked, seconds)
    if documents is None or questions is None:
        return {}
    documents = {path: digest for path, digest in documents.items() if path not in RESERVED}
    return {
        name: (
            {"folder": dg.MetadataValue.path(str(scan.folder)), "files": len(digests)},
            content_fingerprint(digests),
        )
        for name, scan, digests in (
            ("document_files", build, documents),
            ("question_files", asked, questions),
        )
    }


def scan_build(workspace: Workspace, corpus: str) -> Scan:
    """All that a build reads of the corpus's folder: documents, and the settings files at its root."""
    return scan_folder(workspace.corpus_folder(corpus))


def scan_questions(workspace: Workspace, corpus: str) -> Scan:
    """The corpus's question files."""
    return scan_folder(workspace.question_folder(corpus))


def read_build(workspace: Workspace, corpus: str, scan: Scan, seconds: float) -> dict[str, str] | None:
    """A digest for each file of `scan_build`, kept in the cache folder; None if it takes over `seconds`."""
    return content_digests(scan, _kept_digests(workspace, "build", corpus), seconds)


def read_questions(workspace: Workspace, corpus: str, scan: Scan, seconds: float) -> dict[str, str] | None:
    """The same of `scan_questions`."""
    return content_digests(scan, _kept_digests(workspace, "questions", corpus), seconds)


def _kept_digests(workspace: Workspace, kind: str, corpus: str) -> Path:
    return workspace.cache / "watched" / f"{kind}-{folder_name(corpus)}.parquet"


def _of(content: Mapping[str, Any]) -> tuple[Mapping[str, Any], str]:
    text = json.dumps(content, sort_keys=True)
    return {name: str(value) for name, value in content.items()}, hashlib.blake2b(
        text.encode(), digest_size=12
    ).hexdigest()
