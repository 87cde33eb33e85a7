"""Everything about retrieval that a person may set, with the paper's defaults (Table 4 and Section 3.4)."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

ConeOrder = Literal["similarity", "paper"]


class RetrievalSettings(BaseModel):
    """How a question is matched, traversed and given its evidence. Unknown keys are refused.

    `tau_min` and `tau_e` are cosine thresholds. Similarity scales differ between embedding models, so `None` (the
    default) takes the thresholds in the index's manifest: the paper's 0.35 and 0.78 for text-embedding-3-small,
    calibrated from the corpus for every other model (see `calibration.py`).
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    tau_min: float | None = Field(None, ge=-1, le=1, description="similarity that a metric's best variable must reach")
    metrics: int = Field(5, ge=1, le=1000, description="K: how many metrics a question keeps")
    band: float = Field(0.20, ge=0, le=1, description="beta: how far below its metric's best a variable may lie")
    per_metric: int = Field(3, ge=1, le=1000, description="P: how many variables of one metric a question keeps")
    hops: int = Field(4, ge=0, le=32, description="h_max: how far the traversal goes from a matched variable")
    cones: int = Field(6, ge=1, le=1000, description="C_max: how many outcome cones are expanded")
    tau_e: float | None = Field(None, ge=-1, le=1, description="similarity at which a chunk supports an edge")
    words: int = Field(3000, ge=1, le=10_000_000, description="word budget of the evidence")
    order: ConeOrder = Field("similarity", description="what ranks cones: 'similarity' or the 'paper' count")
    discount: float = Field(0.7, gt=0, le=1, description="what a hop leaves of a matched variable's similarity")

    @property
    def wanted_words(self) -> int | None:
        """The word budget if somebody set one, None where it is the default.

        Modes with a size of their own (`naive`, `in_context`) are cut to a budget that was set, not to the default.
        """
        return self.words if "words" in self.model_fields_set else None
