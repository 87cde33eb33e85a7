"""How a clause is built, as far as its subjects need: what goes on from what, what opens a sentence, what is far."""

from hcg_pipeline.backends.rules.groups import NounGroups

NOMINAL = frozenset({"NP", "P", "CJ", "CM", "AV", "OPEN", "CLOSE"})
_TEMPORAL = frozenset({"before", "until", "while", "when", "after"})
_FAR = 4


class ClauseShape(NounGroups):
    """Questions about the order of a sentence's segments that are answered with yes, no or a place."""

    def parallel(self, mark: int) -> bool:
        """Whether the verb before a conjunction is an -ing form too: "causing A and increasing B"."""
        for place in range(mark - 1, -1, -1):
            verb = self.verb(place)
            if verb is not None:
                return verb.form == "ing"
        return False

    def of_means(self, comma: int) -> bool:
        """ "by cutting A, raising B and": the second gerund is a means as the first is, said of no A."""
        place = comma - 1
        while self.kind(place) in NOMINAL and self.verb(place) is None:
            place -= 1
        verb = self.verb(place)
        return verb is not None and verb.form == "ing" and self.low(place - 1) in {"by", "through", "via"}

    def fronted(self, end: int) -> bool:
        """Whether a gerund belongs to what opens the sentence: "Mainly affecting", "By cutting A, raising"."""
        opens = end > 0 and self.kind(0) in {"AV", "P"}
        return opens and not any(self.is_finite(at) or self.kind(at) in {"SB", "RL"} for at in range(end))

    def opens_gerund(self, place: int) -> bool:
        """Whether a gerund opens a subject: "Treating fevers", "Preventing and treating fevers"."""
        if self.kind(place - 1) == "CJ":
            other = self.low(place - 2)
            return other.endswith("ing") and " " not in other and self.kind(place - 3) in {"END", "P", "SB", "CM"}
        return self.kind(place - 1) in {"END", "P", "SB", "CM"}

    def far(self, verb: int, comma: int) -> bool:
        """Whether so much stands between a verb and a participle that it may be said of any of it."""
        commas = [at for at in range(verb + 1, comma) if self.kind(at) == "CM"]
        return len(commas) > _FAR or any(self.low(at + 1) == "with" for at in commas)

    def alike(self, first: int, second: int) -> bool:
        """Whether two verbs are of one form that no participle has: "erodes A, loosens B"."""
        tags = {self.tokens[self.segments[place].end - 1].tag for place in (first, second)}
        return len(tags) == 1 and tags <= {"VVZ", "VVI", "VVB"}

    def goes_on(self, place: int) -> bool:
        """Whether a verb after a mere comma is one of several: "improves A, reduces B and raises C".

        In "impaired vision, slowed reactions and fatigue" it is not: no verb follows the conjunction.
        """
        for here in range(place + 1, len(self.segments)):
            if self.kind(here) in {"SB", "RL", "OT"}:
                return False
            if self.kind(here) == "CJ":
                after = here + 1
                while self.kind(after) in {"AV", "CM"}:
                    after += 1
                if self.verb(after) is not None:
                    return True
        return False

    def outside_temporal(self, place: int) -> tuple[bool, int | None]:
        """Whether a verb is inside a clause of time, and the finite verb before that clause.

        "closes before the flow turns and prevents": what prevents is what closes.
        """
        for mark in range(place - 1, 0, -1):
            if self.verb(mark) is not None:
                return False, None
            if self.low(mark) in _TEMPORAL:
                return True, next((at for at in range(mark - 1, -1, -1) if self.is_finite(at)), None)
        return False, None
