"""`corrections.yaml`: an expert's edits as data, each with a note and a date. They are applied elsewhere.

corrections:
- action: merge_entity
  dimension: disease
  entity: heart attack
  into: myocardial infarction
  note: one and the same
  date: 2026-03-01
"""

import datetime
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal, get_args

import pyarrow as pa
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError, field_validator

from hcg_pipeline.any_path import AnyPath
from hcg_pipeline.errors import SettingsError
from hcg_pipeline.specification.vocabulary import Role, Sign
from hcg_pipeline.specification.yaml_reading import read_text, read_yaml
from hcg_pipeline.tables import CORRECTIONS

FILE = "corrections.yaml"


class _Edit(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, str_strip_whitespace=True)

    note: str = Field(min_length=1)
    date: datetime.date


class RenameEntity(_Edit):
    """Give an entity another name; the old one stays as alias."""

    action: Literal["rename_entity"]
    dimension: str
    entity: str
    to: str = Field(min_length=1)


class MergeEntity(_Edit):
    """Take one entity for another of the same dimension."""

    action: Literal["merge_entity"]
    dimension: str
    entity: str
    into: str


class SplitEntity(_Edit):
    """Take a merge back: one of the entity's aliases becomes an entity of its own, where the text speaks of it."""

    action: Literal["split_entity"]
    dimension: str
    entity: str
    alias: str


class DropEntity(_Edit):
    """Remove an entity with every variable that binds it."""

    action: Literal["drop_entity"]
    dimension: str
    entity: str


class SplitDimension(_Edit):
    """Take a merge back: one of the dimension's aliases becomes a dimension of its own, with some of the entities.

    `entities` are names, in a list or with commas between. Metrics over the dimension get a twin over the new one.
    """

    action: Literal["split_dimension"]
    dimension: str
    alias: str
    entities: tuple[str, ...] = Field(min_length=1)

    @field_validator("entities", mode="before")
    @classmethod
    def _written(cls, value: object) -> object:
        return [part.strip() for part in value.split(",")] if isinstance(value, str) else value


class RenameMetric(_Edit):
    """Give a metric another name."""

    action: Literal["rename_metric"]
    metric: str
    to: str


class MergeMetric(_Edit):
    """Take one metric for another that binds the same dimensions."""

    action: Literal["merge_metric"]
    metric: str
    into: str


class SplitMetric(_Edit):
    """Take a merge back: one of the metric's aliases becomes a metric of its own, where the text uses its words."""

    action: Literal["split_metric"]
    metric: str
    alias: str


class DropMetric(_Edit):
    """Remove a metric with its variables."""

    action: Literal["drop_metric"]
    metric: str


class SetRole(_Edit):
    """Make a metric a terminal, an outcome or a driver. A terminal's outgoing edges go; another's come back."""

    action: Literal["set_role"]
    metric: str
    role: Role


class RenameVariable(_Edit):
    """Bind a variable anew: `to` is a variable of the vocabulary, there already or not."""

    action: Literal["rename_variable", "merge_variable"]
    variable: str
    to: str


class DropVariable(_Edit):
    """Remove a variable with its edges."""

    action: Literal["drop_variable"]
    variable: str


class AddEdge(_Edit):
    """Add an edge between two variables of the vocabulary; `quote`, if given, must stand in a chunk."""

    action: Literal["add_edge"]
    source: str
    target: str
    mechanism: str = Field(min_length=1)
    sign: Sign = "?"
    confidence: float = Field(default=0.99, ge=0.0, le=0.99)
    quote: str = ""


class DropEdge(_Edit):
    """Remove an edge."""

    action: Literal["drop_edge"]
    source: str
    target: str


class FlipEdge(_Edit):
    """Turn an edge around: `source` and `target` are its ends as they were."""

    action: Literal["flip_edge"]
    source: str
    target: str


class RewordEdge(_Edit):
    """Replace an edge's mechanism."""

    action: Literal["reword"]
    source: str
    target: str
    mechanism: str = Field(min_length=1)


EntityEdit = RenameEntity | MergeEntity | SplitEntity | DropEntity
MetricEdit = RenameMetric | MergeMetric | SplitMetric | DropMetric | SetRole
VariableEdit = RenameVariable | DropVariable
EdgeEdit = AddEdge | DropEdge | FlipEdge | RewordEdge
Edit = EntityEdit | SplitDimension | MetricEdit | VariableEdit | EdgeEdit

_EDITS: TypeAdapter[Edit] = TypeAdapter(Annotated[Edit, Field(discriminator="action")])


_KINDS: tuple[type[_Edit], ...] = get_args(Edit)
ACTIONS: dict[str, type[_Edit]] = {
    action: kind for kind in _KINDS for action in get_args(kind.model_fields["action"].annotation)
}
_COMMON = ("action", "note", "date")


def wanted_fields(action: str) -> tuple[str, ...]:
    """What an edit of this action must say, in the order in which it reads: `source`, `target`, `mechanism`, ….

    Raises `SettingsError` for an action that there is not.
    """
    kind = ACTIONS.get(action)
    if kind is None:
        raise SettingsError(f"{action!r} is no edit: choose one of {', '.join(ACTIONS)}")
    fields = kind.model_fields.items()
    return tuple(name for name, field in fields if field.is_required() and name not in _COMMON)


def edit_of(action: str, values: Sequence[str], note: str, date: datetime.date, options: Mapping[str, object]) -> Edit:
    """An edit from its values in the order of `wanted_fields`, and `options` for what it may say besides.

    Raises `SettingsError` where values are too few or too many, or an option does not belong to the action.
    """
    wanted = wanted_fields(action)
    if len(values) != len(wanted):
        given = f"{len(values)} given" if values else "none given"
        raise SettingsError(f"{action} takes {', '.join(name.upper() for name in wanted)}; {given}")
    entry = {"action": action, **dict(zip(wanted, values, strict=True)), **options, "note": note, "date": date}
    try:
        return _EDITS.validate_python(entry)
    except ValidationError as error:
        complaint = error.errors()[0]
        named = ".".join(str(part) for part in complaint["loc"][1:])
        raise SettingsError(f"{action}: {named}: {complaint['msg']}") from error


@dataclass(frozen=True, slots=True)
class Correction:
    """One edit and where it stands (`file:line`)."""

    edit: Edit
    place: str

    def problem(self, why: str) -> str:
        """One line that says where, which edit, and why it did nothing."""
        return f"{self.place}: {self.edit.action} {why}"


def read_corrections(folder: AnyPath) -> tuple[Correction, ...]:
    """The corpus's `corrections.yaml` in its order; empty where there is none. Raises `SettingsError` with the line."""
    file = folder / FILE
    return parse_corrections(read_text(file), file) if file.is_file() else ()


def parse_corrections(text: str, path: str | AnyPath) -> tuple[Correction, ...]:
    """Read and check the text of a `corrections.yaml`."""
    located = read_yaml(text, path)
    if located.data is None:
        return ()
    if not isinstance(located.data, dict) or set(located.data) != {"corrections"}:
        raise located.error((), "must have one key, `corrections`, with a list of edits")
    entries = located.data["corrections"] or []
    if not isinstance(entries, list):
        raise located.error(("corrections",), "`corrections` must be a list of edits")
    found = []
    for place, entry in enumerate(entries):
        try:
            edit = _EDITS.validate_python(entry)
        except ValidationError as error:
            raise located.refused(error, within=("corrections", place), skipping=1) from error
        found.append(Correction(edit, f"{path}:{located.line(('corrections', place))}"))
    return tuple(found)


def corrections_table(corrections: Sequence[Correction]) -> pa.Table:
    """Corrections as CORRECTIONS, in their order; a place is the file's name and the line, wherever the file lies."""
    rows = [
        {
            "place": Path(correction.place).name,
            "action": correction.edit.action,
            "edit": correction.edit.model_dump_json(),
            "note": correction.edit.note,
            "date": correction.edit.date.isoformat(),
        }
        for correction in corrections
    ]
    return pa.Table.from_pylist(rows, schema=CORRECTIONS)


def to_corrections(table: pa.Table) -> tuple[Correction, ...]:
    """The corrections of a CORRECTIONS table."""
    return tuple(Correction(_EDITS.validate_json(row["edit"]), row["place"]) for row in table.to_pylist())


def append_correction(text: str, edit: Edit) -> str:
    """The text of a `corrections.yaml` (may be empty) with one more edit at its end; what is there stays as it is.

    Raises `SettingsError` where the text is not a corrections file already.
    """
    said = edit.model_dump(mode="json", exclude_defaults=True)
    ordered = ["action", *(key for key in said if key not in _COMMON), "note", "date"]
    lines = [f"  {key}: {json.dumps(said[key], ensure_ascii=False)}" for key in ordered]
    entry = "- " + "\n".join(lines)[2:] + "\n"
    known = parse_corrections(text, FILE)
    head = text if text.endswith("\n") or not text else text + "\n"
    if not known and "corrections:" not in text:
        head += "corrections:\n"
    elif not known:
        head = head.replace("corrections: []", "corrections:")
    added = head + entry
    if [c.edit for c in parse_corrections(added, FILE)] != [*(c.edit for c in known), edit]:
        raise SettingsError(f"{FILE}:1: the edit cannot be appended to the file as it is written: add it by hand")
    return added
