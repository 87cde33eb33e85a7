"""Plain text: as it is."""

from hcg_pipeline.corpus.encoding import decode
from hcg_pipeline.corpus.record import Record


def load(data: bytes) -> list[Record]:
    """The text, decoded."""
    return [Record(decode(data))]
