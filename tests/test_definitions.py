"""Everything that Dagster loads: under its names, described, and without a warning."""

import itertools
import os
import subprocess
import sys
import warnings
from pathlib import Path

import dagster as dg
import pytest
from fresh_definitions import forget_definitions
from tiny_corpus import write_tiny_corpus

from assets.inputs import INPUTS
from resources.dagster_home import open_instance
from resources.places import CHECKOUT

CHAIN = [
    *("documents", "chunks", "embeddings", "dimensions", "metrics", "variables", "seed_relations"),
    *("metric_templates", "node_edges", "evidence_links", "graph", "graph_index"),
    *("answers", "scores", "benchmark_report"),
]


@pytest.fixture
def defs(data):
    forget_definitions()
    import definitions

    return definitions.defs


def test_they_load_and_validate_without_a_warning(data):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        forget_definitions()
        import definitions

        dg.Definitions.validate_loadable(definitions.defs)
    assert [str(warning.message) for warning in caught if "dagster" in str(warning.category)] == []


def test_every_stage_is_an_asset_and_follows_the_one_before(defs):
    graph = defs.resolve_asset_graph()
    assert {key.to_user_string() for key in graph.get_all_asset_keys()} == {
        *CHAIN,
        *("rejected", "ranked_dimensions", "entities", "outcomes", "corrections", "reading_counts", "merges"),
        *(f"corrected_{name}" for name in ("dimensions", "metrics", "variables", "edges")),
        "quality_report",
        *INPUTS,
    }
    for before, after in itertools.pairwise(CHAIN):
        if (before, after) == ("embeddings", "dimensions"):
            continue  # the vectors are a branch of their own, which joins at evidence_links
        assert dg.AssetKey(before) in graph.get_ancestor_asset_keys(dg.AssetKey(after)), (before, after)
    assert dg.AssetKey("embeddings") in graph.get(dg.AssetKey("evidence_links")).parent_keys


def test_every_asset_says_what_it_is(defs):
    graph = defs.resolve_asset_graph()
    for key in graph.get_all_asset_keys():
        node = graph.get(key)
        assert isinstance(node.partitions_def, dg.DynamicPartitionsDefinition), key
        assert node.partitions_def.name == "corpora", key
        assert node.description and len(node.description) > 40, key
        assert node.group_name in (
            *("corpus", "embedding", "specification", "specification/settings", "graph", "graph/corrections"),
            *("graph/quality", "answering", "evaluation"),
        ), key
        assert node.kinds and node.code_version and node.owners, key
        assert ("hcg/input" in node.tags) == (key.to_user_string() in INPUTS), key
        if key.to_user_string() in INPUTS:
            continue  # they hold no data
        columns = node.metadata["dagster/column_schema"].columns
        assert columns and all(column.description for column in columns), key


def test_the_checks_that_guard_what_is_published_block(defs):
    graph = defs.resolve_asset_graph()
    blocking = {
        (key.asset_key.to_user_string(), key.name)
        for key in graph.asset_check_keys
        if graph.get_check_spec(key).blocking
    }
    assert blocking == {
        ("chunks", "spans_exact"),
        ("seed_relations", "spans_exact"),
        ("evidence_links", "spans_exact"),
        ("variables", "vocabulary_closed"),
        ("node_edges", "vocabulary_closed"),
        ("graph_index", "index_matches_graph"),
    }


def test_what_costs_money_is_held_to_the_budget(defs):
    """Every stage that asks a backend is in the one pool that all corpora share, and says what the run has spent."""
    graph = defs.resolve_asset_graph()
    checked = {key.asset_key.to_user_string() for key in graph.asset_check_keys if key.name == "cost_within_budget"}
    pooled = {key.to_user_string() for key in graph.get_all_asset_keys() if graph.get(key).pools == {"llm"}}
    assert checked == {"ranked_dimensions", "metrics", "variables", "metric_templates", "node_edges", "answers"}
    assert checked <= pooled


def test_the_jobs_cover_the_stages(defs):
    def assets(job):
        return {key.to_user_string() for key in defs.resolve_job_def(job).asset_layer.executable_asset_keys}

    asked = {"answers", "scores", "benchmark_report"}
    assert assets("answer_questions") == asked | set(INPUTS)
    assert assets("everything") == {key.to_user_string() for key in defs.resolve_asset_graph().get_all_asset_keys()}
    assert assets("build_graph") | asked == assets("everything")
    assert assets("build_graph") & asked == set()


@pytest.mark.slow
@pytest.mark.parametrize("command", ["dagster definitions validate", "dg check defs --no-check-yaml"])
def test_dagsters_own_commands_accept_them(data, command):
    program, *arguments = command.split()
    done = subprocess.run(
        [str(Path(sys.executable).parent / program), *arguments],
        cwd=CHECKOUT,
        env=os.environ | {"HCG_DATA": str(data), "HOME": str(data)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.slow
def test_dagsters_command_line_and_hcg_keep_their_runs_in_one_place_and_write_nowhere_else(data, tmp_path):
    """Without DAGSTER_HOME, which both take from the data folder."""
    write_tiny_corpus(data)
    home = tmp_path / "home"
    home.mkdir()

    def run(command, cwd):
        program, *arguments = command.split()
        done = subprocess.run(
            [str(Path(sys.executable).parent / program), *arguments],
            cwd=cwd,
            env=os.environ | {"HCG_DATA": str(data), "HOME": str(home)},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr

    run("hcg build infections", home)
    run("dagster asset materialize -m definitions --select documents,rejected --partition infections", CHECKOUT)
    with open_instance() as instance:
        runs = [(one.job_name, one.status.value) for one in instance.get_runs()]
        assert runs == [("__ASSET_JOB", "SUCCESS"), ("build_graph", "SUCCESS")]
        for asset in ("documents", "graph"):
            assert instance.get_materialized_partitions(dg.AssetKey(asset)) == {"infections"}
    assert sorted(path.name for path in data.iterdir()) == ["corpora", "questions", "store"]
    assert sorted(path.name for path in (data / "store").iterdir()) == ["cache", "dagster", "infections"]
    assert list(home.iterdir()) == []
