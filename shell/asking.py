"""`hcg ask`: one question, its answer with the evidence word by word, and how that evidence was found."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.markup import escape

from hcg_pipeline.errors import HcgError
from resources.terminal import ERR, OUT, counted, print_answer, print_json, print_table, say
from shell.arguments import Budget, Corpus, Json, Mode, Verbose, workspace_with

if TYPE_CHECKING:
    from hcg_pipeline.retrieval.retrieval import Retrieval

_SHOWN = 12


def ask(
    corpus: Corpus,
    question: Annotated[str, typer.Argument(metavar="QUESTION", help="In quotes.", show_default=False)],
    as_json: Json = False,
    mode: Mode = "graph",
    budget: Budget = None,
    explain: Annotated[
        bool, typer.Option("--explain", help="Also: what matched, hops, cones, why each passage, time of each step.")
    ] = False,
    verbose: Verbose = False,
) -> None:
    """Answer one question from the published graph of CORPUS, and show the evidence word by word."""
    from hcg_pipeline.answering.questions import Question
    from resources.asking import explain_published
    from resources.run_progress import Listened

    workspace, name = workspace_with(corpus)
    if not question.strip():
        raise HcgError("The question is empty: write it in quotes after the corpus.")
    asked = Question(id="1", question=question.strip())
    done, found = explain_published(workspace, name, asked, mode, budget, Listened())
    for failure in done.failures:
        ERR.print(f"[yellow]no usable reply:[/] {escape(f'{failure.key}: {failure.reason}')}")
    if not done.answers.num_rows:
        raise HcgError("The question got no usable reply (see above): ask again, or set another HCG_LLM_MODEL.")
    row = done.answers.to_pylist()[0]
    if as_json:
        evidence = [{"document": piece.pop("path"), **piece} for piece in row["evidence"]]
        print_json(
            {"corpus": name, **row, "evidence": evidence, **({"explained": _explained(found)} if explain else {})}
        )
        return
    print_answer(row)
    if explain:
        print_explained(found)


def print_explained(found: "Retrieval") -> None:
    """How the evidence of one question was found, step by step."""
    OUT.print("\n[bold]How it was found[/]")
    if found.mode == "fallback":
        say("No variable is close enough to the question: the passages were chosen by search alone.")
    if found.matched:
        say(f"1. Matched {counted(len(found.matched), 'variable')} of {counted(len(_metrics(found)), 'metric')}:")
        print_table(
            ("metric", "variable", "cosine"),
            [[_metric(name), name, f"{similarity:.3f}"] for name, similarity in found.matched],
        )
        reached = f"{counted(found.subgraph_nodes, 'variable')}, {counted(found.subgraph_edges, 'edge')}"
        say(f"2. Reached from there: {reached}")
        say(f"3. {counted(len(found.cones), 'outcome cone')} kept, best first, with the hops to each outcome:")
        hops = dict(found.hops)
        for cone in found.cones:
            say(
                f"   {cone.metric}: {counted(cone.converging, 'matched variable')} and {counted(cone.edges, 'edge')} "
                f"lead to {_outcomes(cone.outcomes, hops)}; score {cone.score:.3f}"
            )
    OUT.print("[bold]Why each piece of evidence was taken[/]")
    for place, passage in enumerate(found.passages, start=1):
        say(f"{place:>4}  {passage.why}")
    OUT.print("[bold]Time[/]")
    say("  " + ", ".join(f"{step} {seconds * 1000:.1f} ms" for step, seconds in found.seconds.items()))


def _outcomes(names: tuple[str, ...], hops: Mapping[str, int]) -> str:
    shown = ", ".join(f"{name} ({hops.get(name, 0)})" for name in names[:_SHOWN])
    return shown + (f" … {len(names) - _SHOWN} more" if len(names) > _SHOWN else "")


def _explained(found: "Retrieval") -> dict[str, Any]:
    whole = asdict(found)
    return {
        "matched_metrics": _metrics(found),
        "cones": whole["cones"],
        "hops": dict(found.hops),
        "subgraph": {"variables": found.subgraph_nodes, "edges": found.subgraph_edges},
        "why": [passage.why for passage in found.passages],
        "seconds": found.seconds,
    }


def _metrics(found: "Retrieval") -> list[str]:
    return list(dict.fromkeys(_metric(name) for name, _ in found.matched))


def _metric(variable: str) -> str:
    return variable.partition("(")[0]
