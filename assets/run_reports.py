"""What `hcg` says when a run is over."""

import shlex

from assets.job_run import JobRun
from assets.standing import StandingBuild
from resources.published import open_snapshot, summarise_snapshot
from resources.table_files import read_table
from resources.terminal import counted, print_checks, print_rejected, print_sizes, say
from resources.workspace import Workspace


def report_build(workspace: Workspace, corpus: str) -> None:
    """Sizes of the graph that was published, the files that were not read, and where it lies."""
    snapshot = open_snapshot(workspace, corpus)
    print_sizes(corpus, summarise_snapshot(snapshot))
    print_rejected(read_table(workspace.corpus_store(corpus) / "assets" / "rejected.parquet").to_pylist())
    say(f"\nThe graph lies in {snapshot.place}")
    say("  graph_spec.yaml to read and edit, graph.graphml and graph.json for other tools, parquet tables")


def report_standing(workspace: Workspace, corpus: str, standing: StandingBuild) -> None:
    """That nothing was run, because nothing has changed, and what stands."""
    print_checks(standing.checks)
    say(f"Nothing has changed since run {standing.run_id[:8]} ({standing.at}): its graph stands.\n")
    report_build(workspace, corpus)
    said = shlex.quote(corpus)
    say(f"To run every stage all the same:  hcg build {said} --again")
    say(f'Next:  hcg ask {said} "…"  ·  hcg show {said}')


def report_answers(run: JobRun) -> None:
    """How many questions were answered, and where answers and scores lie."""
    answers = run.metadata["answers"]
    files = ", ".join(answers["question_files"])
    say(f"\n{counted(answers['dagster/row_count'], 'question')} answered ({files}): {answers['path']}")
    say(f"Scores: {run.metadata['benchmark_report']['file']}")
