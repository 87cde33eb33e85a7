"""`hcg`, the shell's door: build a corpus, ask it, answer question files, see what there is."""

import logging
import os
import shlex
import sys
import time
import warnings
from collections.abc import Mapping
from contextlib import nullcontext
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.markup import escape

from hcg_pipeline.errors import HcgError
from resources.terminal import (
    ERR,
    OneLineErrors,
    counted,
    print_checks,
    print_example,
    print_json,
    print_sizes,
    print_table,
    say,
)
from shell.arguments import Budget, Corpus, Json, Mode, TierName, Verbose, workspace_with
from shell.asking import ask
from shell.auditing import add_commands
from shell.evaluating import evaluate
from shell.spending import Batch, build_config, cache_app, estimate, print_costs

if TYPE_CHECKING:
    import pyarrow as pa

    from assets.job_run import JobRun
    from hcg_pipeline.answering.questions import Question
    from resources.workspace import Workspace

app = typer.Typer(
    cls=OneLineErrors,
    help="From a folder of documents to a causal graph that can be audited, and answers with their evidence.\n\n"
    "Corpora lie in data/corpora, question files in data/questions, what is built in data/store; HCG_DATA names "
    "another data folder. Without OPENAI_API_KEY or HCG_LLM_BASE_URL everything runs offline.",
    epilog="Examples:  hcg build epilepsy  ·  hcg ask epilepsy 'What causes seizures?'  ·  hcg show epilepsy",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"hcg {version('hcg-pipeline')}")
        raise typer.Exit


@app.callback()
def main(
    _version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """Load `.env` of the current folder and of the checkout, as Dagster does; what is set already stays."""
    from dotenv import load_dotenv

    from resources.places import CHECKOUT

    load_dotenv(Path.cwd() / ".env")
    load_dotenv(CHECKOUT / ".env")
    warnings.filterwarnings("ignore", module=r"dagster.*")
    logging.getLogger().addHandler(logging.NullHandler())  # libraries' remarks on files are in `rejected`, in our words


@app.command(epilog="Example:  hcg build epilepsy --tier M")
def build(
    corpus: Corpus,
    tier: Annotated[
        TierName | None,
        typer.Option(
            help="Size of the vocabulary, for this build; else as corpus.yaml says, else S.", show_default=False
        ),
    ] = None,
    batch: Batch = False,
    again: Annotated[bool, typer.Option("--again", help="Run every stage, even if nothing has changed.")] = False,
    verbose: Verbose = False,
) -> None:
    """Read the documents of CORPUS and publish its causal graph, as a Dagster run that the UI shows.

    Where nothing has changed since the last build, that one stands, and nothing is run.
    """
    workspace, name = workspace_with(corpus)
    from assets.run_reports import report_build, report_standing
    from assets.standing import note_build, standing_build, versions_now

    versions = versions_now(workspace, name, tier)
    standing = None if again else standing_build(workspace, name, versions)
    if standing is not None:
        report_standing(workspace, name, standing)
        return
    run = _run_job(workspace, "build_graph", name, build_config(batch, tier), verbose)
    note_build(workspace, name, versions, run)
    report_build(workspace, name)
    if tier and tier != workspace.settings(name).tier:
        say(f"Tier {tier} holds for this build; `tier: {tier}` in the corpus's corpus.yaml keeps it.")
    said = shlex.quote(name)
    say(f"Run {run.run_id[:8]} is in the UI: hcg ui")
    say(f'Next:  hcg ask {said} "…"  ·  hcg show {said}  ·  hcg answer {said} FILE')


app.command(epilog="Example:  hcg ask epilepsy 'Why does sleep loss provoke seizures?' --explain")(ask)


@app.command(epilog="Example:  hcg answer epilepsy data/questions/epilepsy/questions.json --out answers.jsonl")
def answer(
    corpus: Corpus,
    file: Annotated[
        Path | None,
        typer.Argument(
            metavar="[FILE]",
            show_default=False,
            help="JSON, JSONL, CSV or parquet with id and question. None: every file of data/questions/CORPUS, as a "
            "Dagster run, with scores.",
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(help="Where the answers go, one JSON object a line; else in the store.", show_default=False),
    ] = None,
    retrieve_only: Annotated[bool, typer.Option("--retrieve-only", help="Find contexts, answer nothing.")] = False,
    mode: Mode = "graph",
    budget: Budget = None,
    batch: Batch = False,
    verbose: Verbose = False,
) -> None:
    """Answer all questions of FILE in one pass, with the contexts and the evidence of each."""
    from hcg_pipeline.answering.questions import read_questions
    from resources.asking import retrieve_published
    from resources.published import keep_answers

    workspace, name = workspace_with(corpus)
    if file is None:
        if out or retrieve_only or budget or mode != "graph":
            raise HcgError("--out, --retrieve-only, --mode and --budget need a FILE: hcg answer CORPUS FILE …")
        _answer_every_file(workspace, name, batch, verbose)
        return
    questions = read_questions(file)
    began = time.perf_counter()
    if retrieve_only:
        table = retrieve_published(workspace, name, file.stem, questions, mode, budget)
    else:
        table = _ask(workspace, name, file.stem, questions, mode, budget, batch)
    seconds = time.perf_counter() - began
    target = out or workspace.corpus_store(name) / "answers" / f"{file.stem}.{mode}.jsonl"
    keep_answers(table, target)
    found = sum(bool(contexts) for contexts in table["contexts"].to_pylist())
    answered = "" if retrieve_only else f", {sum(table['answered'].to_pylist())} answered"
    cites_nothing = [row["answered"] and not row["cited"] for row in table.select(["answered", "cited"]).to_pylist()]
    if any(cites_nothing):
        answered += f" ({sum(cites_nothing)} of them without citing any evidence)"
    say(f"{counted(len(questions), 'question')} in {seconds:.1f} s, {found} with evidence{answered}: {target}")
    if table.num_rows < len(questions):
        missing = len(questions) - table.num_rows
        raise HcgError(
            f"{missing} of {len(questions)} questions got no usable reply and are not in the file: run it again."
        )


app.command(epilog="Example:  hcg evaluate epilepsy --mode graph --mode hybrid --budget 3000")(evaluate)


@app.command(epilog="Example:  hcg corpora --json")
def corpora(as_json: Json = False) -> None:
    """List the corpora, and how much was built of each."""
    from resources.published import built_sizes
    from resources.workspace import Workspace

    workspace = Workspace.from_environment()
    found = [built_sizes(workspace, name) for name in workspace.corpora()]
    refused = [{"folder": folder, "reason": reason} for folder, reason in workspace.refused_folders()]
    if as_json:
        print_json({"data": workspace.data, "corpora": found, "refused": refused})
        return
    if not found:
        say(f"No corpora in {workspace.corpora_folder}: make a folder there with documents in it.")
    columns = ("documents", "variables", "edges")
    sizes = [[f"{row[key]:,}" for key in columns] if row["built"] else ["not built", "", ""] for row in found]
    if found:
        print_table(("corpus", *columns), [[row["corpus"], *size] for row, size in zip(found, sizes, strict=True)])
    for row in refused:
        ERR.print(f"[yellow]not a corpus:[/] {escape(row['reason'])}")


@app.command(epilog="Example:  hcg show epilepsy --json")
def show(corpus: Corpus, as_json: Json = False) -> None:
    """Sizes of the published graph of CORPUS, its top metrics, and the share of edges with evidence."""
    from assets.spending import corpus_costs
    from resources.published import open_snapshot, summarise_snapshot

    workspace, name = workspace_with(corpus)
    snapshot = open_snapshot(workspace, name)
    summary = summarise_snapshot(snapshot)
    if as_json:
        print_json({"corpus": name, **summary, "ledger": corpus_costs(workspace, name), "folder": snapshot.place})
        return
    print_sizes(name, summary)
    say("")
    rows = [[m["metric"], m["role"], f"{m['variables']:,}", f"{m['edges']:,}"] for m in summary["top_metrics"]]
    print_table(("metric", "role", "variables", "edges"), rows)
    print_costs(corpus_costs(workspace, name))
    say(f"\nIn {snapshot.place}: graph_spec.yaml, graph.graphml, graph.json, parquet tables")


@app.command(epilog="Example:  hcg ui --port 3000")
def ui(
    port: Annotated[int, typer.Option(min=1, max=65535, help="Where the UI listens.")] = 3000,
    host: Annotated[str, typer.Option(help="Which address it listens on.")] = "127.0.0.1",
) -> None:
    """Start the Dagster UI and its daemon on the instance in which `hcg build` keeps its runs. Ctrl-C ends them."""
    from resources.dagster_home import prepare_home
    from resources.places import CHECKOUT, chosen_places

    home = prepare_home()
    os.environ.update(
        DAGSTER_HOME=str(home),
        **chosen_places(),
        # Dagster would rather have `dg dev` called; both start the same services.
        PYTHONWARNINGS="ignore:Function `dev_command` is superseded",
    )
    os.chdir(home)
    service = [sys.executable, "-m", "dagster", "dev", "--workspace", str(CHECKOUT / "workspace.yaml")]
    os.execv(sys.executable, [*service, "--port", str(port), "--host", host])


@app.command(epilog="Example:  hcg demo epilepsy")
def demo(
    corpus: Annotated[str, typer.Argument(metavar="[CORPUS]", help="Name of a folder in data/corpora.")] = "epilepsy",
    verbose: Verbose = False,
) -> None:
    """Build CORPUS, answer its question files, show an answer, and say what to try next."""
    from assets.run_reports import report_answers, report_build
    from resources.places import place
    from resources.table_files import read_table

    workspace, name = workspace_with(corpus)
    run = _run_job(workspace, "everything", name, {}, verbose)
    report_build(workspace, name)
    if run.metadata["answers"]["dagster/row_count"]:
        report_answers(run)
        print_example(read_table(place(run.metadata["answers"]["path"])).to_pylist())
    said = shlex.quote(name)
    say("\nNext:")
    rows = [
        [f'hcg ask {said} "…"', "a question of your own, with its evidence"],
        [f"hcg show {said}", "sizes, top metrics"],
        ["hcg ui", "every stage, its tables and checks, in a browser"],
        ["hcg build NAME", "your own documents, from data/corpora/NAME"],
    ]
    print_table(None, rows)


app.add_typer(cache_app, name="cache")
app.command(epilog="Example:  hcg estimate epilepsy --tier M")(estimate)
add_commands(app)


def _run_job(workspace: "Workspace", job: str, corpus: str, config: Mapping[str, Any], verbose: bool) -> "JobRun":
    from assets.job_run import run_job
    from resources.dagster_home import open_instance
    from resources.stage_bars import StageBars

    with open_instance() as instance, StageBars(ERR):
        level = "DEBUG" if verbose else "CRITICAL"
        run = run_job(instance, workspace, job, corpus, config=config, log_level=level)
    if not run.success:
        if verbose:
            ERR.print(run.trace, markup=False)
        raise HcgError(run.error)
    print_checks([(check.name, f"{check.asset}: {check.about}") for check in run.failed_checks])
    return run


def _ask(
    workspace: "Workspace",
    corpus: str,
    question_set: str,
    questions: "list[Question]",
    mode: str,
    budget: int | None,
    batch: bool = False,
) -> "pa.Table":
    """ANSWERS of the questions, with a bar for many of them, and a line for each that got no usable reply."""
    from resources.asking import answer_published
    from resources.run_progress import Listened
    from resources.stage_bars import StageBars

    with StageBars(ERR) if len(questions) > 1 else nullcontext():
        done = answer_published(workspace, corpus, question_set, questions, mode, budget, Listened(), batch=batch)
    for failure in done.failures:
        ERR.print(f"[yellow]no usable reply:[/] {escape(f'{failure.key}: {failure.reason}')}")
    return done.answers


def _answer_every_file(workspace: "Workspace", corpus: str, batch: bool, verbose: bool) -> None:
    from assets.run_reports import report_answers
    from hcg_pipeline.answering.questions import find_question_files
    from resources.published import open_snapshot

    open_snapshot(workspace, corpus)
    folder = workspace.question_folder(corpus)
    if not find_question_files(folder):
        raise HcgError(f"There are no question files in {folder}: put one there, or name one: hcg answer {corpus} FILE")
    report_answers(_run_job(workspace, "answer_questions", corpus, build_config(batch, None), verbose))


def run() -> None:
    """The console script."""
    from shell.leaving import run_and_leave

    run_and_leave(app)
