"""Where things lie: the data folder, a corpus's folder, its questions and its store."""

import hashlib
import os
from pathlib import Path
from urllib.parse import quote

CHECKOUT = Path(__file__).resolve().parents[1]
SERVICE_FOLDERS = ("cache", "dagster")  # under the store, beside one folder per corpus
_LONGEST_FOLDER_NAME = 200


def data_folder() -> Path:
    """`HCG_DATA` made absolute; unset: `data/` of the checkout (of the current folder, where there is no checkout)."""
    configured = os.environ.get("HCG_DATA")
    if configured:
        return Path(configured).expanduser().resolve()
    root = CHECKOUT if (CHECKOUT / "pyproject.toml").is_file() else Path.cwd()
    return root / "data"


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
