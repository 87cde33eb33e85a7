"""Adding a correction from the shell: tried on what was built before it is written."""

from collections.abc import Sequence

from rapidfuzz import process

from hcg_pipeline.any_path import AnyPath
from hcg_pipeline.errors import HcgError, SettingsError
from hcg_pipeline.graph.corrected import CorrectedTables, correct_tables
from hcg_pipeline.specification.corrections import (
    FILE,
    Correction,
    Edit,
    append_correction,
    parse_corrections,
    read_corrections,
)
from hcg_pipeline.specification.spec_file import read_spec
from hcg_pipeline.specification.vocabulary_tables import to_vocabulary
from hcg_pipeline.specification.yaml_reading import read_text
from resources.table_files import read_table, replace_text
from resources.workspace import Workspace

_READ = ("entities", "metrics", "variables", "node_edges", "chunks")
_NAMING = frozenset({"dimension", "entity", "alias", "into", "metric", "variable", "source", "target"})


def try_corrections(workspace: Workspace, corpus: str, corrections: Sequence[Correction]) -> CorrectedTables | None:
    """What the corrections make of the tables that the last build read; None where there was no build yet."""
    folder = workspace.corpus_store(corpus) / "assets"
    try:
        entities, metrics, variables, edges, chunks = (read_table(folder / f"{name}.parquet") for name in _READ)
    except FileNotFoundError:
        return None
    own = read_spec(workspace.corpus_folder(corpus))
    return correct_tables(entities, metrics, variables, edges, chunks, corrections, own)


def add_correction(workspace: Workspace, corpus: str, edit: Edit) -> AnyPath:
    """Append an edit to the corpus's corrections.yaml, which keeps what is there, comments too. Returns its path.

    Raises `SettingsError`, and writes nothing, where the last build shows that the edit would do nothing.
    """
    file = workspace.corpus_folder(corpus) / FILE
    before = read_text(file) if file.is_file() else ""
    after = append_correction(before, edit)
    corrections = parse_corrections(after, file)
    tried = try_corrections(workspace, corpus, corrections)
    new = corrections[-1].place
    if tried is not None and (mine := [text for text in tried.problems if text.startswith(f"{new}: ")]):
        why = mine[0].removeprefix(f"{new}: ")
        raise SettingsError(f"Nothing was written: {why}.{_suggestions(workspace, corpus, corrections)}")
    replace_text(file, after)
    return file


def corrections_with_effect(workspace: Workspace, corpus: str) -> list[tuple[Correction, str]]:
    """The corpus's corrections, each with why it did nothing on what was built last, or ''."""
    corrections = read_corrections(workspace.corpus_folder(corpus))
    tried = try_corrections(workspace, corpus, corrections)
    problems = tried.problems if tried is not None else ()
    found = []
    for correction in corrections:
        start = f"{correction.place}: "
        found.append((correction, next((text.removeprefix(start) for text in problems if text.startswith(start)), "")))
    return found


def _suggestions(workspace: Workspace, corpus: str, corrections: Sequence[Correction]) -> str:
    """Names that are there and close to those of the last edit that are not."""
    tables = try_corrections(workspace, corpus, corrections[:-1])
    if tables is None:
        raise HcgError(f"Corpus {corpus!r} has not been built yet.")
    vocabulary = to_vocabulary(tables.dimensions, tables.metrics)
    variables = sorted(tables.variables["variable"].to_pylist())
    members = sorted(
        {
            *vocabulary.dimension,
            *vocabulary.metric,
            *(alias for dimension in vocabulary.dimensions for alias in dimension.aliases),
            *(alias for metric in vocabulary.metrics for alias in metric.aliases),
            *(spelling for d in vocabulary.dimensions for e in d.entities for spelling in (e.name, *e.aliases)),
        }
    )
    edit = corrections[-1].edit.model_dump()
    for name in (edit[field] for field in edit if field in _NAMING):
        known = variables if "(" in name else members
        if name not in known:
            close = [match for match, _, _ in process.extract(name, known, limit=4, score_cutoff=60)]
            return f" Close to {name!r}: {', '.join(close)}." if close else ""
    return ""
