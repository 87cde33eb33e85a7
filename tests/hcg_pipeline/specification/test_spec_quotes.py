import pytest
from hypothesis import given
from hypothesis import strategies as st
from spec_builders import chunks_table, document_texts

from hcg_pipeline.specification.quotes import QuoteFinder

DOCUMENTS = {
    "d1": ["Intro text here.", "Smoking  causes\n“lung cancer” – always. Straße und STRASSE.", "Smoking causes harm."],
    "d2": ["İstanbul'da smoking causes lung\u00a0cancer."],
}
FINDER = QuoteFinder(chunks_table(DOCUMENTS))


@pytest.mark.parametrize(
    ("chunk", "quote", "found"),
    [
        ("d1.2", "Smoking causes harm", "Smoking causes harm"),
        ("d1.2", '  "Smoking causes harm…" ', "Smoking causes harm"),
        ("d1.1", "smoking causes 'lung cancer' - always", None),
        ("d1.1", 'smoking causes "lung cancer" - ALWAYS', "Smoking  causes\n“lung cancer” – always"),
        ("d1.1", "strasse UND strasse", "Straße und STRASSE"),
        ("d2.0", "istanbul", None),
        ("d2.0", "SMOKING causes lung cancer.", "smoking causes lung\u00a0cancer."),
        ("d1.0", "Smoking causes harm", None),
        ("d1.9", "Smoking causes harm", None),
        ("d1.2", "harm", None),
        ("d1.2", "", None),
        ("d1.2", "(.*)(.*)", None),
        ("d1.2", "…causes harm…", "causes harm"),
        ("d1.2", "Smoking … harm", None),
    ],
)
def test_quote_is_found_at_its_characters_or_not_at_all(chunk, quote, found):
    at = FINDER.find(chunk, quote)
    assert (at.text if at else None) == found
    if at:
        assert document_texts(DOCUMENTS)[at.document_id][at.start : at.end] == found


@given(st.lists(st.text(min_size=1, max_size=40), min_size=1, max_size=4), st.data())
def test_whatever_is_found_stands_there(texts, data):
    finder = QuoteFinder(chunks_table({"d": texts}))
    place = data.draw(st.integers(0, len(texts) - 1))
    text = texts[place]
    start = data.draw(st.integers(0, len(text)))
    piece = data.draw(st.sampled_from([str.upper, str.lower, str, lambda t: t.replace(" ", "  ")]))(text[start:])
    at = finder.find(f"d.{place}", piece)
    if at is not None:
        whole = " ".join(texts)
        assert whole[at.start : at.end] == at.text
        assert at.text in text
