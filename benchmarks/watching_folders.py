"""What a sensor's look at a large corpus folder costs, beside a plain walk that asks for each file's size and time.

`python benchmarks/watching_folders.py [--files 100000]` makes that many small files in a temporary folder, a hundred to
a folder, and writes `benchmarks/results/watching_folders.json` and `.md`. Each row is the median of three runs in
processor time, so that other processes do not count; memory is what the look adds to the process at its peak.
"""

import argparse
import json
import os
import sys
import tempfile
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from statistics import median
from time import process_time
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from resources.folder_scans import content_digests, scan_folder

RESULTS = Path(__file__).parent / "results"
REPEATS, FILES_IN_A_FOLDER, CHANGED = 3, 100, 100
UNLIMITED = float("inf")


def main() -> None:
    """Measure and write the two files."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--files", type=int, default=100_000)
    files = parser.parse_args().files
    with tempfile.TemporaryDirectory() as folder:
        rows = measure(Path(folder), files)
    (RESULTS / "watching_folders.json").write_text(json.dumps({"files": files, "rows": rows}, indent=1) + "\n")
    (RESULTS / "watching_folders.md").write_text(_page(files, rows))
    print(_page(files, rows))


def measure(folder: Path, files: int) -> list[dict[str, Any]]:
    """Seconds, times the plain walk, and MB of memory of each kind of look, as rows."""
    corpus, known = folder / "corpus", folder / "known.parquet"
    _write_files(corpus, files)
    scan = scan_folder(corpus)
    kinds: list[tuple[str, Callable[[], object]]] = [
        ("plain walk with sizes and times", lambda: plain_walk(corpus)),
        ("scan and fingerprint (each tick)", lambda: scan_folder(corpus).fingerprint),
    ]
    rows = [{"look": name, **_cost(look)} for name, look in kinds]
    first = _cost(lambda: _read_anew(corpus, known), repeats=1)
    rows.append({"look": "contents, first time (spread over ticks of 20 s)", **first})
    for place in range(CHANGED):
        (corpus / "0" / f"{place}.txt").write_text("changed")
    changed = scan_folder(corpus)
    rows.append(
        {
            "look": f"contents, {CHANGED} files changed",
            **_cost(lambda: content_digests(changed, known, UNLIMITED), repeats=1),
        }
    )
    rows.append({"look": "contents, nothing changed", **_cost(lambda: content_digests(changed, known, UNLIMITED))})
    assert_same(scan.files, plain_walk(corpus))
    return [row | {"times": round(row["seconds"] / rows[0]["seconds"], 1)} for row in rows]


def plain_walk(folder: Path) -> dict[str, tuple[int, int]]:
    """Size and time of every file, by `os.walk` and `os.stat`."""
    found = {}
    for current, _, names in os.walk(folder):
        for name in names:
            path = os.path.join(current, name)  # noqa: PTH118 - the plainest way is what is measured
            status = os.stat(path)  # noqa: PTH116
            found[path] = (status.st_size, status.st_mtime_ns)
    return found


def assert_same(scanned: Any, walked: Any) -> None:
    """Both ways must have seen the same number of files."""
    if len(scanned) != len(walked):
        raise ValueError(f"the scan saw {len(scanned)} files, the plain walk {len(walked)}")


def _read_anew(corpus: Path, known: Path) -> object:
    known.unlink(missing_ok=True)
    return content_digests(scan_folder(corpus), known, UNLIMITED)


def _write_files(corpus: Path, files: int) -> None:
    for place in range(files):
        if place % FILES_IN_A_FOLDER == 0:
            inner = corpus / str(place // FILES_IN_A_FOLDER)
            inner.mkdir(parents=True)
        (inner / f"{place % FILES_IN_A_FOLDER}.txt").write_text(f"Document {place} says that smoking causes cancer.\n")


def _cost(look: Callable[[], object], repeats: int = REPEATS) -> dict[str, float]:
    seconds = []
    for _ in range(repeats):
        begin = process_time()
        look()
        seconds.append(process_time() - begin)
    tracemalloc.start()
    look()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return {"seconds": round(median(seconds), 2), "mb": round(peak / 1e6)}


def _page(files: int, rows: list[dict[str, Any]]) -> str:
    lines = [
        "# Looking at a corpus folder",
        "",
        f"`python benchmarks/watching_folders.py --files {files}`: {files:,} small files, processor seconds.",
        "",
        "| look | seconds | times the plain walk | MB |",
        "| --- | ---: | ---: | ---: |",
    ]
    lines += [f"| {row['look']} | {row['seconds']} | {row['times']} | {row['mb']} |" for row in rows]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
