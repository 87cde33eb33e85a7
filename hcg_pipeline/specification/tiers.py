"""Tiers: how large a specification may grow, and how many language-model calls a build of that size may make.

The paper's build of a 1.05 MB corpus makes 131 (XS), 833 (S), 1,167 (M) and 2,214 (L) calls (Appendix L). The budgets
here keep a build of the same corpus under half of each, repair calls left out of account.

Windows end where the text suggests, so on average they are filled to about 70%: 175,000 words are 27, 229, 289 and 515
windows.

The vocabulary is proposed from the same sample of windows in every tier, so that one ranking serves them all and a
tier is a prefix of the next.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from hcg_pipeline.corpus.window import Window
from hcg_pipeline.errors import SettingsError

Tier = Literal["XS", "S", "M", "L"]

ORDER: tuple[Tier, ...] = ("XS", "S", "M", "L")
WIDEST: Tier = "L"

VOCABULARY_WINDOWS = 10
VOCABULARY_WINDOW_WORDS = 3_000

TARGETS_PER_CALL = 12
CANDIDATES_PER_CALL = 12
PASSAGES_PER_CALL = 4


@dataclass(frozen=True, slots=True)
class TierCaps:
    """Caps of one tier: members of the fixed sets, words a reading window, calls for each kind of judgement.

    `entities` caps what a dimension starts with; readings may add more.
    """

    dimensions: int
    metrics: int
    window_words: int
    template_calls: int
    edge_calls: int
    entities: int = 100


TIERS: dict[str, TierCaps] = {
    "XS": TierCaps(dimensions=6, metrics=24, window_words=9_000, template_calls=5, edge_calls=5, entities=40),
    "S": TierCaps(dimensions=8, metrics=64, window_words=1_000, template_calls=40, edge_calls=60, entities=100),
    "M": TierCaps(dimensions=10, metrics=110, window_words=800, template_calls=70, edge_calls=90, entities=120),
    "L": TierCaps(dimensions=14, metrics=173, window_words=500, template_calls=140, edge_calls=240, entities=200),
}


def caps_of(tier: str) -> TierCaps:
    """The caps of a tier. Raises `SettingsError` for a name that is not one."""
    if tier not in TIERS:
        raise SettingsError(f"tier {tier!r} is none of {', '.join(ORDER)}: choose one of these")
    return TIERS[tier]


def up_to(tier: str) -> tuple[Tier, ...]:
    """The tiers from XS to `tier`, smallest first."""
    caps_of(tier)
    return ORDER[: [*ORDER].index(tier) + 1]  # type: ignore[arg-type]


def sample_windows(windows: Sequence[Window], count: int) -> list[Window]:
    """At most `count` windows, evenly spread over the corpus in its order, the same ones every time.

    Window i of n stands for the i-th of `count` equal stretches, at its middle, so that a beginning full of front
    matter is not preferred.
    """
    total = len(windows)
    if count >= total:
        return list(windows)
    return [windows[(2 * place + 1) * total // (2 * count)] for place in range(count)]


@dataclass(frozen=True, slots=True)
class PlannedCalls:
    """Upper bounds on language-model calls of a first build, by what they are for; repairs are extra."""

    dimensions: int
    metrics: int
    windows: int
    templates: int
    edges: int

    @property
    def total(self) -> int:
        """All calls together."""
        return self.dimensions + self.metrics + self.windows + self.templates + self.edges


def planned_calls(tier: str, vocabulary_windows: int, reading_windows: int, metrics: int | None = None) -> PlannedCalls:
    """The most calls that a build makes, before anything is called.

    `vocabulary_windows` and `reading_windows` are how many windows the corpus packs into at `VOCABULARY_WINDOW_WORDS`
    and at the tier's `window_words`; `metrics` is how many metrics there are, where that is known already (each is the
    source of at most `ceil(metrics / TARGETS_PER_CALL)` template questions).
    """
    caps = caps_of(tier)
    sampled = min(VOCABULARY_WINDOWS, vocabulary_windows)
    templates = caps.template_calls
    if metrics is not None:
        templates = min(templates, metrics * math.ceil(max(metrics - 1, 0) / TARGETS_PER_CALL))
    return PlannedCalls(sampled, sampled, reading_windows, templates, caps.edge_calls)
