"""Values of JSON as text: the field that holds the prose, or every leaf as 'key: value'."""

from collections.abc import Iterator
from typing import Any

_PROSE = (
    *("abstract", "text", "context", "content", "contents", "body", "full_text", "fulltext", "page_content"),
    *("passage", "passages", "paragraph", "paragraphs", "document", "article", "chapter", "section", "sections"),
    *("sentences", "transcript", "summary", "story", "raw_text", "body_text", "markdown"),
)
_TITLES = ("title", "headline", "heading", "name")


def record_text(value: Any) -> str:
    """The text of one record.

    An object with fields that hold prose by their name (text, context, content, body, abstract and the like; strings
    or lists of strings) gives those, below its title if it has one. Anything else gives its leaves, one a line.
    """
    if isinstance(value, str):
        return value
    if isinstance(value, dict):
        prose = prose_of(value)
        if prose:
            title = _title(value)
            return "\n\n".join([title, *prose] if title and not prose[0].startswith(title) else prose)
    return "\n".join(_leaves(value, ""))


def prose_of(value: dict[str, Any]) -> list[str]:
    """The texts of an object's prose fields, each once, in the object's order."""
    found: list[str] = []
    for key, field in value.items():
        if key.strip().lower() not in _PROSE:
            continue
        text = _prose(field, " " if key.strip().lower() == "sentences" else "\n\n")
        if text and text not in found:
            found.append(text)
    return found


def _prose(field: Any, separator: str) -> str:
    if isinstance(field, str):
        return field.strip()
    if isinstance(field, list) and field:
        if all(isinstance(item, str) for item in field):
            return separator.join(item.strip() for item in field if item.strip())
        if all(isinstance(item, dict) and prose_of(item) for item in field):
            return "\n\n".join(record_text(item) for item in field)
    if isinstance(field, dict) and prose_of(field):
        return record_text(field)
    return ""


def _title(value: dict[str, Any]) -> str:
    fields = {key.strip().lower(): field for key, field in value.items()}
    titles = (fields.get(name) for name in _TITLES)
    return next((" ".join(title.split()) for title in titles if isinstance(title, str) and title.strip()), "")


def _leaves(value: Any, name: str) -> Iterator[str]:
    if isinstance(value, dict):
        for key, field in value.items():
            yield from _leaves(field, f"{name}.{key}" if name else str(key))
    elif isinstance(value, list):
        if any(isinstance(item, dict | list) for item in value):
            for item in value:
                yield from _leaves(item, name)
        else:
            yield from _line(name, ", ".join(_shown(item) for item in value if item is not None))
    elif value is not None:
        yield from _line(name, _shown(value))


def _line(name: str, shown: str) -> Iterator[str]:
    if shown:
        yield f"{name}: {shown}" if name else shown


def _shown(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value).strip()
