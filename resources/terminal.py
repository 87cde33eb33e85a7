"""What a person reads in a shell: results on stdout, everything else on stderr, errors in one line."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table
from typer.core import TyperGroup

from hcg_pipeline.errors import HcgError

OUT = Console(soft_wrap=True, highlight=False)
ERR = Console(stderr=True, soft_wrap=True, highlight=False)
_SHOWN = 20
_MOST_CITED = 4
_CHAINS = ("multi", "mechanis", "chain", "complex", "reason", "causal")


class OneLineErrors(TyperGroup):
    """A command group that reports what a person can act on in one line; `-v` shows where it came from."""

    def invoke(self, ctx: Any) -> Any:
        """Run the command; turn an `HcgError`, or a file that cannot be used, into one line and exit code 1."""
        try:
            return super().invoke(ctx)
        except BrokenPipeError:
            raise  # whoever read the output has had enough: typer ends quietly
        except (HcgError, OSError) as error:
            if ctx.find_root().obj:
                ERR.print_exception()
            ERR.print(f"[bold red]error:[/] {escape(' '.join(str(error).split()))}")
            raise typer.Exit(1) from error


def say(text: str) -> None:
    """One line of a result, as it stands: nothing in it is markup."""
    OUT.print(text, markup=False)


def print_json(value: object) -> None:
    """A result as JSON, in the letters of its language."""
    typer.echo(json.dumps(value, ensure_ascii=False, indent=2))


def print_sizes(corpus: str, summary: Mapping[str, Any]) -> None:
    """How much a published graph holds. `summary` is that of `summarise_snapshot`."""
    OUT.print(f"[bold]{escape(corpus)}[/]: {counted(summary['documents'], 'document')}", end="")
    say(f" in {counted(summary['chunks'], 'chunk')}")
    offline = ", offline" if summary["backend"] == "rules" else ""
    made = (
        f"by the {summary['backend']} backend{offline}, tier {summary['tier']}, vectors by {summary['embedding_model']}"
    )
    say(f"  {made}")
    fixed = f"{counted(summary['dimensions'], 'dimension')}, {counted(summary['metrics'], 'metric')}"
    say(f"  {fixed}, {counted(summary['variables'], 'variable')}")
    pieces = counted(summary["evidence_links"], "piece")
    share = f", {summary['share_with_evidence']:.1%} of them with evidence ({pieces}, each at its characters)"
    say(f"  {counted(summary['edges'], 'edge')}{share if summary['edges'] else ''}")


def print_checks(failed: Sequence[tuple[str, str]]) -> None:
    """A line for each check that failed (name, what it says); rejected files are listed with what was built."""
    for name, line in failed:
        if name != "no_rejected_files":
            ERR.print(f"[yellow]check:[/] {escape(line)}")


def print_rejected(rejected: Sequence[Mapping[str, Any]]) -> None:
    """The files that were not read (rows of REJECTED), each with its reason; nothing if there are none."""
    if rejected:
        OUT.print(f"\n[yellow]{counted(len(rejected), 'file')} not read:[/]")
    for row in rejected[:_SHOWN]:
        say(f"  {row['path']}: {row['reason']}")
    if len(rejected) > _SHOWN:
        say(f"  … and {len(rejected) - _SHOWN} more, in the asset `rejected`")


def print_answer(row: Mapping[str, Any]) -> None:
    """A row of ANSWERS: the answer, then each piece of evidence with its document, characters and words."""
    OUT.print(f"[bold]{escape(row['answer'])}[/]")
    pieces = counted(len(row["evidence"]), "piece")
    OUT.print(f"\n[dim]{row['mode']} · {row['backend']} · {pieces} of evidence, * cited[/]")
    for place, piece in enumerate(row["evidence"]):
        where = f"{piece['path']} [{piece['start']}:{piece['end']}]" if piece["path"] else "edges of the graph"
        mark = "*" if place in row["cited"] else " "
        OUT.print(f"\n{mark}{place + 1:>3}  [cyan]{escape(where)}[/]\n     {escape(' '.join(piece['quote'].split()))}")


def print_example(rows: Sequence[Mapping[str, Any]]) -> None:
    """One of the ANSWERS, with the evidence that it cites, word by word."""
    row = telling_example(rows)
    OUT.print(f"\n[dim]For example:[/] {escape(row['question'])}")
    say(f"  {row['answer']}")
    for piece in (row["evidence"][place] for place in row["cited"]):
        OUT.print(f"  [cyan]{escape(piece['path'])} [{piece['start']}:{piece['end']}][/]")
        say(f"    “{' '.join(piece['quote'].split())}”")


def telling_example(rows: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
    """The row that shows best what the graph is for; of equals the first.

    Answered comes before not answered, from the graph before by search, with cited evidence before without; then a
    question on a chain of causes or a mechanism, whose answer shares words with its reference and rests on few pieces.
    """
    return max(rows, key=_telling)


def _telling(row: Mapping[str, Any]) -> tuple[bool, bool, bool, bool, bool, float]:
    kind = row["question_type"].casefold()
    reference = set((row["reference"] or "").casefold().split())
    said = set(row["answer"].casefold().split())
    shared = len(reference & said) / len(reference | said) if reference else 0.0
    return (
        row["answered"],
        row["mode"] == "graph",
        0 < len(row["cited"]) <= _MOST_CITED,
        any(sign in kind for sign in _CHAINS),
        bool(reference),
        shared,
    )


def print_table(header: Sequence[str] | None, rows: Sequence[Sequence[str]]) -> None:
    """Columns of plain text, under a header if there is one."""
    table = Table(*(header or ()), box=None, header_style="bold", show_header=header is not None)
    for row in rows:
        table.add_row(*(escape(cell) for cell in row))
    OUT.print(table)


def counted(count: int, noun: str) -> str:
    """`1 edge`, `1,234 edges`."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"
