"""`hcg evaluate`: question files answered in several modes, scored, and compared."""

from dataclasses import asdict
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.markup import escape

from hcg_pipeline.errors import HcgError
from resources.terminal import ERR, counted, print_json, print_table, say
from shell.arguments import Corpus, Json, Verbose, workspace_with

if TYPE_CHECKING:
    from assets.evaluating import Evaluated
    from hcg_pipeline.backends.llm.ledger import StageCost


class ModeChoice(StrEnum):
    """The modes, as an option that may be given several times."""

    GRAPH = "graph"
    HYBRID = "hybrid"
    NAIVE = "naive"
    NODES_ONLY = "nodes_only"
    IN_CONTEXT = "in_context"


_BESIDE = 4
"""Systems whose means stand beside each other on 80 columns."""
_FAILURES = 10
_MODES = (ModeChoice.GRAPH, ModeChoice.HYBRID, ModeChoice.NAIVE)


def evaluate(
    corpus: Corpus,
    file: Annotated[
        Path | None,
        typer.Argument(
            metavar="[FILE]",
            show_default=False,
            help="A question file with reference answers. None: every file of data/questions/CORPUS.",
        ),
    ] = None,
    modes: Annotated[
        list[ModeChoice] | None,
        typer.Option("--mode", help="Each is answered and compared; graph, hybrid and naive if none is named."),
    ] = None,
    budgets: Annotated[
        list[int] | None,
        typer.Option("--budget", min=1, metavar="WORDS", help="Words of evidence; each budget is a system of its own."),
    ] = None,
    retrieve_only: Annotated[
        bool, typer.Option("--retrieve-only", help="Score the evidence alone: no answer, no judge, no call.")
    ] = False,
    runs: Annotated[
        int, typer.Option(min=1, help="Ask and judge so often, each time under another seed: mean ± deviation.")
    ] = 1,
    as_json: Json = False,
    verbose: Verbose = False,
) -> None:
    """Answer question files in several modes, score and compare them, and write the report of CORPUS.

    Shows each measure's mean by mode and which mode beats which, and writes the report as one page in Markdown and
    HTML. Scores of earlier evaluations of CORPUS are kept and shown beside them.

    Models named by HCG_JUDGE_MODEL judge the answers; without one the measures that need no judge stand alone. Stopped
    half-way, it goes on where it was: replies are kept, and none is paid for twice.
    """
    from assets.evaluating import evaluate as evaluate_plan
    from assets.evaluation_plan import Asking, plan_evaluation
    from assets.evaluations import write_report
    from hcg_pipeline.evaluation.verdict_tables import verdict_sentence
    from resources.run_progress import Listened
    from resources.stage_bars import StageBars

    workspace, name = workspace_with(corpus)
    chosen = tuple(dict.fromkeys(mode.value for mode in modes or _MODES))
    asking = Asking(chosen, tuple(dict.fromkeys(budgets or ())), retrieve_only, runs)
    plan = plan_evaluation(workspace, name, file.absolute() if file else None, asking)
    if plan.calls:
        most = ", ".join(f"{who} {calls:,}" for who, calls in plan.calls.items())
        ERR.print(escape(f"Calls at most, less those whose replies are kept: {most}"))
    with StageBars(ERR):
        done = evaluate_plan(workspace, plan, Listened())
    report = write_report(workspace, name)
    for failure in done.failures[:_FAILURES]:
        ERR.print(f"[yellow]no usable reply:[/] {escape(f'{failure.stage}, {failure.key}: {failure.reason}')}")
    if len(done.failures) > _FAILURES:
        rest = f"{len(done.failures) - _FAILURES:,} more; all, with what was replied, are in"
        ERR.print(f"… and {rest} {escape(str(report.evaluations))}/*/failures.parquet")
    names, means, verdicts = _compared(done)
    if as_json:
        files = {"markdown": str(report.page), "html": str(report.html)}
        costs = [asdict(cost) for cost in done.costs]
        print_json({"corpus": name, "means": means, "comparisons": verdicts, "report": files, "costs": costs})
    else:
        _print_means(names, means)
        for row in verdicts:
            say(f"{row['measure']}: {verdict_sentence(row)}")
        if done.missing.num_rows:
            say(f"{counted(done.missing.num_rows, 'judged score')} missing, in no mean: the report says why.")
        for cost, what in zip(done.costs, ("Asked", "For vectors"), strict=False):
            if cost.calls or cost.cached:
                say(f"{what}: {_spent(cost)}")
        say(f"\nReport: {report.page}\n        {report.html}")
    failed = sum(done.systems["failed"].to_pylist())
    if failed:
        raise HcgError(f"{counted(failed, 'question')} got no usable reply and are in no mean: run it again.")


def _compared(done: "Evaluated") -> tuple[list[str], list[dict[str, Any]], list[dict[str, Any]]]:
    """Names of the systems; per measure each one's mean and count; the headline measure's comparisons by mode."""
    from hcg_pipeline.evaluation.report import means_of
    from hcg_pipeline.evaluation.systems import merge_systems, named_scores, system_keys, system_names
    from hcg_pipeline.evaluation.verdict_tables import comparisons_of, headline

    called = system_names(system_keys(done.scores, done.systems))
    named = named_scores(done.scores, called)
    systems = merge_systems(done.systems, called)
    means = means_of(named)
    shown = headline([row["measure"] for row in means])
    rows = comparisons_of(named, shown, systems) if shown else []
    return [one.name for one in systems], means, [{**row, "measure": shown} for row in rows]


def _print_means(names: list[str], means: list[dict[str, Any]]) -> None:
    """A measure a line; with more systems than fit beside each other, a system a line and the chief measures."""
    if len(names) <= _BESIDE:
        print_table(("measure", *names), [[row["measure"], *(_cell(row, name) for name in names)] for row in means])
        say("")
        return
    from hcg_pipeline.evaluation.verdict_tables import chief_measures

    chief = chief_measures([row["measure"] for row in means])
    shown = [row for row in means if row["measure"] in chief]
    print_table(("system", *chief), [[name, *(_cell(row, name) for row in shown)] for name in names])
    say("All measures are in the report.\n")


def _cell(row: dict[str, Any], system: str) -> str:
    found = row["systems"].get(system)
    return f"{found['mean']:.3f} ({found['questions']:,})" if found else ""


def _spent(cost: "StageCost") -> str:
    tokens = f"{cost.tokens_in:,} tokens in, {cost.tokens_out:,} out"
    usd = "no price for a model" if cost.usd is None else f"{cost.usd:.4f} USD"
    return f"{counted(cost.calls, 'call')}, {tokens}, {usd}; {cost.cached:,} replies were kept from before"
