"""Noun groups over the segments of a sentence: items, coordinations, antecedents, without a full parse."""

from dataclasses import dataclass, replace

from hcg_pipeline.backends.rules.phrases import Segment, segments
from hcg_pipeline.backends.rules.tokens import Token
from hcg_pipeline.backends.rules.wordlists import facet_of_noun, word_lists

_TOWARDS = ("sensitivity", "resistance", "tolerance", "intolerance", "reaction")
FLIP = {"+": "-", "-": "+", "?": "?"}


@dataclass(frozen=True, slots=True)
class Argument:
    """Tokens [start, end) that name a cause or an effect, which way it goes, and the facet that a verb gives it."""

    start: int
    end: int
    polarity: str = "+"
    facet: str = ""


def combine(first: str, second: str) -> str:
    """The sign of two signs in a row; `?` absorbs."""
    if "?" in {first, second}:
        return "?"
    return "+" if first == second else "-"


class NounGroups:
    """One sentence's tokens and segments, and the noun groups in it."""

    def __init__(self, tokens: list[Token]) -> None:
        self.tokens = tokens
        self.segments = segments(tokens)

    def kind(self, place: int) -> str:
        """The kind of the segment at a place; `END` outside of the sentence."""
        return self.segments[place].kind if 0 <= place < len(self.segments) else "END"

    def low(self, place: int) -> str:
        """The lower-case words of a segment."""
        if not 0 <= place < len(self.segments):
            return ""
        segment = self.segments[place]
        return " ".join(token.low for token in self.tokens[segment.start : segment.end])

    def verb(self, place: int) -> Segment | None:
        """The verb group at a place, if there is one."""
        return self.segments[place] if self.kind(place) == "VG" else None

    def is_finite(self, place: int) -> bool:
        """Whether a finite verb group stands at a place."""
        verb = self.verb(place)
        return verb is not None and verb.form == "fin"

    def item(self, place: int) -> int:
        """End of `NP (P NP)*` that begins at `place`, brackets skipped; `place` itself if none begins there."""
        if self.kind(place) != "NP":
            return place
        here = self._skip_brackets(place + 1)
        while self.kind(here) == "P" and self.low(here) in word_lists()["attach"]:
            after = here + 1
            while self.kind(after) == "P" or self.low(after) in {"both", "either"}:
                after += 1
            if self.kind(after) != "NP":
                break
            if self.low(here) == "between" and self.kind(after + 1) == "CJ" and self.kind(after + 2) == "NP":
                after += 2
            here = self._skip_brackets(after + 1)
        return here

    def _skip_brackets(self, place: int) -> int:
        if self.kind(place) != "OPEN":
            return place
        for here in range(place + 1, min(place + 12, len(self.segments))):
            if self.kind(here) == "CLOSE":
                return here + 1
        return place

    def group(self, place: int) -> tuple[list[Argument], int]:
        """Coordinated items from `place` on ("A, B of C, and D") and the place after them.

        An item that a finite verb follows is the subject of the next clause, not part of the group.
        """
        found: list[Argument] = []
        ends: list[int] = []
        joined = False
        end = here = self._past_openers(place)
        while True:
            after = self.item(here)
            if after == here:
                break
            if found and self.starts_clause(after):
                if len(found) > 1 and self._opens_next(ends[-2], ends[-1], here):
                    # "improves care, stress and anxiety fall": both members open the next clause.
                    found.pop()
                    ends.pop()
                    end = ends[-1]
                    joined = any(self.kind(at) == "CJ" for at in range(place, end))
                break
            if found and self._inside_phrase(ends[-1] - 1, here):
                end = here = after
                while self.kind(here) in {"CM", "CJ"}:
                    here += 1
                if here == after:
                    break
                continue
            found.append(self.argument(here, after))
            ends.append(after)
            end = after
            here = after
            if self.low(here) == "but" or (self.kind(here) == "CM" and self.low(here + 1) == "but"):
                # "but" opens a clause; it joins no objects.
                break
            here = self._past_joints(after)
            if here == after:
                break
            joined |= any(self.kind(at) == "CJ" for at in range(after, here))
            # "such as A", "including A" after a comma belong to the item before.
            while self.kind(here) == "P" and self.low(here) in {"such", "as", "including", "like"}:
                here += 1
        if len(found) > 2 and self._apposed(place, end):
            # "A and B, a growing risk, are": the last names A and B once more.
            found, end = found[:-1], ends[-2]
        if len(found) > 1 and not joined:
            # Commas alone join nothing: what follows is an apposition.
            return found[:1], ends[0]
        return self._shared_facet(found), end

    def _past_openers(self, place: int) -> int:
        while self.kind(place) == "AV" or self.low(place) in {"both", "either", "not only"}:
            place += 1
        return place

    def _past_joints(self, place: int) -> int:
        while self.kind(place) in {"CM", "CJ"} or self.low(place) in {"also", "as well as", "but also", "/", "even"}:
            place += 1
        return place

    def _opens_next(self, before: int, last: int, here: int) -> bool:
        """Whether the last member begins after a mere comma at `before`, and "and" alone joins it to what is next."""
        return (
            last == here - 1 and self.kind(last) == "CJ" and self.kind(before) == "CM" and self.kind(before + 1) == "NP"
        )

    def _inside_phrase(self, last: int, here: int) -> bool:
        """ "swelling in the cortex and the thalamus": a second "the" after "in the" goes on with the "in"."""
        if self.kind(last) != "NP" or self.kind(last - 1) != "P" or self.low(last - 1) not in {"in", "of", "at", "on"}:
            return False
        head = self.segments[last - 2]
        articled = all(self.tokens[self.segments[at].start].low == "the" for at in (last, here))
        return articled and head.kind == "NP" and self.tokens[head.start].low != "the"

    def _shared_facet(self, found: list[Argument]) -> list[Argument]:
        """ "the risk of heart disease and stroke": a bare second member is measured as the first is.

        So it is with any measure in the plural ("deficiencies of iron and zinc").
        """
        if len(found) < 2:
            return found
        head = next(
            (
                at
                for at in range(found[0].start, found[0].end - 1)
                if self.tokens[at].is_noun and self.tokens[at + 1].low == "of"
            ),
            None,
        )
        facet = facet_of_noun().get(self.tokens[head].lemma, "") if head is not None else ""
        if head is not None and self.tokens[head].lemma in word_lists()["meta"]:
            # "Evaluation of strain and capacity improved": neither did, but their evaluation.
            return found[:1]
        plural = head is not None and self.tokens[head].tag == "NN2" and bool(facet)
        # "the loss of work and income" is of both, "loss of appetite and nausea" is not.
        wanting = facet in word_lists()["wanting_facets"] and self.tokens[found[0].start].low == "the"
        if facet not in word_lists()["shared_facets"] and not plural and not wanting:
            return found
        bare = [
            one if self.tokens[one.start].tag in {"AT0", "DT0", "DPS"} else replace(one, facet=facet)
            for one in found[1:]
        ]
        return [found[0], *bare]

    def starts_clause(self, place: int) -> bool:
        """Whether a finite verb follows, adverbs and prepositional phrases ("after a restart") left aside."""
        while self.kind(place) == "AV" or (self.kind(place) == "P" and self.kind(place + 1) == "NP"):
            place = place + 1 if self.kind(place) == "AV" else self.item(place + 1)
        return self.is_finite(place)

    def argument(self, start: int, end: int) -> Argument:
        return Argument(self.segments[start].start, self.segments[end - 1].end)

    def antecedent(self, relative: int) -> list[Argument]:
        last = relative - 1
        if self.kind(last) == "CM":
            last -= 1
        if self.kind(last) == "NP" and self.segments[last].lemma in {"way", "manner", "extent", "fashion"}:
            # "reduces demand in a way that": the way does it, which is not named.
            return []
        found = self.chain(last)
        if found and self.kind(last - 1) == "CJ" and self._inside_phrase(last - 2, last):
            # "clots in the legs and the lungs, which": what is in both.
            return self.chain(last - 2)
        return found

    def chain(self, last: int) -> list[Argument]:
        """The one item `NP (P NP)*` that ends with segment `last`; of a coordination only its last member."""
        if self.kind(last) not in {"NP", "CLOSE"}:
            return []
        first = last
        while first > 0:
            if self.kind(first) == "CLOSE":
                while first > 0 and self.kind(first) != "OPEN":
                    first -= 1
                first -= 1
            elif (
                self.kind(first) == "NP"
                and self.kind(first - 1) == "P"
                and self.low(first - 1) in word_lists()["attach"]
                and self.kind(first - 2) in {"NP", "CLOSE"}
            ):
                first -= 2
            else:
                break
        return [self.argument(first, last + 1)] if self.kind(first) == "NP" else []

    def near(self, last: int) -> list[Argument]:
        """The noun phrase that ends with segment `last`, with what measures it ("the risk of stroke")."""
        if self.kind(last) == "CLOSE":
            return self.chain(last)
        if self.kind(last) != "NP":
            return []
        lists = word_lists()
        first = last
        if (
            self.low(last - 1) == "to"
            and self.kind(last - 2) == "NP"
            and self.segments[last - 2].lemma.endswith(_TOWARDS)
        ):
            # "insensitivity to pain caused by": it is no pain that is caused.
            return self.chain(last - 2)
        while self.low(first - 1) in {"of", "in"} and self.kind(first - 2) == "NP":
            noun = self.segments[first - 2].lemma
            if (
                noun not in facet_of_noun()
                and noun not in lists["less_head"]
                and noun not in lists["more_head"]
                and noun not in lists["light"]
            ):
                break
            first -= 2
        return [self.argument(first, last + 1)]

    def whole_group(self, place: int, end: int) -> tuple[list[Argument], int]:
        found = []
        here = place
        while here < end:
            after = min(self.item(here), end)
            if after == here:
                return [], here
            if self.kind(after - 1) == "CLOSE" and self.kind(after) == "NP" and after < end:
                # "the hormone (GnRH) agonists": the noun after the brackets is the head.
                here = after
                continue
            found.append(self.argument(here, after))
            here = after
            while here + 1 < end and self.kind(here) == "P" and self.kind(here + 1) == "NP":
                # A place or time ("after a week") says nothing of what the subject is.
                here = self.item(here + 1)
            while here < end and self.kind(here) in {"CM", "CJ", "AV"}:
                here += 1
            if found and self.kind(here) == "P" and self.kind(here + 1) == "NP" and here + 1 < end:
                # "spread to the lobe and to the cortex": the phrase goes on with what the item has already.
                here = min(self.item(here + 1), end)
        joined = any(self.kind(at) == "CJ" for at in range(place, end))
        return (self._shared_facet(found) if joined else found[:1]), here

    def _apposed(self, place: int, end: int) -> bool:
        """Whether the member that ends before a comma at `end` stands between commas, with an article of its own."""
        here = end - 1
        while here > place and self.kind(here) not in {"CM", "CJ"}:
            here -= 1
        article = self.tokens[self.segments[here + 1].start].low
        return self.kind(here) == "CM" and self.kind(end) == "CM" and article in {"a", "an", "the"}
