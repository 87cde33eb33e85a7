"""Answers follow the graph: asked for again when it is another one, and only then. Evaluated as the daemon does it."""

import dagster as dg
import pytest
from fresh_definitions import forget_definitions

FOLLOWING = {"answers", "scores", "benchmark_report"}
OF_HEARTS = {name: {"hearts"} for name in FOLLOWING}


class Daemon:
    """What the daemon's automation sensor would ask for, tick by tick."""

    def __init__(self, definitions, instance):
        self._definitions, self._instance, self._cursor = definitions, instance, None

    def tick(self):
        """The partitions asked for, per asset; what is asked for is made at once."""
        [sensor] = [one for one in self._definitions.sensors if one.name == "answers_follow_the_graph"]
        result = dg.evaluate_automation_conditions(
            self._definitions, self._instance, sensor.asset_selection, cursor=self._cursor
        )
        self._cursor = result.cursor
        keys = sensor.asset_selection.resolve(self._definitions.resolve_asset_graph())
        found = {key.to_user_string(): result.get_requested_partitions(key) for key in keys}
        asked = {name: partitions for name, partitions in found.items() if partitions}
        for name, partitions in asked.items():
            for partition in partitions:
                self.made(name, partition, "made by automation")
        return asked

    def made(self, name, partition, version):
        """An asset was materialized in some run, and came out with a data version."""
        tags = {"dagster/data_version": version}
        self._instance.report_runless_asset_event(dg.AssetMaterialization(name, partition=partition, tags=tags))


@pytest.fixture
def daemon(data):
    """Two corpora with graphs; the questions of the first were answered."""
    forget_definitions()
    import definitions

    with dg.DagsterInstance.ephemeral() as instance:
        instance.add_dynamic_partitions("corpora", ["hearts", "lungs"])
        daemon = Daemon(definitions.defs, instance)
        for corpus in ("hearts", "lungs"):
            daemon.made("graph_index", corpus, "first")
        for name in FOLLOWING:
            daemon.made(name, "hearts", "first")
        assert daemon.tick() == {}, "what is up to date is left alone"
        yield daemon


def test_another_graph_is_answered_scored_and_reported_once(daemon):
    daemon.made("graph_index", "hearts", "second")
    assert daemon.tick() == OF_HEARTS
    assert [daemon.tick() for _ in range(3)] == [{}, {}, {}]
    daemon.made("graph_index", "hearts", "first")
    assert daemon.tick() == OF_HEARTS, "going back is a change like any other"


def test_a_graph_that_was_built_again_and_is_the_same_is_not_answered_again(daemon):
    daemon.made("graph_index", "hearts", "first")
    assert [daemon.tick() for _ in range(2)] == [{}, {}]


def test_questions_that_were_never_answered_are_left_to_whoever_answers_them_first(daemon):
    daemon.made("graph_index", "lungs", "second")
    assert daemon.tick() == {}


def test_changes_of_other_inputs_ask_for_nothing(daemon):
    for name in ("question_files", "retrieval_settings", "language_backend", "documents"):
        daemon.made(name, "hearts", "second")
    assert daemon.tick() == {}


def test_a_graph_and_answers_made_in_one_run_are_not_answered_again(daemon):
    daemon.made("graph_index", "hearts", "second")
    for name in FOLLOWING:
        daemon.made(name, "hearts", "second")
    assert [daemon.tick() for _ in range(2)] == [{}, {}]
