import random
from collections.abc import Sequence

import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from hcg_pipeline.corpus.windows import pack_windows
from hcg_pipeline.tables import CHUNKS

_WORDS = [
    "seizure",
    "seal",
    "pump",
    "drug",
    "vibration",
    "neuron",
    "damage",
    "wear",
    "causes",
    "raises",
    "lowers",
    "prevents",
]


def _text(source: random.Random, words: int) -> str:
    return " ".join(source.choice(_WORDS) + str(source.randrange(50)) for _ in range(words))


def _chunks(*documents: Sequence[str]) -> pa.Table:
    rows: list[tuple[object, ...]] = []
    for number, texts in enumerate(documents):
        start = 0
        for position, text in enumerate(texts):
            # Ids and offsets are arbitrary: windows may not depend on them.
            rows.append(
                (f"c{number}.{position}", f"d{number}", position, start, start + len(text), text, len(text.split()))
            )
            start += len(text) + 1
    columns = list(zip(*rows, strict=True)) or [()] * len(CHUNKS)
    return pa.table(
        [pa.array(column, field.type) for column, field in zip(columns, CHUNKS, strict=True)], schema=CHUNKS
    )


def _ids(texts: Sequence[str], budget: int) -> list[str]:
    return [window.window_id for window in pack_windows(_chunks(texts), budget)]


def test_a_document_within_the_budget_is_one_window() -> None:
    first, second = pack_windows(_chunks(["a b", "c d"], ["e f"]), 100)
    assert [(p.chunk_id, p.document_id, p.start, p.end, p.text) for p in first.passages] == [
        ("c0.0", "d0", 0, 3, "a b"),
        ("c0.1", "d0", 4, 7, "c d"),
    ]
    assert [p.text for p in second.passages] == ["e f"]
    assert len(first.window_id) == 17
    assert first.window_id[0] == "w"


def test_no_chunks_no_windows() -> None:
    assert pack_windows(_chunks(), 100) == []


def test_the_id_depends_on_the_texts_alone() -> None:
    one = _ids(["a b", "c d"], 100)
    assert [window.window_id for window in pack_windows(_chunks(["x"], ["a b", "c d"]), 100)][1:] == one
    assert _ids(["a b c d"], 100) != one
    assert _ids(["a", "b c d"], 100) != one


def test_a_chunk_beyond_the_budget_is_a_window_of_its_own() -> None:
    source = random.Random(1)
    texts = [_text(source, 50), _text(source, 300), _text(source, 50)]
    assert [len(window.passages) for window in pack_windows(_chunks(texts), 100)] == [1, 1, 1]


@settings(max_examples=60)
@given(st.lists(st.lists(st.integers(1, 400), min_size=1, max_size=40), max_size=4), st.integers(400, 2_000))
def test_windows_hold_every_chunk_once_in_order_within_budget_and_document(sizes: list[list[int]], budget: int) -> None:
    source = random.Random(7)
    table = _chunks(*[[_text(source, words) for words in document] for document in sizes])
    windows = pack_windows(table, budget)
    assert [p.chunk_id for window in windows for p in window.passages] == table.column("chunk_id").to_pylist()
    for window in windows:
        assert len({p.document_id for p in window.passages}) == 1
        assert sum(len(p.text.split()) for p in window.passages) <= budget


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.floats(0, 1), st.sampled_from([600, 1_500, 3_000]))
def test_a_changed_chunk_changes_the_windows_near_it(seed: int, share: float, budget: int) -> None:
    source = random.Random(seed)
    texts = [_text(source, source.randint(40, 160)) for _ in range(300)]
    place = int(share * 299)
    before = set(_ids(texts, budget))
    changed = set(_ids([*texts[:place], texts[place] + " new words", *texts[place + 1 :]], budget))
    inserted = set(_ids([*texts[:place], _text(source, 80), *texts[place:]], budget))
    assert 1 <= len(changed - before) <= 10
    assert 1 <= len(inserted - before) <= 10


def test_on_average_an_edit_costs_less_than_two_windows_and_budgets_are_used() -> None:
    source = random.Random(3)
    texts = [_text(source, source.randint(40, 160)) for _ in range(1_000)]
    words = sum(len(text.split()) for text in texts)
    for budget in (600, 1_600, 3_200):
        before = _ids(texts, budget)
        assert words / (len(before) * budget) > 0.65
        changed = 0
        for place in range(0, 1_000, 40):
            edited = [*texts[:place], texts[place] + " and ten more words", *texts[place + 1 :]]
            changed += len(set(_ids(edited, budget)) - set(before))
        assert changed / 25 < 2


def test_the_same_chunk_over_and_over() -> None:
    windows = pack_windows(_chunks(["the same chunk again " * 25] * 500), 1_500)
    assert max(sum(len(p.text.split()) for p in window.passages) for window in windows) <= 1_500
    assert len(windows) <= 72
