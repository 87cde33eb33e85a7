"""What is noticed of the corpora's folders without building anything: new ones, removed ones, and what went stale."""

import time
from collections.abc import Iterator, Mapping

import dagster as dg

from assets.corpora import CORPORA, corpora_without_partition
from assets.dead_runs import fail_dead_runs
from assets.inputs import Versions, folder_versions, model_versions, scan_build, scan_questions, settings_versions
from assets.watching import READING_SECONDS, Look, Memory
from hcg_pipeline.corpus.settings import RESERVED
from hcg_pipeline.errors import HcgError
from resources.build_choices import BuildChoices
from resources.embedding import EmbeddingModel
from resources.folder_scans import Scan
from resources.language import LanguageModel
from resources.workspace import Workspace


def corpora_noticed(seconds: int) -> dg.SensorDefinition:
    """The sensor that keeps Dagster's partitions and data versions true to the folders, every so many seconds."""

    @dg.sensor(
        name="corpora_noticed",
        description="Adds each new folder of data/corpora to the partitions, reports one that is gone, ends runs whose "
        "process was killed, and marks as stale what a changed file or setting concerns. Builds nothing.",
        minimum_interval_seconds=seconds,
        default_status=dg.DefaultSensorStatus.RUNNING,
    )
    def look(
        context: dg.SensorEvaluationContext, workspace: Workspace, language: LanguageModel, embedding: EmbeddingModel
    ) -> dg.SensorResult:
        fail_dead_runs(context.instance)
        memory, notes = Memory.of(context.cursor), [reason for _, reason in workspace.refused_folders()]
        new = corpora_without_partition(context.instance, workspace)
        scans = {corpus: scan_build(workspace, corpus) for corpus in workspace.corpora()}
        events: list[dg.AssetMaterialization | dg.AssetObservation] = list(_removed(context, scans, memory, notes))
        for corpus, scan in scans.items():
            both = f"{scan.fingerprint}-{scan_questions(workspace, corpus).fingerprint}"
            seen = memory.look(corpus, both, time.time())
            if seen.state == "moving":
                notes.append(f"{corpus!r} is changing")
                continue
            try:
                found = _versions(workspace, corpus, language, embedding, seen, notes)
            except HcgError as error:
                notes.append(f"{corpus!r}: {error}")
                continue
            events += _changed(context.instance, corpus, found, notes)
        return dg.SensorResult(
            dynamic_partitions_requests=[CORPORA.build_add_request(new)] if new else [],
            asset_events=events,
            cursor=memory.model_dump_json(),
            skip_reason=None if new or events else dg.SkipReason("; ".join(notes) or "nothing changed"),
        )

    return look


def holds_documents(scan: Scan) -> bool:
    """Whether there is anything in a corpus's folder besides its settings files."""
    return any(path not in RESERVED for path in scan.files)


def _versions(
    workspace: Workspace, corpus: str, language: LanguageModel, embedding: EmbeddingModel, seen: Look, notes: list[str]
) -> Versions:
    """The inputs as they are now. Folders are read only once something in them changed and was left alone."""
    found = settings_versions(workspace, corpus, BuildChoices(), language)
    if not language.asks_for_model():
        found |= model_versions(workspace, corpus, language, embedding)
    if seen.state == "settled":
        folders = folder_versions(workspace, corpus, READING_SECONDS)
        if not folders:
            notes.append(f"{corpus!r}: still reading its files")
            return found
        found |= folders
    seen.watched.done, seen.watched.content = seen.watched.seen, "noticed"
    return found


def _changed(
    instance: dg.DagsterInstance, corpus: str, found: Versions, notes: list[str]
) -> Iterator[dg.AssetMaterialization]:
    """An event with the new data version for each input that was noted with another one."""
    for name, (shown, version) in found.items():
        if _noted_version(instance, name, corpus) not in (None, version):
            notes.append(f"{name} of {corpus!r} changed")
            tags = {"dagster/data_version": version}
            yield dg.AssetMaterialization(name, partition=corpus, metadata=dict(shown), tags=tags)


def _removed(
    context: dg.SensorEvaluationContext, scans: Mapping[str, Scan], memory: Memory, notes: list[str]
) -> Iterator[dg.AssetObservation]:
    """Report, once and on the asset itself, each built partition whose folder went or lost all of its documents."""
    without = [
        name
        for name in sorted(context.instance.get_dynamic_partitions("corpora"))
        if name not in scans or not holds_documents(scans[name])
    ]
    gone = [name for name in without if name not in scans or _noted_version(context.instance, "document_files", name)]
    for name in gone:
        about = f"corpus {name!r} has no {'documents' if name in scans else 'folder'} any more: its graph is kept"
        notes.append(about)
        if name not in memory.gone and _noted_version(context.instance, "document_files", name) is not None:
            context.log.warning(about)
            yield dg.AssetObservation("document_files", partition=name, description=about, metadata={"files": 0})
    memory.gone = gone
    for name in set(memory.folders) - set(scans):
        del memory.folders[name]


def _noted_version(instance: dg.DagsterInstance, asset: str, corpus: str) -> str | None:
    found = instance.fetch_materializations(
        dg.AssetRecordsFilter(asset_key=dg.AssetKey(asset), asset_partitions=[corpus]), limit=1
    ).records
    made = found[0].asset_materialization if found else None
    return (made.tags or {}).get("dagster/data_version") if made else None
