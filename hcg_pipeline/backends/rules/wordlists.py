"""The backend's word lists, cues and facets, read once from the package's own files."""

from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from hcg_pipeline.backends.rules import words as _package


@dataclass(frozen=True, slots=True)
class Facet:
    """A way in which an entity can be measured or assessed: `Risk`, said by the nouns risk, chance, likelihood …"""

    name: str
    category: str
    nouns: tuple[str, ...]
    says: str
    never_of: frozenset[str]
    only_of: frozenset[str]


@dataclass(frozen=True, slots=True)
class Cue:
    """A verb that states a cause. `forward`: its subject is the cause. `facet` is what it says of its object."""

    verb: str
    particles: frozenset[str]
    forward: bool
    sign: str
    strength: float
    facet: str
    only: frozenset[str]


def rows(name: str) -> list[list[str]]:
    """The cells of each row of one of the package's tables, comments left out."""
    text = files(_package).joinpath(name).read_text("utf-8")
    return [line.split("\t") for line in text.splitlines() if line.strip() and not line.startswith("#")]


@cache
def word_lists() -> dict[str, frozenset[str]]:
    """List name -> its words, lower case."""
    return {name: frozenset(words.split()) for name, words in rows("lists.tsv")}


@cache
def word_map(name: str) -> dict[str, str]:
    """Word -> its value, of a two-column file such as `verb_facets.tsv`, whose second column lists words."""
    return {word: key for key, words in rows(name) for word in words.split()}


@cache
def facets() -> dict[str, Facet]:
    """Facet name -> facet, in the file's order."""
    return {
        name: Facet(name, category, tuple(nouns.split()), says, *_limits(limits))
        for name, category, nouns, says, limits in rows("facets.tsv")
    }


def fits(facet: str, dimension: str) -> bool:
    """Whether a facet can be said of the entities of a dimension: no price of a disease, no dose of a machine."""
    known = facets().get(facet)
    if known is None:
        return True
    return dimension in known.only_of if known.only_of else dimension not in known.never_of


def _limits(text: str) -> tuple[frozenset[str], frozenset[str]]:
    """(never of these dimensions, only of these)."""
    names = frozenset(text.lstrip("+").split()) - {"-"}
    return (frozenset(), names) if text.startswith("+") else (names, frozenset())


@cache
def facet_of_noun() -> dict[str, str]:
    """Noun lemma -> the first facet that lists it."""
    found: dict[str, str] = {}
    for facet in facets().values():
        for noun in facet.nouns:
            found.setdefault(noun, facet.name)
    return found


@cache
def cues() -> dict[str, tuple[Cue, ...]]:
    """Verb lemma -> its cues; those with a particle first, since they are the more specific."""
    found: dict[str, list[Cue]] = {}
    for verb, particles, direction, sign, strength, facet, only in rows("cues.tsv"):
        names = frozenset(name for name in particles.split(",") if name != "-")
        bare = "-" in particles.split(",")
        lemma, _, rest = verb.partition(" ")
        dimensions = frozenset(name for name in only.split() if name != "-")
        cue = Cue(verb, names, direction == ">", sign, float(strength), "" if facet == "-" else facet, dimensions)
        found.setdefault(lemma, []).append(cue)
        if bare and names:
            found[lemma].append(Cue(verb, frozenset(), cue.forward, sign, cue.strength, cue.facet, dimensions))
        if rest:
            found.setdefault(lemma, [])
    return {verb: tuple(sorted(items, key=lambda cue: not cue.particles)) for verb, items in found.items()}


@cache
def impaired() -> frozenset[str]:
    """What is said of a part that does its work less well: "worn", and participles of verbs of damage ("pitted")."""
    found = set(word_lists()["impaired"])
    for verb, items in cues().items():
        if any(cue.facet in {"Damage", "Wear", "Blockage"} for cue in items):
            found |= {f"{verb}d"} if verb.endswith("e") else {f"{verb}ed", f"{verb}{verb[-1]}ed"}
    return frozenset(found)


@dataclass(frozen=True, slots=True)
class NounClass:
    """A noun class that makes a dimension, how a mention of its entities is measured by default, and its weight.

    `one` is a single thing of it ("a machine or device"); `says` is what the default facet says of {x}, or "-".
    """

    name: str
    dimension: str
    facet: str
    category: str
    weight: float
    describes: str
    one: str
    says: str


@cache
def noun_classes() -> dict[str, NounClass]:
    """Class name -> what it makes; classes that make no dimension are absent."""
    return {
        name: NounClass(name, dimension, facet, category, float(weight), describes, one, says)
        for name, dimension, facet, category, weight, describes, one, says in rows("classes.tsv")
    }
