"""Run a job over one corpus in this process, on the instance that the UI shows, and say how it went."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import dagster as dg
from dagster._core.definitions.reconstruct import ReconstructableRepository
from dagster._core.storage.tags import PARTITION_NAME_TAG, PARTITION_SET_TAG, REPOSITORY_LABEL_TAG
from dagster_shared.error import SerializableErrorInfo

from assets.corpora import register_corpora
from assets.dead_runs import PROCESS_TAG, fail_dead_runs, this_process
from assets.run_content import content_tags
from assets.turns import refuse_if_busy
from hcg_pipeline.errors import HcgError
from resources.places import CHECKOUT
from resources.workspace import Workspace


@dataclass(frozen=True)
class FailedCheck:
    """An asset check that failed, and what it says; `blocks` where nothing downstream of it was run."""

    asset: str
    name: str
    about: str
    blocks: bool


@dataclass(frozen=True)
class JobRun:
    """How a run went. `error` is one line, `trace` all that Dagster knows of it; both are empty after a success."""

    run_id: str
    success: bool
    error: str
    trace: str
    failed_checks: tuple[FailedCheck, ...]
    metadata: Mapping[str, Mapping[str, Any]]  # per asset, what it attached to its materialization


def run_job(
    instance: dg.DagsterInstance,
    workspace: Workspace,
    job: str,
    corpus: str,
    *,
    config: Mapping[str, Any],
    log_level: str,
) -> JobRun:
    """Execute a job of definitions.py for one corpus, as `dagster asset materialize` would, and wait for it.

    `config` is Dagster's run config; `log_level` says what of Dagster's own log goes to stderr. The corpus's folder
    must exist. Failures of the run are in the result, not raised; `BusyCorpusError` is, while another run works on it.
    """
    register_corpora(instance, workspace)
    fail_dead_runs(instance)
    refuse_if_busy(instance, corpus)
    repository = ReconstructableRepository.for_module("definitions", fn_name="defs", working_directory=str(CHECKOUT))
    result = dg.execute_job(
        repository.get_reconstructable_job(job),
        instance=instance,
        run_config={**config, "loggers": {"console": {"config": {"log_level": log_level}}}},
        # What Dagster tags a run from the UI with; the label lists it under the job of this code location.
        tags={
            PARTITION_NAME_TAG: corpus,
            PARTITION_SET_TAG: f"{job}_partition_set",
            REPOSITORY_LABEL_TAG: "__repository__@hcg",
            PROCESS_TAG: this_process(),
            **content_tags(workspace, corpus, job),
        },
    )
    events = result.all_events
    failed_checks = tuple(_failed_checks(events))
    error, trace = _first_failure(events)
    if blocking := [check for check in failed_checks if check.blocks]:
        error = "; ".join(f"{check.asset}: {check.name}: {check.about}" for check in blocking)
    if not result.success and not error:
        error = f"The run failed before its first step; see run {result.run_id} in the UI."
    return JobRun(
        run_id=result.run_id,
        success=result.success,
        error=error,
        trace=trace,
        failed_checks=failed_checks,
        metadata=_materializations(events),
    )


def _first_failure(events: Sequence[dg.DagsterEvent]) -> tuple[str, str]:
    for event in events:
        info = getattr(event.event_specific_data, "error", None)
        if (event.is_step_failure or event.is_failure) and isinstance(info, SerializableErrorInfo):
            return _one_line(info, event.step_key or ""), info.to_string()
    return "", ""


def _one_line(error: SerializableErrorInfo, step: str) -> str:
    """The message meant for a person, from inside Dagster's chain of causes; else the innermost error and its step."""
    chain = [error]
    while chain[-1].cause is not None:
        chain.append(chain[-1].cause)
    if chain[-1].cls_name == "DagsterExecutionInterruptedError":
        return f"Stopped at {step or 'the start'}. What is finished is kept: the same command goes on from there."
    for link in chain:
        if link.cls_name in _ours():
            return _message(link)
    return f"{step}: {chain[-1].cls_name}: {_message(chain[-1])}"


def _message(error: SerializableErrorInfo) -> str:
    """The message without the class's name before it, on one line."""
    text = " ".join(error.message.split())
    name, separator, rest = text.partition(": ")
    return rest if separator and error.cls_name and name.rpartition(".")[2] == error.cls_name else text


def _ours() -> set[str]:
    found, waiting = set[str](), [HcgError]
    while waiting:
        kind = waiting.pop()
        found.add(kind.__name__)
        waiting += kind.__subclasses__()
    return found


def _failed_checks(events: Sequence[dg.DagsterEvent]) -> Iterator[FailedCheck]:
    for event in events:
        if event.event_type_value == "ASSET_CHECK_EVALUATION":
            evaluation = event.asset_check_evaluation_data
            if not evaluation.passed:
                asset, about = evaluation.asset_key.to_user_string(), evaluation.description
                blocks = evaluation.blocking and evaluation.severity == dg.AssetCheckSeverity.ERROR
                yield FailedCheck(asset, evaluation.check_name, about or "failed", bool(blocks))


def _materializations(events: Sequence[dg.DagsterEvent]) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {}
    for event in events:
        if event.is_step_materialization:
            made = event.step_materialization_data.materialization
            found[made.asset_key.to_user_string()] = {key: value.value for key, value in made.metadata.items()}
    return found
