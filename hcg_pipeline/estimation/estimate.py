"""Calls, tokens and USD of a build, stage by stage, before anything is spent."""

from dataclasses import dataclass

from hcg_pipeline.backends.llm.budget import PriceList
from hcg_pipeline.backends.protocol import LanguageBackend
from hcg_pipeline.corpus.windows import pack_windows
from hcg_pipeline.estimation.rehearsal import Asks, Kept, PlannedBuild, Rehearsal
from hcg_pipeline.progress import Progress, Silent
from hcg_pipeline.specification.tiers import VOCABULARY_WINDOW_WORDS, caps_of, planned_calls

_REASONS = ("gpt-5", "o1", "o3", "o4", "deepseek-r", "qwq", "magistral", "qwen3", "gpt-oss")

MARGIN = 0.25
"""How far calls and tokens of a build may be from the estimate, as a share of it, where its replies are typical."""


@dataclass(frozen=True, slots=True)
class StageEstimate:
    """One stage: calls to make, answers that are cached already, tokens, and USD (None without a price)."""

    stage: str
    calls: int
    cached: int
    tokens_in: int
    tokens_out: int
    usd: float | None


@dataclass(frozen=True, slots=True)
class BuildEstimate:
    """What a build would cost. `most_calls` is the bound that the tier sets, repairs apart; `notes` what is unsure."""

    tier: str
    model: str
    stages: tuple[StageEstimate, ...]
    total: StageEstimate
    most_calls: int
    usd_in_batches: float | None
    notes: tuple[str, ...]


def estimate_build(
    build: PlannedBuild,
    asks: Asks,
    kept: Kept,
    reader: LanguageBackend,
    prices: PriceList,
    progress: Progress | None = None,
) -> BuildEstimate:
    """The estimate for `build` by the model that `asks` names. Makes no call.

    `kept` gives the good reply that the cache has for a request, or None; `reader` stands in for the model where it has
    none (see `rehearsal`). Input tokens are those of the prompts themselves; tokens of replies are typical ones.
    """
    model = asks.sampling.model
    price = prices.price(model)
    tallies = Rehearsal(build, asks, kept, reader, progress or Silent()).run()
    stages = tuple(
        StageEstimate(
            tally.stage,
            tally.calls,
            tally.cached,
            tally.tokens_in,
            tally.tokens_out,
            price.usd(tally.tokens_in, 0, tally.tokens_out) if price else None,
        )
        for tally in tallies
    )
    total = _total(stages)
    return BuildEstimate(
        tier=build.tier,
        model=model,
        stages=stages,
        total=total,
        most_calls=_most_calls(build),
        usd_in_batches=None if total.usd is None else total.usd * prices.batch,
        notes=tuple(_notes(model, total, prices)),
    )


def _total(stages: tuple[StageEstimate, ...]) -> StageEstimate:
    usd = [stage.usd for stage in stages if stage.usd is not None]
    return StageEstimate(
        stage="total",
        calls=sum(stage.calls for stage in stages),
        cached=sum(stage.cached for stage in stages),
        tokens_in=sum(stage.tokens_in for stage in stages),
        tokens_out=sum(stage.tokens_out for stage in stages),
        usd=sum(usd) if len(usd) == len(stages) else None,
    )


def _most_calls(build: PlannedBuild) -> int:
    vocabulary = 0 if build.pinned else len(pack_windows(build.chunks, VOCABULARY_WINDOW_WORDS))
    words = build.window_words or caps_of(build.tier).window_words
    return planned_calls(build.tier, vocabulary, len(pack_windows(build.chunks, words))).total


def _notes(model: str, total: StageEstimate, prices: PriceList) -> list[str]:
    notes = [
        f"Calls and tokens should come within {MARGIN:.0%} of this. The first stages are exact; templates and edges "
        "depend on what the model reads, and are surest where the corpus is large enough to reach the tier's caps."
    ]
    if total.cached:
        notes.append(f"{total.cached:,} answers are in the cache already and cost nothing.")
    if total.usd is None:
        notes.append(
            f"No price for {model!r} in the price list of {prices.as_of}: add one to a file that HCG_LLM_PRICES names."
        )
    else:
        notes.append(
            f"Prices as of {prices.as_of}, without the rebate for prompts that the endpoint has in its own cache."
        )
    named = model.rpartition("/")[2].casefold()
    if named.startswith(_REASONS):
        notes.append(
            f"{model} reasons before it replies. That output is hidden, billed as output, and not in this estimate: it "
            "is often several times the reply. Set HCG_LLM_MAX_USD."
        )
    else:
        notes.append(
            "A model that reasons before it replies bills that hidden output, too; it is not in this estimate."
        )
    notes.append("Repairs of bad replies and retries come on top.")
    return notes
