"""What runs by itself: sensors for folders that change, and a nightly schedule.

Files change outside of Dagster, so sensors look at them. What changes inside of it (answers, once a graph is new) is
left to declarative automation, which `assets/reacting.py` sets up.
"""

import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

import dagster as dg
from dagster._core.definitions.unresolved_asset_job_definition import UnresolvedAssetJobDefinition
from dagster._core.storage.tags import PARTITION_NAME_TAG

from assets.corpora import CORPORA, corpora_without_partition
from assets.dead_runs import fail_dead_runs
from assets.inputs import folder_versions, model_versions, scan_build, scan_questions, settings_versions
from assets.run_content import DOCUMENTS_TAG, QUESTIONS_TAG, build_content, latest_content, question_content
from assets.watching import Memory, Watched
from hcg_pipeline.corpus.settings import RESERVED
from hcg_pipeline.errors import HcgError
from hcg_pipeline.graph.snapshot import SnapshotStore
from resources.build_choices import BuildChoices
from resources.embedding import EmbeddingModel
from resources.folder_scans import Scan
from resources.language import LanguageModel
from resources.workspace import Workspace

Job = dg.JobDefinition | UnresolvedAssetJobDefinition
READING_SECONDS = 20.0
"""How long one tick may read files of new sizes or times. Dagster stops a sensor after 60 s."""


@dg.sensor(
    name="corpora_noticed",
    description="Adds each new folder of data/corpora to the partitions, reports one that is gone, ends runs whose "
    "process was killed, and marks as stale what a changed file or setting concerns. Builds nothing.",
    minimum_interval_seconds=10,
    default_status=dg.DefaultSensorStatus.RUNNING,
)
def corpora_noticed(
    context: dg.SensorEvaluationContext, workspace: Workspace, language: LanguageModel, embedding: EmbeddingModel
) -> dg.SensorResult:
    """Look at every corpus; ask for no run."""
    fail_dead_runs(context.instance)
    memory, now, notes = Memory.of(context.cursor), time.time(), [reason for _, reason in workspace.refused_folders()]
    new = corpora_without_partition(context.instance, workspace)
    scans = {corpus: scan_build(workspace, corpus) for corpus in workspace.corpora()}
    events: list[dg.AssetMaterialization | dg.AssetObservation] = list(_removed(context, scans, memory, notes))
    for corpus, scan in scans.items():
        look = memory.look(corpus, scan.fingerprint, now)
        if look.state == "moving":
            notes.append(f"{corpus!r} is changing")
            continue
        try:
            found = settings_versions(workspace, corpus, BuildChoices())
            found |= {} if language.asks_for_model() else model_versions(workspace, corpus, language, embedding)
            if look.state == "settled":
                found |= folder_versions(workspace, corpus)
        except HcgError as error:
            notes.append(f"{corpus!r}: {error}")
            continue
        look.watched.done, look.watched.content = scan.fingerprint, "noticed"
        for name, (shown, version) in found.items():
            before = _noted_version(context.instance, name, corpus)
            if before not in (None, version):
                notes.append(f"{name} of {corpus!r} changed")
                tags = {"dagster/data_version": version}
                events.append(dg.AssetMaterialization(name, partition=corpus, metadata=dict(shown), tags=tags))
    return dg.SensorResult(
        dynamic_partitions_requests=[CORPORA.build_add_request(new)] if new else [],
        asset_events=events,
        cursor=memory.model_dump_json(),
        skip_reason=None if new or events else dg.SkipReason("; ".join(notes) or "nothing changed"),
    )


def changed_corpora(job: Job, running: bool) -> dg.SensorDefinition:
    """The sensor that builds a corpus once its folder is new, or its documents or settings files changed."""

    @dg.sensor(
        name="changed_corpora",
        job=job,
        description="Builds a corpus when its folder is new, or when documents or settings files in it were added, "
        "edited or deleted and have been left alone for 10 s. Other corpora are left as they are.",
        minimum_interval_seconds=10,
        default_status=_status(running),
    )
    def look(context: dg.SensorEvaluationContext, workspace: Workspace) -> dg.SensorResult:
        memory, notes = Memory.of(context.cursor), list[str]()
        new = corpora_without_partition(context.instance, workspace)
        watch = _Watch(context, workspace, memory, notes, DOCUMENTS_TAG)
        requests = list[dg.RunRequest]()
        for corpus in workspace.corpora():
            scan = scan_build(workspace, corpus)
            if holds_documents(scan):
                requests += watch.requests(corpus, scan)
            else:
                notes.append(f"{corpus!r} is empty: put documents in it")
        return _asked(requests, new, memory, notes)

    return look


def changed_questions(job: Job, running: bool) -> dg.SensorDefinition:
    """The sensor that answers a corpus's question files once one is new or changed."""

    @dg.sensor(
        name="changed_questions",
        job=job,
        description="Answers the question files of a corpus, from its published graph, when one of them is new, "
        "changed or deleted and has been left alone for 10 s. Waits where there is no published graph yet.",
        minimum_interval_seconds=10,
        default_status=_status(running),
    )
    def look(context: dg.SensorEvaluationContext, workspace: Workspace) -> dg.SensorResult:
        memory, notes = Memory.of(context.cursor), list[str]()
        watch = _Watch(context, workspace, memory, notes, QUESTIONS_TAG)
        requests = list[dg.RunRequest]()
        for corpus in context.instance.get_dynamic_partitions("corpora"):
            scan = scan_questions(workspace, corpus)
            if not scan.files and corpus not in memory.folders:
                continue
            memory.look(corpus, scan.fingerprint, time.time())
            if SnapshotStore(workspace.corpus_store(corpus)).current() is None:
                notes.append(f"the questions of {corpus!r} wait for its graph")
                continue
            requests += watch.requests(corpus, scan)
        return _asked(requests, [], memory, notes)

    return look


def nightly(job: Job) -> dg.ScheduleDefinition:
    """The schedule that brings every corpus up to date at night, one run each; off until somebody turns it on."""

    @dg.schedule(
        name="nightly",
        job=job,
        cron_schedule="0 2 * * *",
        description="Builds every corpus and answers its question files at 2 in the morning, a run for each. What has "
        "not changed costs no call.",
        default_status=dg.DefaultScheduleStatus.STOPPED,
    )
    def ask(context: dg.ScheduleEvaluationContext, workspace: Workspace) -> Iterator[dg.RunRequest | dg.SkipReason]:
        known = set(context.instance.get_dynamic_partitions("corpora"))
        corpora = [
            name for name in workspace.corpora() if name in known and holds_documents(scan_build(workspace, name))
        ]
        if not corpora:
            yield dg.SkipReason("There are no corpora with documents in them.")
        for corpus in corpora:
            yield dg.RunRequest(run_key=f"{corpus}:{context.scheduled_execution_time:%Y-%m-%d}", partition_key=corpus)

    return ask


@dataclass(frozen=True)
class _Watch:
    """One tick of a sensor that asks for runs."""

    context: dg.SensorEvaluationContext
    workspace: Workspace
    memory: Memory
    notes: list[str]
    tag: str

    def requests(self, corpus: str, scan: Scan) -> Iterator[dg.RunRequest]:
        """At most one run for a corpus: if its content changed and no living run was asked for the same."""
        first = corpus not in self.memory.folders
        look = self.memory.look(corpus, scan.fingerprint, time.time())
        if look.state == "moving":
            self.notes.append(f"{corpus!r} is {'new' if first else 'changing'}: waiting until it is left alone")
        if look.state != "settled":
            return
        read = build_content if self.tag == DOCUMENTS_TAG else question_content
        content = read(self.workspace, corpus, scan, READING_SECONDS)
        watched = look.watched
        if content is None:
            self.notes.append(f"{corpus!r}: still reading its {len(scan.files):,} files")
            return
        if content == watched.content:
            self.notes.append(f"{corpus!r}: touched, but the same")
        elif latest_content(self.context.instance, corpus, self.tag) == content:
            self.notes.append(f"{corpus!r}: a run for this content is there already")
        else:
            watched.count = self._next_count(corpus, watched)
            yield dg.RunRequest(
                run_key=f"{self.tag}:{corpus}:{content}:{watched.count}",
                partition_key=corpus,
                tags={self.tag: content},
            )
        watched.content, watched.done = content, scan.fingerprint

    def _next_count(self, corpus: str, watched: Watched) -> int:
        """One more than before; where the cursor was lost, more than any run of this corpus can have had."""
        if watched.count:
            return watched.count + 1
        return self.context.instance.get_runs_count(dg.RunsFilter(tags={PARTITION_NAME_TAG: corpus})) + 1


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


def holds_documents(scan: Scan) -> bool:
    """Whether there is anything in a corpus's folder besides its settings files."""
    return any(path not in RESERVED for path in scan.files)


def _noted_version(instance: dg.DagsterInstance, asset: str, corpus: str) -> str | None:
    found = instance.fetch_materializations(
        dg.AssetRecordsFilter(asset_key=dg.AssetKey(asset), asset_partitions=[corpus]), limit=1
    ).records
    made = found[0].asset_materialization if found else None
    return (made.tags or {}).get("dagster/data_version") if made else None


def _asked(requests: list[dg.RunRequest], new: Iterable[str], memory: Memory, notes: list[str]) -> dg.SensorResult:
    names = sorted(new)
    return dg.SensorResult(
        run_requests=requests,
        dynamic_partitions_requests=[CORPORA.build_add_request(names)] if names else [],
        cursor=memory.model_dump_json(),
        skip_reason=None if requests else dg.SkipReason("; ".join(notes) or "nothing changed"),
    )


def _status(running: bool) -> dg.DefaultSensorStatus:
    return dg.DefaultSensorStatus.RUNNING if running else dg.DefaultSensorStatus.STOPPED
