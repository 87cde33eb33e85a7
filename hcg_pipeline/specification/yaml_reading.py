"""YAML that a person wrote, read so that every complaint can name file and line."""

from dataclasses import dataclass, field
from typing import Any

from pydantic import ValidationError
from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from hcg_pipeline.any_path import AnyPath
from hcg_pipeline.errors import SettingsError

Place = tuple[str | int, ...]


@dataclass(frozen=True)
class LocatedYaml:
    """Plain data, and the 1-based line on which each of its parts stands, by path of keys and indices."""

    path: str
    data: Any
    lines: dict[Place, int] = field(default_factory=dict)

    def line(self, place: Place) -> int:
        """The line of a part, or of the nearest part around it."""
        while place and place not in self.lines:
            place = place[:-1]
        return self.lines.get(place, 1)

    def error(self, place: Place, message: str) -> SettingsError:
        """A `SettingsError` with file, line and message."""
        return SettingsError(f"{self.path}:{self.line(place)}: {message}")

    def refused(self, error: ValidationError, within: Place = (), skipping: int = 0) -> SettingsError:
        """The first complaint of a pydantic model that points at something written, or else the first, with its line.

        A misspelled key gives two complaints, that it is unknown and that another is missing: the first helps more.
        `within` is where the data that the model saw stands; `skipping` leading parts of a complaint's location are no
        keys (a union puts the name of its member there).
        """
        complaints = [((*within, *complaint["loc"][skipping:]), complaint["msg"]) for complaint in error.errors()]
        place, message = next((c for c in complaints if c[0] in self.lines and c[0] != within), complaints[0])
        named = ".".join(str(part) for part in place[len(within) :])
        return self.error(place, f"{named}: {message}" if named else message)


def read_yaml(text: str, path: str | AnyPath) -> LocatedYaml:
    """Parse one YAML document (1.2 core types; dates stay text).

    Raises `SettingsError` with file and line on a syntax error, a key given twice, an anchor or a tag: the files of a
    corpus need none of them, and an alias can blow a few lines up into millions.
    """
    reader = YAML(typ="safe", pure=True)
    try:
        root = reader.compose(text)
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = mark.line + 1 if mark is not None else 1
        raise SettingsError(f"{path}:{line}: not YAML: {error.problem or error.context}") from error
    except YAMLError as error:
        raise SettingsError(f"{path}:1: not YAML: {' '.join(str(error).split())}") from error
    lines: dict[Place, int] = {}
    data = None if root is None else _plain(root, (), lines, str(path))
    return LocatedYaml(str(path), data, lines)


def read_text(file: AnyPath) -> str:
    """The text of a settings file. Raises `SettingsError` where it is not UTF-8."""
    try:
        return file.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(f"{file}:1: cannot be read as UTF-8 text: {error}") from error


def read_yaml_file(file: AnyPath) -> LocatedYaml:
    """Read a YAML file as UTF-8. Raises `SettingsError` where it is neither."""
    return read_yaml(read_text(file), file)


def _plain(node: Node, place: Place, lines: dict[Place, int], path: str) -> Any:
    line = node.start_mark.line + 1
    lines.setdefault(place, line)
    if getattr(node, "anchor", None):
        raise SettingsError(f"{path}:{line}: anchors and aliases are not used here: write the value out")
    if not isinstance(node, ScalarNode) and not str(node.tag).endswith((":map", ":seq")):
        raise SettingsError(f"{path}:{line}: tag {node.tag!s} is not used here: write plain lists and keys")
    if isinstance(node, MappingNode):
        mapping: dict[str, Any] = {}
        for key, value in node.value:
            name = key.value if isinstance(key, ScalarNode) else None
            at = key.start_mark.line + 1
            if name is None:
                raise SettingsError(f"{path}:{at}: a key must be plain text")
            if name in mapping:
                raise SettingsError(f"{path}:{at}: {name!r} is given twice")
            lines[(*place, name)] = at
            mapping[name] = _plain(value, (*place, name), lines, path)
        return mapping
    if isinstance(node, SequenceNode):
        return [_plain(item, (*place, index), lines, path) for index, item in enumerate(node.value)]
    return _scalar(node, line, path)


def _scalar(node: Node, line: int, path: str) -> Any:
    value = str(node.value)
    match str(node.tag).rpartition(":")[2]:
        case "null":
            return None
        case "bool":
            return value.lower() == "true"
        case "int":
            return _number(int, value)
        case "float":
            return _number(float, value.replace(".inf", "inf").replace(".nan", "nan"))
        case "str" | "timestamp":
            return value
        case _:
            raise SettingsError(f"{path}:{line}: tag {node.tag!s} is not used here: write plain text or numbers")


def _number(kind: type[int] | type[float], value: str) -> int | float | str:
    try:
        return int(value.replace("_", ""), 0) if kind is int else float(value.replace("_", ""))
    except ValueError:
        return value
