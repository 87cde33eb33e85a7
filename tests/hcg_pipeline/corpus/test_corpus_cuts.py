from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from hcg_pipeline.corpus.cuts import cut_points, fewest_groups, text_key


def test_the_smallest_key_between_minimum_and_maximum_is_cut() -> None:
    # Groups of 2 to 4 items; position 3 has the smallest key within reach of 0, position 6 within reach of 3.
    assert cut_points([1] * 9, [0, 0, 9, 2, 5, 7, 1, 8, 3], 2, 4) == [0, 3, 6]


def test_the_last_group_gets_its_minimum_where_there_is_room() -> None:
    # From 0 the positions 2, 3 and 4 are in reach; 4 would leave a single item.
    assert cut_points([1] * 5, [0, 0, 9, 8, 1], 2, 4) == [0, 3]


def test_an_item_longer_than_the_maximum_stands_alone() -> None:
    assert cut_points([1, 1, 50, 1, 1, 1], [0] * 6, 2, 4) == [0, 2, 3]
    assert cut_points([50], [0], 2, 4) == [0]


def test_nothing_and_little() -> None:
    assert cut_points([], [], 2, 4) == []
    assert cut_points([1, 1], [0, 0], 2, 4) == [0]


@given(
    st.lists(st.tuples(st.integers(1, 60), st.integers(0, 5)), max_size=80),
    st.integers(1, 30),
    st.integers(1, 60),
)
def test_bounds_hold(items: list[tuple[int, int]], minimum: int, more: int) -> None:
    lengths, keys = [length for length, _ in items], [key for _, key in items]
    maximum = minimum + more
    starts = cut_points(lengths, keys, minimum, maximum)
    assert starts == sorted(set(starts))
    assert starts[:1] == ([0] if items else [])
    groups = [lengths[first:stop] for first, stop in pairwise([*starts, len(items)])]
    assert all(group and (sum(group) <= maximum or len(group) == 1) for group in groups)
    if lengths and max(lengths) <= more:
        assert all(sum(group) >= minimum for group in groups[:-1])


def test_the_key_is_a_function_of_the_text_alone() -> None:
    assert text_key("Seizures harm.") == 13969466608704520237
    assert text_key("Seizures harm") != text_key("Seizures harm.")


def test_as_few_groups_as_the_length_asks_for() -> None:
    # Seven items in groups of at most four: the cut must fall at 3 or 4, whatever else is wanted.
    assert fewest_groups([1] * 7, [0, 0, 1, 5, 4, 0, 0], 4) == [0, 4]
    assert fewest_groups([1] * 4, [0] * 4, 4) == [0]
    assert fewest_groups([], [], 4) == []
    assert fewest_groups([1, 9, 1, 1], [0] * 4, 4) == [0, 1, 2]
    assert fewest_groups([3, 3, 3], [0] * 3, 5) == [0, 1, 2]


@given(st.lists(st.tuples(st.integers(1, 60), st.integers(0, 5)), max_size=60), st.integers(1, 90))
def test_no_group_is_too_long(items: list[tuple[int, int]], maximum: int) -> None:
    lengths, keys = [length for length, _ in items], [key for _, key in items]
    starts = fewest_groups(lengths, keys, maximum)
    assert starts == sorted(set(starts))
    groups = [lengths[first:stop] for first, stop in pairwise([*starts, len(items)])]
    assert [length for group in groups for length in group] == lengths
    assert all(sum(group) <= maximum or len(group) == 1 for group in groups)


@given(st.integers(1, 200), st.integers(1, 20))
def test_even_items_are_packed_into_the_fewest_groups(items: int, maximum: int) -> None:
    keys = [text_key(str(number)) for number in range(items)]
    assert len(fewest_groups([1] * items, keys, maximum)) == -(-items // maximum)
