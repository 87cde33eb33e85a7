"""What a person may choose for one run, in the launchpad or with `hcg build --tier`."""

from enum import Enum

import dagster as dg
from pydantic import Field

from hcg_pipeline.corpus.settings import CorpusSettings


class TierChoice(Enum):
    """The tiers, as Dagster's launchpad offers them."""

    XS = "XS"
    S = "S"
    M = "M"
    L = "L"


class BuildChoices(dg.ConfigurableResource[None]):
    """Choices for one run. What is not chosen comes from the corpus's corpus.yaml, and from the defaults last."""

    tier: TierChoice | None = Field(
        default=None, description="Caps on dimensions and metrics, for this run only; null: as corpus.yaml says."
    )
    failed_share: float = Field(
        default=0.05, ge=0, le=1, description="Share of a stage's calls that may fail before its check warns."
    )

    batch: bool = Field(
        default=False,
        description="Send calls through the endpoint's Batch API: half the price, an answer within a day. A run that "
        "is stopped goes on with the same jobs when it is started again.",
    )

    def applied_to(self, settings: CorpusSettings) -> CorpusSettings:
        """The corpus's settings with this run's choices over them."""
        return settings if self.tier is None else settings.model_copy(update={"tier": self.tier.value})
