"""What is embedded for a variable and an edge, and how an edge reads in words."""

import re
from collections.abc import Sequence

_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


def metric_words(metric: str) -> str:
    """`TreatmentEfficacy` as `treatment efficacy`; acronyms stay together."""
    return " ".join(word if word.isupper() else word.lower() for word in _HUMP.sub(" ", metric).split())


def variable_text(metric: str, entities: Sequence[str]) -> str:
    """What stands for a variable in the embedding space: its metric and entities in words.

    The description is left out: what it says of the metric is the same for all its variables, and draws them together.
    """
    return f"{metric_words(metric)}: {', '.join(entities)}"


def edge_text(source: str, target: str, mechanism: str) -> str:
    """The edge's context string of Appendix B: source → target: mechanism."""
    return f"{source} → {target}: {mechanism}" if mechanism else f"{source} → {target}"
