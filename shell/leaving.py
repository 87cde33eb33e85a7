"""How the `hcg` process ends."""

import atexit
import os
import sys
import traceback
from collections.abc import Callable
from typing import Any, NoReturn


def run_and_leave(command: Callable[[], Any]) -> NoReturn:
    """Run the command line, then end the process with its exit code and without unwinding native threads.

    LanceDB and Dagster leave daemon threads that sit in native code. When the interpreter shuts down under them, about
    one process in fifteen on a busy machine aborts ("terminate called without an active exception") although its work
    is done. So exit handlers run, the streams are flushed, and the process leaves at once.
    """
    code = 0
    try:
        command()
    except SystemExit as ended:
        code = ended.code if isinstance(ended.code, int) else int(ended.code is not None)
        if isinstance(ended.code, str):
            sys.stderr.write(f"{ended.code}\n")
    except BaseException:  # noqa: BLE001 - shown, as the interpreter would show it, and the code says so
        traceback.print_exc()
        code = 1
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError):  # a closed pipe: whoever read has had enough
            code = code or 1
    os._exit(code)
