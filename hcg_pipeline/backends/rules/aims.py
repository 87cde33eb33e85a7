"""What a sentence asks or sets out to do: it states no finding.

"This study aims to examine the effect of X on Y", "We assessed whether X reduces Y", "The effect of X on Y is unclear".
"""

from hcg_pipeline.backends.rules.clauses import Clauses
from hcg_pipeline.backends.rules.groups import Argument
from hcg_pipeline.backends.rules.wordlists import word_lists

_QUESTION = frozenset({"whether", "how", "if", "what", "which", "why", "the extent to which"})
_TOUCH = frozenset({"effect", "impact", "influence"})
GIVEN = frozenset({"-induced", "-caused", "induced", "induce by", "cause by"})
"""Cues of what is taken for known even in a question: "to examine cisplatin-induced deafness"."""
_OPENING = 8


def asked_from(clauses: Clauses) -> int:
    """The token from which on a sentence only asks or aims; the number of its tokens where it does not."""
    size = len(clauses.tokens)
    starts = [start for start in (_aim(clauses), _inquiry(clauses)) if start is not None]
    return min(starts, default=size)


def only_asked(clauses: Clauses, start: int, arguments: tuple[Argument, ...]) -> bool:
    """Whether all of a link's arguments stand in what is asked, which ends where a finding is told."""
    if start >= len(clauses.tokens) or any(one.start < start for one in arguments):
        return False
    told = word_lists()["telling"]
    end = next(
        (one.start for one in clauses.segments if one.kind == "VG" and one.start > start and one.lemma in told),
        len(clauses.tokens),
    )
    return all(one.start < end for one in arguments)


def unsettled(clauses: Clauses) -> bool:
    """Whether a sentence says that something is not known: "remains unclear", "few studies of the effect"."""
    lists = word_lists()
    lows = [token.low for token in clauses.tokens]
    if lists["unsettled"].intersection(lows):
        return True
    if any(
        low in {"little", "few", "limited", "scarce", "poorly", "insufficient", "lack", "no"}
        and lists["knowing"].intersection(token.lemma for token in clauses.tokens[at + 1 : at + 6])
        for at, low in enumerate(lows)
    ):
        return True
    return any(
        segment.kind == "VG" and segment.negated and segment.lemma in lists["inquiring"] | lists["knowing"]
        for segment in clauses.segments
    )


def _aim(clauses: Clauses) -> int | None:
    """Where an aim of the text itself begins: "This study aims to", "Our objective was to", "Purpose: To assess"."""
    lists = word_lists()
    lows = [token.low for token in clauses.tokens]
    first = next((at for at, low in enumerate(lows[:_OPENING]) if low == ":"), -1) + 1
    if lows[first : first + 1] == ["to"]:
        verb = next((one for one in clauses.segments if one.start == first), None)
        if verb is not None and verb.form == "inf" and not any(map(clauses.is_finite, range(len(clauses.segments)))):
            return first
    own = lists["own_work"]
    for place, segment in enumerate(clauses.segments):
        words = {token.lemma for token in clauses.tokens[segment.start : segment.end]}
        if not words & lists["aiming"]:
            continue
        before = {token.lemma for token in clauses.tokens[max(0, segment.start - _OPENING) : segment.end]}
        behind = {token.lemma for token in clauses.tokens[segment.end : segment.end + 4]}
        if not (before | behind) & own:
            continue
        for after in range(place, min(place + _OPENING, len(clauses.segments))):
            if clauses.kind(after) == "VG" and clauses.segments[after].form == "inf":
                return segment.start
    return None


def _inquiry(clauses: Clauses) -> int | None:
    """Where what is looked into begins: "assessed whether", "to examine the effect of"."""
    inquiring = word_lists()["inquiring"]
    for place, segment in enumerate(clauses.segments):
        if segment.kind != "VG" or segment.lemma not in inquiring:
            continue
        after = place + 1
        while clauses.kind(after) == "AV" and clauses.low(after) not in _QUESTION:
            after += 1
        if clauses.low(after) in _QUESTION:
            return segment.end
        if clauses.kind(after) == "NP" and clauses.segments[after].lemma in _TOUCH | word_lists()["linking"]:
            return segment.end
    return None
