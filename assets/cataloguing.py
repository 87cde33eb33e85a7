"""What the catalogue says of an asset besides its table: the columns behind each column, and the code that makes it."""

import warnings
from collections.abc import Sequence
from typing import Any

import dagster as dg

from assets.column_lineage import column_lineage, columns_behind
from hcg_pipeline.errors import SettingsError
from resources.places import CHECKOUT
from resources.repository import Repository

Assets = Sequence[Any]  # what `dg.load_assets_from_modules` returns
_SCHEMA, _LINEAGE = "dagster/column_schema", "dagster/column_lineage"


def catalogued(assets: Assets, repository: Repository | None) -> list[Any]:
    """The same assets, with column lineage, and with code references: to `repository`, or to the files of the checkout.

    Raises `SettingsError` for a repository that is neither on GitHub nor on GitLab.
    """
    with warnings.catch_warnings():
        # Code references are in beta in this Dagster, whose version is pinned.
        warnings.simplefilter("ignore", dg.BetaWarning)
        referring: Assets = dg.with_source_code_references(assets)
        if repository is not None:
            referring = _linked(referring, repository)
    return list(dg.map_asset_specs(_with_lineage, referring))


def _linked(assets: Assets, repository: Repository) -> Assets:
    anchor = dg.AnchorBasedFilePathMapping(
        local_file_anchor=CHECKOUT / "definitions.py", file_anchor_path_in_repository="definitions.py"
    )
    try:
        return dg.link_code_references_to_git(
            assets, git_url=repository.url, git_branch=repository.revision, file_path_mapping=anchor
        )
    except ValueError as error:
        raise SettingsError(
            f"HCG_REPOSITORY_URL is {repository.url!r}: code references need a repository on GitHub or GitLab; correct "
            "it or unset it."
        ) from error


def _with_lineage(spec: dg.AssetSpec) -> dg.AssetSpec:
    if _SCHEMA not in spec.metadata:
        return spec
    name = spec.key.to_user_string()
    columns = [_with_origin(column, name) for column in spec.metadata[_SCHEMA].columns]
    return spec.merge_attributes(
        metadata={_SCHEMA: dg.TableSchema(columns=columns), _LINEAGE: column_lineage(name)},
    )


def _with_origin(column: dg.TableColumn, asset: str) -> dg.TableColumn:
    """The column with the columns behind it in its description, which is where the open-source UI shows them."""
    behind = ", ".join(f"{source}.{name}" for source, name in columns_behind(asset)[column.name])
    return dg.TableColumn(
        name=column.name,
        type=column.type,
        description=f"{column.description} ← {behind}" if behind else column.description,
        constraints=column.constraints,
    )
