"""Which files a run was asked to work on: a tag on it, so that no sensor asks for the same again."""

import dagster as dg
from dagster._core.storage.tags import PARTITION_NAME_TAG

from assets.inputs import read_build, read_questions, scan_build, scan_questions
from resources.folder_scans import Scan, content_fingerprint
from resources.workspace import Workspace

DOCUMENTS_TAG = "hcg/documents"
QUESTIONS_TAG = "hcg/questions"
_READ: dict[str, tuple[str, ...]] = {
    "build_graph": (DOCUMENTS_TAG,),
    "answer_questions": (QUESTIONS_TAG,),
    "everything": (DOCUMENTS_TAG, QUESTIONS_TAG),
}
_NOT_FAILED = [
    *(dg.DagsterRunStatus.QUEUED, dg.DagsterRunStatus.NOT_STARTED, dg.DagsterRunStatus.STARTING),
    *(dg.DagsterRunStatus.STARTED, dg.DagsterRunStatus.SUCCESS),
]
_AS_LONG_AS_IT_TAKES = float("inf")


def build_content(workspace: Workspace, corpus: str, scan: Scan, seconds: float) -> str | None:
    """What a build reads of the corpus's folder, as one fingerprint; None if that took more than `seconds`."""
    digests = read_build(workspace, corpus, scan, seconds)
    return None if digests is None else content_fingerprint(digests)


def question_content(workspace: Workspace, corpus: str, scan: Scan, seconds: float) -> str | None:
    """The question files of the corpus, as one fingerprint; None if that took more than `seconds`."""
    digests = read_questions(workspace, corpus, scan, seconds)
    return None if digests is None else content_fingerprint(digests)


def content_tags(workspace: Workspace, corpus: str, job: str) -> dict[str, str]:
    """The tags of a run of `job` that is to start now."""
    read = {
        DOCUMENTS_TAG: lambda: build_content(workspace, corpus, scan_build(workspace, corpus), _AS_LONG_AS_IT_TAKES),
        QUESTIONS_TAG: lambda: question_content(
            workspace, corpus, scan_questions(workspace, corpus), _AS_LONG_AS_IT_TAKES
        ),
    }
    return {tag: read[tag]() or "" for tag in _READ.get(job, ())}


def latest_content(instance: dg.DagsterInstance, corpus: str, tag: str) -> str | None:
    """The content that the newest run which reads it, and has not failed, was asked to work on; None if not known."""
    runs = instance.get_runs(dg.RunsFilter(statuses=_NOT_FAILED, tags={PARTITION_NAME_TAG: corpus}), limit=50)
    return next((run.tags.get(tag) for run in runs if tag in _READ.get(run.job_name, ())), None)
