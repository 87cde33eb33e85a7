"""Evidence selection on hand-worked cases: budget, coverage once before twice, links, reading order."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hcg_pipeline.retrieval.evidence import BLOCK_WORDS, NO_LINKS, Links, reading_order, select
from hcg_pipeline.retrieval.passage_arrays import PassageArrays
from hcg_pipeline.retrieval.terms import count_terms

NOTHING = np.empty(0, dtype=np.int32)


def passages(texts):
    words = np.array([len(text.split()) for text in texts], dtype=np.int64)
    return PassageArrays(
        pa.table({"text": texts}), np.zeros((len(texts), 1), np.float32), count_terms(texts), words,
        np.zeros(len(texts), dtype=np.int64),
    )  # fmt: skip


def choose(texts, scores, words, links=NO_LINKS, asked=NOTHING):
    arrays = passages(texts)
    stems = arrays.telling.copy()
    stems[asked] = 0
    return select(arrays, np.array(scores, np.float32), stems, links, words)


def rows(*arguments, **options):
    return [choice.passage for choice in choose(*arguments, **options)]


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
    chosen = choose(texts, [1, 1, 1], 9, links)
    assert [(choice.passage, choice.link) for choice in chosen] == [(0, 7), (2, 9), (1, -1)]


def test_a_passage_is_taken_for_the_strongest_link_that_it_is_the_first_to_state():
    links = Links(np.array([3, 5, 5]), np.array([0, 0, 1]), np.array([0.2, 0.9, 0.9], np.float32))
    chosen = choose(["aaa bbb", "aaa bbb ccc"], [1, 0.5], 10, links)
    assert [(choice.passage, choice.link) for choice in chosen] == [(0, 5), (1, -1)]


def held_by(texts, links):
    return [set(text.split()) | {link for link, row, _ in links if row == place} for place, text in enumerate(texts)]


def plain_weights(texts, scores, links):
    """What each word and link weighs, written plainly: the reference of the arrays."""
    terms = passages(texts)
    votes = [(score / max(scores)) ** 4 for score in scores]
    strength = {link: max(w for other, _, w in links if other == link) for link, _, _ in links}
    telling = {stem: float(terms.telling[terms.terms.place[stem]]) for text in texts for stem in text.split()}
    telling |= {link: 2 * max(telling.values()) * w / max(strength.values()) for link, w in strength.items()}
    return {
        one: worth * sum(vote for vote, mine in zip(votes, held_by(texts, links), strict=True) if one in mine)
        for one, worth in telling.items()
    }, sum(votes)


def plain_worth(texts, scores, links, chosen):
    """What each passage would add, by sets of words and links."""
    weight, votes = plain_weights(texts, scores, links)
    held = held_by(texts, links)
    covered = set().union(*(held[place] for place in chosen))
    return [
        (score / max(scores)) ** 2
        / len(text.split()) ** 0.8
        * (sum(weight[one] for one in mine - covered) / votes + 1e-6)
        for text, score, mine in zip(texts, scores, held, strict=True)
    ]


@settings(max_examples=40)
@given(st.data())
def test_each_choice_is_the_best_by_plain_sets(data):
    vocabulary = ["acid", "base", "salt", "iron", "zinc", "gold"]
    texts = data.draw(
        st.lists(st.lists(st.sampled_from(vocabulary), min_size=1, max_size=8).map(" ".join), min_size=1, max_size=9)
    )
    scores = data.draw(st.lists(st.sampled_from([0.25, 0.5, 0.75, 1.0]), min_size=len(texts), max_size=len(texts)))
    pairs = data.draw(
        st.lists(st.tuples(st.integers(0, 4), st.integers(0, len(texts) - 1)), unique=True, max_size=12).map(sorted)
    )
    links = [(link, row, 0.25 * (1 + link)) for link, row in pairs]
    arrays = Links(*(np.array(column) for column in zip(*links, strict=True))) if links else NO_LINKS
    weight, _ = plain_weights(texts, scores, links)
    done, stated = [], set()
    for choice in choose(texts, scores, 1000, arrays):
        worth = plain_worth(texts, scores, links, done)
        open_ = [value for place, value in enumerate(worth) if place not in done]
        assert worth[choice.passage] == pytest.approx(max(open_), rel=1e-4)
        new = {link for link, row, _ in links if row == choice.passage} - stated
        assert (choice.link >= 0) == bool(new)
        assert not new or weight[choice.link] == pytest.approx(max(weight[link] for link in new), rel=1e-4)
        stated |= new
        done.append(choice.passage)
    assert sorted(done) == list(range(len(texts)))


def test_passages_are_kept_whole_and_the_best_is_kept_even_above_the_budget():
    texts = ["one two three four five six", "red green", "up down left"]
    assert rows(texts, [1.0, 0.1, 0.1], 1) == [0]
    assert sorted(rows(texts, [1.0, 0.9, 0.8], 8)) == [0, 1]


def test_no_score_no_evidence():
    assert rows(["one", "two"], [0, 0], 100) == []
    assert choose([], [], 100) == []


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
