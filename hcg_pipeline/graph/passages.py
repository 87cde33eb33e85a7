"""Which chunks speak of which members, which members occur together, and which few passages show most of them."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import pyarrow as pa

from hcg_pipeline.corpus.window import Passage


@dataclass(frozen=True)
class Mentions:
    """Per member (a metric or a variable) the places of the chunks that speak of it; `passages` by place."""

    places: dict[str, frozenset[int]]
    passages: tuple[Passage, ...]

    @classmethod
    def of_metrics(cls, variables: pa.Table, chunks: pa.Table) -> "Mentions":
        """Where each metric is spoken of, through any of its variables."""
        return cls._of("metric", variables, chunks)

    @classmethod
    def of_variables(cls, variables: pa.Table, chunks: pa.Table) -> "Mentions":
        """Where each variable is spoken of."""
        return cls._of("variable", variables, chunks)

    @classmethod
    def _of(cls, column: str, variables: pa.Table, chunks: pa.Table) -> "Mentions":
        passages = passages_of(chunks)
        order = {passage.chunk_id: place for place, passage in enumerate(passages)}
        places: dict[str, set[int]] = defaultdict(set)
        names = variables.column(column).to_pylist()
        for name, chunk_ids in zip(names, variables.column("chunk_ids").to_pylist(), strict=True):
            places[name].update(order[chunk_id] for chunk_id in chunk_ids if chunk_id in order)
        return cls(defaultdict(frozenset, {name: frozenset(found) for name, found in places.items()}), passages)

    def together(self) -> Counter[tuple[str, str]]:
        """In how many chunks two members are both spoken of; keys are pairs in alphabetical order."""
        members: dict[int, list[str]] = defaultdict(list)
        for name in sorted(self.places):
            for place in self.places[name]:
                members[place].append(name)
        counts: Counter[tuple[str, str]] = Counter()
        for names in members.values():
            counts.update(combinations(names, 2))
        return counts


def passages_of(chunks: pa.Table) -> tuple[Passage, ...]:
    """The rows of a CHUNKS table as passages, in their order."""
    columns = (chunks.column(name).to_pylist() for name in ("chunk_id", "document_id", "start", "end", "text"))
    return tuple(Passage(*row) for row in zip(*columns, strict=True))


def choose_passages(wanted: Sequence[frozenset[int]], passages: Sequence[Passage], most: int) -> tuple[Passage, ...]:
    """At most `most` passages that cover as many of the `wanted` sets of places as greedy choice can (Johnson 1974).

    A set is covered by any passage in it. Ties go to the passage that is in more sets altogether, then to the first in
    the corpus; the result is in corpus order.
    """
    chosen: list[int] = []
    open_sets = [places for places in wanted if places]
    total: Counter[int] = Counter(place for places in open_sets for place in places)
    while open_sets and len(chosen) < most:
        gain: Counter[int] = Counter(place for places in open_sets for place in places)
        best = min(gain, key=lambda place: (-gain[place], -total[place], place))
        chosen.append(best)
        open_sets = [places for places in open_sets if best not in places]
    return tuple(passages[place] for place in sorted(chosen))
