"""`graph_spec.yaml`: a specification as text that a person reads, edits and pins (form of the paper's Figure 5)."""

import json
import re
import textwrap
from collections.abc import Iterable, Sequence
from functools import lru_cache

from hcg_pipeline.any_path import AnyPath
from hcg_pipeline.specification.spec_parsing import HEADER, parse_spec
from hcg_pipeline.specification.specification import Comment, Specification, SpecRelation, SpecVariable
from hcg_pipeline.specification.vocabulary import Dimension, Metric
from hcg_pipeline.specification.yaml_reading import read_text

FILE = "graph_spec.yaml"
_WIDTH = 100
_PLAIN = re.compile(r"[^\W\d_](?:[\w()+.%/' -]*[\w)+.%'])?")
_NOT_PLAIN = frozenset({"true", "false", "null", "yes", "no", "on", "off", "y", "n", "nan", "inf"})
_FOLDABLE = re.compile(r"[\x21-\x7e\u00a1-\ud7ff\uf900-\ufaff]+(?: [\x21-\x7e\u00a1-\ud7ff\uf900-\ufaff]+)*")


def read_spec(folder: AnyPath) -> Specification | None:
    """The corpus's own `graph_spec.yaml`, or None where there is none. Raises `SettingsError` with file and line."""
    file = folder / FILE
    return _parsed(read_text(file), str(file)) if file.is_file() else None


@lru_cache(maxsize=4)
def _parsed(text: str, path: str) -> Specification:
    """Several stages of a build read the same file."""
    return parse_spec(text, path)


def render_spec(spec: Specification) -> str:
    """The text of `graph_spec.yaml`; `parse_spec` gives an equal specification back. Same content, same bytes."""
    comments = {(comment.section, comment.name): comment.lines for comment in spec.comments}
    lines = [*HEADER, *comments.get(("", ""), ())]
    lines += _section("dimensions", spec.dimensions, comments)
    for dimension in spec.dimensions:
        lines += [*_above(comments, "dimensions", dimension.name, ""), *_dimension(dimension, comments)]
    lines += _section("metrics", spec.metrics, comments)
    for metric in spec.metrics:
        lines += [*_above(comments, "metrics", metric.name, ""), *_metric(metric)]
    lines += _section("variables", spec.variables, comments)
    for variable in spec.variables:
        lines += [*_above(comments, "variables", variable.ref.name, ""), *_variable(variable)]
    lines += _section("relations", spec.relations, comments)
    for relation in spec.relations:
        name = f"{relation.source.name} → {relation.target.name}"
        lines += [*_above(comments, "relations", name, ""), *_relation(relation)]
    return "\n".join(lines) + "\n"


_Comments = dict[tuple[str, str], tuple[str, ...]]


def _section(name: str, items: tuple[object, ...], comments: _Comments) -> list[str]:
    return ["", *comments.get((name, ""), ()), f"{name}:" if items else f"{name}: []"]


def _above(comments: _Comments, section: str, name: str, indent: str) -> list[str]:
    return [indent + line for line in comments.get((section, name), ())]


def _dimension(dimension: Dimension, comments: _Comments) -> Iterable[str]:
    yield f"- name: {dimension.name}"
    yield from _text("description", dimension.description, "  ")
    yield f"  support: {dimension.support}"
    yield from _aliases(dimension.aliases, "  ")
    yield "  entities:" if dimension.entities else "  entities: []"
    for entity in dimension.entities:
        yield from _above(comments, f"dimensions/{dimension.name}", entity.name, "  ")
        yield f"  - name: {_scalar(entity.name)}"
        yield from _aliases(entity.aliases, "    ")
        if entity.mentions:
            yield f"    mentions: {entity.mentions}"


def _metric(metric: Metric) -> Iterable[str]:
    yield f"- name: {metric.name}({', '.join(metric.signature)})"
    yield from _text("description", metric.description, "  ")
    yield "  attributes:"
    yield f"    category: {_scalar(metric.category)}"
    yield f"    graph_role: {metric.role}"
    yield f"    support: {metric.support}"
    yield from _aliases(metric.aliases, "    ")


def _variable(variable: SpecVariable) -> Iterable[str]:
    if variable.mentions:
        yield f"- name: {_scalar(variable.ref.name)}"
        yield f"  mentions: {variable.mentions}"
    else:
        yield f"- {_scalar(variable.ref.name)}"


def _relation(relation: SpecRelation) -> Iterable[str]:
    yield f"- source: {_scalar(relation.source.name)}"
    yield f"  target: {_scalar(relation.target.name)}"
    yield f'  sign: "{relation.sign}"'
    yield f"  confidence: {relation.confidence!r}"
    if relation.support:
        yield f"  support: {relation.support}"
    yield from _text("mechanism", relation.mechanism, "  ")
    if relation.quote:
        yield f"  quote: {_quoted(relation.quote)}"


def _aliases(aliases: Sequence[str], indent: str) -> Iterable[str]:
    if aliases:
        yield f"{indent}aliases: [{', '.join(_quoted(alias) for alias in aliases)}]"


def _text(key: str, text: str, indent: str) -> list[str]:
    """A text folded over lines, where folding gives back exactly this text; quoted on one line otherwise."""
    if len(text) > _WIDTH - len(indent) - len(key) - 2 and _FOLDABLE.fullmatch(text):
        width = _WIDTH - len(indent) - 2
        folded = textwrap.wrap(text, width, break_long_words=False, break_on_hyphens=False)
        return [f"{indent}{key}: >-", *(f"{indent}  {line}" for line in folded)]
    return [f"{indent}{key}: {_scalar(text)}"]


def _scalar(text: str) -> str:
    return text if _PLAIN.fullmatch(text) and text.lower() not in _NOT_PLAIN else _quoted(text)


def _quoted(text: str) -> str:
    """A YAML double-quoted scalar: JSON's, with everything that YAML does not print escaped."""
    quoted = json.dumps(text, ensure_ascii=False)
    return "".join(c if c.isprintable() and c != "\ufeff" else _escaped(c) for c in quoted)


def _escaped(letter: str) -> str:
    point = ord(letter)
    return f"\\u{point:04x}" if point < 0x10000 else f"\\U{point:08x}"


__all__ = ["FILE", "HEADER", "Comment", "parse_spec", "read_spec", "render_spec"]
