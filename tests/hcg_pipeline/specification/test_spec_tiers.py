from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hcg_pipeline.corpus.window import Window
from hcg_pipeline.errors import SettingsError
from hcg_pipeline.specification.tiers import (
    ORDER,
    TIERS,
    VOCABULARY_WINDOW_WORDS,
    caps_of,
    planned_calls,
    sample_windows,
)

# The paper's calls on a corpus of 1.05 MB are 131, 833, 1,167 and 2,214; we must need less than half.
HALF = {"XS": 65, "S": 416, "M": 583, "L": 1_107}
WORDS = 175_000


@pytest.mark.parametrize("tier", ORDER)
def test_a_build_of_the_papers_corpus_makes_less_than_half_of_the_papers_calls(tier: str) -> None:
    # Windows end at content-defined places and are filled to about 70%.
    reading = round(WORDS / (0.65 * TIERS[tier].window_words))
    planned = planned_calls(tier, round(WORDS / (0.65 * VOCABULARY_WINDOW_WORDS)), reading, TIERS[tier].metrics)
    assert planned.total < HALF[tier]


def test_caps_grow_with_the_tier() -> None:
    assert [(TIERS[t].dimensions, TIERS[t].metrics) for t in ORDER] == [(6, 24), (8, 64), (10, 110), (14, 173)]
    for smaller, larger in pairwise(TIERS[tier] for tier in ORDER):
        assert smaller.template_calls < larger.template_calls
        assert smaller.edge_calls < larger.edge_calls
        assert smaller.window_words > larger.window_words


def test_plan_of_a_small_corpus_counts_what_there_is() -> None:
    planned = planned_calls("S", vocabulary_windows=2, reading_windows=5, metrics=4)
    assert (planned.dimensions, planned.metrics, planned.windows, planned.templates, planned.edges) == (2, 2, 5, 4, 60)
    assert planned.total == 73
    assert planned_calls("S", 2, 5, metrics=1).templates == 0


def test_unknown_tier_says_which_there_are() -> None:
    with pytest.raises(SettingsError, match="tier 'XXL' is none of XS, S, M, L"):
        caps_of("XXL")


def _windows(count: int) -> list[Window]:
    return [Window(f"w{number}", ()) for number in range(count)]


def test_sample_is_spread_evenly() -> None:
    assert [w.window_id for w in sample_windows(_windows(10), 3)] == ["w1", "w5", "w8"]
    assert [w.window_id for w in sample_windows(_windows(2), 3)] == ["w0", "w1"]
    assert sample_windows([], 3) == []


@given(st.integers(0, 300), st.integers(1, 40))
def test_sample_has_distinct_windows_in_order_and_no_large_gap(total: int, count: int) -> None:
    windows = _windows(total)
    places = [int(w.window_id[1:]) for w in sample_windows(windows, count)]
    assert places == sorted(set(places))
    assert len(places) == min(total, count)
    if total > count:
        stretch = total / count
        assert all(later - earlier <= stretch + 1 for earlier, later in pairwise(places))
