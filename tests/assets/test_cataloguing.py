"""What the catalogue says of an asset: the columns behind its columns, and the code that makes it."""

import inspect

import dagster as dg
import pytest
from fresh_definitions import forget_definitions

from assets import graph as graph_module
from assets.cataloguing import catalogued
from assets.column_lineage import columns_behind
from assets.inputs import INPUTS
from hcg_pipeline.errors import SettingsError
from resources.places import CHECKOUT
from resources.repository import Repository


@pytest.fixture
def assets(data):
    forget_definitions()
    import definitions

    return definitions.defs.resolve_asset_graph()


def columns(graph, name):
    return [column.name for column in graph.get(dg.AssetKey(name)).metadata["dagster/column_schema"].columns]


def test_every_column_says_from_which_columns_it_is_made(assets):
    """The declaration names each column of each table once, and behind it only columns of tables upstream."""
    tables = {key.to_user_string() for key in assets.get_all_asset_keys()} - set(INPUTS)
    for name in tables:
        behind = columns_behind(name)
        assert sorted(behind) == sorted(columns(assets, name)), name
        upstream = {key.to_user_string() for key in assets.get_ancestor_asset_keys(dg.AssetKey(name))}
        for column, sources in behind.items():
            assert len(set(sources)) == len(sources), (name, column)
            for source, origin in sources:
                assert source in upstream and origin in columns(assets, source), (name, column, source, origin)


def test_every_table_that_an_asset_is_handed_stands_behind_one_of_its_columns(assets):
    idle = set()
    for key in assets.get_all_asset_keys():
        name = key.to_user_string()
        if name in INPUTS:
            continue
        behind = {source for sources in columns_behind(name).values() for source, _ in sources}
        parents = {parent.to_user_string() for parent in assets.get(key).parent_keys} - set(INPUTS)
        idle |= {(name, parent) for parent in parents - behind}
    assert idle == {
        *(("graph_index", "dimensions"), ("graph_index", "metrics")),  # pinned, for later builds
        *(("corrected_dimensions", "metrics"), ("corrected_metrics", "entities"), ("metric_templates", "entities")),
        ("seed_relations", "documents"),  # where its spans are checked
        ("reading_counts", "variables"),  # counted once these are made
    }


def test_dagster_shows_it_as_lineage_and_in_words(assets):
    metadata = assets.get(dg.AssetKey("embeddings")).metadata
    lineage = metadata["dagster/column_lineage"].deps_by_column
    assert lineage["vector"] == [dg.TableColumnDep(dg.AssetKey("chunks"), "text")]
    [vector] = [column for column in metadata["dagster/column_schema"].columns if column.name == "vector"]
    assert vector.description == "L2-normalised ← chunks.text"


def test_every_asset_leads_to_its_code(assets):
    for key in assets.get_all_asset_keys():
        [reference] = assets.get(key).metadata["dagster/code_references"].code_references
        assert reference.file_path.startswith(str(CHECKOUT / "assets")), key
    [reference] = assets.get(dg.AssetKey("graph")).metadata["dagster/code_references"].code_references
    line = inspect.getsource(graph_module).splitlines()[reference.line_number - 1 :]
    assert next(text for text in line if text.startswith("def ")) == "def graph("


def test_with_a_repository_the_code_is_read_on_the_web(monkeypatch):
    monkeypatch.setenv("HCG_REPOSITORY_URL", "https://github.com/someone/hcg-pipeline.git")
    monkeypatch.setenv("HCG_REPOSITORY_REVISION", "v1")
    [asset] = catalogued([graph_module.graph], Repository.from_environment())
    [reference] = asset.metadata_by_key[dg.AssetKey("graph")]["dagster/code_references"].code_references
    assert reference.url.startswith("https://github.com/someone/hcg-pipeline/tree/v1/assets/graph.py#L")


def test_a_repository_elsewhere_is_refused_in_one_line():
    with pytest.raises(SettingsError, match=r"HCG_REPOSITORY_URL is 'https://example\.org/x'"):
        catalogued([graph_module.graph], Repository("https://example.org/x", "main"))
    assert Repository.from_environment() is None
