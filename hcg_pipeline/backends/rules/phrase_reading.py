"""A phrase to what it speaks of: an entity, in which facet, which way it goes, and a second entity.

"a fall in the price of wheat" is the price of wheat, less of it; "kidney damage" an entity or the damage of the kidney;
"lack of sleep" is less sleep; "exposure to lead" is lead.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from hcg_pipeline.backends.rules.entities import EntityIndex, Mention
from hcg_pipeline.backends.rules.groups import FLIP, Argument, combine
from hcg_pipeline.backends.rules.tokens import Token
from hcg_pipeline.backends.rules.wordlists import facet_of_noun, fits, impaired, noun_classes, word_lists

PEOPLE = frozenset({"population", "place", "characteristic"})
"""Dimensions whose entities are variables only in a facet: wages of workers, not workers."""
_LOST_TO = frozenset({"process", "energy", "phenomenon"})
"""A friction loss is a loss through friction: more of the one is more of the other."""
_WORKING = frozenset({"Condition", "Operation", "Function"})
_COUNTED = frozenset({"body_part", "component", "equipment", "structure"})
_GIVEN = frozenset({"drug", "substance", "treatment", "biomolecule", "material", "energy", "food", "test"})
_TAKES: dict[str, frozenset[str]] = {
    "for": frozenset(
        {
            "Demand",
            "Risk",
            "Cost",
            "Price",
            "Treatment",
            "Screening",
            "Prognosis",
            "Survival",
            "Efficacy",
            "Capacity",
            "Removal",
            "Exposure",
        }
    ),
    "to": frozenset({"Damage", "Exposure", "Resistance", "Response", "Access", "Flow"}),
    "on": frozenset({"Load", "Pressure", "Wear"}),
    "among": frozenset({"Competition", "Occurrence", "Mortality"}),
    "between": frozenset({"Competition"}),
    "from": frozenset({"Death", "Revenue", "Profit"}),
}
_SECOND = frozenset({"for", "in", "against", "of", "on", "with", "by"})


@dataclass(frozen=True, slots=True)
class PhraseReading:
    """What a phrase speaks of before metrics come in: an entity, its facet ("" for none), polarity, a second entity."""

    mention: Mention
    facet: str
    polarity: str
    second: Mention | None = None
    turned: bool = False


def default_facet(dimension: str) -> str:
    """How a mention of an entity of this dimension is measured where the text says no more."""
    for kind in noun_classes().values():
        if kind.dimension == dimension:
            return kind.facet
    return "Occurrence"


def measured_by_itself(dimension: str) -> bool:
    """Whether a bare mention of an entity is a variable. People and places are not, only facets of them are."""
    return dimension not in PEOPLE


def as_effect(reading: PhraseReading, cue: str) -> PhraseReading:
    """A reading as what a cue acts on: a drug that is raised or lowered is so in its level, not in its use."""
    if (
        reading.facet
        or reading.mention.dimension != "drug"
        or cue.split(" ", maxsplit=1)[0] not in word_lists()["level_cue"]
    ):
        return reading
    return replace(reading, facet="Level")


class PhraseReader:
    """Reads phrases over the entities of a vocabulary."""

    def __init__(self, index: EntityIndex) -> None:
        self.index = index
        self._lists = word_lists()
        self._facets = facet_of_noun()

    def read(self, tokens: Sequence[Token], argument: Argument, depth: int = 0) -> PhraseReading | None:
        """The reading of the phrase [start, end) of an argument, or None where its head names nothing known."""
        start, end = argument.start, argument.end
        core_end, parts = self._parts(tokens, start, end)
        head = next((at for at in range(core_end - 1, start - 1, -1) if tokens[at].is_noun), None)
        if head is None or any(token.low in {"no", "neither"} for token in tokens[start:head]):
            return None
        whole = self.index.ending_at(tokens, start, head + 1)
        lemma = tokens[head].lemma
        facet = self._facets.get(lemma, "")
        single = whole is not None and whole.end - whole.start == 1
        changes = lemma in self._lists["less_head"] or lemma in self._lists["more_head"]
        found: PhraseReading | None = None
        carrier = lemma in self._lists["carrier"]
        if (facet or changes) and (whole is None or single):
            found = self._faceted(tokens, start, head, parts, facet)
        if found is not None and carrier and not fits(found.facet, found.mention.dimension):
            found = None
        if found is None and carrier and (whole is None or single):
            found = self._carried(tokens, start, head, parts)
        if found is None and whole is not None and not (single and whole.dimension in PEOPLE and parts):
            found = PhraseReading(whole, "", "+", self._second(tokens, parts, whole))
        stands_for = (
            found is None and lemma in self._lists["light"] and bool(parts) and parts[0][0] == "of" and depth < 3
        )
        if stands_for:
            found = self.read(tokens, Argument(parts[0][1], end), depth + 1)
        if found is None or self._shares_head(tokens, argument, head, found):
            return None
        front = min(head, found.mention.start if found.mention.end <= head + 1 else head)
        polarity = combine(found.polarity, self._modifiers(tokens, start, front, found.mention.dimension))
        polarity = combine(polarity, argument.polarity) if argument.polarity in {"+", "-"} else "?"
        facet = found.facet
        if argument.facet and not facet:
            if found.mention.end == head + 1 or stands_for:
                facet = argument.facet
            elif argument.facet in word_lists()["opposite_facets"]:
                # "removes the effect of X" is not removal of X, but less of it.
                polarity = FLIP[polarity]
        graded = self._lists["less"] | self._lists["more"]
        turned = changes or found.turned or any(tokens[at].low in graded for at in range(start, head))
        return PhraseReading(found.mention, facet, polarity, found.second, turned)

    @staticmethod
    def _shares_head(tokens: Sequence[Token], argument: Argument, head: int, found: PhraseReading) -> bool:
        """ "colon and uterine cancers": a part in the singular without an article lends itself to the next noun.

        So does anything before "difficulties" or "problems" ("memory or movement problems").
        """
        if found.facet or argument.end != head + 1 or tokens[head].tag != "NN1":
            return False
        after = tokens[argument.end : argument.end + 4]
        if (
            len(after) < 3
            or after[0].low not in {"and", "or", "and/or"}
            or not (after[1].tag == "AJ0" or after[1].is_noun)
            or not after[2].is_noun
        ):
            return False
        bare = tokens[argument.start].tag not in {"AT0", "DT0", "DPS", "CRD"}
        whole = [token.lemma for token in after[2:] if token.is_noun][-1]
        return bare and (found.mention.dimension in _COUNTED or whole in word_lists()["shared_head"])

    def _parts(self, tokens: Sequence[Token], start: int, end: int) -> tuple[int, list[tuple[str, int, int]]]:
        """End of the core, and the prepositional parts after it: (preposition, start, end)."""
        marks = [
            at
            for at in range(start + 1, end)
            if tokens[at].tag in {"PRP", "PRF"} or tokens[at].low in {"(", ")", "such", "as"}
        ]
        core_end = marks[0] if marks else end
        parts = []
        for place, at in enumerate(marks):
            stop = marks[place + 1] if place + 1 < len(marks) else end
            if tokens[at].low not in {"(", ")"} and at + 1 < stop:
                parts.append((tokens[at].low, at + 1, stop))
        return core_end, parts

    def _faceted(
        self, tokens: Sequence[Token], start: int, head: int, parts: list[tuple[str, int, int]], facet: str
    ) -> PhraseReading | None:
        lemma = tokens[head].lemma
        turned = "-" if lemma in self._lists["less_head"] else "+"
        change = lemma in self._lists["less_head"] or lemma in self._lists["more_head"]
        before = self.index.ending_at(tokens, start, head)
        if before is not None and lemma == "loss" and before.dimension in _LOST_TO:
            return PhraseReading(before, "", "+", self._second(tokens, parts, before))
        if before is not None and facet == "Risk" and before.entity.rsplit(" ")[-1].lower() in self._lists["welcome"]:
            # A health threat is no likelihood of health.
            before, parts = None, []
        if before is not None and before.dimension not in PEOPLE:
            return self._with_facet(before, facet, turned, self._second(tokens, parts, before), change)
        for preposition, first, last in parts:
            if preposition not in {"of", "in"} and facet not in _TAKES.get(preposition, ()):
                continue
            inner = self.read(tokens, Argument(first, last), 1)
            if inner is not None and inner.mention.dimension not in PEOPLE:
                rest = [part for part in parts if part[1] > first]
                second = inner.second or self._second(tokens, rest, inner.mention)
                if inner.facet:
                    # "a fall in the price of X": the inner facet is measured, the outer word says which way.
                    return PhraseReading(inner.mention, inner.facet, combine(inner.polarity, turned), second)
                found = self._with_facet(inner.mention, facet, turned, second, change)
                return PhraseReading(found.mention, found.facet, combine(found.polarity, inner.polarity), second)
            if preposition == "of":
                return None
        return None

    def _carried(
        self, tokens: Sequence[Token], start: int, head: int, parts: list[tuple[str, int, int]]
    ) -> PhraseReading | None:
        """ "valproate therapy", "treatment with valproate", "exposure to lead": what is given or met with."""
        turned = "-" if tokens[head].lemma == "withdrawal" else "+"
        before = self.index.ending_at(tokens, start, head)
        if before is not None and before.dimension == "biomolecule" and tokens[head].lemma in {"therapy", "treatment"}:
            # "hormone therapy" may as well keep hormones down.
            return None
        if before is not None and before.dimension in _GIVEN:
            return PhraseReading(before, "", turned, self._second(tokens, parts, before))
        for preposition, first, last in parts:
            if preposition in {"of", "with", "to"}:
                inner = self.read(tokens, Argument(first, last), 1)
                if inner is not None and inner.mention.dimension in _GIVEN and not inner.facet:
                    return replace(inner, polarity=combine(inner.polarity, turned))
        return None

    @staticmethod
    def _with_facet(mention: Mention, facet: str, turned: str, second: Mention | None, change: bool) -> PhraseReading:
        """Loss and Growth can be measures of their own: they carry the change themselves, and turn nothing."""
        if facet:
            return PhraseReading(mention, facet, "+", second)
        return PhraseReading(mention, "", turned if change else "+", second)

    def _second(self, tokens: Sequence[Token], parts: Sequence[tuple[str, int, int]], first: Mention) -> Mention | None:
        for preposition, start, end in parts:
            if preposition not in _SECOND or start < first.end:
                continue
            head = next((at for at in range(end - 1, start - 1, -1) if tokens[at].is_noun), None)
            found = self.index.ending_at(tokens, start, head + 1) if head is not None else None
            if found is not None and found.dimension != first.dimension and found.dimension not in PEOPLE:
                return found
        return None

    def _modifiers(self, tokens: Sequence[Token], start: int, end: int, dimension: str) -> str:
        """ "Less" turns anything round; "worn" and "damaged" only what is measured by how well it works."""
        turning = self._lists["less"]
        if default_facet(dimension) in _WORKING:
            turning = turning | impaired()
        for at in range(start, end):
            if tokens[at].low == "less" and tokens[at + 1].tag.startswith("AJ"):
                # "the less noble metal" is no less metal.
                continue
            if tokens[at].low in {"little", "few"} and at and tokens[at - 1].low == "a":
                # "a little blood", "a few deaths" are some.
                continue
            if tokens[at].low in turning:
                return "-"
        return "+"
