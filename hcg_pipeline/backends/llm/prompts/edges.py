"""Stage `node_edges`: which pairs of variables, all of one template, the passages bear out. One call a batch."""

from typing import Annotated

from pydantic import BaseModel, Field

from hcg_pipeline.backends.llm.closed_sets import OneOf
from hcg_pipeline.backends.llm.prompt import Faults, Prompt
from hcg_pipeline.backends.llm.prompts.instructions import instructions
from hcg_pipeline.backends.llm.prompts.passages import LabelledPassages, label_passages
from hcg_pipeline.backends.llm.prompts.phrases import Phrase, tidy
from hcg_pipeline.backends.llm.prompts.reading import SIGNS
from hcg_pipeline.backends.llm.prompts.vocabulary_text import metric_line
from hcg_pipeline.backends.protocol import EdgeQuestion, ProposedRelation


class EdgeReply(BaseModel):
    """A pair that is borne out."""

    pair: Annotated[str, OneOf("pair")]
    mechanism: Phrase
    sign: Annotated[str, OneOf("sign")]
    confidence: float = Field(ge=0, le=1, allow_inf_nan=False)
    passage: Annotated[str, OneOf("passage")]
    quote: str


class EdgesReply(BaseModel):
    """The reply to `edges.txt`."""

    borne_out: list[EdgeReply]


def edges_prompt(question: EdgeQuestion) -> Prompt[EdgesReply]:
    """Ask which of the question's candidates its passages bear out; it has at least one of each."""
    passages = label_passages(question.passages)
    pairs = [
        f"- {_label(place)}: {tidy(source.name)} -> {tidy(target.name)}"
        for place, (source, target) in enumerate(question.candidates)
    ]
    template = (
        f"# Template\n{metric_line(question.source)}\n{metric_line(question.target)}\n"
        f"The first drives the second: {tidy(question.mechanism) or 'not said how'}"
    )
    return Prompt(
        stage="node_edges",
        key=f"{question.source.name} -> {question.target.name}",
        system=instructions("edges"),
        user="\n\n".join((template, "# Pairs\n" + "\n".join(pairs), passages.text)),
        reply=EdgesReply,
        sets={
            "pair": [_label(place) for place in range(len(pairs))],
            "passage": list(passages.labels),
            "sign": SIGNS,
        },
        faults=lambda reply: _faults(reply, passages),
    )


def _faults(reply: EdgesReply, passages: LabelledPassages) -> Faults:
    """Pairs that cannot be accepted: their quote stands in no passage."""
    problems = tuple(
        f"borne_out.{place}.quote: not the words of passage {edge.passage}; copy them exactly, or leave the pair out"
        for place, edge in enumerate(reply.borne_out)
        if passages.find(edge.passage, edge.quote) is None
    )
    return Faults(problems, hopeless=0 < len(problems) == len(reply.borne_out))


def _label(place: int) -> str:
    return f"p{place + 1}"


def to_relations(reply: EdgesReply, question: EdgeQuestion) -> tuple[ProposedRelation, ...]:
    """The accepted pairs in the order of the question, under global chunk ids. Acceptance needs a mechanism.

    A quote that stands in no passage is kept as it is: grounding drops and counts it.
    """
    passages = label_passages(question.passages)
    accepted: list[tuple[int, ProposedRelation]] = []
    for edge in reply.borne_out:
        place = int(edge.pair[1:]) - 1
        source, target = question.candidates[place]
        chunk_id, quote = passages.locate(edge.passage, edge.quote)
        sign = next(sign for sign in SIGNS if sign == edge.sign)
        if edge.mechanism:
            relation = ProposedRelation(source, target, edge.mechanism, sign, edge.confidence, chunk_id, quote)
            accepted.append((place, relation))
    return tuple(dict.fromkeys(relation for _, relation in sorted(accepted, key=lambda pair: pair[0])))
