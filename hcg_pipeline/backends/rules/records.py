"""Lines of a table as text ("drug: x; dose: 5; note: It may …"): each value is read on its own."""

import re
from dataclasses import dataclass
from itertools import pairwise

from hcg_pipeline.backends.rules.wordlists import word_lists
from hcg_pipeline.corpus.sentences import sentence_spans

_FIELD = re.compile(r"(?:^|(?<=;)\s+|\n)[ \t]*(?P<name>[^\W\d][\w-]*(?: [\w-]+){0,2}): +")
_FEWEST = 3
_HEADING = re.compile(
    r"(?:^|(?<=[^\s.][.?!;)])\s*)(?:[A-Z][A-Za-z]+(?:(?: | ?[/&] ?)(?:(?:and|of|for|&) )?[A-Z][A-Za-z]*"
    r"| (?:and|of|for) [a-z]+){0,4}) ?:\s*(?=[A-Z\d\"“])"
    r"|(?:^|(?<=[\s;]))[A-Za-z]+(?:_[A-Za-z\d]+)+:\s+|(?<=\n)[a-z]+: "
)
"""A heading that has run into its sentence: "Results: The pressure fell", "in 2025.Conclusions: The pressure fell".

So it is with the name of a column in what is left of a record: "Floods in Nepal\\npublication_year: 2025".
"""


def reading_spans(text: str) -> list[tuple[int, int]]:
    """Spans of what is read as a sentence: the sentences of a text, and of a record the sentences of each value."""
    found: list[tuple[int, int]] = []
    for start, end in sentence_spans(text):
        values = _values(text[start:end])
        if not values:
            found += [(start + left, start + right) for left, right in _under_headings(text[start:end])]
        for first, last in values:
            shift = start + first
            found += [(shift + left, shift + right) for left, right in sentence_spans(text[shift : start + last])]
    return found


def _under_headings(sentence: str) -> list[tuple[int, int]]:
    """Spans of what stands before, between and after the headings in a sentence; all of it where there is none."""
    marks = [(0, 0), *((one.start(), one.end()) for one in _HEADING.finditer(sentence)), (len(sentence), 0)]
    spans = [(end, start) for (_, end), (start, _) in pairwise(marks) if start > end]
    return spans or [(0, len(sentence))]


@dataclass(frozen=True, slots=True)
class Stated:
    """Spans of two values of one record, of which the column names say that the first causes the second."""

    cause: tuple[int, int]
    effect: tuple[int, int]


def stated_by_columns(text: str) -> list[Stated]:
    """Pairs of values under columns named as cause and as effect ("root_cause", "damage_found")."""
    lists = word_lists()
    found = []
    for start, end in sentence_spans(text):
        line = text[start:end]
        sides: dict[str, list[tuple[int, int]]] = {"cause_column": [], "effect_column": []}
        for (first, last), name in zip(_values(line), _names(line), strict=True):
            words = set(re.split(r"[\W_]+", name.lower()))
            for side, spans in sides.items():
                if words & lists[side] and last > first:
                    spans.append((start + first, start + last))
        found += [Stated(cause, effect) for cause in sides["cause_column"] for effect in sides["effect_column"]]
    return found


def _names(line: str) -> list[str]:
    return [field.group("name") for field in _FIELD.finditer(line)] if _values(line) else []


def _values(line: str) -> list[tuple[int, int]]:
    """Spans of the values of a record; none where a line is not one: three fields or more, the first at its start."""
    fields = list(_FIELD.finditer(line))
    if len(fields) < _FEWEST or fields[0].start() != 0:
        return []
    ends = [*(field.start() for field in fields[1:]), len(line)]
    return [
        (field.end(), max(field.end(), len(line[:end].rstrip("; \t\n"))))
        for field, end in zip(fields, ends, strict=True)
    ]
