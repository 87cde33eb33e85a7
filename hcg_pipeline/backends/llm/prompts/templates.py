"""Stage `metric_templates`: which of many target metrics a source metric drives. One call a source."""

from typing import Annotated

from pydantic import BaseModel, Field

from hcg_pipeline.backends.llm.closed_sets import OneOf
from hcg_pipeline.backends.llm.prompt import Prompt
from hcg_pipeline.backends.llm.prompts.instructions import instructions
from hcg_pipeline.backends.llm.prompts.passages import label_passages
from hcg_pipeline.backends.llm.prompts.phrases import Phrase
from hcg_pipeline.backends.llm.prompts.vocabulary_text import metric_line
from hcg_pipeline.backends.protocol import TemplateQuestion, TemplateVerdict


class VerdictReply(BaseModel):
    """A target that the source drives."""

    target: Annotated[str, OneOf("target")]
    mechanism: Phrase
    confidence: float = Field(ge=0, le=1, allow_inf_nan=False)


class TemplatesReply(BaseModel):
    """The reply to `templates.txt`."""

    driven: list[VerdictReply]


def templates_prompt(question: TemplateQuestion) -> Prompt[TemplatesReply]:
    """Ask which of the question's targets (at least one) its source drives."""
    targets = "\n".join(metric_line(metric) for metric in question.targets)
    sections = [f"# Source metric\n{metric_line(question.source)}", f"# Target metrics\n{targets}"]
    if question.passages:
        sections.append(label_passages(question.passages).text)
    return Prompt(
        stage="metric_templates",
        key=question.source.name,
        system=instructions("templates"),
        user="\n\n".join(sections),
        reply=TemplatesReply,
        sets={"target": [metric.name for metric in question.targets]},
    )


def to_verdicts(reply: TemplatesReply, question: TemplateQuestion) -> tuple[TemplateVerdict, ...]:
    """The accepted targets, each once, in the order of the question. One without a mechanism is not accepted."""
    accepted: dict[str, VerdictReply] = {}
    for verdict in reply.driven:
        if verdict.mechanism and verdict.target != question.source.name:
            accepted.setdefault(verdict.target, verdict)
    return tuple(
        TemplateVerdict(question.source.name, name, accepted[name].mechanism, accepted[name].confidence)
        for name in dict.fromkeys(metric.name for metric in question.targets)
        if name in accepted
    )
