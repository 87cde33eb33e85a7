"""Small corpora and vocabularies for the tests of this room."""

import pyarrow as pa

from hcg_pipeline.backends.protocol import ProposedDimension, ProposedEntity, ProposedMetric
from hcg_pipeline.specification.vocabulary import Dimension, Entity, Metric, Vocabulary
from hcg_pipeline.tables import CHUNKS


def chunks_table(documents: dict[str, list[str]]) -> pa.Table:
    """Chunks of documents whose text is the chunks joined with one space; ids are `<document>.<position>`."""
    rows = []
    for document, texts in documents.items():
        start = 0
        for position, text in enumerate(texts):
            rows.append(
                {
                    "chunk_id": f"{document}.{position}",
                    "document_id": document,
                    "position": position,
                    "start": start,
                    "end": start + len(text),
                    "text": text,
                    "words": len(text.split()),
                }
            )
            start += len(text) + 1
    return pa.Table.from_pylist(rows, schema=CHUNKS)


def document_texts(documents: dict[str, list[str]]) -> dict[str, str]:
    return {name: " ".join(texts) for name, texts in documents.items()}


def entity(name: str, *aliases: str, mentions: int = 1) -> ProposedEntity:
    return ProposedEntity(name, aliases, mentions)


def dimension(name: str, *entities: ProposedEntity, support: int = 1, description: str = "") -> ProposedDimension:
    return ProposedDimension(name, description, entities, support)


def metric(
    name: str, *signature: str, support: int = 1, description: str = "", category: str = "care"
) -> ProposedMetric:
    return ProposedMetric(name, signature, description, category, support)


MEDICAL = Vocabulary(
    (
        Dimension(
            "disease",
            "What ails people.",
            (Entity("lung cancer", ("carcinoma of the lung",), 9), Entity("multiple sclerosis", ("MS",), 2)),
            5,
        ),
        Dimension("treatment", "What is done.", (Entity("chemotherapy", ("chemo",), 4), Entity("surgery", (), 3)), 4),
    ),
    (
        Metric(
            "TreatmentEfficacy", ("treatment", "disease"), "How well it works. Driven by dose.", "care", "driver", 9
        ),
        Metric("TumorBurden", ("disease",), "How much tumor there is.", "course", "outcome", 5),
        Metric("PatientSurvival", ("disease",), "Who lives on.", "outcome", "terminal", 4),
    ),
)
