"""`corpus.yaml`: what a person may set for one corpus."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from hcg_pipeline.any_path import AnyPath
from hcg_pipeline.retrieval.settings import RetrievalSettings
from hcg_pipeline.specification.tiers import Tier
from hcg_pipeline.specification.yaml_reading import read_yaml_file

FILE = "corpus.yaml"
RESERVED = (FILE, "outcomes.yaml", "graph_spec.yaml", "corrections.yaml")
"""Names at the root of a corpus folder that are a person's settings, not documents."""

_SMALLEST = 0.4
_LARGEST = 1.6
"""Bounds of a chunk as shares of its target. Cuts fall evenly between them, so the mean is the target."""


class ChunkingSettings(BaseModel):
    """How long chunks are, in words. A single sentence longer than the maximum is still one chunk."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    target_words: int = Field(250, ge=20, le=10_000, description="what a chunk has on average")
    minimum_words: int | None = Field(None, ge=1, le=10_000, description="0.4 of the target by default")
    maximum_words: int | None = Field(None, ge=1, le=20_000, description="1.6 of the target by default")

    @property
    def minimum(self) -> int:
        """The fewest words that a chunk has, but for the last one of a document."""
        return round(self.target_words * _SMALLEST) if self.minimum_words is None else self.minimum_words

    @property
    def maximum(self) -> int:
        """The most words that a chunk has, unless one sentence alone is longer."""
        return round(self.target_words * _LARGEST) if self.maximum_words is None else self.maximum_words

    @model_validator(mode="after")
    def _ordered(self) -> "ChunkingSettings":
        if not self.minimum < self.target_words < self.maximum:
            raise ValueError(
                f"minimum_words < target_words < maximum_words must hold, and here they are "
                f"{self.minimum}, {self.target_words}, {self.maximum}"
            )
        return self


class CorpusSettings(BaseModel):
    """Everything that `corpus.yaml` may hold. Unknown keys are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    description: str = Field("", description="what the corpus is about, for people")
    tier: Tier = Field("S", description="caps on dimensions and metrics")
    backend: Literal["rules", "llm"] | None = Field(None, description="by default whatever is configured")
    chunking: ChunkingSettings = Field(default_factory=ChunkingSettings)
    window_words: int | None = Field(None, ge=100, le=1_000_000, description="words of a window; else the tier's")
    retrieval: RetrievalSettings = Field(default_factory=RetrievalSettings)


def read_settings(folder: AnyPath) -> CorpusSettings:
    """The settings in `folder/corpus.yaml`, or the defaults where there is no such file or nothing in it.

    Raises `SettingsError` with file and line.
    """
    file = folder / FILE
    if not file.is_file():
        return CorpusSettings()
    located = read_yaml_file(file)
    if located.data is None:
        return CorpusSettings()
    if not isinstance(located.data, dict):
        raise located.error((), "expected settings such as 'tier: M', one a line")
    try:
        return CorpusSettings.model_validate(located.data)
    except ValidationError as error:
        raise located.refused(error) from error
