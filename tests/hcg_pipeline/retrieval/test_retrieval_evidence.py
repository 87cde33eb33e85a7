"""Evidence selection on hand-worked cases: budget, coverage once before twice, links, reading order."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hcg_pipeline.retrieval.evidence import BLOCK_WORDS, NO_LINKS, Links, reading_order, select
from hcg_pipeline.retrieval.index import PassageArrays
from hcg_pipeline.retrieval.terms import count_terms

NOTHING = np.empty(0, dtype=np.int32)


def passages(texts):
    words = np.array([len(text.split()) for text in texts], dtype=np.int64)
    return PassageArrays(
        pa.table({"text": texts}), np.zeros((len(texts), 1), np.float32), count_terms(texts), words,
        np.zeros(len(texts), dtype=np.int64),
    )  # fmt: skip


def rows(texts, scores, words, links=NO_LINKS, asked=NOTHING):
    return [choice.passage for choice in select(passages(texts), np.array(scores, np.float32), links, asked, words)]


def test_what_is_said_already_comes_last():
    texts = ["chlorine kills germs quickly", "chlorine kills germs quickly", "ozone splits viruses apart"]
    assert rows(texts, [1.0, 0.99, 0.8], 12) == [0, 2, 1]


def test_words_of_the_question_are_no_concepts():
    texts = ["chlorine germs pool", "chlorine germs ozone"]
    terms = passages(texts).terms
    asked = terms.rows(["chlorine germs ozone"]).indices
    # Without the asked words the first passage alone has something to add.
    assert rows(texts, [1.0, 1.0], 3, asked=asked) == [0]
    assert rows(texts, [1.0, 1.0], 3, asked=terms.rows(["pool"]).indices) == [1]


def test_each_link_is_covered_once_before_any_is_covered_twice():
    texts = ["aaa bbb ccc", "aaa bbb ccc", "aaa bbb ccc"]
    links = Links(np.array([7, 7, 9]), np.array([0, 1, 2]), np.array([1, 1, 0.4], np.float32))
    chosen = select(passages(texts), np.ones(3, np.float32), links, NOTHING, 9)
    assert [(choice.passage, choice.link) for choice in chosen] == [(0, 7), (2, 9), (1, -1)]


def test_passages_are_kept_whole_and_the_best_is_kept_even_above_the_budget():
    texts = ["one two three four five six", "red green", "up down left"]
    assert rows(texts, [1.0, 0.1, 0.1], 1) == [0]
    assert sorted(rows(texts, [1.0, 0.9, 0.8], 8)) == [0, 1]


def test_no_score_no_evidence():
    assert rows(["one", "two"], [0, 0], 100) == []
    assert select(passages([]), np.empty(0, np.float32), NO_LINKS, NOTHING, 100) == []


@given(st.data())
def test_any_choice_is_distinct_within_budget_and_does_not_shrink_with_it(data):
    vocabulary = ["acid", "base", "salt", "iron", "zinc", "gold"]
    texts = data.draw(
        st.lists(st.lists(st.sampled_from(vocabulary), min_size=1, max_size=8).map(" ".join), min_size=1, max_size=12)
    )
    scores = data.draw(
        st.lists(st.integers(1, 100).map(lambda percent: percent / 100), min_size=len(texts), max_size=len(texts))
    )
    words = data.draw(st.integers(1, 60))
    chosen = rows(texts, scores, words)
    total = sum(len(texts[row].split()) for row in chosen)
    assert len(set(chosen)) == len(chosen) >= 1
    assert total <= words or len(chosen) == 1
    left_out = [len(text.split()) for row, text in enumerate(texts) if row not in chosen]
    # Nothing that would still fit is left out.
    assert not left_out or min(left_out) > words - total
    assert rows(texts, scores, words) == chosen


def test_the_context_is_read_in_blocks_best_first_each_in_document_order():
    words = np.full(40, 100, dtype=np.int64)
    chosen = [30, 5, 17, 2, 39, 8, 21, 1, 0]
    order = [chosen[place] for place in reading_order(chosen, words)]
    # 750 words are seven passages of a hundred.
    assert order == [2, 5, 8, 17, 21, 30, 39, 0, 1]
    assert reading_order([], words) == []


@given(st.lists(st.integers(0, 99), unique=True, max_size=40), st.integers(10, 400))
def test_the_beginning_of_the_context_is_the_beginning_of_the_choice(chosen, length):
    words = np.full(100, length, dtype=np.int64)
    order = [chosen[place] for place in reading_order(chosen, words)]
    assert sorted(order) == sorted(chosen)
    whole = BLOCK_WORDS // length
    assert set(order[:whole]) == set(chosen[:whole])


def test_scores_of_any_scale_rank_alike():
    texts = ["iron rusts", "zinc protects", "gold shines", "salt dissolves"]
    scores = np.array([0.2, 0.9, 0.5, 0.7])
    assert rows(texts, scores, 6) == rows(texts, scores / 10, 6) == pytest.approx(rows(texts, scores, 6))
