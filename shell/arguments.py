"""Arguments and options that several commands share, and the workspace behind CORPUS."""

from typing import TYPE_CHECKING, Annotated, Literal

import typer

if TYPE_CHECKING:
    from resources.workspace import Workspace

TierName = Literal["XS", "S", "M", "L"]
ModeName = Literal["graph", "nodes_only", "naive", "in_context", "hybrid"]


def _remember_verbose(ctx: typer.Context, wanted: bool) -> bool:
    ctx.find_root().obj = wanted
    return wanted


Corpus = Annotated[str, typer.Argument(metavar="CORPUS", help="Name of a folder in data/corpora.", show_default=False)]
Json = Annotated[bool, typer.Option("--json", help="Everything, as JSON on stdout.")]
Mode = Annotated[ModeName, typer.Option("--mode", help="How evidence is found; `graph` is the method itself.")]
Budget = Annotated[int | None, typer.Option("--budget", min=1, metavar="WORDS", help="Words of evidence per question.")]
Verbose = Annotated[
    bool, typer.Option("--verbose", "-v", callback=_remember_verbose, help="Dagster's log, and tracebacks of errors.")
]


def workspace_with(corpus: str) -> "tuple[Workspace, str]":
    """The workspace and the corpus's normalised name. Raises `CorpusError` where there is no such corpus."""
    from hcg_pipeline.corpus.names import check_name
    from resources.workspace import Workspace

    workspace, name = Workspace.from_environment(), check_name(corpus)
    workspace.corpus_folder(name)
    return workspace, name
