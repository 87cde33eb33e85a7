"""What a measure needs to know of one answer: which statements get a verdict, and what they are held against.

Some need no judge: an answer that is empty makes no statement of its reference, and without evidence nothing is borne
out. Those are verdicts, not failures. What cannot be measured at all (no reference to compare with, no answer to be
faithful) is no zero either: it is missing, with its reason.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from hcg_pipeline.backends.llm.prompt import Prompt
from hcg_pipeline.evaluation.judging.prompts.verdicts import (
    VerdictsReply,
    correctness_prompt,
    coverage_prompt,
    faithfulness_prompt,
    labelled,
)
from hcg_pipeline.evaluation.judging.scoring import correctness, share, statement_f1
from hcg_pipeline.evaluation.judging.settings import Measure

NO_REFERENCE = "the question file has no reference answer"
NOT_ANSWERED = "no backend was asked: the evidence alone was retrieved"
NO_ANSWER = "the answer is empty"
NO_STATEMENTS = "the judge's reply with the {} statements could not be used"
NO_VERDICTS = "the judge's reply with the verdicts could not be used"
NO_EVIDENCE = "there is no evidence"


@dataclass(frozen=True, slots=True)
class JudgedAnswer:
    """An answer as the judge sees it, texts stripped; `reference` is '' where the question file has none."""

    question_set: str
    id: str
    question_type: str
    mode: str
    question: str
    answer: str
    backend: str
    reference: str
    contexts: tuple[str, ...]

    @classmethod
    def of_row(cls, row: Mapping[str, Any]) -> "JudgedAnswer":
        """From a row of ANSWERS."""
        return cls(
            question_set=row["question_set"],
            id=row["id"],
            question_type=row["question_type"],
            mode=row["mode"],
            question=row["question"].strip(),
            answer=row["answer"].strip(),
            backend=row["backend"],
            reference=(row["reference"] or "").strip(),
            contexts=tuple(context for context in row["contexts"] if context.strip()),
        )

    @property
    def place(self) -> str:
        """How reports name it."""
        return f"{self.question_set}/{self.id}, {self.mode}"

    def missing(self, measure: Measure) -> str:
        """Why `measure` cannot be measured of this answer, or ''."""
        if self.backend == "none":
            return NOT_ANSWERED
        if measure == "faithfulness":
            return "" if self.answer else NO_ANSWER
        return "" if self.reference else NO_REFERENCE

    def texts(self, measure: Measure) -> tuple[str, ...]:
        """The texts whose statements `measure` needs."""
        answers = (self.answer,) if self.answer and measure != "coverage" else ()
        references = (self.reference,) if measure != "faithfulness" else ()
        return answers + references


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether one statement of the `answer` or of the `reference` is supported, and why."""

    side: str
    statement: str
    supported: bool
    reason: str


@dataclass(frozen=True, slots=True)
class Check:
    """The labelled statements of an answer and of its reference that `measure` wants verdicts on.

    Without a `prompt`, none of them is supported, for the reason in `given`.
    """

    measure: Measure
    answer: dict[str, str]
    reference: dict[str, str]
    prompt: Prompt[VerdictsReply] | None
    given: str = ""

    def verdicts(self, reply: VerdictsReply | None) -> tuple[Verdict, ...]:
        """The verdicts, answer before reference, as the judge's reply or, where none was asked for, `given` has it."""
        by_label = reply.by_label() if reply is not None else {}
        found = []
        for side, statements in (("answer", self.answer), ("reference", self.reference)):
            for label, statement in statements.items():
                verdict = by_label.get(label)
                supported, reason = (verdict.supported, verdict.reason) if verdict is not None else (False, self.given)
                found.append(Verdict(side, statement, supported, reason))
        return tuple(found)


def check_of(answer: JudgedAnswer, measure: Measure, statements: Mapping[str, tuple[str, ...]]) -> Check:
    """What `measure` asks of `answer`; `statements` holds those of each of `answer.texts(measure)`."""
    key = f"{measure} of {answer.place}"
    said = labelled("a", statements[answer.answer]) if answer.answer and measure != "coverage" else {}
    expected = labelled("r", statements[answer.reference]) if measure != "faithfulness" else {}
    if measure == "faithfulness":
        if not answer.contexts:
            return Check(measure, said, {}, None, NO_EVIDENCE)
        return Check(measure, said, {}, faithfulness_prompt(said, answer.contexts, key))
    if not answer.answer:
        return Check(measure, {}, expected, None, NO_ANSWER)
    if measure == "coverage":
        return Check(measure, {}, expected, coverage_prompt(answer.question, answer.answer, expected, key))
    return Check(measure, said, expected, correctness_prompt(answer.question, said, expected, key))


def score_of(measure: Measure, verdicts: tuple[Verdict, ...], similarity: float, statement_weight: float) -> float:
    """The value of `measure`; `similarity` and `statement_weight` count for correctness alone."""
    answer = [verdict.supported for verdict in verdicts if verdict.side == "answer"]
    reference = [verdict.supported for verdict in verdicts if verdict.side == "reference"]
    if measure == "correctness":
        return correctness(statement_f1(answer, reference), similarity, statement_weight)
    return share(reference if measure == "coverage" else answer)
