"""What runs by itself: sensors for folders that change, and a nightly schedule.

Files change outside of Dagster, so sensors look at them. What changes inside of it (answers, once a graph is new) is
left to declarative automation, which `assets/reacting.py` sets up.
"""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import dagster as dg
from dagster._core.definitions.unresolved_asset_job_definition import UnresolvedAssetJobDefinition
from dagster._core.storage.tags import PARTITION_NAME_TAG

from assets.corpora import CORPORA, corpora_without_partition
from assets.inputs import scan_build, scan_questions
from assets.noticing import holds_documents
from assets.run_content import DOCUMENTS_TAG, QUESTIONS_TAG, build_content, latest_content, question_content
from assets.watching import READING_SECONDS, Look, Memory
from resources.folder_scans import Scan
from resources.workspace import Workspace

Job = dg.JobDefinition | UnresolvedAssetJobDefinition


@dataclass(frozen=True)
class _Kind:
    """Folders of one kind, one for each corpus, and what is made of them."""

    sensor: str
    about: str
    tag: str  # of a run: the content that it was asked to work on
    scan: Callable[[Workspace, str], Scan]
    content: Callable[[Workspace, str, Scan, float], str | None]  # None: not read in so many seconds
    waits: Callable[[Workspace, str, Scan, Look], str | None]  # why nothing can be made of a folder as it is, if so


def changed_corpora(job: Job, running: bool, seconds: int) -> dg.SensorDefinition:
    """The sensor that builds a corpus once its folder is new, or its documents or settings files changed."""
    return _watching(_DOCUMENTS, job, running, seconds)


def changed_questions(job: Job, running: bool, seconds: int) -> dg.SensorDefinition:
    """The sensor that answers a corpus's question files once one is new or changed."""
    return _watching(_QUESTIONS, job, running, seconds)


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


def _no_documents(workspace: Workspace, corpus: str, scan: Scan, look: Look) -> str | None:
    return None if holds_documents(scan) else f"{corpus!r} is empty: put documents in it"


def _no_questions_or_graph(workspace: Workspace, corpus: str, scan: Scan, look: Look) -> str | None:
    if not scan.files and not look.watched.content:
        return f"{corpus!r} has no question files"
    if workspace.snapshots(corpus).published_id() is None:
        return f"the questions of {corpus!r} wait for its graph"
    return None


_DOCUMENTS = _Kind(
    "changed_corpora",
    "Builds a corpus when its folder is new, or when documents or settings files in it were added, edited or deleted "
    "and have been left alone for 10 s. Other corpora are left as they are.",
    DOCUMENTS_TAG,
    scan_build,
    build_content,
    _no_documents,
)
_QUESTIONS = _Kind(
    "changed_questions",
    "Answers the question files of a corpus, from its published graph, when one of them is new, changed or deleted and "
    "has been left alone for 10 s. Waits where there is no published graph yet.",
    QUESTIONS_TAG,
    scan_questions,
    question_content,
    _no_questions_or_graph,
)


def _watching(kind: _Kind, job: Job, running: bool, seconds: int) -> dg.SensorDefinition:
    """The sensor that asks for a run of `job` over each corpus whose folder of this kind changed."""

    @dg.sensor(
        name=kind.sensor,
        job=job,
        description=kind.about,
        minimum_interval_seconds=seconds,
        default_status=dg.DefaultSensorStatus.RUNNING if running else dg.DefaultSensorStatus.STOPPED,
    )
    def look(context: dg.SensorEvaluationContext, workspace: Workspace) -> dg.SensorResult:
        new = corpora_without_partition(context.instance, workspace)
        tick = _Tick(kind, context.instance, workspace, Memory.of(context.cursor), [])
        requests = [request for corpus in workspace.corpora() for request in tick.requests(corpus)]
        return dg.SensorResult(
            run_requests=requests,
            dynamic_partitions_requests=[CORPORA.build_add_request(new)] if new else [],
            cursor=tick.memory.model_dump_json(),
            skip_reason=None if requests else dg.SkipReason("; ".join(tick.notes) or "nothing changed"),
        )

    return look


@dataclass(frozen=True)
class _Tick:
    """One look of a sensor at all corpora."""

    kind: _Kind
    instance: dg.DagsterInstance
    workspace: Workspace
    memory: Memory
    notes: list[str]

    def requests(self, corpus: str) -> Iterator[dg.RunRequest]:
        """At most one run for a corpus: if its content changed and no living run was asked for the same."""
        scan = self.kind.scan(self.workspace, corpus)
        look = self.memory.look(corpus, scan.fingerprint, time.time())
        watched = look.watched
        if reason := self.kind.waits(self.workspace, corpus, scan, look):
            self.notes.append(reason)
            return
        if look.state == "moving":
            what = "changing" if watched.content else "new"
            self.notes.append(f"{corpus!r} is {what}: waiting until it is left alone")
        if look.state != "settled":
            return
        content = self.kind.content(self.workspace, corpus, scan, READING_SECONDS)
        if content is None:
            self.notes.append(f"{corpus!r}: still reading its {len(scan.files):,} files")
            return
        if content == watched.content:
            self.notes.append(f"{corpus!r}: touched, but the same")
        elif latest_content(self.instance, corpus, self.kind.tag) == content:
            self.notes.append(f"{corpus!r}: a run for this content is there already")
        else:
            watched.count = self._next_count(corpus, watched.count)
            yield dg.RunRequest(
                run_key=f"{self.kind.tag}:{corpus}:{content}:{watched.count}",
                partition_key=corpus,
                tags={self.kind.tag: content},
            )
        watched.content, watched.done = content, scan.fingerprint

    def _next_count(self, corpus: str, count: int) -> int:
        """One more than before; where the cursor was lost, more than any run of this corpus can have had."""
        return (count or self.instance.get_runs_count(dg.RunsFilter(tags={PARTITION_NAME_TAG: corpus}))) + 1
