"""Environment variables as typed values, with one clear error for a value that is not one."""

import os
from collections.abc import Callable
from typing import TypeVar

from hcg_pipeline.errors import SettingsError

T = TypeVar("T")


def text(name: str) -> str | None:
    """The variable without surrounding space; None where it is unset or blank."""
    return (os.environ.get(name) or "").strip() or None


def whole_number(name: str) -> int | None:
    """The variable as an int; None where it is unset. Raises `SettingsError`."""
    return _parsed(name, int, "a whole number")


def number(name: str) -> float | None:
    """The variable as a float; None where it is unset. Raises `SettingsError`."""
    return _parsed(name, float, "a number")


def one_of(name: str, allowed: tuple[str, ...]) -> str | None:
    """The variable, if it is one of `allowed`; None where it is unset. Raises `SettingsError`."""
    value = text(name)
    if value is not None and value not in allowed:
        raise SettingsError(f"{name} is {value!r}: set it to {' or '.join(allowed)}, or unset it.")
    return value


def _parsed(name: str, parse: Callable[[str], T], kind: str) -> T | None:
    value = text(name)
    if value is None:
        return None
    try:
        return parse(value)
    except ValueError as error:
        raise SettingsError(f"{name} is {value!r}, not {kind}: correct it or unset it.") from error
