"""Tasks `correctness`, `coverage`, `faithfulness`: a verdict on each of a list of statements. One call an answer each.

Statements go by labels (a1, a2, … of the answer, r1, r2, … of the reference), and a reply must judge each label once: a
verdict cannot get lost, nor be given on a statement that the judge has made up or reworded.
"""

from collections import Counter
from collections.abc import Sequence
from typing import Annotated, Self

from pydantic import BaseModel, ValidationInfo, model_validator

from hcg_pipeline.backends.llm.closed_sets import OneOf
from hcg_pipeline.backends.llm.prompt import Prompt
from hcg_pipeline.backends.llm.prompts.passages import fenced
from hcg_pipeline.backends.llm.prompts.phrases import Phrase
from hcg_pipeline.evaluation.judging.prompts.instructions import instructions

STAGE = "judge_verdicts"


class VerdictReply(BaseModel):
    """Whether one statement is supported; by what, the task says."""

    statement: Annotated[str, OneOf("statement")]
    reason: Phrase
    supported: bool


class VerdictsReply(BaseModel):
    """The reply to `correctness.txt`, `coverage.txt` and `faithfulness.txt`: each statement once."""

    verdicts: list[VerdictReply]

    @model_validator(mode="after")
    def _each_once(self, info: ValidationInfo) -> Self:
        labels: Sequence[str] = (info.context or {}).get("statement", ())
        times = Counter(verdict.statement for verdict in self.verdicts)
        missing = [label for label in labels if not times[label]]
        repeated = [label for label in labels if times[label] > 1]
        problems = [
            f"{what}: {', '.join(found)}"
            for what, found in (("no verdict on", missing), ("more than one verdict on", repeated))
            if found
        ]
        if problems:
            raise ValueError("; ".join(problems))
        return self

    def by_label(self) -> dict[str, VerdictReply]:
        """The verdicts by the labels of their statements."""
        return {verdict.statement: verdict for verdict in self.verdicts}


def labelled(letter: str, statements: Sequence[str]) -> dict[str, str]:
    """`statements` by label: the letter and their place from 1."""
    return {f"{letter}{place}": statement for place, statement in enumerate(statements, start=1)}


def correctness_prompt(
    question: str, answer: dict[str, str], reference: dict[str, str], key: str
) -> Prompt[VerdictsReply]:
    """Ask which labelled statements of the answer the reference supports, and the other way round."""
    texts = {"question": question.strip(), "answer": _listed(answer), "reference": _listed(reference)}
    return _prompt("correctness", texts, [*answer, *reference], key)


def coverage_prompt(question: str, answer: str, reference: dict[str, str], key: str) -> Prompt[VerdictsReply]:
    """Ask which labelled statements of the reference the answer's text makes."""
    texts = {"question": question.strip(), "answer": answer.strip(), "reference": _listed(reference)}
    return _prompt("coverage", texts, [*reference], key)


def faithfulness_prompt(answer: dict[str, str], contexts: Sequence[str], key: str) -> Prompt[VerdictsReply]:
    """Ask which labelled statements of the answer its contexts support."""
    passages = {str(number): text for number, text in enumerate(contexts, start=1)}
    return _prompt("faithfulness", {**passages, "answer": _listed(answer)}, [*answer], key)


def _listed(statements: dict[str, str]) -> str:
    """One line each: statements are single lines, so none can pass for two."""
    return "\n".join(f"{label}: {statement}" for label, statement in statements.items())


def _prompt(task: str, texts: dict[str, str], labels: list[str], key: str) -> Prompt[VerdictsReply]:
    return Prompt(
        stage=STAGE,
        key=key,
        system=instructions(task),
        user=fenced(texts),
        reply=VerdictsReply,
        sets={"statement": labels},
    )
