"""Who does what to what: subjects, objects and what a clause says happens, over the segments of a sentence."""

from collections.abc import Sequence
from dataclasses import replace

from hcg_pipeline.backends.rules.clause_shape import NOMINAL, ClauseShape
from hcg_pipeline.backends.rules.groups import Argument, combine
from hcg_pipeline.backends.rules.phrases import Segment
from hcg_pipeline.backends.rules.tokens import Token
from hcg_pipeline.backends.rules.wordlists import Cue, cues, word_lists, word_map

_HAVE = frozenset({"have", "develop", "experience", "get"})
_UNDERGO = frozenset({"have", "undergo", "receive"})
_STRIVING = frozenset({"effort", "attempt", "desire", "decision", "plan", "intention", "endeavor", "endeavour"})
_BE = frozenset({"be", "become", "remain", "get"})


class Clauses(ClauseShape):
    """A sentence with the questions that the cue patterns ask of its verbs."""

    def __init__(self, tokens: list[Token]) -> None:
        super().__init__(tokens)
        self._subjects: dict[int, list[Argument]] = {}
        self._clauses: dict[int, list[Argument]] = {}

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
        doing = self.verb(place - 1)
        if verb.form == "inf" and doing is not None and doing.lemma in word_lists()["object_control"]:
            # "makes the skin look red", "enables plants to save water": what is brought about is what is done.
            return self.changed(found, after) or self.clause(after)
        if verb.form == "inf" or (verb.form == "fin" and verb.lemma in word_map("changes.tsv") and place > 0):
            changed = self.changed(found, after)
            return changed if changed else found
        return found

    def changed(self, arguments: list[Argument], place: int) -> list[Argument]:
        """Arguments with the change that the verb at `place` says of them; none where it says none."""
        verb = self.segments[place]
        change, facet = word_map("changes.tsv").get(verb.lemma), word_map("verb_facets.tsv").get(verb.lemma, "")
        if (change is None and not facet) or self.kind(place + 1) == "NP":
            return []
        polarity = change if change in {"+", "-"} and not facet else "+"
        return [replace(one, polarity=polarity, facet=facet) for one in arguments]

    def subjects(self, place: int) -> list[Argument]:
        """What a verb group is said of: its own subject, an antecedent, or the subject shared with an earlier verb."""
        known = self._subjects.get(place)
        if known is None:
            known = self._subjects[place] = self._find_subjects(place)
        return known

    def _find_subjects(self, place: int) -> list[Argument]:
        verb = self.segments[place]
        before = place - 1
        while self.kind(before) == "AV" or self.low(before) in {"also", "then", "both"}:
            before -= 1
        mark = self.kind(before)
        if verb.form == "inf":
            shares = mark == "CJ" or (mark == "CM" and self.tokens[verb.start].low != "to")
            found = self._shared(before) if shares else self._controller(before)
        elif verb.form in {"ing", "ppl"} and mark == "CM":
            found = [] if verb.form == "ing" and self.of_means(before) else self._before_comma(before)
        elif mark == "RL":
            found = self.antecedent(before)
        elif mark in {"CJ", "CM"}:
            found = self._shared(before) if verb.form != "ing" or self.parallel(before) else []
        else:
            found = [] if mark == "VG" else self._left_group(before)
        return found

    def _left_group(self, last: int) -> list[Argument]:
        """The noun group that ends with segment `last`, or what a verb before it makes of it."""
        first = last
        while first >= 0 and self.kind(first) in NOMINAL:
            first -= 1
        verb = self.verb(first)
        if verb is not None and verb.form == "ing" and self.opens_gerund(first):
            gerund = self._gerund_subject(first)
            if gerund:
                return gerund
        if verb is not None and verb.form in {"ppl", "ing"} and self.kind(first - 1) in {"NP", "CLOSE"}:
            return self.chain(first - 1)
        limit = first + 1
        comma = next((at for at in range(limit, last) if self.kind(at) == "CM"), None)
        if verb is not None and verb.form == "ing" and comma is not None and self.fronted(first):
            # "Mainly affecting limbs, the disease limits": the subject comes after the comma.
            limit = comma + 1
        if verb is not None and verb.form in {"fin", "inf"}:
            marks = [at for at in range(limit, last + 1) if self.kind(at) in {"CJ", "CM"}]
            joined = any(self.kind(at) == "CJ" for at in marks)
            if self.kind(first - 1) == "RL" and (self.kind(limit) == "P" or not joined):
                # "Water that is not treated causes scale": it is not the water that does.
                return [] if verb.negated else self.antecedent(first - 1)
            # "A reduces B and C increases D": only what follows the last conjunction is the subject.
            limit = marks[-1] + 1 if marks else limit
        return self._group_between(limit, last)

    def _gerund_subject(self, place: int) -> list[Argument]:
        """ "Cutting costs", "Throttling the valve": what is done to it may not be known to be more or less of it."""
        gerund = self.clause(place)
        if not gerund and self.kind(place + 1) == "NP":
            return [replace(one, polarity="?") for one in self.group(place + 1)[0]]
        return gerund

    def _group_between(self, limit: int, last: int) -> list[Argument]:
        for start in range(limit, last + 1):
            if self.kind(start) == "NP" and (start == limit or self.kind(start - 1) != "P"):
                found, end = self.whole_group(start, last + 1)
                if end == last + 1:
                    return found
        for start in range(last, limit - 1, -1):
            if self.kind(start) == "NP" and self.kind(start - 1) != "P" and self.item(start) == last + 1:
                return [self.argument(start, last + 1)]
        return []

    def _before_comma(self, comma: int) -> list[Argument]:
        """What a participle after a comma is said of: the subject of the clause before, or what befell it."""
        said = any(self.kind(at) == "CM" or (self.is_finite(at) and self.kind(at - 1) != "RL") for at in range(comma))
        if self.kind(0) == "P" and not said:
            # "In cancers, stopping smoking": what a fronted phrase names does nothing.
            return []
        for place in range(comma - 1, -1, -1):
            verb = self.verb(place)
            if verb is not None and verb.form == "fin":
                if verb.negated or verb.lemma in word_lists()["telling"] or self.far(place, comma):
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
        own = self.segments[mark + 1].form if mark + 1 < len(self.segments) else ""
        # "aimed at reducing use, and promote": a finite verb goes on from a finite verb.
        mates = {"fin", "inf"} if own in {"fin", "inf"} else {"fin", "inf", "ing"}
        for place in range(mark - 1, -1, -1):
            verb = self.verb(place)
            if verb is not None and verb.form in mates:
                if self.kind(mark) == "CM" and not (self.alike(place, mark + 1) or self.goes_on(mark + 1)):
                    return []
                inside, outer = self.outside_temporal(place)
                if inside and outer is None:
                    break
                return self.subjects(place if outer is None else outer)
            if self.kind(place) == "SB" or self.low(place) in {";", ":"}:
                return []
        # "The allele, HLA-B, predisposes": no verb before, so the sentence's first noun group is the subject.
        return self.group(0)[0] if self.kind(0) == "NP" else []

    def _controller(self, before: int) -> list[Argument]:
        """The subject of an infinitive: that of the verb before it, or for a purpose, what that verb changes."""
        noun = self._noun_controller(before) if self.kind(before) == "NP" else None
        if noun is not None:
            return noun
        here = before
        while self.kind(here) in NOMINAL or (self.kind(here) == "OT" and self.low(here) not in {";", ":"}):
            here -= 1
        verb = self.verb(here)
        if verb is None or verb.negated:
            return []
        if verb.lemma in word_lists()["object_control"] and self.kind(here + 1) == "NP" and not verb.passive:
            return self.group(here + 1)[0]
        if self._says_of_subject(verb, before):
            return self.chain(here - 1) if verb.form == "ppl" else self.subjects(here)
        return self.clause(here)

    def _noun_controller(self, noun: int) -> list[Argument] | None:
        """The subject of the infinitive after a noun that has it; none where the verb before tells."""
        if self.kind(noun - 1) in {"CM", "OPEN", "END", "OT"}:
            # "surgery to remove the tumor": the infinitive belongs to the noun.
            return self.chain(noun)
        if self.low(noun - 1) in {"with", "by"} or self._undergone(noun - 1):
            # "treated with a drug to stop", "people have surgery to remove"
            return [self.argument(noun, noun + 1)]
        # "It matters in efforts to prevent": the efforts do, not it.
        return [] if self.kind(noun - 1) == "P" and self.segments[noun].lemma in _STRIVING else None

    def _undergone(self, place: int) -> bool:
        """Whether what follows a verb is undergone by people, and the infinitive after it says what for."""
        verb = self.verb(place)
        if verb is None or verb.lemma not in _UNDERGO:
            return False
        people = word_lists()["person_head"]
        said_of = [token.lemma for one in self.subjects(place) for token in self.tokens[one.start : one.end]]
        return verb.lemma != "have" or any(word in people for word in said_of)

    def _says_of_subject(self, verb: Segment, before: int) -> bool:
        """Whether the infinitive after a verb is said of the verb's subject: "is likely to cause", "is used to stop".

        Not "is treated to prevent", "is reduced to avoid": there being less of it is what prevents.
        """
        if verb.lemma in _BE and self.tokens[self.segments[before].start].low in word_lists()["raising"]:
            return True
        if verb.passive and any(
            not cue.particles and (cue.sign == "-" or cue.facet == "Removal") for cue in cues().get(verb.lemma, ())
        ):
            return False
        return verb.form == "ppl" or verb.passive or verb.lemma in word_lists()["control"]

    def clause(self, place: int) -> list[Argument]:
        """What the clause of a verb group says happens: "prices rise" is prices +, "cut wages" is wages -.

        Empty when the verb says neither a change nor an occurrence.
        """
        known = self._clauses.get(place)
        if known is None:
            known = self._clauses[place] = [] if self.segments[place].negated else self._happening(place)
        return known

    def _happening(self, place: int) -> list[Argument]:
        verb = self.segments[place]
        cue = next((one for one in cues().get(verb.lemma, ()) if not one.particles), None)
        facet = (cue.facet if cue else "") or word_map("verb_facets.tsv").get(verb.lemma, "")
        polarity = cue.sign if cue and not facet else "+"
        change = word_map("changes.tsv").get(verb.lemma)
        found, _ = self.group(place + 1)
        if verb.passive or verb.form == "ppl":
            said = self.subjects(place) if cue is not None or facet or change is not None else []
        elif verb.lemma in _BE:
            return self._copular(place, found)
        elif found:
            if verb.lemma in _HAVE:
                return found
            said = found if cue is not None or facet else []
            return [replace(one, polarity=combine(one.polarity, polarity), facet=facet) for one in said]
        else:
            said = self.subjects(place) if change is not None or facet else []
            polarity = change if change in {"+", "-"} and not facet else "+"
        return [replace(one, polarity=polarity, facet=facet) for one in said]

    def _copular(self, place: int, found: Sequence[Argument]) -> list[Argument]:
        if self.low(place - 1) == "there":
            return list(found)
        lists = word_lists()
        end = self.segments[place].end
        words = {token.low for token in self.tokens[end : end + 6]}
        if words & lists["less"] and words & lists["more"] and "or" in words:
            # "is too low or too high"
            return [replace(one, polarity="?") for one in self.subjects(place)]
        for token in self.tokens[end : end + 3]:
            if token.tag[:2] in {"PU", "CJ"} or token.is_noun:
                break
            if token.low in lists["less"]:
                return [replace(one, polarity="-") for one in self.subjects(place)]
            if token.low in lists["more"] or token.low in {"present", "common"}:
                return self.subjects(place)
        return []
