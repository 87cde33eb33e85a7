"""Stage `answers`: an answer to a question from its contexts alone. One call a question."""

from pydantic import BaseModel

from hcg_pipeline.backends.llm.prompt import Prompt
from hcg_pipeline.backends.llm.prompts.instructions import instructions
from hcg_pipeline.backends.llm.prompts.passages import fenced
from hcg_pipeline.backends.protocol import AnswerReply as Answer
from hcg_pipeline.backends.protocol import AnswerRequest

NO_CONTEXT = "There is no evidence from which to answer this question."


class AnswerReply(BaseModel):
    """The reply to `answer.txt`."""

    answer: str
    answered: bool
    cited: list[int]


def answer_prompt(request: AnswerRequest, words: int | None) -> Prompt[AnswerReply]:
    """Ask the request's question over its contexts (at least one), trimmed to `words` words where that is given."""
    texts = request.contexts if words is None else trimmed(request.contexts, words)
    passages = fenced({str(number): text for number, text in enumerate(texts, start=1)})
    return Prompt(
        stage="answers",
        key=request.key,
        system=instructions("answer"),
        user=f"{passages}\n\n# Question\n{request.question.strip()}",
        reply=AnswerReply,
        sets={},
    )


def trimmed(contexts: tuple[str, ...], words: int) -> tuple[str, ...]:
    """The leading contexts that fit into `words` words; the first that does not fit is cut there, the rest left out."""
    kept: list[str] = []
    left = words
    for context in contexts:
        parts = context.split()
        if len(parts) > left:
            if left:
                kept.append(" ".join(parts[:left]))
            break
        kept.append(context)
        left -= len(parts)
    return tuple(kept)


def to_answer(reply: AnswerReply, request: AnswerRequest, words: int | None = None) -> Answer:
    """The answer; an empty one counts as none.

    A number in `cited` that is no passage's is dropped and counted: also one that `words` left out of the prompt.
    """
    text = reply.answer.strip()
    shown = len(request.contexts if words is None else trimmed(request.contexts, words))
    cited = set(reply.cited)
    places = sorted(number - 1 for number in cited if 1 <= number <= shown)
    return Answer(
        request.key, text or NO_CONTEXT, reply.answered and bool(text), tuple(places), dropped=len(cited) - len(places)
    )


def unanswerable(request: AnswerRequest) -> Answer:
    """The answer where there is no context: no call is made for it."""
    return Answer(request.key, NO_CONTEXT, False, ())
