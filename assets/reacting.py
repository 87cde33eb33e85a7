"""Declarative automation: what follows from a new graph, without anything outside of Dagster having changed.

The sensors watch folders; that a graph is new is known to Dagster itself, so a condition on the assets says it better:
it sees a graph from whatever run, and data versions tell a rebuilt graph from a changed one.
"""

import dagster as dg

_FOLLOWED = dg.AssetSelection.assets("graph_index", "answers", "scores")

FOLLOW_THE_GRAPH = (
    dg.AutomationCondition.any_deps_match(
        dg.AutomationCondition.data_version_changed() | dg.AutomationCondition.will_be_requested()
    )
    .allow(_FOLLOWED)
    .since(dg.AutomationCondition.newly_requested() | dg.AutomationCondition.newly_updated())
    & ~dg.AutomationCondition.in_progress()
    & ~dg.AutomationCondition.any_deps_in_progress()
    & ~dg.AutomationCondition.missing()
).with_label("the graph changed")
"""Once a corpus's questions were answered, answer and score them again whenever its graph is another one."""


def answers_follow_the_graph(selection: dg.AssetSelection) -> dg.AutomationConditionSensorDefinition:
    """The sensor that asks for those runs; off until somebody turns it on, as answers may cost money."""
    return dg.AutomationConditionSensorDefinition(
        "answers_follow_the_graph",
        target=selection,
        description="Answers and scores the questions of a corpus again when its graph has changed.",
        minimum_interval_seconds=30,
        default_status=dg.DefaultSensorStatus.STOPPED,
    )
