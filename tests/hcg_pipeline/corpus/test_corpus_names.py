import unicodedata

import pytest

from hcg_pipeline.corpus.names import check_name
from hcg_pipeline.errors import CorpusError


@pytest.mark.parametrize(
    "name", ["epilepsy", "a", "heart failure 2024", "v1.2_b-c", "Épilepsie", "癫痫", "मिर्गी", "x" * 100]
)
def test_letters_digits_and_separators_are_allowed(name: str) -> None:
    assert check_name(name) == name


def test_the_name_comes_back_in_nfc() -> None:
    assert check_name(unicodedata.normalize("NFD", "Épilepsie")) == "Épilepsie"


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("", "it is empty"),
        ("x" * 101, "it has 101 characters, more than 100"),
        ("癫" * 100, "it is longer than the 255 bytes"),
        (" a", "begins or ends with a space or a dot"),
        ("a ", "begins or ends with a space or a dot"),
        (".hidden", "begins or ends with a space or a dot"),
        ("a.", "begins or ends with a space or a dot"),
        ("a..b", "it holds '..'"),
        ("--", "it holds no letter or digit"),
        ("a/b", "it holds '/'"),
        ("..\\etc", "it holds '\\\\'"),
        ("a\x00b", "U+0000"),
        ("a\nb", "U+000A"),
        ("a\u202eb", "U+202E (right-to-left override)"),
        ("a\u2028b", "U+2028"),
        ("a\xa0b", "U+00A0"),
        ("a\ud800b", "U+D800"),
        ("½", "it holds '½'"),
    ]
    + [(f"a{mark}b", f"it holds {mark!r}") for mark in "*?[],:\"'<>|;&$%#@!~`^+={}()"],
)
def test_everything_else_is_refused_with_the_reason(name: str, reason: str) -> None:
    with pytest.raises(CorpusError, match="cannot name a corpus") as caught:
        check_name(name)
    assert reason in str(caught.value)
    assert "\n" not in str(caught.value)
