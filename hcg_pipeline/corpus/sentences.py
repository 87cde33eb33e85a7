"""The project's one sentence splitter: rules over characters, with exact spans.

Rules rather than a library: of those tried, pysbd needs 8 s a megabyte, sentencex joins hundreds of sentences of
running text that has no line breaks, and blingfire cuts after initials and list numbers. The rules follow Kiss and
Strunk (2006, Unsupervised Multilingual Sentence Boundary Detection) in what they tell apart: abbreviations that never
end a sentence, abbreviations and initials that may, ordinals, and words that typically open a sentence.
"""

import re
import unicodedata
from collections.abc import Iterator
from zlib import crc32

from hcg_pipeline.corpus.lines import blocks

LONGEST = 2_000
"""Characters after which a sentence is broken at white space, so that no passage grows without bound."""
_SHORTEST_PIECE = LONGEST // 2
_LOOK_BACK = 40
"""Characters before a full stop that are looked at; bounds the work in text without spaces."""


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_NEVER_LAST = _words(
    # Titles, references, Latin, and what a language puts before a name or number: something always follows.
    """dr mr mrs ms mx prof st mt gen col sgt capt lt cmdr maj rev hon gov sen rep pres supt messrs mme mlle sra dra
    vs cf eg ie e.g i.e viz ca approx fig figs eq eqs eqn eqns secs vol vols chs chap pp nos suppl ser eds trans esp
    excl resp spp sp subsp ssp op cit ibid nr bzw vgl z.b d.h u.a s.a zzgl ggf evtl sog bspw"""
)
_MAYBE_LAST = _words(
    """al etc inc ltd co corp plc llc bros jr sr esq dept univ assoc inst ave blvd rd no tab ref refs sec sect app art
    ch ed incl var jan feb mar apr jun jul aug sep sept oct nov dec"""
)
_OPENERS = _words(
    """a an the this that these those it its he she we they you i there here his her our their your my some many most
    several few each every all both no none another other such one two three what when where who why how which while
    if in on at by for from with without under over of to as after before since because although though however
    therefore thus hence moreover furthermore finally first second third next then also additionally instead
    nevertheless nonetheless meanwhile overall similarly conversely consequently and but or so yet not until unless
    during among between across according despite given"""
)

_CLOSERS = r"(?:[\"'”’»›)\]}]|\[\d{1,3}(?:[,–-]\s?\d{1,3})*\])*"
_END = re.compile(
    rf"(?:[.!?…]+{_CLOSERS}(?=\s)"  # followed by white space
    rf"|(?<=[a-z]{{2}})[.!?](?=[A-Z][a-z]+\s)"  # the space is missing
    rf"|[。！？｡؟۔।॥։።။។៕]+[」』）\"”’]*"  # scripts whose full stop needs no space after it
    rf"|(?=\s[•▪▫◦‣●■➢]\s))"  # list items that lost their line breaks
)
_TOKEN = re.compile(r"[^\s(\[{\"'“‘«—–/]*$")
_NEXT = re.compile(r"\s*[(\[{\"'“‘«¿¡*_]*(\w[\w’'-]*)?")
_ACRONYM = re.compile(r"(?:[A-Za-z]{1,3}\.)+[A-Za-z]{1,3}")
_COINED = re.compile(r"[a-z]{1,3}[A-Z0-9]")
"""Names that open a sentence in lower case: mRNA, pH, p53, iPS."""


def sentence_spans(text: str) -> list[tuple[int, int]]:
    """Character spans of the sentences of a text: trimmed, in order, not overlapping, covering all but white space.

    A sentence ends at a full stop, question or exclamation mark that is not part of an abbreviation, initial or
    number, and at every meant line break (`lines.blocks`): headings, list items and rows are sentences of their own.
    Longer ones than `LONGEST` are broken at the clause or word boundary that a hash of the following characters
    picks, so that an edit moves only the breaks near it. Time grows linearly with the text, also in one long line.
    """
    return [span for block in blocks(text) for span in block_sentences(text, block.start, block.end)]


def block_sentences(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """The sentences of one block (see `lines.blocks`) as spans into the text."""
    opened = start
    for match in _END.finditer(text, start, end):
        stop = match.end()
        if stop <= opened or not _ends(text, opened, match.start(), stop, end):
            continue
        yield from _bounded(text, opened, stop)
        opened = stop
        while opened < end and text[opened].isspace():
            opened += 1
    if opened < end:
        yield from _bounded(text, opened, end)


def _ends(text: str, opened: int, mark: int, stop: int, end: int) -> bool:
    """Whether the punctuation text[mark:stop] ends the sentence that began at `opened`."""
    character = text[mark]
    if stop == mark or character not in ".!?…":
        return True
    after = _NEXT.match(text, stop, end)
    word = after.group(1) if after is not None else None
    if word is None:
        return True
    if not text[stop].isspace() and word.lower() not in _OPENERS:
        return False  # a name such as Node.Js rather than a missing space
    if character == "." and text[mark + 1 : mark + 2] != ".":
        return _full_stop_ends(text, opened, mark, word)
    return not _goes_on(word)


def _goes_on(word: str) -> bool:
    """Whether a word in lower case continues the sentence."""
    return word[0].islower() and _COINED.match(word) is None


def _full_stop_ends(text: str, opened: int, mark: int, word: str) -> bool:
    """Whether the full stop at `mark` ends the sentence; `word` follows it."""
    found = _TOKEN.search(text, max(opened, mark - _LOOK_BACK), mark)
    token = found.group() if found is not None else ""
    lowered = token.lower()
    opens = word.lower() in _OPENERS
    if lowered in _NEVER_LAST:
        return len(token) > 1 and token.isupper() and not word[0].isdigit()  # "in CA.", but not "FIG. 2"
    if _goes_on(word):
        return opens and len(token) > 3 and token.isalpha() and token.islower() and lowered not in _MAYBE_LAST
    if lowered in _MAYBE_LAST or _ACRONYM.fullmatch(token) or (len(token) == 1 and token.isalpha()):
        return opens
    return not (token.isdigit() and len(token) < 4 and mark - len(token) == opened)  # the number of a list item


def _bounded(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """The trimmed span, in pieces of at most `LONGEST` characters."""
    while end > start and text[end - 1].isspace():
        end -= 1
    while end - start > LONGEST:
        cut = _break(text, start + _SHORTEST_PIECE, min(start + LONGEST, end - 1))
        stop = cut
        while text[stop - 1].isspace():
            stop -= 1
        yield start, stop
        start = cut
        while text[start].isspace():
            start += 1
    yield start, end


_CLAUSE = re.compile(r"[;:,،、；，]\s*(?=\S)")
_SPACE = re.compile(r"\s+(?=\S)")


def _break(text: str, low: int, high: int) -> int:
    """Where to break in text[low:high]: after a clause, else between words, else before a rare character."""
    for pattern in (_CLAUSE, _SPACE):
        places = [match.end() for match in pattern.finditer(text, low, high)]
        if places:
            return min(places, key=lambda place: _hash(text, place))
    rarest = min(text[low:high])
    places = [match.start() for match in re.finditer(re.escape(rarest), text[low:high])]
    cut = low + min(places, key=lambda place: _hash(text, low + place))
    while cut < high and unicodedata.combining(text[cut]):
        cut += 1
    return cut


def _hash(text: str, place: int) -> int:
    return crc32(text[place : place + 16].encode("utf-8", "surrogatepass"))
