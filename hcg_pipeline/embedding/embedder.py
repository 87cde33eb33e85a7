"""What the pipeline asks of an embedding model."""

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float32]


class Embedder(Protocol):
    """Turns texts into vectors. The same text and model give the same vector."""

    @property
    def model(self) -> str:
        """Name that goes into an index's manifest, with version: two embedders of one name are interchangeable."""

    @property
    def dimension(self) -> int:
        """Length of a vector."""

    def embed(self, texts: Sequence[str]) -> Vectors:
        """An array (len(texts), dimension), rows L2-normalised. Raises `EmbeddingError`."""
