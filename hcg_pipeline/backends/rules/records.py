"""Lines of a table as text ("drug: x; dose: 5; note: It may …"): their values are read one by one, not as a sentence."""

import re

from hcg_pipeline.corpus.sentences import sentence_spans

_FIELD = re.compile(r"(?:^|(?<=;)\s+|\n)[ \t]*(?P<name>[^\W\d][\w-]*(?: [\w-]+){0,2}): +")
_FEWEST = 3


def reading_spans(text: str) -> list[tuple[int, int]]:
    """Spans of what is read as a sentence: the sentences of a text, and of a record the sentences of each value."""
    found: list[tuple[int, int]] = []
    for start, end in sentence_spans(text):
        values = _values(text[start:end])
        if not values:
            found.append((start, end))
        for first, last in values:
            shift = start + first
            found += [(shift + left, shift + right) for left, right in sentence_spans(text[shift : start + last])]
    return found


def _values(line: str) -> list[tuple[int, int]]:
    """Spans of the values of a record; none where a line is not one: three fields or more, the first at its start."""
    fields = list(_FIELD.finditer(line))
    if len(fields) < _FEWEST or fields[0].start() != 0:
        return []
    ends = [*(field.start() for field in fields[1:]), len(line)]
    return [(field.end(), max(field.end(), len(line[:end].rstrip("; \t\n")))) for field, end in zip(fields, ends, strict=True)]
