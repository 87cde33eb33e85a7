"""Where things lie: the data folder and its parts, on this machine or on S3, and how a name becomes a folder's."""

import hashlib
from importlib.util import find_spec
from pathlib import Path
from typing import TypeGuard
from urllib.parse import quote

from upath import UPath

from hcg_pipeline.any_path import AnyPath
from hcg_pipeline.errors import SettingsError
from resources import environment

CHECKOUT = Path(__file__).resolve().parents[1]
SERVICE_FOLDERS = ("cache", "dagster")  # under the store, beside one folder per corpus
VARIABLES = {"data": "HCG_DATA", "corpora": "HCG_CORPORA", "questions": "HCG_QUESTIONS", "store": "HCG_STORE"}
_CACHE = "HCG_CACHE"
_LONGEST_FOLDER_NAME = 200


def place(text: str, variable: str = "it") -> AnyPath:
    """A folder or file by its path, made absolute, or by its URL `s3://bucket/prefix`.

    Keys, region and endpoint of S3 come from Amazon's usual variables. Raises `SettingsError`, which names the
    `variable`, for another kind of URL, and where what reads S3 is not installed.
    """
    scheme, separator, rest = text.partition("://")
    if not separator:
        return Path(text).expanduser().resolve()
    if scheme != "s3" or not rest.strip("/"):
        raise SettingsError(f"{variable} is {text!r}: it is a folder, or s3://bucket/prefix.")
    if find_spec("s3fs") is None:
        raise SettingsError(f"{variable} is on S3, and s3fs is not installed: pip install 's3fs>=2026.9'.")
    # A listing that somebody else's upload has changed must not be taken from memory.
    return UPath(f"s3://{rest.strip('/')}", use_listings_cache=False)


def is_remote(location: AnyPath) -> TypeGuard[UPath]:
    """Whether a place is in an object store."""
    return isinstance(location, UPath) and not isinstance(location, Path)


def data_folder() -> AnyPath:
    """`HCG_DATA` made absolute; unset: `data/` of the checkout (of the current folder, where there is no checkout)."""
    configured = environment.text(VARIABLES["data"])
    return place(configured, VARIABLES["data"]) if configured else _own_data_folder()


def part(name: str) -> AnyPath:
    """`corpora`, `questions` or `store`, as its own variable says, else in the data folder. Raises `SettingsError`."""
    configured = environment.text(VARIABLES[name])
    return place(configured, VARIABLES[name]) if configured else data_folder() / name


def machine_store() -> Path:
    """Where this machine keeps what cannot lie on S3 (Dagster's runs): the store, or, where that is on S3, ours."""
    store = part("store")
    return store if isinstance(store, Path) else _own_data_folder() / "store"


def cache_folder() -> Path:
    """`HCG_CACHE`, else `cache/` of the store of this machine. Raises `SettingsError`."""
    configured = environment.text(_CACHE)
    found = place(configured, _CACHE) if configured else machine_store() / "cache"
    if not isinstance(found, Path):
        raise SettingsError(f"{_CACHE} is {configured!r}: caches lie on this machine; name a folder of it.")
    return found


def chosen_places() -> dict[str, str]:
    """The variables that are set, made absolute: for a process that starts in another folder."""
    chosen = {variable: value for variable in (*VARIABLES.values(), _CACHE) if (value := environment.text(variable))}
    return {variable: str(place(value, variable)) for variable, value in chosen.items()} | {
        VARIABLES["data"]: str(data_folder())
    }


def folder_name(key: str) -> str:
    """A corpus name as one path segment, different for different names and safe on every file system.

    Everything outside ASCII letters, digits, space, `-`, `_` and `~` is percent-encoded, dots too, so that no key can
    leave its folder. A name longer than 200 bytes keeps its beginning and gets a hash; a name that the store uses
    itself (`cache`, `dagster`) gets its first letter encoded.
    """
    quoted = quote(key, safe=" ").replace(".", "%2E")
    if quoted.lower() in SERVICE_FOLDERS:
        quoted = f"%{ord(quoted[0]):02X}{quoted[1:]}"
    if len(quoted) > _LONGEST_FOLDER_NAME:
        digest = hashlib.blake2b(key.encode(), digest_size=8).hexdigest()
        quoted = f"{quoted[: _LONGEST_FOLDER_NAME - 17].rstrip('%')}-{digest}"
    return quoted


def _own_data_folder() -> Path:
    root = CHECKOUT if (CHECKOUT / "pyproject.toml").is_file() else Path.cwd()
    return root / "data"
