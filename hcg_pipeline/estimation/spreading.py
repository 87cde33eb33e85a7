"""A stand-in for a model's reading, made of another backend's.

A model that is given a hundred metrics uses many of them, and names causes and effects before everything else. A reader
by rules puts the same text under a handful of metrics and names whatever a passage touches. So of what it reads only
the statements and their ends are kept, and the metrics of these are spread over the vocabulary.
"""

import hashlib
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace

from hcg_pipeline.backends.protocol import LanguageBackend, ProposedVariable, Reading
from hcg_pipeline.corpus.window import Window
from hcg_pipeline.progress import Progress
from hcg_pipeline.specification.vocabulary import VariableRef, Vocabulary


def spread_readings(
    reader: LanguageBackend, windows: Sequence[Window], vocabulary: Vocabulary, progress: Progress
) -> list[Reading]:
    """What `reader` reads in `windows`, spread over the metrics of `vocabulary`; in the order of the windows.

    A variable's metric is drawn, by a hash of its entities, from those with the same signature. Raises as the reader.
    """
    by_signature: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for metric in vocabulary.metrics:
        by_signature[metric.signature].append(metric.name)

    def spread(ref: VariableRef) -> VariableRef:
        metric = vocabulary.metric.get(ref.metric)
        if metric is None:
            return ref
        names = by_signature[metric.signature]
        return VariableRef(names[_draw(*ref.entities) % len(names)], ref.entities)

    return [
        Reading(
            reading.window_id,
            reading.entities,
            tuple(
                ProposedVariable(spread(end), relation.chunk_id)
                for relation in reading.relations
                for end in (relation.source, relation.target)
            ),
            tuple(
                replace(relation, source=spread(relation.source), target=spread(relation.target))
                for relation in reading.relations
            ),
        )
        for reading in reader.read_windows(windows, vocabulary, progress).results
    ]


def _draw(*texts: str) -> int:
    digest = hashlib.blake2b("\x1f".join(texts).encode("utf-8", "replace"), digest_size=4).digest()
    return int.from_bytes(digest, "big")
