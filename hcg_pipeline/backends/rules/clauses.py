"""Who does what to what: subjects, objects and clause arguments over the segments of a sentence, without a full parse."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from hcg_pipeline.backends.rules.phrases import Segment, segments
from hcg_pipeline.backends.rules.tagging import Token
from hcg_pipeline.backends.rules.wordlists import Cue, cues, facet_of_noun, word_lists, word_map

_ATTACH = frozenset(
    {
        "of",
        "in",
        "for",
        "to",
        "on",
        "with",
        "among",
        "between",
        "within",
        "against",
        "at",
        "as",
        "such",
        "like",
        "including",
        "per",
    }
)
_CONTROL = frozenset(
    {
        "use",
        "design",
        "give",
        "need",
        "do",
        "perform",
        "recommend",
        "help",
        "tend",
        "seem",
        "appear",
        "show",
        "know",
        "find",
        "think",
        "expect",
        "intend",
        "work",
        "act",
        "serve",
        "prove",
        "begin",
        "start",
        "continue",
        "be",
        "fail",
        "try",
        "prescribe",
        "develop",
        "aim",
        "approve",
        "have",
        "add",
        "take",
        "require",
    }
)
_SHARED = frozenset({"Risk", "Severity", "Cost", "Price", "Occurrence", "Quality", "Level"})
_OBJECT_CONTROL = frozenset(
    {"want", "allow", "cause", "enable", "help", "force", "prompt", "encourage", "need", "require", "lead", "let"}
)
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


class Clauses:
    """One sentence's tokens and segments, with the questions that the cue patterns ask of them."""

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

    # --- noun groups -------------------------------------------------------------------------------------------

    def item(self, place: int) -> int:
        """End of `NP (P NP)*` that begins at `place`, brackets skipped; `place` itself if none begins there."""
        if self.kind(place) != "NP":
            return place
        here = self._skip_brackets(place + 1)
        while self.kind(here) == "P" and self.low(here) in _ATTACH:
            after = here + 1
            while self.kind(after) == "P" or self.low(after) in {"both", "either"}:
                after += 1
            if self.kind(after) != "NP":
                break
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
        here = place
        while self.kind(here) == "AV" or self.low(here) in {"both", "either", "not only"}:
            here += 1
        end = here
        while True:
            after = self.item(here)
            if after == here:
                break
            if found and self.starts_clause(after):
                break
            found.append(self.argument(here, after))
            ends.append(after)
            end = after
            here = after
            while self.kind(here) in {"CM", "CJ"} or self.low(here) in {"also", "as well as", "but also", "/", "even"}:
                joined |= self.kind(here) == "CJ"
                here += 1
            if here == after:
                break
            # "such as A", "including A" after a comma belong to the item before.
            while self.kind(here) == "P" and self.low(here) in {"such", "as", "including", "like"}:
                here += 1
        if len(found) > 1 and not joined:
            # Commas alone join nothing: what follows is an apposition.
            return found[:1], ends[0]
        return self._shared_facet(found), end

    def _shared_facet(self, found: list[Argument]) -> list[Argument]:
        """ "the risk of heart disease and stroke": a bare second member is measured as the first is."""
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
        if facet not in _SHARED:
            return found
        bare = [
            one if self.tokens[one.start].tag in {"AT0", "DT0", "DPS"} else replace(one, facet=facet)
            for one in found[1:]
        ]
        return [found[0], *bare]

    def starts_clause(self, place: int) -> bool:
        while self.kind(place) == "AV":
            place += 1
        return self.is_finite(place)

    def argument(self, start: int, end: int) -> Argument:
        return Argument(self.segments[start].start, self.segments[end - 1].end)

    # --- verbs -------------------------------------------------------------------------------------------------

    def match_cue(self, place: int) -> tuple[Cue, int] | None:
        """The causal cue of a verb group, and the place after its particle."""
        verb = self.verb(place)
        if verb is None:
            return None
        after = place + 1
        while self.kind(after) == "AV" and self.low(after).endswith("ly"):
            after += 1
        for cue in cues().get(verb.lemma, ()):
            if cue.particles and self.low(after) in cue.particles:
                return cue, after + 1
            if not cue.particles:
                return cue, place + 1
        if verb.lemma == "give" and self.low(place + 1) == "rise" and self.low(place + 2) == "to":
            return next(cue for cue in cues()["lead"] if cue.particles), place + 3
        return None

    def objects(self, place: int) -> list[Argument]:
        """The noun group right of a place, taken with what the verb after it says of it ("cells to die")."""
        found, after = self.group(place)
        verb = self.verb(after)
        if not found or verb is None:
            return found
        if verb.form == "inf" or (verb.form == "fin" and verb.lemma in word_map("changes.tsv") and place > 0):
            changed = self.changed(found, after)
            return changed if changed else found
        return found

    def changed(self, arguments: list[Argument], place: int) -> list[Argument]:
        verb = self.segments[place]
        change, facet = word_map("changes.tsv").get(verb.lemma), word_map("verb_facets.tsv").get(verb.lemma, "")
        if (change is None and not facet) or self.kind(place + 1) == "NP":
            return []
        polarity = change if change in {"+", "-"} and not facet else "+"
        return [replace(one, polarity=polarity, facet=facet) for one in arguments]

    def subjects(self, place: int) -> list[Argument]:
        """What a verb group is said of: its own subject, an antecedent, or the subject shared with an earlier verb."""
        verb = self.segments[place]
        before = place - 1
        while self.kind(before) == "AV" or self.low(before) in {"also", "then", "both"}:
            before -= 1
        if verb.form == "inf":
            return self._shared(before) if self.kind(before) == "CJ" else self._controller(before)
        if verb.form in {"ing", "ppl"} and self.kind(before) == "CM":
            return self._before_comma(before)
        if self.kind(before) == "RL":
            return self.antecedent(before)
        if self.kind(before) in {"CJ", "CM"}:
            if verb.form == "ing" and not self._parallel(before):
                return []
            return self._shared(before)
        if self.kind(before) == "VG":
            return []
        return self._left_group(before)

    def _parallel(self, mark: int) -> bool:
        """Whether the verb before a conjunction is an -ing form too: "causing A and increasing B"."""
        for place in range(mark - 1, -1, -1):
            verb = self.verb(place)
            if verb is not None:
                return verb.form == "ing"
        return False

    def _left_group(self, last: int) -> list[Argument]:
        """The noun group that ends with segment `last`."""
        first = last
        while first >= 0 and self.kind(first) in {"NP", "P", "CJ", "CM", "OPEN", "CLOSE", "AV"}:
            first -= 1
        verb = self.verb(first)
        if verb is not None and verb.form == "ing" and self.kind(first - 1) in {"END", "P", "SB", "CM"}:
            gerund = self.clause(first)
            if gerund:
                return gerund
            if self.kind(first + 1) == "NP":
                # "Throttling the suction causes …": what is done to it is not known to be more or less of it.
                return [replace(one, polarity="?") for one in self.group(first + 1)[0]]
        limit = first + 1
        if verb is not None and verb.form in {"ppl", "ing"} and self.kind(first - 1) in {"NP", "CLOSE"}:
            return self.chain(first - 1)
        if (
            verb is not None
            and verb.form == "fin"
            and self.kind(first - 1) == "RL"
            and (self.kind(limit) == "P" or not any(self.kind(at) == "CJ" for at in range(limit, last + 1)))
        ):
            return self.antecedent(first - 1)
        if verb is not None and verb.form == "fin":
            # "A reduces B and C increases D": only what follows the last conjunction is the subject.
            marks = [at for at in range(limit, last + 1) if self.kind(at) in {"CJ", "CM"}]
            if marks:
                limit = marks[-1] + 1
        for start in range(limit, last + 1):
            if self.kind(start) != "NP" or (start > limit and self.kind(start - 1) == "P"):
                continue
            found, end = self._whole_group(start, last + 1)
            if end == last + 1:
                return found
        for start in range(last, limit - 1, -1):
            if self.kind(start) == "NP" and self.kind(start - 1) != "P" and self.item(start) == last + 1:
                return [self.argument(start, last + 1)]
        return []

    def _whole_group(self, place: int, end: int) -> tuple[list[Argument], int]:
        found = []
        here = place
        while here < end:
            after = min(self.item(here), end)
            if after == here:
                return [], here
            found.append(self.argument(here, after))
            here = after
            while here + 1 < end and self.kind(here) == "P" and self.kind(here + 1) == "NP":
                # A place or time ("after a week") says nothing of what the subject is.
                here = self.item(here + 1)
            while here < end and self.kind(here) in {"CM", "CJ", "AV"}:
                here += 1
        joined = any(self.kind(at) == "CJ" for at in range(place, end))
        return (found if joined else found[:1]), here

    def antecedent(self, relative: int) -> list[Argument]:
        last = relative - 1
        if self.kind(last) == "CM":
            last -= 1
        return self.chain(last)

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
                and self.low(first - 1) in _ATTACH
                and self.kind(first - 2) in {"NP", "CLOSE"}
            ):
                first -= 2
            else:
                break
        return [self.argument(first, last + 1)] if self.kind(first) == "NP" else []

    def near(self, last: int) -> list[Argument]:
        """The noun phrase that ends with segment `last`, with what it is a measure or change of ("the risk of stroke")."""
        if self.kind(last) == "CLOSE":
            return self.chain(last)
        if self.kind(last) != "NP":
            return []
        lists = word_lists()
        first = last
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

    def _before_comma(self, comma: int) -> list[Argument]:
        """What a participle after a comma is said of: the subject of the clause before, or what befell it."""
        for place in range(comma - 1, -1, -1):
            verb = self.verb(place)
            if verb is not None and verb.form == "fin":
                if verb.negated:
                    return []
                cue = self.match_cue(place)
                if verb.passive or cue is None:
                    return self.clause(place) or self.subjects(place)
                return self.subjects(place)
            if self.kind(place) == "SB":
                break
        return self.chain(comma - 1)

    def _shared(self, mark: int) -> list[Argument]:
        """The subject of the verb before "and": "A reduces B and increases C"."""
        for place in range(mark - 1, 0, -1):
            if self.kind(mark) != "CM":
                break
            opened = self.verb(place + 1)
            inserted = self.kind(place + 1) == "RL" or (opened is not None and opened.form in {"ppl", "ing"})
            if self.kind(place) == "CM" and inserted and self.kind(place - 1) in {"NP", "CLOSE"}:
                return self.chain(place - 1)
        for place in range(mark - 1, -1, -1):
            verb = self.verb(place)
            if verb is not None and verb.form in {"fin", "inf", "ing"}:
                return self.subjects(place)
            if self.kind(place) == "SB" or self.low(place) in {";", ":"}:
                return []
        return []

    def _controller(self, before: int) -> list[Argument]:
        """The subject of an infinitive: that of the verb before it, or for a purpose, what that verb changes."""
        here = before
        while self.kind(here) in {"NP", "P", "CJ", "CM", "AV", "OPEN", "CLOSE", "OT"} and self.low(here) not in {
            ";",
            ":",
        }:
            here -= 1
        verb = self.verb(here)
        if verb is None or verb.negated:
            return []
        if verb.lemma in _OBJECT_CONTROL and self.kind(here + 1) == "NP" and not verb.passive:
            return self.group(here + 1)[0]
        if verb.form == "ppl" or verb.passive or verb.lemma in _CONTROL:
            chain = self.chain(here - 1) if verb.form == "ppl" else self.subjects(here)
            return chain
        changed = self.clause(here)
        return changed

    # --- clauses -----------------------------------------------------------------------------------------------

    def clause(self, place: int) -> list[Argument]:
        """What the clause of a verb group says happens: "prices rise" is prices +, "cut wages" is wages -.

        Empty when the verb says neither a change nor an occurrence.
        """
        verb = self.segments[place]
        if verb.negated:
            return []
        cue = next((one for one in cues().get(verb.lemma, ()) if not one.particles), None)
        facet = (cue.facet if cue else "") or word_map("verb_facets.tsv").get(verb.lemma, "")
        polarity = cue.sign if cue and not facet else "+"
        change = word_map("changes.tsv").get(verb.lemma)
        if verb.passive or verb.form == "ppl":
            if cue is None and not facet and change is None:
                return []
            return [replace(one, polarity=polarity, facet=facet) for one in self.subjects(place)]
        found, _ = self.group(place + 1)
        if found and verb.lemma not in _BE:
            if verb.lemma in {"have", "develop", "experience", "get"}:
                return found
            if cue is None and not facet:
                return []
            return [replace(one, polarity=combine(one.polarity, polarity), facet=facet) for one in found]
        if verb.lemma in _BE:
            return self._copular(place, found)
        if change is not None or facet:
            polarity = change if change in {"+", "-"} and not facet else "+"
            return [replace(one, polarity=polarity, facet=facet) for one in self.subjects(place)]
        return []

    def _copular(self, place: int, found: Sequence[Argument]) -> list[Argument]:
        if self.low(place - 1) == "there":
            return list(found)
        lists = word_lists()
        for token in self.tokens[self.segments[place].end : self.segments[place].end + 3]:
            if token.tag[:2] in {"PU", "CJ"} or token.is_noun:
                break
            if token.low in lists["less"]:
                return [replace(one, polarity="-") for one in self.subjects(place)]
            if token.low in lists["more"] or token.low in {"present", "common"}:
                return self.subjects(place)
        return []


_BE = frozenset({"be", "become", "remain", "get"})
