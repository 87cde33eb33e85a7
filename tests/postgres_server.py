"""A Postgres server of the tests' own, on a free port of loopback. Debian: `apt-get install postgresql`."""

import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import sqlalchemy as sa


def server_binaries() -> Path | None:
    """The folder of `initdb` and `postgres`, the newest installed; None where there is none."""
    installed = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    found = installed[-1] if installed else shutil.which("initdb")
    return Path(found).parent if found else None


@contextmanager
def postgres_server(binaries: Path, driver: str) -> Iterator[str]:
    """The URL of an empty database for SQLAlchemy's `driver`. A server refuses to run as root: then as `postgres`."""
    as_user = {"user": "postgres", "group": "postgres"} if os.geteuid() == 0 else {}
    made = subprocess.run(["mktemp", "-d"], check=True, capture_output=True, text=True, **as_user)
    folder = Path(made.stdout.strip())
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    make = [binaries / "initdb", "-D", folder / "data", "-U", "hcg", "-A", "trust", "-E", "UTF8", "--no-sync"]
    subprocess.run(make, check=True, capture_output=True, cwd=folder, **as_user)
    serve = [binaries / "postgres", "-D", folder / "data", "-p", str(port), "-k", folder, "-c", "fsync=off"]
    server = subprocess.Popen(
        serve, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True, **as_user
    )
    url = f"postgresql+{driver}://hcg@127.0.0.1:{port}/postgres"
    try:
        _wait_for(url)
        yield url
    finally:
        server.send_signal(signal.SIGINT)  # the fast way down: SIGTERM waits for clients that forgot to leave
        server.wait(30)
        shutil.rmtree(folder, ignore_errors=True)


def _wait_for(url: str) -> None:
    engine = sa.create_engine(url)
    for _ in range(200):
        try:
            engine.connect().close()
        except sa.exc.OperationalError:
            time.sleep(0.05)
        else:
            engine.dispose()
            return
    raise TimeoutError("Postgres did not start")
