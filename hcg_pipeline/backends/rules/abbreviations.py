"""Abbreviations and what they stand for, from "long form (SF)" (Schwartz and Hearst 2003)."""

import re

_BRACKET = re.compile(r"\(([^()]{2,12})\)")
_SHORT = re.compile(r"^[A-Za-z][A-Za-z0-9&/-]{1,9}s?$")


def abbreviations(sentence: str) -> list[tuple[str, str]]:
    """(short form, long form) pairs that a sentence defines, in order."""
    found = []
    for match in _BRACKET.finditer(sentence):
        short = match.group(1).strip().split(";")[0].split(",")[0].strip()
        if not _SHORT.match(short) or sum(letter.isupper() for letter in short) < 2:
            continue
        words = sentence[: match.start()].split()
        window = words[-min(len(short) + 5, 2 * len(short)) :]
        long = _long_form(short.rstrip("s") if short[-1:] == "s" else short, " ".join(window))
        if long is not None:
            found.append((short.rstrip("s") if short[-1:] == "s" and short[:-1].isupper() else short, long))
    return found


def _long_form(short: str, text: str) -> str | None:
    """The shortest end of `text` whose letters hold those of `short` in order, the first at a word's start."""
    at = len(text) - 1
    for place in range(len(short) - 1, -1, -1):
        letter = short[place].lower()
        if not letter.isalnum():
            continue
        while at >= 0 and (text[at].lower() != letter or (place == 0 and at > 0 and text[at - 1].isalnum())):
            at -= 1
        if at < 0:
            return None
        at -= 1
    start = text.rfind(" ", 0, at + 2) + 1
    long = text[start:].strip(" ,;:-–")
    if len(long) <= len(short) + 1 or len(long.split()) > len(short) + 3 or "(" in long:
        return None
    return long
