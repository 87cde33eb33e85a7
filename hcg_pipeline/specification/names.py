"""Spelling: which names are acceptable, how they are written, and when two of them are the same.

Names come from documents and language models, so they are data: a path, markup or control character is refused here,
once, before a name can reach a file, a prompt or a page.
"""

import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache

from rapidfuzz import fuzz

from hcg_pipeline.specification.vocabulary import VariableRef

MAXIMUM_NAME = 80
MAXIMUM_ENTITY_WORDS = 10
MAXIMUM_METRIC_WORDS = 7
MAXIMUM_DIMENSION_WORDS = 4

# Two spellings merge without being asked only when they are all but certain to be a typing error apart; a reference
# that must be one of a closed set may be further off.
MERGE_CUTOFF = 95.0
REPAIR_CUTOFF = 88.0

_PATH = re.compile(r"(?:^|[\s/\\])\.{1,2}[/\\]|^\s*[/~]|\\|://|/.*/")
_MARKUP = re.compile(r"<\s*[!/?a-zA-Z]|[{}`]|\$\(")
_SYMBOLS = re.compile(r"[<>\[\]$|=*#;\"]")
_WORD = re.compile(r"[^\W_]+")
_DOUBLED = re.compile(r"(.)\1+")
_ROMAN = re.compile(r"[ivx]+")
_NUMBERS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
_GENERIC = frozenset({"type", "kind", "category", "class", "name", "form", "of", "the"})
_IRREGULAR = {
    "children": "child",
    "women": "woman",
    "men": "man",
    "feet": "foot",
    "teeth": "tooth",
    "mice": "mouse",
    "lives": "life",
    "knives": "knife",
    "bacteria": "bacterium",
    "criteria": "criterion",
    "phenomena": "phenomenon",
    "nuclei": "nucleus",
    "fungi": "fungus",
    "stimuli": "stimulus",
    "vertebrae": "vertebra",
    "crises": "crisis",
    "bronchi": "bronchus",
    "equilibria": "equilibrium",
    "mitochondria": "mitochondrion",
    "mucosae": "mucosa",
    "metastases": "metastasis",
    "aches": "ache",
    "avalanches": "avalanche",
    "caches": "cache",
    "niches": "niche",
    "species": "species",
    "series": "series",
}
# The first that fits applies; otherwise the 's' goes.
_PLURALS = (
    (re.compile(r"(?<=..)ies$"), "y"),
    (re.compile(r"(head|stomach|tooth|back|belly|ear|heart)aches$"), r"\1ache"),
    (re.compile(r"(ss|sh|ch|x|zz)es$"), r"\1"),
    (re.compile(r"(?<=..)([^aeo]us)es$"), r"\1"),
    (re.compile(r"(ys|stas|thes)es$"), r"\1is"),
    (re.compile(r"(?<!d)(?<!p)(?<!cl)(?<=....)oses$"), "osis"),
    (re.compile(r"(?<=...)oes$"), "o"),
)
# British to American, only where the rule is safe for any word.
_SPELLINGS = (
    (re.compile(r"^haem"), "hem"),
    (re.compile(r"aemi"), "emi"),
    (re.compile(r"^oesoph"), "esoph"),
    (re.compile(r"^oedem"), "edem"),
    (re.compile(r"^paed"), "ped"),
    (re.compile(r"^(tum|col|lab|behavi|fav|harb|neighb)our"), r"\1or"),
    (re.compile(r"isation"), "ization"),
)


def clean_text(text: str, limit: int = 600) -> str:
    """`text` in NFC on one line: no control or invisible formatting characters, cut at a word before `limit`."""
    kept = "".join(
        " " if unicodedata.category(c) == "Cc" or c in "\u2028\u2029" else c
        for c in unicodedata.normalize("NFC", text)
        if unicodedata.category(c) not in ("Cf", "Cs", "Co", "Cn")
    )
    flat = " ".join(kept.split())
    if len(flat) <= limit:
        return flat
    head = flat[:limit]
    return head[: head.rfind(" ")] if " " in head else head


def refusal(raw: str) -> str | None:
    """Why `raw` may not name anything (`empty`, `control`, `path`, `markup`, `long`), or None."""
    if not _WORD.search(raw):
        return "empty"
    if any(unicodedata.category(c) in ("Cc", "Cs", "Co", "Cn") for c in raw):
        return "control"
    if _MARKUP.search(raw):
        return "markup"
    if _PATH.search(raw):
        return "path"
    if len(raw) > MAXIMUM_NAME:
        return "long"
    return None


@lru_cache(maxsize=65_536)
def singular(word: str) -> str:
    """The singular of a lower-case English noun, by suffix rules after Harman's S-stemmer (JASIS 42, 1991)."""
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    if len(word) <= 3 or not word.endswith("s") or word.endswith(("ss", "us", "is")):
        return word
    for pattern, put in _PLURALS:
        if pattern.search(word):
            return pattern.sub(put, word)
    return word[:-1]


def split_camel(name: str) -> str:
    """`PSALevel` to `PSA Level`: a space before each capital that begins a word."""
    out: list[str] = []
    for place, letter in enumerate(name):
        before = name[place - 1] if place else ""
        after = name[place + 1] if place + 1 < len(name) else ""
        if letter.isupper() and before and (before.islower() or (before.isupper() and after.islower())):
            out.append(" ")
        out.append(letter)
    return "".join(out)


def key_of(name: str) -> str:
    """What two spellings of one thing share: case, plural, hyphen, possessive, article and -our/-ae- folded away."""
    text = unicodedata.normalize("NFKC", name).casefold()
    text = re.sub(r"(?<=\w)['’]s\b", "", text)
    words = re.findall(r"[^\W_]+\+*", text)
    if len(words) > 1 and words[0] in ("a", "an", "the"):
        words = words[1:]
    folded = []
    for word in words:
        for pattern, put in _SPELLINGS:
            word = pattern.sub(put, word)  # noqa: PLW2901
        folded.append(singular(word))
    return " ".join(folded)


def near_identical(left: str, right: str, cutoff: float) -> float:
    """How alike two keys are (0 to 100), or 0 where they must not be taken for each other.

    Word by word: words that differ must be long, begin alike and reach `cutoff` (rapidfuzz ratio). Numbers, roman
    numerals and short words must agree exactly, and words that differ at their beginning (hyper-/hypo-, un-, a-,
    inter-/intra-) are different words however long the rest, unless it is only that a letter is doubled.
    """
    if left == right:
        return 100.0
    lefts, rights = left.split(), right.split()
    if len(lefts) != len(rights):
        # 'healthcare' and 'health care'
        return 99.0 if left.replace(" ", "") == right.replace(" ", "") and len(left) >= 8 else 0.0
    lowest = 100.0
    for one, other in zip(lefts, rights, strict=True):
        if one == other:
            continue
        doubled = _DOUBLED.sub(r"\1", one) == _DOUBLED.sub(r"\1", other)
        if min(len(one), len(other)) < 6 or not (doubled or one[:4] == other[:4]):
            return 0.0
        if any(c.isdigit() for c in one + other) or _ROMAN.fullmatch(one) or _ROMAN.fullmatch(other):
            return 0.0
        lowest = min(lowest, fuzz.ratio(one, other))
    return lowest if lowest >= cutoff else 0.0


def metric_name(raw: str) -> str | None:
    """CamelCase name for a metric (`five-year survival rate` to `FiveYearSurvivalRate`); None where refused."""
    bare = raw.split("(", 1)[0].strip()
    if refusal(bare) or _SYMBOLS.search(bare):
        return None
    words = _WORD.findall(split_camel(unicodedata.normalize("NFKC", bare).replace("'", "").replace("’", "")))
    if words and words[0].isdecimal():
        number = int(words[0])
        if number >= len(_NUMBERS):
            return None
        words[0] = _NUMBERS[number]
    if not words or len(words) > MAXIMUM_METRIC_WORDS or not words[0][0].isalpha():
        return None
    name = "".join(word[:1].upper() + word[1:] for word in words)
    return name if name.isidentifier() else None


def metric_words(name: str) -> str:
    """A metric's name as a phrase: `TreatmentEfficacy` to `Treatment efficacy`."""
    words = split_camel(name).split()
    rest = [word if sum(c.isupper() for c in word) > 1 else word.lower() for word in words[1:]]
    return " ".join([words[0][:1].upper() + words[0][1:], *rest]) if words else name


def dimension_name(raw: str) -> str | None:
    """snake_case identifier for a dimension (`Risk Factors` to `risk_factor`); None where refused."""
    if refusal(raw) or _SYMBOLS.search(raw):
        return None
    words = _WORD.findall(split_camel(unicodedata.normalize("NFKC", raw).strip()).lower())
    if not words or len(words) > MAXIMUM_DIMENSION_WORDS:
        return None
    words[-1] = singular(words[-1])
    name = "_".join(words)
    return name if name.isidentifier() and len(name) <= 48 else None


def dimension_key(name: str) -> str:
    """What two names of one axis share: as `key_of`, and without generic words ('disease_type', 'type of disease')."""
    words = key_of(split_camel(name).replace("_", " ")).split()
    return " ".join(word for word in words if word not in _GENERIC) or " ".join(words)


@dataclass(frozen=True, slots=True)
class EntityName:
    """An entity's spelling as read, and the abbreviation or long form that stood in brackets beside it."""

    name: str
    aliases: tuple[str, ...] = ()


def entity_name(raw: str) -> EntityName | None:
    """A tidy entity name with its bracketed abbreviation as alias; None where refused.

    A comma would make `Metric(a, b)` ambiguous, so it becomes a space.
    """
    if refusal(raw):
        return None
    long, short = split_abbreviation(clean_text(raw, MAXIMUM_NAME))
    names = [tidy for part in (long, short) if (tidy := _tidy(part))]
    if not names or len(names[0].split()) > MAXIMUM_ENTITY_WORDS or not key_of(names[0]):
        return None
    return EntityName(names[0], tuple(names[1:]))


def _tidy(name: str) -> str:
    return " ".join(name.replace(",", " ").split()).strip(" .;:'\"“”‘’-–—*•_|")


def split_abbreviation(name: str) -> tuple[str, str]:
    """`long form (LF)` or `LF (long form)` to (`long form`, `LF`); anything else to (name, '').

    The short form must be found in the long one (Schwartz and Hearst, PSB 2003).
    """
    match = re.fullmatch(r"(.+?)\s*\(([^()]+)\)", name.strip())
    if not match:
        return name, ""
    outer, inner = match.group(1).strip(), match.group(2).strip()
    if is_abbreviation_of(inner, outer):
        return outer, inner
    if is_abbreviation_of(outer, inner):
        return inner, outer
    return name, ""


def is_abbreviation(name: str) -> bool:
    """Whether a spelling looks like an abbreviation: one short word with at least two capitals or digits."""
    return (
        " " not in name
        and 2 <= len(name) <= 10
        and sum(c.isupper() or c.isdigit() for c in name) >= 2
        and any(c.isupper() for c in name)
    )


def is_abbreviation_of(short: str, long: str) -> bool:
    """Schwartz and Hearst's test: the letters of `short` occur in order in `long`, its first at a word's beginning.

    Not where `short` is a word of `long` itself: 'BRCA1 gene' is not what BRCA1 stands for.
    """
    short, long = short.strip(), long.strip()
    if not is_abbreviation(short.rstrip("s")) or len(long) <= len(short) or short in long.split():
        return False
    letters = [c for c in short.rstrip("s").lower() if c.isalnum()]
    place = len(long) - 1
    lower = long.lower()
    for index in range(len(letters) - 1, -1, -1):
        first = index == 0
        while place >= 0 and (lower[place] != letters[index] or (first and place > 0 and lower[place - 1].isalnum())):
            place -= 1
        if place < 0:
            return False
        place -= 1
    return True


def metric_of(variable: str) -> str:
    """The metric of a variable's name: what stands before its first bracket."""
    return variable.split("(", 1)[0]


def parse_variable(name: str) -> VariableRef | None:
    """A variable's name back into its parts; None where it is not `Metric(entity, …)`."""
    metric, bracket, rest = name.partition("(")
    if not bracket or not rest.endswith(")") or not metric.strip():
        return None
    entities = tuple(part.strip() for part in rest[:-1].split(", "))
    return VariableRef(metric.strip(), entities) if all(entities) else None
