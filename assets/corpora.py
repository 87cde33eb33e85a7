"""The partitions of every asset, one per corpus."""

import dagster as dg

from resources.workspace import Workspace

CORPORA = dg.DynamicPartitionsDefinition(name="corpora")


def register_corpora(instance: dg.DagsterInstance, workspace: Workspace) -> list[str]:
    """Make every corpus folder a partition, so that Dagster's own commands accept it. Returns the new ones."""
    new = corpora_without_partition(instance, workspace)
    if new:
        instance.add_dynamic_partitions("corpora", new)
    return new


def corpora_without_partition(instance: dg.DagsterInstance, workspace: Workspace) -> list[str]:
    """The corpus folders that are no partition yet, sorted."""
    known = set(instance.get_dynamic_partitions("corpora"))
    return [name for name in workspace.corpora() if name not in known]
