"""Is a reply written in the language of what it was asked about? A light check, made to be wrong rarely.

Two signs are looked at: the script of the letters, and the commonest function words of eight languages. A reply is only
found wrong where both it and the passages are clearly something, and not the same. What it cannot tell (short replies,
mixed passages, other languages in the same script) passes.
"""

import re
from bisect import bisect_right
from collections import Counter
from typing import Any

_WRITTEN = frozenset(("answer", "description", "mechanism"))
"""The fields that a model words itself; names may be in another language, and quotes are checked against the text."""

# First code points of blocks, in order, and the script of each; what lies before a block and after the last is the one
# that stands before it. Han, kana and bopomofo count as one: Japanese and Chinese mix them.
_BLOCKS = (
    (0x0041, "Latin"),
    (0x0370, "Greek"),
    (0x0400, "Cyrillic"),
    (0x0530, "Armenian"),
    (0x0590, "Hebrew"),
    (0x0600, "Arabic"),
    (0x0900, "Indic"),
    (0x0E00, "Thai"),
    (0x0E80, "Lao"),
    (0x0F00, "Tibetan"),
    (0x1000, "Burmese"),
    (0x10A0, "Georgian"),
    (0x1100, "Korean"),
    (0x1200, "Ethiopic"),
    (0x1380, "other"),
    (0x1E00, "Latin"),
    (0x1F00, "Greek"),
    (0x2000, "other"),
    (0x2E80, "Chinese or Japanese"),
    (0x3130, "Korean"),
    (0x3190, "Chinese or Japanese"),
    (0xA000, "other"),
    (0xAC00, "Korean"),
    (0xD7B0, "other"),
    (0xF900, "Chinese or Japanese"),
    (0xFB00, "other"),
    (0x20000, "Chinese or Japanese"),
)
_STARTS = [start for start, _ in _BLOCKS]

_FUNCTION_WORDS = {
    "English": "the of and to is that which are with for was by this from have or than how their be",
    "German": "der die das und ist nicht mit den von auf für eine einer wird werden bei dem durch oder zu",
    "French": "le les des et est une dans pour qui par sur au aux du avec pas sont plus cette ces",
    "Spanish": "el los las y es una por para con del que se su al más como son entre esta sus",
    "Italian": "il gli di è una per che con del della dei delle non sono nel alla più come da si",
    "Portuguese": "os as e é uma por para com do da dos das não que em ao mais são pela como",
    "Dutch": "de het een en van is dat niet met voor zijn op aan door ook bij worden wordt naar uit",
    "Swedish": "och att det som en på är av för med den till inte har om ett kan eller vid från",
}
_LANGUAGES: dict[str, list[str]] = {}
for _language, _words in _FUNCTION_WORDS.items():
    for _word in _words.split():
        _LANGUAGES.setdefault(_word, []).append(_language)

_WORD = re.compile(r"[^\W\d_]+")
_MARK = re.compile(r"</?passage [^>]*>")
_FEWEST_LETTERS = 12
_FEWEST_WORDS = 5
_CLEARLY = 3.0
_MOST_FOREIGN = 0.1


def written_texts(value: object) -> list[str]:
    """The texts of a reply (as parsed from JSON) that the model words itself, in order."""
    if isinstance(value, dict):
        found = [text for name, text in value.items() if name in _WRITTEN and isinstance(text, str)]
        return found + [text for inner in value.values() for text in written_texts(inner)]
    return [text for inner in value for text in written_texts(inner)] if isinstance(value, list) else []


def wrong_language(reply: dict[str, Any], user: str) -> str:
    """What is wrong with the language of `reply`, for the model to act on; '' if nothing is, or it cannot be told.

    `user` is the prompt. A reply may also be in the language of the question in it, whatever that of the passages is.
    """
    passages, _, question = user.partition("# Passages\n")[2].partition("\n# Question\n")
    passages = _MARK.sub(" ", passages)
    text = " ".join(written_texts(reply))
    found, expected = _script(text), _script(passages)
    if found and expected and found != expected:
        foreign = _letters(passages)[found] > _MOST_FOREIGN * sum(_letters(passages).values())
        if not foreign and not _letters(question)[found]:
            return _message(f"{found} letters", f"{expected} ones")
        return ""
    spoken, heard = _language_of(text), _language_of(passages)
    if spoken and heard and spoken != heard and not _hits(question)[spoken]:
        return _message(spoken, heard)
    return ""


def _message(found: str, expected: str) -> str:
    return f"the reply is written in {found}, the passages in {expected}: write in the language of the passages"


def _letters(text: str) -> Counter[str]:
    return Counter(_BLOCKS[bisect_right(_STARTS, ord(letter)) - 1][1] for letter in text if letter.isalpha())


def _script(text: str) -> str:
    """The script that nearly all letters of `text` are in; '' if there are too few, or none dominates."""
    letters = _letters(text)
    if sum(letters.values()) < _FEWEST_LETTERS:
        return ""
    script, count = letters.most_common(1)[0]
    return script if count > 0.6 * sum(letters.values()) and script != "other" else ""


def _hits(text: str) -> Counter[str]:
    return Counter(language for word in _WORD.findall(text.casefold()) for language in _LANGUAGES.get(word, ()))


def _language_of(text: str) -> str:
    """The language whose function words `text` clearly has most of; '' if that cannot be told."""
    ranked = _hits(text).most_common(2)
    if not ranked or ranked[0][1] < _FEWEST_WORDS:
        return ""
    second = ranked[1][1] if len(ranked) > 1 else 0
    return ranked[0][0] if ranked[0][1] >= _CLEARLY * second else ""
