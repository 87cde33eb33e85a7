"""What is checked of every stage that asks a backend: how many of its calls failed, and what the run has spent."""

from collections.abc import Mapping
from typing import Any

import dagster as dg
import pyarrow as pa

from assets.checks import SHOWN
from assets.table_metadata import preview

ROOM_LEFT = 0.2
"""The share of a budget that must be left for `cost_within_budget` to pass."""


def failed_windows(
    asset: str, failures: pa.Table, asked: int, allowed: float, kept: str | None = None
) -> dg.AssetCheckResult:
    """Warns when more than the `allowed` share of what the backend was asked got no usable reply.

    `failures` is FAILURES, of which the raw replies are shown; all of them are in the file `kept`.
    """
    failed = failures.num_rows
    share = failed / asked if asked else 0.0
    metadata: dict[str, Any] = {"failed": failed, "asked": asked, "share": share, "allowed": allowed}
    if failed:
        metadata["rows"] = preview(failures, rows=SHOWN)
    if kept:
        metadata["failed_calls_file"] = dg.MetadataValue.path(kept)
    return dg.AssetCheckResult(
        passed=share <= allowed,
        check_name="failed_windows",
        asset_key=asset,
        severity=dg.AssetCheckSeverity.WARN,
        description=f"{failed} of {asked} got no usable reply; {allowed:.0%} is allowed." if share > allowed else None,
        metadata=metadata,
    )


def cost_within_budget(asset: str, spent: Mapping[str, float], bounds: Mapping[str, float]) -> dg.AssetCheckResult:
    """Warns when less than `ROOM_LEFT` of a bound is left. Both count `calls`, `tokens` and `USD`, where known."""
    used = {what: spent.get(what, 0.0) / bound if bound else 1.0 for what, bound in bounds.items()}
    near = [what for what, share in used.items() if share > 1 - ROOM_LEFT]
    about = "; ".join(
        f"{used[what]:.0%} of the budget of {bounds[what]:,g} {what} is spent: the run stops where it is reached, "
        f"keeps what is done, and goes on from there with a higher HCG_LLM_MAX_{what.upper()}"
        for what in near
    )
    return dg.AssetCheckResult(
        passed=not near,
        check_name="cost_within_budget",
        asset_key=asset,
        severity=dg.AssetCheckSeverity.WARN,
        description=about or None,
        metadata={
            **{f"spent_{what}": amount for what, amount in spent.items()},
            **{f"budget_{what}": amount for what, amount in bounds.items()},
        },
    )
