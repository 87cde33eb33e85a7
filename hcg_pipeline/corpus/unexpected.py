"""The one place where an unforeseen exception of a parsing library becomes a reason in the `rejected` table."""

from collections.abc import Callable
from typing import TypeVar

from hcg_pipeline.errors import DocumentError

T = TypeVar("T")

_LONGEST = 300
"""Characters of a library's message that are shown."""


def guarded(read: Callable[[], T]) -> T:
    """What `read` returns. Any exception but a `DocumentError` becomes one that names the exception's class and text.

    Parsers of PDF, DOCX and HTML raise nearly anything on damaged input, and one file must not end a build. Nothing
    is lost: the class and text are the reason of the file's row, and the exception is the cause of this one.
    """
    try:
        return read()
    except DocumentError:
        raise
    except Exception as error:
        what = " ".join(f"{type(error).__name__}: {error}".split())[:_LONGEST].rstrip(" .:")
        raise DocumentError(
            f"it is damaged or in a form that the reader does not know ({what}): "
            "open it in its own program and save it again, or remove it"
        ) from error
