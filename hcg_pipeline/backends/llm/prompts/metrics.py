"""Stage `metrics`: what a window proposes as quantities, over the fixed dimensions."""

from collections.abc import Sequence
from typing import Annotated

from pydantic import BaseModel

from hcg_pipeline.backends.llm.closed_sets import OneOf
from hcg_pipeline.backends.llm.prompt import Prompt
from hcg_pipeline.backends.llm.prompts.instructions import instructions
from hcg_pipeline.backends.llm.prompts.passages import label_passages
from hcg_pipeline.backends.llm.prompts.phrases import Phrase, is_name
from hcg_pipeline.backends.llm.prompts.vocabulary_text import dimensions_text
from hcg_pipeline.backends.protocol import ProposedMetric
from hcg_pipeline.corpus.window import Window
from hcg_pipeline.specification.vocabulary import Dimension

LONGEST_SIGNATURE = 3


class MetricReply(BaseModel):
    """A metric."""

    name: Phrase
    signature: list[Annotated[str, OneOf("dimension")]]
    description: Phrase
    category: Phrase


class MetricsReply(BaseModel):
    """The reply to `metrics.txt`."""

    metrics: list[MetricReply]


def metrics_prompt(window: Window, dimensions: Sequence[Dimension]) -> Prompt[MetricsReply]:
    """Ask for the metrics of `window` over `dimensions`, of which there is at least one."""
    return Prompt(
        stage="metrics",
        key=window.window_id,
        system=instructions("metrics"),
        user=f"{dimensions_text(dimensions)}\n\n{label_passages(window.passages).text}",
        reply=MetricsReply,
        sets={"dimension": [dimension.name for dimension in dimensions]},
        parts=len(window.passages),
    )


def to_metrics(reply: MetricsReply) -> list[ProposedMetric]:
    """The proposals in `reply`, each name once. One that binds no dimension, or more than three, is not proposed."""
    proposals: dict[str, ProposedMetric] = {}
    for metric in reply.metrics:
        signature = tuple(dict.fromkeys(metric.signature))
        if is_name(metric.name) and 1 <= len(signature) <= LONGEST_SIGNATURE:
            proposal = ProposedMetric(metric.name, signature, metric.description, metric.category)
            proposals.setdefault(metric.name.casefold(), proposal)
    return list(proposals.values())
