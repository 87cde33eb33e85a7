"""What `hcg evaluate` is about to do: which questions, how they are asked, and how many calls that takes at most."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from hcg_pipeline.answering.questions import Question, find_question_files, read_questions
from hcg_pipeline.any_path import AnyPath
from hcg_pipeline.backends.llm.backend import LlmBackend
from hcg_pipeline.backends.protocol import LanguageBackend
from hcg_pipeline.errors import EvaluationError
from hcg_pipeline.evaluation.judging.settings import GRAPHRAG_BENCH
from resources.judging import Judges
from resources.language import LanguageModel
from resources.workspace import Workspace


@dataclass(frozen=True, slots=True)
class Asking:
    """What is to be compared: modes, budgets of evidence in words, and how often everything is asked."""

    modes: tuple[str, ...]
    budgets: tuple[int, ...]
    retrieve_only: bool
    runs: int


@dataclass(frozen=True, slots=True)
class Plan:
    """The questions by question set, from `file` (None: the corpus's own folder), and how they are asked and judged.

    Without a `backend` the evidence alone is scored.
    """

    corpus: str
    file: AnyPath | None
    questions: Mapping[str, Sequence[Question]]
    asking: Asking
    language: LanguageModel
    backend: LanguageBackend | None
    judging: Judges

    @property
    def calls(self) -> dict[str, int]:
        """The most calls, repairs aside: of the model that answers, and of each judge. Kept replies cost none."""
        asked = [question for questions in self.questions.values() for question in questions]
        systems = len(self.asking.modes) * max(1, len(self.asking.budgets))
        found: dict[str, int] = {}
        if isinstance(self.backend, LlmBackend):
            found[self.backend.sampling.model] = len(asked) * systems * self.asking.runs
        # The statements of each reference are asked for once, whatever answers are held against it.
        references = sum(question.answer is not None for question in asked)
        of_answers = sum(map(_calls_of_an_answer, asked))
        for endpoint in self.judging.endpoints:
            for model in endpoint.models:
                found[f"judge {model}"] = (references + of_answers * systems) * self.asking.runs
        return found


def _calls_of_an_answer(question: Question) -> int:
    """A judge's calls on one answer: its statements, unless nothing asks for them, and verdicts for each measure."""
    due = GRAPHRAG_BENCH.due(question.question_type)
    measures = [measure for measure in due if measure == "faithfulness" or question.answer is not None]
    return len(measures) + any(measure != "coverage" for measure in measures)


def plan_evaluation(workspace: Workspace, corpus: str, file: AnyPath | None, asking: Asking) -> Plan:
    """Reads all question files before anything is asked, and makes no call.

    Raises as reading questions, backends and judges do, and `EvaluationError` for files without any reference answer,
    or several runs of what is the same every time.
    """
    questions = {path.stem: read_questions(path) for path in _question_files(workspace, corpus, file)}
    if not any(question.answer for asked in questions.values() for question in asked):
        raise EvaluationError(
            "None of the questions has a reference `answer`, so there is nothing to score: add answers to the file, or "
            "use hcg answer."
        )
    language = LanguageModel.from_environment(workspace.cache)
    backend = None if asking.retrieve_only else language.backend_for(workspace.settings(corpus).backend)
    judging = Judges() if asking.retrieve_only else Judges.from_environment()
    if asking.runs > 1 and not judging.endpoints and not isinstance(backend, LlmBackend):
        raise EvaluationError(
            "--runs needs an LLM that answers or judges: retrieval and the rules backend give the same every time."
        )
    return Plan(corpus, file, questions, asking, language, backend, judging)


def _question_files(workspace: Workspace, corpus: str, file: AnyPath | None) -> list[AnyPath]:
    """The file, or every question file of the corpus. Raises `EvaluationError` where there is none."""
    if file is not None:
        return [file]
    folder = workspace.question_folder(corpus)
    found = find_question_files(folder)
    if not found:
        raise EvaluationError(f"There are no question files in {folder}: put one there, or name one after the corpus.")
    return found
