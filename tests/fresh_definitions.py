"""Load definitions.py anew: it takes its places from the environment when it is loaded."""

import sys


def forget_definitions() -> None:
    """Make the next run, in this process, load definitions.py again. Dagster keeps the job that it ran last, too."""
    sys.modules.pop("definitions", None)
    if "dagster" in sys.modules:
        from dagster._core.definitions.reconstruct import ReconstructableJob

        ReconstructableJob.get_definition.cache_clear()
        ReconstructableJob.get_repository_definition.cache_clear()
