"""One Dagster instance for the UI, Dagster's command line and `hcg`, without a variable to set.

With `DAGSTER_HOME` set, that folder is the instance, as always in Dagster. Without it, Dagster's own commands would
keep runs in a temporary folder and forget them; the checkout's dagster.yaml names `HomeInstance`, which keeps them in
`dagster/` of the store instead (of the checkout's store, where HCG_DATA or HCG_STORE is on S3).
"""

import json
import os
import shutil
from collections.abc import Mapping
from pathlib import Path

import dagster as dg
from dagster._core.instance.ref import InstanceRef
from dagster._serdes import ConfigurableClassData
from filelock import FileLock

from hcg_pipeline.errors import SettingsError
from resources.places import CHECKOUT, machine_store

_LOCK = ".opening"
_UNCAPTURED = {
    "compute_logs": {"module": "dagster._core.storage.noop_compute_log_manager", "class": "NoOpComputeLogManager"}
}


class HomeInstance(dg.DagsterInstance):
    """A Dagster instance whose storages default to this project's home. Named as `instance_class` in dagster.yaml."""

    @classmethod
    def config_schema(cls) -> Mapping[str, dg.Field]:
        """No settings of its own."""
        return {}

    @staticmethod
    def config_defaults(base_dir: str) -> Mapping[str, ConfigurableClassData | None]:
        """Dagster's default storages, under `DAGSTER_HOME` (which then is `base_dir`) or under the data folder.

        Its SQLite databases are kept open: see `run_storage`.
        """
        folder = base_dir if os.environ.get("DAGSTER_HOME") else str(_home_under_data())
        kept = ConfigurableClassData("resources.run_storage", "KeptOpenStorage", f"base_dir: {json.dumps(folder)}\n")
        return {**InstanceRef.config_defaults(folder), "storage": kept}


def prepare_home() -> Path:
    """The folder that is `DAGSTER_HOME`, or stands in for it, with a dagster.yaml in it. Raises `SettingsError`.

    A `DAGSTER_HOME` that holds no dagster.yaml gets the checkout's, so that telemetry stays off; one that is there is
    kept. The folder under the data folder always has the checkout's.
    """
    configured = os.environ.get("DAGSTER_HOME")
    home = Path(configured).expanduser() if configured else _home_under_data()
    if not home.is_absolute():
        raise SettingsError(f"DAGSTER_HOME is {configured!r}: it must be an absolute path.")
    home.mkdir(parents=True, exist_ok=True)
    ours, theirs = CHECKOUT / "dagster.yaml", home / "dagster.yaml"
    if ours.is_file() and not (configured and theirs.exists()):
        shutil.copyfile(ours, theirs)
    return home


def open_instance() -> dg.DagsterInstance:
    """The instance that `dagster dev` in the checkout uses with the same environment. Raises `SettingsError`.

    One process opens it at a time: of two that find no databases yet, Dagster would have one fail while it makes them.
    One difference: stdout and stderr of a run are not captured, since they are this process's own terminal.
    """
    home = prepare_home()
    with FileLock(home / _LOCK):
        return dg.DagsterInstance.from_ref(InstanceRef.from_dir(str(home), overrides=_UNCAPTURED))


def _home_under_data() -> Path:
    home = machine_store() / "dagster"
    home.mkdir(parents=True, exist_ok=True)
    return home
