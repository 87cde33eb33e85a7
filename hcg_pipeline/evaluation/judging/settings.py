"""What is judged: which measures for which question types, and how correctness is weighed."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

Measure = Literal["correctness", "coverage", "faithfulness"]
MEASURES: tuple[Measure, ...] = ("correctness", "coverage", "faithfulness")


class JudgingSettings(BaseModel):
    """Measures by question type. A type that `by_type` does not name gets `measures`: by default, all.

    `statement_weight` is the share of the statements' F1 in correctness; the rest is embedding similarity.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    measures: tuple[Measure, ...] = MEASURES
    by_type: dict[str, tuple[Measure, ...]] = {}
    statement_weight: float = Field(default=0.75, ge=0, le=1)

    def due(self, question_type: str) -> tuple[Measure, ...]:
        """The measures to judge for a question of this type, in the order of `MEASURES`."""
        chosen = self.by_type.get(question_type, self.measures)
        return tuple(measure for measure in MEASURES if measure in chosen)


GRAPHRAG_BENCH = JudgingSettings(
    by_type={
        "Fact Retrieval": ("correctness",),
        "Complex Reasoning": ("correctness",),
        "Contextual Summarize": ("correctness", "coverage"),
        "Creative Generation": ("correctness", "coverage", "faithfulness"),
    }
)
"""As GraphRAG-Bench's own evaluation does, at a third of the calls; it adds ROUGE-L for the first two types."""
