"""Commands for the expert: correct, respec, outcomes, edge, export, picture."""

import datetime
import shlex
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer
from rich.markup import escape

from hcg_pipeline.errors import HcgError, SettingsError
from resources.terminal import ERR, OUT, counted, print_json, say
from shell.arguments import Corpus, Json, TierName, workspace_with

if TYPE_CHECKING:
    from hcg_pipeline.graph.snapshot import Snapshot
    from resources.workspace import Workspace

Format = Literal["graphml", "json", "cypher", "csv"]


def add_commands(app: typer.Typer) -> None:
    """Give the application these commands."""
    app.command(epilog="Example:  hcg edge epilepsy 'DrugUse(valproate)'")(edge)
    app.command(epilog="Example:  hcg correct epilepsy drop-edge 'A(x)' 'B(y)' --note 'a list, not a cause'")(correct)
    app.command(epilog="Example:  hcg respec epilepsy --tier M")(respec)
    app.command(epilog="Example:  hcg outcomes epilepsy --write")(outcomes)
    app.command(epilog="Example:  hcg export epilepsy --format cypher --out epilepsy.cypher")(export)
    app.command(epilog="Example:  hcg picture epilepsy --out epilepsy.svg")(picture)


def edge(
    corpus: Corpus,
    source: Annotated[str, typer.Argument(metavar="VARIABLE", help="A cause, or an effect.", show_default=False)],
    target: Annotated[
        str | None,
        typer.Argument(metavar="[EFFECT]", help="None: every edge of VARIABLE.", show_default=False),
    ] = None,
    as_json: Json = False,
) -> None:
    """Edges of CORPUS with their evidence: the words, and the document and characters where they stand."""
    _, name, snapshot = _published(corpus)
    graph = snapshot.graph()
    paths = dict(zip(*(snapshot.table("documents")[key].to_pylist() for key in ("document_id", "path")), strict=True))
    chosen = [
        row
        for row in graph.edges.to_pylist()
        if (row["source"] == source and target in (None, row["target"])) or (target is None and row["target"] == source)
    ]
    if not chosen:
        between = f"{source} → {target}" if target else source
        raise HcgError(f"No edge of {name!r} is {between}.{_closest(snapshot, [source, target])}")
    evidence: dict[str, list[dict[str, Any]]] = {}
    for link in graph.evidence.to_pylist():
        evidence.setdefault(link["edge_id"], []).append({**link, "document": paths[link["document_id"]]})
    if as_json:
        print_json([{**row, "evidence": evidence.get(row["edge_id"], [])} for row in chosen])
        return
    for row in chosen:
        OUT.print(f"[bold]{escape(row['source'])} → {escape(row['target'])}[/]")
        say(f"  sign {row['sign']}, confidence {row['confidence']:.2f}, {row['origin']}: {row['mechanism']}")
        for link in evidence.get(row["edge_id"], []):
            near = f", cosine {link['similarity']:.2f}" if link["similarity"] is not None else ""
            OUT.print(f"  [cyan]{escape(link['document'])} \\[{link['start']}:{link['end']}][/] {link['kind']}{near}")
            say(f"    {' '.join(link['quote'].split())}")


def correct(
    corpus: Corpus,
    action: Annotated[
        str | None,
        typer.Argument(
            metavar="[EDIT]",
            show_default=False,
            help="rename-entity, merge-entity, split-entity, drop-entity, split-dimension, rename-metric, "
            "merge-metric, split-metric, drop-metric, set-role, rename-variable, merge-variable, drop-variable, "
            "add-edge, drop-edge, flip-edge, reword. None: list the edits that there are.",
        ),
    ] = None,
    values: Annotated[
        list[str] | None,
        typer.Argument(metavar="[VALUE]...", help="What the edit is about, in the order in which it reads."),
    ] = None,
    note: Annotated[str | None, typer.Option("--note", help="Why. Every edit needs one.", show_default=False)] = None,
    sign: Annotated[
        Literal["+", "-", "?"] | None, typer.Option("--sign", help="Of an added edge.", show_default=False)
    ] = None,
    confidence: Annotated[
        float | None, typer.Option("--confidence", min=0, max=0.99, help="Of an added edge.", show_default=False)
    ] = None,
    quote: Annotated[
        str | None,
        typer.Option("--quote", help="Words of the corpus that state an added edge.", show_default=False),
    ] = None,
) -> None:
    """Add an edit to CORPUS's corrections.yaml; it is applied by every build from then on, and costs no LLM call."""
    from hcg_pipeline.specification.corrections import edit_of
    from resources.expert_edits import add_correction

    workspace, name = workspace_with(corpus)
    if action is None:
        _list_corrections(workspace, name)
        return
    given = {"sign": sign, "confidence": confidence, "quote": quote}
    options = {key: value for key, value in given.items() if value is not None}
    if not (note or "").strip():
        raise SettingsError("An edit needs a reason that others can read: add --note '…'.")
    today = datetime.datetime.now(tz=datetime.UTC).date()
    edit = edit_of(action.replace("-", "_"), values or [], (note or "").strip(), today, options)
    file = add_correction(workspace, name, edit)
    say(f"Added to {file}")
    say(f"Next:  hcg build {shlex.quote(name)}")


def respec(
    corpus: Corpus,
    tier: Annotated[TierName | None, typer.Option(help="Else as corpus.yaml says, else S.", show_default=False)] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Pin what is proposed; later builds keep to it.")] = False,
    as_json: Json = False,
) -> None:
    """Propose a new vocabulary from CORPUS's documents, and show how it differs from the pinned one."""
    from assets.respecifying import pin_proposed, propose_anew
    from resources.run_progress import Listened
    from resources.stage_bars import StageBars

    workspace, name = workspace_with(corpus)
    with StageBars(ERR):
        proposal = propose_anew(workspace, name, tier, Listened())
    for failure in proposal.failures:
        ERR.print(f"[yellow]no usable reply:[/] {escape(f'{failure.key}: {failure.reason}')}")
    if as_json:
        print_json([asdict(change) for change in proposal.changes])
    else:
        _print_changes(proposal.pinned is not None, [asdict(change) for change in proposal.changes])
    if yes:
        say(f"Pinned in {pin_proposed(workspace, proposal)}")
        say(f"Next:  hcg build {shlex.quote(name)}")
    elif proposal.changes and not as_json:
        say("\nNothing was replaced: --yes pins what is proposed, and the next build reads everything anew in it.")


def outcomes(
    corpus: Corpus,
    write: Annotated[
        bool, typer.Option("--write", help="Write outcomes.yaml into the corpus folder, if it has none.")
    ] = False,
) -> None:
    """Show which metrics of CORPUS are terminals and outcomes, as an outcomes.yaml to edit."""
    from hcg_pipeline.specification.outcomes import FILE, outcomes_of, render_outcomes
    from hcg_pipeline.specification.vocabulary_tables import to_vocabulary
    from resources.table_files import read_table, replace_text

    workspace, name, _ = _published(corpus)
    folder = workspace.corpus_store(name) / "assets"
    vocabulary = to_vocabulary(*(read_table(folder / f"{table}.parquet") for table in ("dimensions", "metrics")))
    text = render_outcomes(outcomes_of(vocabulary.metrics))
    file = workspace.corpus_folder(name) / FILE
    if not write:
        say(text.rstrip())
        return
    if file.exists():
        raise SettingsError(f"{file} is there already and stays as it is: edit it, or move it away first.")
    replace_text(file, text)
    say(f"Written to {file}: edit it, then  hcg build {shlex.quote(name)}")


def export(
    corpus: Corpus,
    out: Annotated[
        Path, typer.Option("--out", help="The file; for csv the folder of three files.", show_default=False)
    ],
    kind: Annotated[Format, typer.Option("--format", help="What to write.")] = "graphml",
) -> None:
    """Write the published graph of CORPUS for another tool: GraphML, node-link JSON, a Cypher script, or CSV."""
    from hcg_pipeline.graph.csv_files import csv_files
    from hcg_pipeline.graph.cypher import cypher_script
    from hcg_pipeline.graph.exports import graphml, node_link_json
    from resources.table_files import replace_text

    _, _, snapshot = _published(corpus)
    graph = snapshot.graph()
    if kind == "csv":
        files = {out / name: text for name, text in csv_files(graph).items()}
    else:
        files = {out: {"graphml": graphml, "json": node_link_json, "cypher": cypher_script}[kind](graph)}
    for path, text in files.items():
        replace_text(path, text)
        say(f"{counted(graph.nodes.num_rows, 'variable')}, {counted(graph.edges.num_rows, 'edge')}: {path}")


def picture(
    corpus: Corpus,
    out: Annotated[Path, typer.Option("--out", help="A file that ends in .svg or .png.", show_default=False)],
    edges: Annotated[int, typer.Option("--edges", min=1, max=200, help="How many edges to show.")] = 28,
) -> None:
    """Draw the best supported part of the published graph of CORPUS."""
    from hcg_pipeline.graph.picture import draw_graph
    from resources.table_files import replace_bytes

    kind = out.suffix.lower().removeprefix(".")
    if kind not in ("svg", "png"):
        raise HcgError(f"{out}: a picture ends in .svg or .png")
    _, _, snapshot = _published(corpus)
    graph = snapshot.graph()
    replace_bytes(out, draw_graph(graph.nodes, graph.edges, limit=edges, kind=kind))
    say(f"The best supported {min(edges, graph.edges.num_rows)} of {counted(graph.edges.num_rows, 'edge')}: {out}")


def _published(corpus: str) -> "tuple[Workspace, str, Snapshot]":
    from resources.published import open_snapshot

    workspace, name = workspace_with(corpus)
    return workspace, name, open_snapshot(workspace, name)


def _list_corrections(workspace: "Workspace", corpus: str) -> None:
    from resources.expert_edits import corrections_with_effect

    found = corrections_with_effect(workspace, corpus)
    if not found:
        say(f"There are no corrections yet. For example:  hcg correct {shlex.quote(corpus)} drop-edge 'A(x)' 'B(y)' …")
        return
    for correction, problem in found:
        edit = correction.edit.model_dump(mode="json", exclude_defaults=True)
        about = ", ".join(str(value) for key, value in edit.items() if key not in ("action", "note", "date"))
        say(f"{correction.place.rpartition('/')[2]}  {edit['date']}  {edit['action']} {about}")
        say(f"    {edit['note']}")
        if problem:
            ERR.print(f"    [yellow]no effect:[/] {escape(problem)}")


def _print_changes(pinned: bool, changes: list[dict[str, str]]) -> None:
    if not pinned:
        say("Nothing is pinned yet: the first build pins its vocabulary. It would be:")
    if not changes:
        say("What would be proposed today is what is pinned.")
        return
    signs = {"added": "+", "removed": "-", "changed": "~"}
    for change in changes:
        say(f"{signs[change['kind']]} {change['what']:<9} {change['name']}: {change['how']}")


def _closest(snapshot: "Snapshot", names: list[str | None]) -> str:
    from rapidfuzz import process

    known = snapshot.table("nodes")["variable"].to_pylist()
    for name in names:
        if name and name not in known:
            close = [match for match, _, _ in process.extract(name, known, limit=4, score_cutoff=60)]
            return f" Variables close to {name!r}: {', '.join(close)}." if close else ""
    return ""
