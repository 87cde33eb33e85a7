"""`hcg evaluate`: question files answered in several modes, scored, and compared."""

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


class ModeChoice(StrEnum):
    """The modes, as an option that may be given several times."""

    GRAPH = "graph"
    HYBRID = "hybrid"
    NAIVE = "naive"
    NODES_ONLY = "nodes_only"
    IN_CONTEXT = "in_context"


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

    Judges are those of HCG_JUDGE_MODEL; without one the measures that need none stand alone.
    """
    from assets.evaluating import Asking, evaluate_files
    from assets.evaluations import write_report
    from resources.run_progress import Listened
    from resources.stage_bars import StageBars

    workspace, name = workspace_with(corpus)
    chosen = tuple(dict.fromkeys(mode.value for mode in modes or _MODES))
    asking = Asking(chosen, tuple(dict.fromkeys(budgets or ())), retrieve_only, runs)
    with StageBars(ERR):
        done = evaluate_files(workspace, name, file, asking, Listened())
    report = write_report(workspace, name)
    for failure in done.failures:
        ERR.print(f"[yellow]no usable reply:[/] {escape(f'{failure.stage}, {failure.key}: {failure.reason}')}")
    names, means, verdicts = _compared(done)
    if as_json:
        files = {"markdown": str(report.page), "html": str(report.html)}
        print_json({"corpus": name, "means": means, "comparisons": verdicts, "report": files})
    else:
        print_table(("measure", *names), [[row["measure"], *(_cell(row, name) for name in names)] for row in means])
        say("")
        for row in verdicts:
            say(_sentence(row))
        if done.missing.num_rows:
            say(f"{counted(done.missing.num_rows, 'judged score')} missing, in no mean: the report says why.")
        say(f"\nReport: {report.page}\n        {report.html}")
    failed = sum(done.systems["failed"].to_pylist())
    if failed:
        raise HcgError(f"{counted(failed, 'question')} got no usable reply and are in no mean: run it again.")


def _compared(done: "Evaluated") -> tuple[list[str], list[dict[str, Any]], list[dict[str, Any]]]:
    """Names of the systems; per measure each one's mean and count; the headline measure's comparisons by mode."""
    from hcg_pipeline.evaluation.report import means_of
    from hcg_pipeline.evaluation.systems import merge_systems, named_scores, system_keys, system_names
    from hcg_pipeline.evaluation.verdict_tables import PARTS, comparisons, headline, pairs_that_differ_in

    called = system_names(system_keys(done.scores, done.systems))
    named = named_scores(done.scores, called)
    systems = merge_systems(done.systems, called)
    means = means_of(named)
    shown = headline([row["measure"] for row in means])
    pairs = [pair for part in PARTS for pair in pairs_that_differ_in(part, systems)]
    return [one.name for one in systems], means, comparisons(named, [shown] if shown else [], pairs)


def _cell(row: dict[str, Any], system: str) -> str:
    found = row["systems"].get(system)
    return f"{found['mean']:.3f} ({found['questions']:,})" if found else ""


def _sentence(row: dict[str, Any]) -> str:
    words = {"win": "beats", "loss": "loses to", "tie": "ties with"}[row["verdict"]]
    interval = f"{row['difference']:+.3f}, 95 % {row['low']:+.3f} to {row['high']:+.3f}"
    chance = "q < 0.001" if row["q"] < 0.001 else f"q {row['q']:.3f}"
    return f"{row['measure']}: {row['a']} {words} {row['b']} ({interval}, {chance}, {row['n']:,} questions)"
