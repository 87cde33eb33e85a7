"""The vocabulary as a prompt shows it."""

from collections.abc import Mapping, Sequence

from hcg_pipeline.backends.llm.prompts.phrases import tidy
from hcg_pipeline.specification.vocabulary import Dimension, Metric

_EXAMPLES = 6


def dimensions_text(dimensions: Sequence[Dimension]) -> str:
    """The dimensions, each with what lies on it and its first few entities."""
    lines = []
    for dimension in dimensions:
        examples = "; ".join(tidy(entity.name) for entity in dimension.entities[:_EXAMPLES])
        lines.append(f"- {dimension.name}: {tidy(dimension.description)}" + (f" E.g. {examples}" if examples else ""))
    return "\n".join(("# Dimensions", *lines))


def metrics_text(metrics: Sequence[Metric]) -> str:
    """The metrics, each with its signature and description."""
    return "\n".join(("# Metrics", *(metric_line(metric) for metric in metrics)))


def metric_line(metric: Metric) -> str:
    """One metric: `- Name(dimension, dimension): description`."""
    return f"- {metric.name}({', '.join(metric.signature)}): {tidy(metric.description)}"


def entities_text(named: Mapping[str, Sequence[str]]) -> str:
    """Known entities by dimension; '' if there are none."""
    lines = [f"- {dimension}: {'; '.join(tidy(name) for name in names)}" for dimension, names in named.items() if names]
    return "\n".join(("# Known entities that these passages name", *lines)) if lines else ""
