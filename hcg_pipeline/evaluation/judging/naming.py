"""A judged measure's name in SCORES: the measure, and its judge in brackets, `correctness[gpt-5.4-mini]`.

So scores of several judges stand side by side in one table, and whatever compares, averages or draws measures takes
each judge's as a measure of its own.
"""

import re

_JUDGED = re.compile(r"([^\[\]]+)\[(.+)\]", re.DOTALL)


def judged_name(measure: str, judge: str) -> str:
    """`measure[judge]`."""
    return f"{measure}[{judge}]"


def split_judged_name(name: str) -> tuple[str, str] | None:
    """Measure and judge of a name made by `judged_name`; None for a measure without a judge."""
    found = _JUDGED.fullmatch(name)
    return (found.group(1), found.group(2)) if found else None
