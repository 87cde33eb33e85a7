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
    from hcg_pipeline.retrieval.retrieval import Evidence, Retrieval

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
            {
                "corpus": name,
                **row,
                "evidence": evidence,
                **({"explained": _explained(asked.question, found)} if explain else {}),
            }
        )
        return
    print_answer(row)
    if explain:
        print_explained(asked.question, found)


def print_explained(question: str, found: "Retrieval") -> None:
    """How the evidence of one question was found, step by step."""
    OUT.print("\n[bold]How it was found[/]")
    if found.matched:
        print_walk(found)
    elif found.tau_min is not None:
        say(_unmatched(found))
    shared = [_shared(question, passage) for passage in found.passages]
    OUT.print("[bold]Why each piece of evidence was taken[/]")
    for place, (passage, words) in enumerate(zip(found.passages, shared, strict=True), start=1):
        say(f"{place:>4}  " + "; ".join(part for part in (passage.why, words and f"has {', '.join(words)}") if part))
    if found.passages and found.mode != "nodes_only" and not any(shared):
        say("      No word of the question stands in any of them: is it asked in the language of the documents?")
    if found.seconds:
        OUT.print("[bold]Time[/]")
        say("  " + ", ".join(f"{step} {seconds * 1000:.1f} ms" for step, seconds in found.seconds.items()))
        say("  A process's first question loads the model (embed) and makes what search needs (search).")


def print_walk(found: "Retrieval") -> None:
    """The matched variables, what was reached from them, and the cones."""
    say(
        f"1. Matched {counted(len(found.matched), 'variable')} of {counted(len(_metrics(found)), 'metric')}; "
        f"the best of a metric has a cosine of at least {found.tau_min:.3f} (tau_min):"
    )
    print_table(
        ("metric", "variable", "cosine"),
        [[_metric(name), name, f"{similarity:.3f}"] for name, similarity in found.matched],
    )
    reached = f"{counted(found.subgraph_nodes, 'variable')}, {counted(found.subgraph_edges, 'edge')}"
    say(f"2. Reached from there, forward along the edges: {reached}")
    say(
        f"3. {counted(len(found.cones), 'outcome cone')} kept, best first: from how many matched variables, over how "
        "many edges, to which outcomes, each with its hops (0: matched itself):"
    )
    hops = dict(found.hops)
    print_table(
        ("outcome", "score", "from", "edges", "entities (hops)"),
        [
            [cone.metric, f"{cone.score:.3f}", str(cone.converging), str(cone.edges), _outcomes(cone.outcomes, hops)]
            for cone in found.cones
        ],
    )


def _unmatched(found: "Retrieval") -> str:
    closest = ""
    if found.nearest is not None:
        name, cosine = found.nearest
        closest = f": the closest, {name}, has a cosine of {cosine:.3f}, less than {found.tau_min:.3f} (tau_min)"
    chosen = " The passages were chosen by search alone." if found.mode == "fallback" else ""
    return f"No variable is close enough to the question{closest}.{chosen}"


def _shared(question: str, passage: "Evidence") -> list[str]:
    from hcg_pipeline.retrieval.terms import shared_words

    return shared_words(question, passage.text)


def _outcomes(names: tuple[str, ...], hops: Mapping[str, int]) -> str:
    shown = ", ".join(f"{_entities(name)} ({hops.get(name, 0)})" for name in names[:_SHOWN])
    return shown + (f" … {len(names) - _SHOWN} more" if len(names) > _SHOWN else "")


def _explained(question: str, found: "Retrieval") -> dict[str, Any]:
    whole = asdict(found)
    return {
        "tau_min": found.tau_min,
        "nearest": found.nearest,
        "matched_metrics": _metrics(found),
        "cones": whole["cones"],
        "hops": dict(found.hops),
        "subgraph": {"variables": found.subgraph_nodes, "edges": found.subgraph_edges},
        "why": [passage.why for passage in found.passages],
        "shared_words": [_shared(question, passage) for passage in found.passages],
        "seconds": found.seconds,
    }


def _metrics(found: "Retrieval") -> list[str]:
    return list(dict.fromkeys(_metric(name) for name, _ in found.matched))


def _metric(variable: str) -> str:
    return variable.partition("(")[0]


def _entities(variable: str) -> str:
    return variable.partition("(")[2].removesuffix(")")
