import time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from hcg_pipeline.corpus.sentences import LONGEST, sentence_spans


def _sentences(text: str) -> list[str]:
    return [text[start:end] for start, end in sentence_spans(text)]


@pytest.mark.parametrize(
    "sentences",
    [
        ["It worked!", "Did it?", "Yes."],
        ["Dr. Smith et al. reported (Fig. 3) a dose of 3.5 mg, i.e. low, vs. placebo.", "It worked."],
        ["The U.S. FDA approved it in Jan. 2020.", "J. K. Rowling agreed."],
        ["See Sec. 2.3 and No. 5 for more.", "He left the U.S.", "They stayed."],
        ["The answer is no.", "Next comes hepatitis C.", "It is caused by a virus."],
        ["E. coli grows, e.g. in the gut.", "mRNA decays.", "p53 stops the cycle."],
        ['"Why?" he asked.', '"He left."', "She stayed."],
        ["They did [3].", "Then it ended.[4][5]", "All is well (see above).", "(It is.)"],
        ["Costs rose by 2.5 percent in 2010.", "Prices fell.", "3 patients died."],
        ["Drugs, pumps, etc. are kept here.", "Ask Acme Inc. for more.", "They know."],
        ["Wait... what?", "It went on…", "Then it stopped."],
        ["He has a Ph.D. in physics.", "Node.js is no sentence.", "Version 2.0.1 is out."],
        ["人人生而自由。", "他们赋有理性！", "是吗？"],
        ["सभी मनुष्य स्वतंत्र हैं।", "उन्हें बुद्धि मिली है।"],
        ["يسبب تلف الدماغ الصرع.", "هل يقلل العلاج النوبات؟", "نعم."],
    ],
)
def test_running_text(sentences: list[str]) -> None:
    separator = "" if sentences[0].endswith("。") else " "
    assert _sentences(separator.join(sentences)) == sentences


def test_a_missing_space_before_a_word_that_opens_sentences() -> None:
    assert _sentences("The treatment works.The patient is well.") == ["The treatment works.", "The patient is well."]
    assert _sentences("Ask Cancer.Net for help.") == ["Ask Cancer.Net for help."]


def test_lower_case_after_a_full_stop() -> None:
    assert _sentences("It spreads through the body. the liver fails.") == [
        "It spreads through the body.",
        "the liver fails.",
    ]
    assert _sentences("It takes approx. five days.") == ["It takes approx. five days."]


def test_meant_line_breaks_end_sentences_and_wrapped_lines_do_not() -> None:
    text = (
        "Why seals fail\n\nThe seal of a centrifugal pump fails when the film of\nliquid between its faces breaks "
        "down. Causes:\n- dry running\n- wear\n1. First thing\n2. Second thing\n# Heading\nThe end"
    )
    assert _sentences(text) == [
        "Why seals fail",
        "The seal of a centrifugal pump fails when the film of\nliquid between its faces breaks down.",
        "Causes:",
        "- dry running",
        "- wear",
        "1. First thing",
        "2. Second thing",
        "# Heading",
        "The end",
    ]


def test_bullets_that_lost_their_line_breaks() -> None:
    assert _sentences("There are two: • Large cell • Small cell") == ["There are two:", "• Large cell", "• Small cell"]


def test_nothing_gives_nothing() -> None:
    assert _sentences("") == _sentences(" \n\t ") == []


@given(st.text(st.sampled_from('aB1 .!?\n)"•-。é,:;\u0301')))
@example("." * 50)
@example("A." * 3_000)
@example("x" * 5_000)
def test_spans_cover_all_but_white_space_in_order(text: str) -> None:
    last = 0
    for start, end in sentence_spans(text):
        assert last <= start < end <= start + LONGEST
        assert not text[last:start].strip()
        assert text[start:end] == text[start:end].strip()
        last = end
    assert not text[last:].strip()


@pytest.mark.parametrize("unit", ["word ", "clause, ", "a", "漢字", "0123456789abcdef"])
def test_text_without_full_stops_is_broken(unit: str) -> None:
    text = (unit * (20_000 // len(unit))).strip()
    pieces = _sentences(text)
    assert max(map(len, pieces)) <= LONGEST
    assert min(map(len, pieces[:-1])) >= LONGEST // 2 - len(unit)
    assert "".join("".join(pieces).split()) == "".join(text.split())


def test_breaks_of_a_long_run_find_back_after_an_edit() -> None:
    words = [f"w{number * 7919 % 20_011}" for number in range(20_000)]
    before = set(_sentences(" ".join(words)))
    after = set(_sentences(" ".join(["some", "new", "words", *words])))
    assert len(before) > 60
    assert len(after - before) <= 5


def test_no_combining_mark_is_cut_off() -> None:
    assert not any(piece[0] == "\u0301" for piece in _sentences("e\u0301" * 4_000))


@pytest.mark.parametrize(
    "unit", ["The seal fails after 3.5 years, e.g. by wear. ", "no stop at all ", "nospace", "A.B. "]
)
def test_time_grows_linearly_on_one_line(unit: str) -> None:
    def seconds(characters: int) -> float:
        text = unit * (characters // len(unit))
        start = time.perf_counter()
        sentence_spans(text)
        return time.perf_counter() - start

    small = min(seconds(100_000) for _ in range(3))
    assert seconds(800_000) < 8 * 4 * small + 0.5
