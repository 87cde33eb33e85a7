"""The partitions of every asset, one per corpus, and the sensor that adds a new corpus folder to them."""

import dagster as dg

from assets.dead_runs import fail_dead_runs
from resources.workspace import Workspace

CORPORA = dg.DynamicPartitionsDefinition(name="corpora")


def register_corpora(instance: dg.DagsterInstance, workspace: Workspace) -> list[str]:
    """Make every corpus folder a partition, so that Dagster's own commands accept it. Returns the new ones."""
    new = _new_corpora(instance, workspace)
    if new:
        instance.add_dynamic_partitions("corpora", new)
    return new


@dg.sensor(
    name="new_corpora",
    description="Adds each new folder of data/corpora to the partitions, and ends runs whose process was killed. "
    "Builds nothing by itself.",
    minimum_interval_seconds=10,
    default_status=dg.DefaultSensorStatus.RUNNING,
)
def new_corpora(context: dg.SensorEvaluationContext, workspace: Workspace) -> dg.SensorResult | dg.SkipReason:
    """Ask for a partition per corpus folder that has none yet; say what is in the way of the others."""
    fail_dead_runs(context.instance)
    new = _new_corpora(context.instance, workspace)
    if new:
        return dg.SensorResult(dynamic_partitions_requests=[CORPORA.build_add_request(new)])
    known = context.instance.get_dynamic_partitions("corpora")
    gone = sorted(set(known) - set(workspace.corpora()))
    notes = ["no new corpus folder"]
    notes += [f"corpus {name!r} has no folder any more: delete the partition if that is meant" for name in gone]
    notes += [reason for _, reason in workspace.refused_folders()]
    return dg.SkipReason("; ".join(notes))


def _new_corpora(instance: dg.DagsterInstance, workspace: Workspace) -> list[str]:
    known = set(instance.get_dynamic_partitions("corpora"))
    return [name for name in workspace.corpora() if name not in known]
