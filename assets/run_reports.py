"""What `hcg` says when a run is over."""

from pathlib import Path

from assets.job_run import JobRun
from resources.published import open_snapshot, summarise_snapshot
from resources.table_files import read_table
from resources.terminal import counted, print_rejected, print_sizes, say
from resources.workspace import Workspace


def report_build(workspace: Workspace, corpus: str) -> None:
    """Sizes of the graph that was published, the files that were not read, and where it lies."""
    snapshot = open_snapshot(workspace, corpus)
    print_sizes(corpus, summarise_snapshot(snapshot))
    print_rejected(read_table(workspace.corpus_store(corpus) / "assets" / "rejected.parquet").to_pylist())
    say(f"\nThe graph lies in {snapshot.folder}")
    say("  graph_spec.yaml to read and edit, graph.graphml and graph.json for other tools, parquet tables")


def report_answers(run: JobRun) -> None:
    """How many questions were answered, and where answers and scores lie."""
    answers = run.metadata["answers"]
    files = ", ".join(answers["question_files"])
    say(f"\n{counted(answers['dagster/row_count'], 'question')} answered ({files}): {Path(answers['path'])}")
    say(f"Scores: {run.metadata['benchmark_report']['file']}")
