from hypothesis import given
from hypothesis import strategies as st

from hcg_pipeline.corpus.lines import blocks, unwrap

_WRAPPED = """The seal of a centrifugal pump fails when the film of liquid
between its faces breaks down. Misalignment of the shaft and
Cavitation at the impeller are the usual causes, and both are
found by measuring vibration."""


def _blocks(text: str) -> list[tuple[str, bool]]:
    return [(text[block.start : block.end], block.paragraph) for block in blocks(text)]


def test_a_wrapped_paragraph_is_one_block() -> None:
    assert _blocks(_WRAPPED) == [(_WRAPPED, True)]
    assert unwrap(_WRAPPED) == " ".join(_WRAPPED.split())


def test_empty_lines_part_paragraphs_whatever_they_hold() -> None:
    assert _blocks("Heading\n\nfirst\n \t\nsecond") == [("Heading", True), ("first", True), ("second", True)]


def test_a_heading_and_list_items_and_rows_are_blocks_of_their_own() -> None:
    text = f"Why seals fail\n{_WRAPPED}\n- wear of the faces\n- dry running\n2. second thing\n| a | b |\n| 1 | 2 |"
    assert _blocks(text) == [
        ("Why seals fail", True),
        (_WRAPPED, False),
        ("- wear of the faces", False),
        ("- dry running", False),
        ("2. second thing", False),
        ("| a | b |", False),
        ("| 1 | 2 |", False),
    ]


def test_short_lines_are_a_list() -> None:
    assert [block for block, _ in _blocks("Dogs\nCats\nElephants\nants")] == ["Dogs", "Cats", "Elephants", "ants"]


def test_rows_of_capitals_and_numbers_do_not_run_together() -> None:
    rows = ["Insured name Anna Example Year 2022", "Claim # SF-1008 Make Jeep", "Policy # POL-2022-555 Model Cherokee"]
    assert [block for block, _ in _blocks("\n".join(rows))] == rows


def test_paragraphs_on_one_long_line_each_stay_apart() -> None:
    long = "Every sentence of this paragraph is as long as the next one. " * 6
    assert len(_blocks(f"{long}\n{long}\n{long}")) == 3


def test_hyphens_at_the_end_of_a_line() -> None:
    text = (
        "the long-term outcome of treat-\nment is good and well known to every one of us and "
        "long-\nterm follow-up shows it"
    )
    assert unwrap(text) == (
        "the long-term outcome of treatment is good and well known to every one of us and long-term follow-up shows it"
    )


@given(st.text(st.sampled_from("ab A.-•1)\n \t。é")))
def test_blocks_cover_all_but_white_space_in_order(text: str) -> None:
    last = 0
    for block in blocks(text):
        assert not text[last : block.start].strip()
        assert text[block.start : block.end] == text[block.start : block.end].strip() != ""
        last = block.end
    assert not text[last:].strip()
