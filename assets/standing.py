"""Whether a corpus's last build still stands: nothing that it read has changed, and what it made is all there.

A build is a function of its inputs, so one that stands need not be run again. `hcg build` says so at once, instead of
running every stage to arrive at the same bytes. Dagster's own runs are not held back.
"""

import datetime
import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path

from assets.inputs import folder_versions, model_versions, settings_versions
from assets.job_run import JobRun
from hcg_pipeline.errors import HcgError, SnapshotError
from hcg_pipeline.graph.snapshot import file_hash
from hcg_pipeline.retrieval.manifest import read_manifest
from resources.build_choices import BuildChoices, TierChoice
from resources.embedding import EmbeddingModel
from resources.language import LanguageModel
from resources.places import CHECKOUT
from resources.table_files import replace_text
from resources.workspace import Workspace

_CODE = ("hcg_pipeline", "assets", "resources", "definitions.py")
_NOT_READ = frozenset({"question_files"})


@dataclass(frozen=True)
class StandingBuild:
    """A build that stands: its run, when it was done, and what its checks had to say (name, line)."""

    run_id: str
    at: str
    checks: tuple[tuple[str, str], ...]


def versions_now(workspace: Workspace, corpus: str, tier: str | None) -> dict[str, str] | None:
    """The version of each input of a build, and of this program. Taken before a build, since files may change in it.

    None where an input is wrong, such as corpus.yaml: the run that is then started fails by it, in sight of the UI.
    """
    try:
        return _versions(workspace, corpus, tier)
    except HcgError:
        return None


def _versions(workspace: Workspace, corpus: str, tier: str | None) -> dict[str, str]:
    language = LanguageModel.from_environment(workspace.cache)
    embedding = EmbeddingModel.from_environment(workspace.cache)
    choices = BuildChoices(tier=TierChoice(tier) if tier else None)
    found = settings_versions(workspace, corpus, choices, language) | folder_versions(workspace, corpus)
    found |= model_versions(workspace, corpus, language, embedding)
    versions = {name: version for name, (_, version) in found.items() if name not in _NOT_READ}
    return {**versions, "code": _code_version()}


def standing_build(workspace: Workspace, corpus: str, versions: Mapping[str, str] | None) -> StandingBuild | None:
    """The last build by `hcg build`, if it stands; None where anything differs, or is missing."""
    store = workspace.corpus_store(corpus)
    if versions is None or not isinstance(store, Path) or not _file(store).is_file():
        return None
    try:
        noted = json.loads(_file(store).read_text(encoding="utf-8"))
        standing = StandingBuild(noted["run_id"], noted["at"], tuple((name, line) for name, line in noted["checks"]))
        same = noted["versions"] == versions and noted["files"] == _files(store)
    except (ValueError, KeyError, TypeError):
        return None  # not written by this version: a build will write it anew
    return standing if same and _is_whole(workspace, corpus, noted["snapshot_id"]) else None


def note_build(workspace: Workspace, corpus: str, versions: Mapping[str, str] | None, run: JobRun) -> None:
    """Note what a successful build read and made. One with failed calls is not noted: the next asks those again."""
    store = workspace.corpus_store(corpus)
    if versions is None or not isinstance(store, Path):
        return
    if any(made.get("failed_calls") for made in run.metadata.values()):
        _file(store).unlink(missing_ok=True)
        return
    published = workspace.snapshots(corpus).current()
    standing = StandingBuild(
        run.run_id,
        datetime.datetime.now(tz=datetime.UTC).isoformat(sep=" ", timespec="minutes"),
        tuple((check.name, f"{check.asset}: {check.about}") for check in run.failed_checks),
    )
    noted = {
        **asdict(standing),
        "snapshot_id": published.snapshot_id if published else "",
        "versions": dict(versions),
        "files": _files(store),
    }
    replace_text(_file(store), json.dumps(noted, indent=1) + "\n")


def _file(store: Path) -> Path:
    return store / "last_build.json"


def _files(store: Path) -> Mapping[str, list[int]]:
    """Size and time of every table, pin and report of the corpus, by its place in the store."""
    folders = ("assets", "pins", "pinned_documents", "reports")
    files = sorted(file for folder in folders for file in (store / folder).glob("*") if file.is_file())
    return {str(file.relative_to(store)): [file.stat().st_size, file.stat().st_mtime_ns] for file in files}


def _is_whole(workspace: Workspace, corpus: str, snapshot_id: str) -> bool:
    """Whether readers see that snapshot, with every file as it was written and a finished index."""
    try:
        published = workspace.snapshots(corpus).current()
        if published is None or published.snapshot_id != snapshot_id:
            return False
        read_manifest(published.index)
        return all(file_hash(published.folder / name) == digest for name, digest in published.manifest["files"].items())
    except (SnapshotError, OSError):
        return False


@cache
def _code_version() -> str:
    """A digest of this program: another version may build something else."""
    digest = hashlib.blake2b(digest_size=12)
    places = [CHECKOUT / name for name in _CODE]
    files = [file for place in places for file in ([place] if place.is_file() else sorted(place.rglob("*")))]
    for file in files:
        if file.is_file() and file.suffix != ".pyc":
            digest.update(str(file.relative_to(CHECKOUT)).encode() + file.read_bytes())
    return digest.hexdigest()
