"""What an index says about itself: which model made its vectors, how much it holds, which thresholds it was given."""

import hashlib
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from hcg_pipeline.embedding.embedder import Embedder
from hcg_pipeline.errors import EmbeddingError, SnapshotError

FORMAT = 1
_FILE = "manifest.json"


class IndexManifest(BaseModel):
    """The manifest of one index, written as `manifest.json` beside its tables, last of all."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    format: int = FORMAT
    model: str
    dimension: int
    documents: int
    chunks: int
    passages: int
    variables: int
    edges: int
    evidence: int
    tau_min: float
    tau_e: float
    fingerprint: str


def write_manifest(folder: Path, manifest: IndexManifest) -> None:
    """Writes the manifest by rename, so that a reader sees a finished index or none."""
    temporary = folder / f".{_FILE}.tmp"
    temporary.write_text(manifest.model_dump_json(indent=2) + "\n", encoding="utf-8")
    temporary.replace(folder / _FILE)


def read_manifest(folder: Path) -> IndexManifest:
    """Raises `SnapshotError` where there is no finished index of this format."""
    path = folder / _FILE
    try:
        manifest = IndexManifest.model_validate_json(path.read_bytes())
    except FileNotFoundError as error:
        raise SnapshotError(f"{folder}: no finished index here. Build the corpus first: hcg build CORPUS.") from error
    except (ValidationError, OSError) as error:
        raise SnapshotError(
            f"{path}: not an index's manifest ({error}). Build the corpus again: hcg build CORPUS."
        ) from error
    if manifest.format != FORMAT:
        raise SnapshotError(
            f"{path}: index format {manifest.format}, not {FORMAT}. Build the corpus again: hcg build CORPUS."
        )
    return manifest


def check_embedder(manifest: IndexManifest, embedder: Embedder) -> None:
    """Raises `EmbeddingError` if questions would be embedded by another model than the index's texts."""
    if (manifest.model, manifest.dimension) != (embedder.model, embedder.dimension):
        raise EmbeddingError(
            f"the index was built with the embedding model {manifest.model} ({manifest.dimension} dimensions), "
            f"but questions would be embedded with {embedder.model} ({embedder.dimension}). "
            "Configure the model that built it, or rebuild with the present one: hcg build CORPUS."
        )


def fingerprint(*parts: bytes | str) -> str:
    """32 hex digits over the parts, in order, each set apart by its length."""
    digest = hashlib.blake2b(digest_size=16)
    for part in parts:
        content = part.encode() if isinstance(part, str) else part
        digest.update(len(content).to_bytes(8, "big"))
        digest.update(content)
    return digest.hexdigest()
