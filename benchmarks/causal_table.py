"""The table of hand-written sentences: read it, run the rules over it, count what is right."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from hcg_pipeline.backends.rules.metrics import metric_name
from hcg_pipeline.backends.rules.parsing import Parser
from hcg_pipeline.backends.rules.phrase_reading import default_facet
from hcg_pipeline.backends.rules.reading import relations_in
from hcg_pipeline.backends.rules.resolve import Resolver
from hcg_pipeline.corpus.window import Passage
from hcg_pipeline.specification.vocabulary import Dimension, Entity, Metric, Vocabulary

Triple = tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class Row:
    """A sentence, its entities by dimension, the triples (source, target, sign) it states, whether they are claimed.

    A dimension may be written `good:Price,Demand`: it then has these metrics besides its default one.
    """

    handled: bool
    sentence: str
    entities: dict[str, tuple[str, ...]]
    expected: frozenset[Triple]


def read_rows(path: Path) -> list[Row]:
    """The rows of a table in the format of `causal_sentences.tsv`."""
    rows = []
    for line in path.read_text("utf-8").splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        status, sentence, entities, expected = line.split("\t")
        pairs = (part.split("=") for part in entities.split(";"))
        triples = [] if expected == "none" else [part.split(" > ") for part in expected.split("; ")]
        rows.append(
            Row(
                status == "handled",
                sentence,
                {dimension: tuple(names.split(",")) for dimension, names in pairs},
                frozenset((source.strip(), target.strip(), sign.strip()) for source, target, sign in triples),
            )
        )
    return rows


def found_triples(row: Row, parser: Parser) -> frozenset[Triple]:
    """What the rules read in a sentence, over the default metric of each of its dimensions."""
    dimensions, metrics = [], []
    for written, names in row.entities.items():
        dimension, _, facets = written.partition(":")
        dimensions.append(Dimension(dimension, "", tuple(Entity(one) for one in names)))
        for facet in (default_facet(dimension), *filter(None, facets.split(","))):
            metrics.append(Metric(metric_name((dimension,), facet), (dimension,), "", ""))
    resolver = Resolver(Vocabulary(tuple(dimensions), tuple(metrics)))
    passage = Passage("c", "d", 0, len(row.sentence), row.sentence)
    return frozenset(
        (one.source.entities[0], one.target.entities[0], one.sign) for one in relations_in(passage, resolver, parser)
    )


def wrong_rows(rows: list[Row], parser: Parser) -> Iterator[tuple[Row, frozenset[Triple]]]:
    """Rows whose triples are not exactly the expected ones, with what was found."""
    for row in rows:
        found = found_triples(row, parser)
        if found != row.expected:
            yield row, found
