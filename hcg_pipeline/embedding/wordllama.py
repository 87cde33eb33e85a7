"""The embedded model: WordLlama (static token vectors, 256 dimensions), whose weights lie inside its wheel."""

import logging
import threading
from collections.abc import Sequence
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np

from hcg_pipeline.embedding.embedder import Vectors
from hcg_pipeline.errors import EmbeddingError

_DIMENSION = 256
# WordLlama pads a batch to its longest text, so a block holds about this many characters after padding.
_BLOCK_CHARACTERS = 400_000


class WordLlamaEmbedder:
    """Embeds on the CPU with no key and no network. Loading (0.2 s) waits for the first text."""

    def __init__(self) -> None:
        self._model: Any = None
        self._lock = threading.Lock()

    @property
    def model(self) -> str:
        """`wordllama-<package version>-l2_supercat_256`: the weights are those of the package."""
        return f"wordllama-{metadata.version('wordllama')}-l2_supercat_{_DIMENSION}"

    @property
    def dimension(self) -> int:
        """256."""
        return _DIMENSION

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Mean of the token vectors, L2-normalised: float32 (len(texts), 256).

        A text with no token (empty, white space) has no direction of its own and gets the first unit vector, so that
        no row is ever NaN or zero. A text's vector does not depend on the texts that it is embedded with.
        Raises `EmbeddingError` when the weights cannot be loaded or a text is not Unicode.
        """
        vectors = np.zeros((len(texts), _DIMENSION), dtype=np.float32)
        if not texts:
            return vectors
        model = self._load()
        order = sorted(range(len(texts)), key=lambda place: len(texts[place]))
        for block in _blocks([len(texts[place]) for place in order]):
            places = order[block]
            try:
                vectors[places] = model.embed([texts[place] for place in places], batch_size=len(places))
            except (TypeError, UnicodeEncodeError) as error:
                raise EmbeddingError(
                    f"WordLlama cannot read a text: {error}. Decode the text to Unicode first."
                ) from error
        return normalise(vectors)

    def _load(self) -> Any:
        with self._lock:
            if self._model is None:
                self._model = _load_weights()
            return self._model


def normalise(vectors: Vectors) -> Vectors:
    """Rows of length 1. A row with no direction (zero or not finite) becomes the first unit vector."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    directed = np.isfinite(lengths) & (lengths > 0)
    unit = np.zeros_like(vectors)
    unit[:, :1] = 1
    np.divide(vectors, lengths, out=unit, where=directed)
    return unit


def _blocks(lengths: list[int]) -> list[slice]:
    """Cuts ascending lengths into runs whose padded size stays under the bound; a text above it stands alone."""
    blocks, begin = [], 0
    for place in range(1, len(lengths) + 1):
        if place == len(lengths) or (place - begin + 1) * lengths[place] > _BLOCK_CHARACTERS:
            blocks.append(slice(begin, place))
            begin = place
    return blocks


def _load_weights() -> Any:
    # Importing wordllama calls logging.basicConfig at level INFO, which would make every library's log speak up.
    root = logging.getLogger()
    handlers, level = list(root.handlers), root.level
    try:
        import wordllama

        package = Path(wordllama.__file__).parent
        return wordllama.WordLlama.load(cache_dir=package, dim=_DIMENSION, disable_download=True)
    except (ImportError, OSError, ValueError) as error:
        raise EmbeddingError(
            f"the embedded model cannot be loaded: {error}. Reinstall it: pip install --force-reinstall wordllama."
        ) from error
    finally:
        root.handlers[:] = handlers
        root.setLevel(level)
