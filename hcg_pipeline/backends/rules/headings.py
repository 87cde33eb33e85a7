"""Headings that have run into the sentence after them, in texts whose line breaks were lost.

"Diet and lifestyle No one diet prevents it": an article or a word such as "no" or "if" with a capital opens a sentence.
"""

from hcg_pipeline.backends.rules.tokens import Token
from hcg_pipeline.backends.rules.wordlists import word_lists

_REACH = 24
_LEAST = 4


def without_heading(tokens: list[Token]) -> list[Token]:
    """The tokens from the last word on that opens a sentence right after a noun; all of them where there is none."""
    opens = word_lists()["sentence_opening"]
    for place in range(min(_REACH, len(tokens) - _LEAST), 0, -1):
        token, before = tokens[place], tokens[place - 1]
        capital = token.text[:1].isupper() and token.text[1:].islower()
        # "Hepatitis A" is a name, "A 71-year-old" opens a sentence.
        counted = token.text == "A" and tokens[place + 1].low[:1].isdigit() and "-" in tokens[place + 1].low
        if ((capital and token.low in opens) or counted) and before.is_noun and before.text[:1].isalnum():
            return tokens[place:]
    return tokens
