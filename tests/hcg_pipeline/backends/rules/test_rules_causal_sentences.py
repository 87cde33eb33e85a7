"""The table of hand-written sentences: every row listed as handled is read exactly, nothing more and nothing less."""

import sys
from pathlib import Path

import pytest

from hcg_pipeline.backends.rules.parsing import Parser

sys.path.insert(0, str(Path(__file__).parents[4]))
from benchmarks.causal_table import Row, found_triples, read_rows

ROWS = read_rows(Path(__file__).with_name("causal_sentences.tsv"))


@pytest.fixture(scope="module")
def parser() -> Parser:
    return Parser()


def test_the_table_is_large_and_honest() -> None:
    assert len(ROWS) >= 60
    assert len({row.sentence for row in ROWS}) == len(ROWS)
    assert sum(not row.handled for row in ROWS) >= 5


@pytest.mark.parametrize("row", [row for row in ROWS if row.handled], ids=lambda row: row.sentence[:60])
def test_handled_sentence_is_read_exactly(row: Row, parser: Parser) -> None:
    assert found_triples(row, parser) == row.expected


@pytest.mark.parametrize("row", [row for row in ROWS if not row.handled], ids=lambda row: row.sentence[:60])
def test_missed_sentence_is_still_missed(row: Row, parser: Parser) -> None:
    """A row that is now read right belongs among the handled."""
    assert found_triples(row, parser) != row.expected
