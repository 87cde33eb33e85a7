"""Weak statements: "Y associated with X", "Y after X", where what X and Y are tells which is the cause.

An association is a cause only by what its ends are: what is given or met with (a drug, a treatment, a substance) and
what befalls (a disease, a symptom). Such links have no sign and little confidence.
"""

from collections.abc import Iterator

from hcg_pipeline.backends.rules.causal import Link, denied
from hcg_pipeline.backends.rules.clauses import Clauses
from hcg_pipeline.backends.rules.groups import Argument
from hcg_pipeline.backends.rules.wordlists import word_lists

AGENTS = frozenset({"drug", "treatment", "substance", "biomolecule", "material", "microorganism"})
BEFALLS = frozenset({"disease", "symptom"})
_ASSOCIATED = frozenset({"associate", "link", "relate", "connect"})
_GIVEN = frozenset({"receive", "take", "treat", "give", "ingest", "use"})
_SEEN = frozenset({"develop", "occur", "appear", "observe", "report", "see", "describe", "note"})
_STRENGTH = 0.4


def association_links(clauses: Clauses) -> Iterator[Link]:
    """Links of association and of succession between an agent and what befalls."""
    for place in range(len(clauses.segments)):
        verb = clauses.verb(place)
        if verb is not None and verb.lemma in _ASSOCIATED:
            yield from _associated(clauses, place)
        elif clauses.low(place) in {"after", "following", "during"} and clauses.kind(place - 1) in {"NP", "CLOSE"}:
            yield from _succeeding(clauses, place)
        elif verb is not None and verb.lemma in _GIVEN and verb.form in {"ing", "ppl"}:
            yield from _in_those_given(clauses, place)


def _associated(clauses: Clauses, place: int) -> Iterator[Link]:
    """Both directions: the kinds of the ends leave at most one of them."""
    verb = clauses.segments[place]
    if verb.negated or not (verb.passive or verb.form == "ppl") or denied(clauses, place):
        return
    after = place + 1
    while clauses.kind(after) == "AV":
        after += 1
    if clauses.low(after) not in {"with", "to"}:
        return
    right = clauses.group(after + 1)[0]
    left = clauses.subjects(place) if verb.passive else _before(clauses, place - 1)
    yield _weak(left, right)
    yield _weak(right, left)


def _succeeding(clauses: Clauses, place: int) -> Iterator[Link]:
    """ "liver failure after an overdose of paracetamol", in a heading or a sentence."""
    yield _weak(clauses.group(place + 1)[0], _before(clauses, place - 1))


def _in_those_given(clauses: Clauses, place: int) -> Iterator[Link]:
    """ "ocular toxicity in patients receiving X", "tremor developed in a man treated with X"."""
    marker = place - 2
    if clauses.low(marker) != "in" or clauses.kind(place - 1) != "NP":
        return
    if clauses.segments[place - 1].lemma not in word_lists()["person_head"]:
        return
    after = place + 1 + (clauses.low(place + 1) == "with")
    verb = clauses.verb(marker - 1)
    if verb is None:
        left = _before(clauses, marker - 1)
    elif verb.lemma in _SEEN and not verb.negated:
        left = clauses.subjects(marker - 1)
    else:
        return
    yield _weak(clauses.group(after)[0], left)


def _before(clauses: Clauses, last: int) -> list[Argument]:
    """The noun group that ends with segment `last`: the whole of it where it opens the sentence."""
    found, end = clauses.group(0)
    return found if found and end == last + 1 else clauses.near(last)


def _weak(causes: list[Argument], effects: list[Argument]) -> Link:
    return Link(tuple(causes), tuple(effects), "?", _STRENGTH, "associated", AGENTS, BEFALLS)
