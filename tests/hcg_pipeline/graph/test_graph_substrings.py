from hypothesis import given
from hypothesis import strategies as st

from hcg_pipeline.graph.substrings import SubstringIndex


def test_finds_every_text_with_the_first_offset():
    index = SubstringIndex(["the cat sat on the mat", "a cat sat", "cats at", ""])
    assert index.find("cat sat on") == [(0, 4)]
    assert index.find("at sat") == [(0, 5), (1, 3)]
    assert index.find("cat") == [(0, 4), (1, 2), (2, 0)]
    assert index.find("dog sat on") == []


_text = st.text(alphabet="ab .é\n", max_size=30)


@given(st.lists(_text, max_size=6), st.data())
def test_agrees_with_searching_every_text(texts, data):
    source = data.draw(st.sampled_from([*texts, data.draw(_text)]))
    start = data.draw(st.integers(0, len(source)))
    wanted = source[start : data.draw(st.integers(start, len(source)))]
    expected = [(place, text.find(wanted)) for place, text in enumerate(texts) if wanted in text]
    assert SubstringIndex(texts).find(wanted) == expected
