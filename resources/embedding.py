"""The embedding model as a Dagster resource: the one inside the wheel, or an OpenAI-compatible endpoint."""

from functools import lru_cache
from pathlib import Path

import dagster as dg
from pydantic import Field, SecretStr, ValidationError
from sqlalchemy import Engine

from hcg_pipeline.backends.llm.settings import OPENAI_URL, EmbeddingSettings
from hcg_pipeline.embedding.cache import CachedEmbedder, sqlite_engine, stored_dimension
from hcg_pipeline.embedding.embedder import Embedder
from hcg_pipeline.embedding.openai import build_openai_embedder
from hcg_pipeline.embedding.wordllama import WordLlamaEmbedder
from hcg_pipeline.errors import EmbeddingError, SettingsError
from resources import environment

OPENAI_MODEL = "text-embedding-3-small"


class EmbeddingModel(dg.ConfigurableResource[None]):
    """What turns texts into vectors. Vectors are cached by text and model, for all corpora together."""

    kind: str = Field(default="wordllama", description="`wordllama` (inside its wheel) or `openai` (an endpoint).")
    model: str = Field(default=OPENAI_MODEL, description="The endpoint's model; unused by wordllama.")
    base_url: str | None = Field(default=None, description="OpenAI-compatible endpoint; null: OpenAI's own.")
    key_variable: str = Field(default="OPENAI_API_KEY", description="The environment variable that holds the key.")
    follows_backend: bool = Field(
        default=True, description="A corpus that asks for the rules backend stays offline with its vectors, too."
    )
    cache: str = Field(description="Folder of the vector cache.")

    @classmethod
    def from_environment(cls, cache: Path) -> "EmbeddingModel":
        """What HCG_EMBEDDER says.

        Unset: the endpoint, where an embedding model is named (HCG_EMBEDDING_MODEL) or OpenAI itself is configured; a
        server of one's own may serve no embeddings, so it needs the name. Else wordllama.
        """
        base_url = environment.text("HCG_EMBEDDING_BASE_URL") or environment.text("HCG_LLM_BASE_URL")
        model = environment.text("HCG_EMBEDDING_MODEL")
        plain_openai = environment.text("OPENAI_API_KEY") is not None and base_url is None
        guess = "openai" if model or plain_openai else "wordllama"
        chosen = environment.one_of("HCG_EMBEDDER", ("wordllama", "openai"))
        return cls(
            kind=chosen or guess,
            model=model or OPENAI_MODEL,
            follows_backend=chosen is None and model is None,
            base_url=base_url,
            cache=str(cache),
        )

    def embedder_for(self, backend: str | None) -> CachedEmbedder:
        """The embedder for building a corpus that asks for `backend`, behind the cache.

        Raises `EmbeddingError`, `SettingsError`.
        """
        if self.kind == "wordllama" or (backend == "rules" and self.follows_backend):
            return CachedEmbedder(_wordllama(), self._cache_engine())
        return CachedEmbedder(self._endpoint(), self._cache_engine())

    def embedder_of(self, model: str) -> CachedEmbedder:
        """The embedder for asking an index that `model` made: the embedded one, if it did; else the configured one.

        Opening the index says so where that is another model. Raises `EmbeddingError`, `SettingsError`.
        """
        if model == _wordllama().model:
            return CachedEmbedder(_wordllama(), self._cache_engine())
        return self.embedder_for(None)

    def _cache_engine(self) -> Engine:
        Path(self.cache).mkdir(parents=True, exist_ok=True)
        return _engine(str(Path(self.cache) / "embeddings.sqlite"))

    def _endpoint(self) -> Embedder:
        key = environment.text(self.key_variable)
        if self.base_url is None and key is None:
            raise EmbeddingError(
                f"The openai embedder needs an endpoint: set {self.key_variable}, or HCG_EMBEDDING_BASE_URL for a "
                "server of your own, or HCG_EMBEDDER=wordllama."
            )
        try:
            settings = EmbeddingSettings(
                model=self.model, base_url=self.base_url or OPENAI_URL, api_key=SecretStr(key) if key else None
            )
        except ValidationError as error:
            raise SettingsError(f"The embedding endpoint's settings are wrong: {error.errors()[0]['msg']}.") from error
        return _openai(settings, self._cache_engine())


@lru_cache
def _wordllama() -> Embedder:
    return WordLlamaEmbedder()


@lru_cache
def _openai(settings: EmbeddingSettings, cache: Engine) -> Embedder:
    return build_openai_embedder(settings, dimension=stored_dimension(cache, settings.model))


@lru_cache
def _engine(path: str) -> Engine:
    return sqlite_engine(path)
