"""One edge as a row of NODE_EDGES, and an expert's quotes at their places in the corpus."""

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import pyarrow as pa

from hcg_pipeline.graph.node_edges import edge_id
from hcg_pipeline.graph.substrings import SubstringIndex
from hcg_pipeline.specification.vocabulary import VariableRef

EXPERT = "expert"


def edge_row(
    source: VariableRef,
    target: VariableRef,
    mechanism: str,
    sign: str,
    confidence: float,
    origin: str,
    quotes: Sequence[dict[str, Any]],
) -> dict[str, Any]:
    """One row of NODE_EDGES."""
    return {
        "edge_id": edge_id(source.name, target.name),
        "source": source.name,
        "source_metric": source.metric,
        "source_entities": list(source.entities),
        "target": target.name,
        "target_metric": target.metric,
        "target_entities": list(target.entities),
        "mechanism": mechanism,
        "sign": sign,
        "confidence": confidence,
        "origin": origin,
        "support": len(quotes),
        "quotes": list(quotes),
    }


class Quotes:
    """Finds an expert's quotes in the chunks; the index is made when the first one is asked for."""

    def __init__(self, chunks: pa.Table) -> None:
        self._chunks = chunks

    @cached_property
    def _index(self) -> SubstringIndex:
        return SubstringIndex(self._chunks.column("text").to_pylist())

    def first(self, quote: str) -> dict[str, Any] | None:
        """The first place in the corpus where a quote stands, as NODE_EDGES has quotes; None where it does not."""
        for place, at in self._index.find(quote)[:1]:
            start = self._chunks.column("start")[place].as_py() + at
            return {
                "chunk_id": self._chunks.column("chunk_id")[place].as_py(),
                "document_id": self._chunks.column("document_id")[place].as_py(),
                "start": start,
                "end": start + len(quote),
                "quote": quote,
            }
        return None
