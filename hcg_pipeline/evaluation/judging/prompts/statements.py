"""Task `statements`: a text, which answers a question, as single statements. One call a text."""

from pydantic import BaseModel, field_validator

from hcg_pipeline.backends.llm.prompt import Prompt
from hcg_pipeline.backends.llm.prompts.passages import fenced
from hcg_pipeline.backends.llm.prompts.phrases import tidy
from hcg_pipeline.evaluation.judging.prompts.instructions import instructions

STAGE = "judge_statements"


class StatementsReply(BaseModel):
    """The reply to `statements.txt`: at least one statement, each on one line, none twice."""

    statements: list[str]

    @field_validator("statements")
    @classmethod
    def _distinct(cls, statements: list[str]) -> list[str]:
        distinct: dict[str, str] = {}
        for statement in map(tidy, statements):
            if any(character.isalnum() for character in statement):
                distinct.setdefault(statement.casefold(), statement)
        if not distinct:
            raise ValueError("the text says something, so there is at least one statement to list")
        return list(distinct.values())


def statements_prompt(question: str, text: str, key: str) -> Prompt[StatementsReply]:
    """Ask for the statements of `text` (not blank), which answers `question`."""
    return Prompt(
        stage=STAGE,
        key=key,
        system=instructions("statements"),
        user=fenced({"question": question.strip(), "text": text.strip()}),
        reply=StatementsReply,
        sets={},
    )
