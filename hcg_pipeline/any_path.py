"""A place where files lie: a folder or file of this machine, or one in an object store that acts like it."""

from collections.abc import Iterator
from typing import Protocol, Self


class AnyPath(Protocol):
    """What the engine asks of a path. `pathlib.Path` has it, and so have the paths of universal-pathlib (S3)."""

    @property
    def name(self) -> str:
        """The last part."""
        ...

    @property
    def stem(self) -> str:
        """The last part without its ending."""
        ...

    @property
    def suffix(self) -> str:
        """The ending of the last part, with its dot."""
        ...

    @property
    def parent(self) -> Self:
        """The place without the last part."""
        ...

    def __truediv__(self, key: str, /) -> Self: ...

    def with_name(self, name: str, /) -> Self:
        """The same place with another last part."""
        ...

    def exists(self) -> bool:
        """Whether there is a file or a folder."""
        ...

    def is_file(self) -> bool:
        """Whether there is a file."""
        ...

    def is_dir(self) -> bool:
        """Whether there is a folder; in an object store: whether any key begins with this and a slash."""
        ...

    def iterdir(self) -> Iterator[Self]:
        """What stands straight in a folder."""
        ...

    def glob(self, pattern: str, /) -> Iterator[Self]:
        """What below a folder fits a pattern."""
        ...

    def read_bytes(self) -> bytes:
        """The file's content."""
        ...

    def read_text(self, encoding: str | None = None) -> str:
        """The file's content as text."""
        ...
