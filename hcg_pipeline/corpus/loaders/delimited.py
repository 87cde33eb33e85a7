"""CSV and TSV: one document a file, one sentence a row."""

import csv
from collections import Counter
from io import StringIO

from hcg_pipeline.corpus.encoding import decode
from hcg_pipeline.corpus.loaders.table_text import row_sentences
from hcg_pipeline.corpus.record import Record
from hcg_pipeline.errors import DocumentError

_DELIMITERS = "\t;|,"
"""The comma last: it also stands within numbers and phrases, so where another divides as well it is that one."""
_SAMPLE_ROWS = 50
_SAMPLE = 200_000
"""Characters from which the delimiter is told."""


def load(data: bytes) -> list[Record]:
    """The rows as sentences. The delimiter is told from the text, whatever the ending says."""
    text = decode(data).replace("\0", "")
    lines = row_sentences(_rows(text, delimiter_of(text)))
    if not lines:
        raise DocumentError("the table has no row with anything in it: fill it or remove it")
    return [Record("\n".join(lines))]


def delimiter_of(text: str) -> str:
    """Which of tab, semicolon, bar and comma divides the rows most evenly into most fields; comma if none does."""
    sample = text[:_SAMPLE]
    if len(text) > _SAMPLE and "\n" in sample:
        sample = sample[: sample.rindex("\n")]
    best, most = ",", (0.0, 0)
    for delimiter in _DELIMITERS:
        widths = Counter(len(row) for row in _rows(sample, delimiter)[:_SAMPLE_ROWS])
        width, count = max(widths.items(), key=lambda item: (item[1], item[0]), default=(1, 0))
        if width > 1 and (evenness := (count / widths.total(), width)) > most:
            best, most = delimiter, evenness
    return best


def _rows(text: str, delimiter: str) -> list[list[str]]:
    # The module's limit on a field is global; a field cannot be longer than the text, so raising it lifts it for good.
    csv.field_size_limit(max(csv.field_size_limit(), len(text)))
    try:
        reader = csv.reader(StringIO(text, newline=""), delimiter=delimiter, skipinitialspace=True)
        return [row for row in reader if any(value.strip() for value in row)]
    except csv.Error as error:
        raise DocumentError(f"not a table: {error}. Save it again as CSV with its fields quoted") from error
