"""corrections.yaml: read with the line of each mistake, through its table, and appended to."""

import datetime

import pytest

from hcg_pipeline.errors import SettingsError
from hcg_pipeline.specification.corrections import (
    DropEdge,
    append_correction,
    corrections_table,
    parse_corrections,
    read_corrections,
    to_corrections,
)
from hcg_pipeline.tables import CORRECTIONS


@pytest.mark.parametrize(
    ("text", "line", "what"),
    [
        ("corrections:\n- action: explode\n", 2, "explode|tag"),
        ("corrections:\n- action: drop_metric\n  metric: X\n  note: n\n  date: someday\n", 5, "date"),
        ("corrections:\n- action: drop_metric\n  metric: X\n  note: ''\n  date: 2026-01-01\n", 4, "note"),
        ("corrections:\n- action: drop_metric\n  metric: X\n  date: 2026-01-01\n", 2, "note: Field required"),
        ("corrections:\n- action: drop_metric\n  metrik: X\n  note: n\n  date: 2026-01-01\n", 3, "metrik"),
        ("corrections: 5\n", 1, "list of edits"),
        ("edits: []\n", 1, "one key"),
        ("- x\n", 1, "one key"),
    ],
)
def test_mistakes_in_the_file_are_told_with_their_line(text, line, what):
    with pytest.raises(SettingsError, match=what) as caught:
        parse_corrections(text, "c.yaml")
    assert str(caught.value).startswith(f"c.yaml:{line}: ")


def test_corrections_go_through_their_table_wherever_the_file_lies():
    text = (
        "corrections:\n"
        "- {action: drop_metric, metric: X, note: 'ü: n', date: 2026-01-01}\n"
        "- {action: add_edge, source: A(b), target: C(d), mechanism: m, sign: '-', note: n, date: 2026-01-02}\n"
    )
    here, there = (parse_corrections(text, f"/{place}/corrections.yaml") for place in ("here", "there"))
    table = corrections_table(here)
    assert table.schema.equals(CORRECTIONS)
    assert table.equals(corrections_table(there))
    again = to_corrections(table)
    assert [one.edit for one in again] == [one.edit for one in here]
    assert [one.place for one in again] == ["corrections.yaml:2", "corrections.yaml:3"]


def test_file_is_read_from_the_corpus_or_absent(tmp_path):
    assert read_corrections(tmp_path) == ()
    (tmp_path / "corrections.yaml").write_text("# none yet\n", encoding="utf-8")
    assert read_corrections(tmp_path) == ()


@pytest.mark.parametrize(
    "text",
    [
        "",
        "# mine\n",
        "corrections: []\n",
        "corrections:\n",
        "# mine\ncorrections:\n- {action: drop_metric, metric: X, note: 'a: b', date: 2026-01-01}\n",
        "corrections:\n- {action: drop_metric, metric: X, note: no newline, date: 2026-01-01}",
    ],
)
def test_edit_is_appended_and_what_was_there_stays(text):
    edit = DropEdge(
        action="drop_edge", source="A(b, c)", target="D(e)", note='why: "so" # ü', date=datetime.date(2026, 3, 1)
    )
    added = append_correction(text, edit)
    assert added.startswith(text.replace("corrections: []", "corrections:"))
    assert parse_corrections(added, "c.yaml")[-1].edit == edit
    again = append_correction(added, edit)
    assert len(parse_corrections(again, "c.yaml")) == len(parse_corrections(text, "c.yaml")) + 2
