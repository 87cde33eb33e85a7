import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from hcg_pipeline.corpus.cleaning import clean_text


def test_newlines_spaces_controls_and_invisible_marks() -> None:
    assert clean_text("a\r\nb\rc\u2028d\x0ce\x85f") == "a\nb\nc\nd\ne\nf"
    assert clean_text("15\xa0mg\u2009of\u3000it") == "15 mg of it"
    assert clean_text("he\x00ll\x07o\x1b \ufeffwo\xadrld\u200b \u202eabc\u202c") == "hello world abc"
    assert clean_text("lone \ud800 surrogate \ufffe") == "lone  surrogate"
    assert clean_text("\uf0b7 first\n\uf0a7 second") == "• first\n• second"
    assert clean_text("  \n cafe\u0301 \t\n") == "café"
    assert clean_text("نمی\u200cخواهم") == "نمی\u200cخواهم"


@given(st.text(st.characters(exclude_categories=[])))
def test_the_form_is_final(text: str) -> None:
    cleaned = clean_text(text)
    assert clean_text(cleaned) == cleaned
    assert cleaned == unicodedata.normalize("NFC", cleaned)
    cleaned.encode()
    assert not any(unicodedata.category(character) == "Cc" and character not in "\n\t" for character in cleaned)
