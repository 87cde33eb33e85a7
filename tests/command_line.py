"""Runs `hcg` commands in the test's own process.

Typer's runner hands out the real file descriptor of standard output; Dagster duplicates onto it while a job runs, and
pytest's own capture is closed under it. Click's runner gives none.
"""

from typing import Any

from click.testing import CliRunner as ClickRunner
from click.testing import Result
from typer import Typer
from typer.main import get_command


class CliRunner:
    """Like Typer's, without a file descriptor."""

    def invoke(self, app: Typer, args: list[str], **options: Any) -> Result:
        """The result of a command: `exit_code`, `stdout`, `stderr`, `output`, `exception`."""
        return ClickRunner().invoke(get_command(app), args, **options)
