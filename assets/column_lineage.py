"""From which columns of which tables each column of each table is made: one declaration, shown on every asset.

A column that comes straight from files, settings or questions has no column behind it. Where a backend reads passages,
the column behind what it says is the passages' text.
"""

from collections.abc import Mapping, Sequence

import dagster as dg

_SAME = "="
"""Stands for the column of the same name: `= chunks` is `chunks.x` for the column `x`."""

_JUDGED = "chunks.text variables.variable metric_templates.source_metric metric_templates.target_metric"
_LINKED = "corrected_edges.quotes corrected_edges.mechanism"
_RETRIEVED = "graph_index.snapshot_id embeddings.vector"
_PASSAGES = f"{_RETRIEVED} chunks.text evidence_links.quote"

# asset -> column -> the columns behind it, as `asset.column`, separated by spaces.
_DECLARED: Mapping[str, Mapping[str, str]] = {
    "documents": dict.fromkeys(("document_id", "path", "other_paths", "media_type", "text", "characters", "words"), ""),
    "rejected": dict.fromkeys(("path", "media_type", "bytes", "reason"), ""),
    "chunks": {
        "chunk_id": "documents.path documents.text",
        "document_id": "documents.document_id",
        **dict.fromkeys(("position", "start", "end", "text", "words"), "documents.text"),
    },
    "embeddings": {"chunk_id": "chunks.chunk_id", "vector": "chunks.text"},
    "outcomes": dict.fromkeys(("role", "pattern"), ""),
    "corrections": dict.fromkeys(("place", "action", "edit", "note", "date"), ""),
    "ranked_dimensions": dict.fromkeys(("dimension", "description", "support", "entities", "aliases"), "chunks.text"),
    "dimensions": {
        **dict.fromkeys(("description", "support", "entities", "aliases"), "= ranked_dimensions"),
        "dimension": "ranked_dimensions.dimension ranked_dimensions.support",
    },
    "metrics": {
        "metric": "chunks.text",
        "signature": "chunks.text ranked_dimensions.dimension dimensions.dimension",
        "description": "chunks.text",
        "category": "chunks.text",
        "role": "chunks.text outcomes.role outcomes.pattern",
        "support": "chunks.text",
        "aliases": "chunks.text",
    },
    "entities": {
        "dimension": "dimensions.dimension",
        "description": "dimensions.description",
        "support": "dimensions.support",
        "entities": "dimensions.entities metrics.signature chunks.text",
        "aliases": "dimensions.aliases",
    },
    "variables": {
        "variable": "metrics.metric entities.entities chunks.text",
        "metric": "metrics.metric",
        "entities": "metrics.signature entities.entities chunks.text",
        "role": "metrics.role",
        "description": "metrics.metric metrics.description entities.entities",
        "mentions": "chunks.text",
        "chunk_ids": "chunks.chunk_id",
    },
    "seed_relations": {
        "source": "variables.variable",
        "target": "variables.variable",
        **dict.fromkeys(("mechanism", "sign", "confidence"), "chunks.text"),
        "chunk_id": "chunks.chunk_id",
        "document_id": "chunks.document_id",
        "start": "chunks.start chunks.text",
        "end": "chunks.start chunks.text",
        "quote": "chunks.text",
    },
    "reading_counts": {"count": "", "value": "chunks.text metrics.metric entities.entities"},
    "merges": {
        "scope": "entities.dimension",
        "kept": "entities.dimension entities.entities metrics.metric",
        "merged": "entities.aliases entities.entities metrics.aliases",
        "reason": "entities.aliases entities.entities metrics.aliases chunks.text",
    },
    "metric_templates": {
        "source_metric": "seed_relations.source metrics.metric metrics.role variables.chunk_ids",
        "target_metric": "seed_relations.target metrics.metric variables.chunk_ids",
        "origin": "seed_relations.source seed_relations.target",
        "support": "seed_relations.quote",
        "mechanism": "seed_relations.mechanism chunks.text",
        "confidence": "seed_relations.confidence chunks.text",
    },
    "node_edges": {
        "edge_id": f"seed_relations.source seed_relations.target {_JUDGED}",
        "source": f"seed_relations.source {_JUDGED}",
        "source_metric": "seed_relations.source metric_templates.source_metric metrics.metric",
        "source_entities": "seed_relations.source variables.entities entities.entities chunks.text",
        "target": f"seed_relations.target {_JUDGED}",
        "target_metric": "seed_relations.target metric_templates.target_metric metrics.metric",
        "target_entities": "seed_relations.target variables.entities entities.entities chunks.text",
        **dict.fromkeys(("mechanism", "sign", "confidence"), "= seed_relations chunks.text"),
        "origin": "seed_relations.source seed_relations.target",
        "support": "seed_relations.quote chunks.text",
        "quotes": "seed_relations.quote seed_relations.start seed_relations.end seed_relations.chunk_id chunks.text",
    },
    "corrected_dimensions": dict.fromkeys(
        ("dimension", "description", "support", "entities", "aliases"), "= entities corrections.edit"
    ),
    "corrected_metrics": dict.fromkeys(
        ("metric", "signature", "description", "category", "role", "support", "aliases"), "= metrics corrections.edit"
    ),
    "corrected_variables": {
        "variable": "= variables node_edges.source node_edges.target corrections.edit",
        **dict.fromkeys(("metric", "role", "description"), "= variables metrics.metric corrections.edit"),
        "entities": "= variables entities.entities corrections.edit",
        "mentions": "= variables node_edges.quotes corrections.edit",
        "chunk_ids": "= variables node_edges.quotes chunks.chunk_id corrections.edit",
    },
    "corrected_edges": {
        **dict.fromkeys(
            ("edge_id", "source", "target", "mechanism", "sign", "confidence", "origin", "support"),
            "= node_edges corrections.edit",
        ),
        **dict.fromkeys(("source_metric", "target_metric"), "= node_edges metrics.metric corrections.edit"),
        **dict.fromkeys(("source_entities", "target_entities"), "= node_edges entities.entities corrections.edit"),
        "quotes": "= node_edges chunks.chunk_id chunks.text corrections.edit",
    },
    "evidence_links": {
        "edge_id": "corrected_edges.edge_id",
        "chunk_id": f"{_LINKED} chunks.chunk_id embeddings.vector",
        "document_id": f"{_LINKED} chunks.document_id",
        "start": f"{_LINKED} chunks.start",
        "end": f"{_LINKED} chunks.end",
        "quote": f"{_LINKED} documents.text",
        "kind": f"{_LINKED} chunks.text embeddings.vector",
        "similarity": "embeddings.vector corrected_edges.source corrected_edges.target corrected_edges.mechanism",
    },
    "graph": {
        "snapshot_id": "corrected_dimensions.dimension corrected_metrics.metric corrected_variables.variable "
        "corrected_edges.edge_id evidence_links.quote documents.text chunks.text",
        "variables": "corrected_variables.variable",
        "edges": "corrected_edges.edge_id",
        "evidence": "evidence_links.edge_id",
        "share_with_evidence": "evidence_links.edge_id corrected_edges.edge_id",
    },
    "graph_index": {
        "snapshot_id": "graph.snapshot_id",
        "fingerprint": "graph.snapshot_id documents.text",
        "embedding_model": "",
        "passages": "graph.snapshot_id documents.text",
        "tau_min": "embeddings.vector graph.snapshot_id",
        "tau_e": "embeddings.vector graph.snapshot_id",
    },
    "quality_report": {
        "section": "",
        "item": "metrics.metric metrics.category entities.dimension reading_counts.count",
        "value": "graph.snapshot_id chunks.text variables.chunk_ids seed_relations.chunk_id reading_counts.value "
        "merges.merged",
    },
    "answers": {
        **dict.fromkeys(
            ("question_set", "id", "question", "question_type", "reference", "reference_evidence", "backend"), ""
        ),
        "answer": _PASSAGES,
        "answered": _PASSAGES,
        "mode": _RETRIEVED,
        "matched": f"{_RETRIEVED} corrected_variables.variable corrected_variables.description",
        "cones": f"{_RETRIEVED} corrected_edges.source corrected_edges.target corrected_metrics.role",
        "contexts": _PASSAGES,
        "evidence": f"{_PASSAGES} documents.path chunks.start chunks.end",
        "cited": _PASSAGES,
    },
    "scores": {
        **dict.fromkeys(("question_set", "id", "question_type", "mode", "backend"), "= answers"),
        "measure": "",
        "value": "answers.answer answers.contexts answers.reference answers.reference_evidence chunks.text",
        **dict.fromkeys(("tier", "words", "run"), ""),
    },
    "benchmark_report": {
        "report": " ".join(
            f"scores.{column}"
            for column in (
                *("question_set", "id", "question_type", "mode", "measure", "value", "tier", "backend", "words", "run"),
            )
        )
    },
}


def columns_behind(asset: str) -> Mapping[str, Sequence[tuple[str, str]]]:
    """Per column of an asset's table, in no order, the `(asset, column)` that it is made from. Raises `KeyError`."""
    return {column: _parsed(column, declared) for column, declared in _DECLARED[asset].items()}


def column_lineage(asset: str) -> dg.TableColumnLineage:
    """The same as Dagster's metadata `dagster/column_lineage`. Raises `KeyError` for an asset that is not declared."""
    return dg.TableColumnLineage(
        {
            column: [dg.TableColumnDep(dg.AssetKey(source), name) for source, name in behind]
            for column, behind in columns_behind(asset).items()
        }
    )


def _parsed(column: str, declared: str) -> list[tuple[str, str]]:
    first, _, rest = declared.partition(" ")
    if first == _SAME:
        source, _, rest = rest.partition(" ")
        declared = f"{source}.{column} {rest}"
    return [(source, name) for source, _, name in (part.partition(".") for part in declared.split())]
