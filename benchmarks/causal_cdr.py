"""BioCreative V CDR (Li et al. 2016): chemical-induced disease pairs of abstracts, mentions given or not."""

from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hcg_pipeline.backends.rules.backend import RulesBackend
from hcg_pipeline.backends.rules.entities import EntityIndex
from hcg_pipeline.backends.rules.metrics import metric_name
from hcg_pipeline.backends.rules.parsing import Parser
from hcg_pipeline.backends.rules.phrase_reading import default_facet
from hcg_pipeline.backends.rules.reading import relations_in
from hcg_pipeline.backends.rules.resolve import Resolver
from hcg_pipeline.backends.rules.terms import term_key
from hcg_pipeline.corpus.window import Passage, Window
from hcg_pipeline.progress import Silent
from hcg_pipeline.specification.vocabulary import Dimension, Entity, Metric, Vocabulary

_DIMENSION = {"Chemical": "drug", "Disease": "disease"}
_CAUSES = frozenset({"drug", "substance", "biomolecule", "material", "treatment"})
_EFFECTS = frozenset({"disease", "symptom", "condition", "event"})
_FACETS = ("Risk", "Severity", "Level", "Toxicity", "Use", "Occurrence")
Pair = tuple[str, str]


@dataclass
class Abstract:
    """One abstract: text, mention spelling -> (MeSH id, type), gold pairs (chemical id, disease id)."""

    text: str = ""
    mentions: dict[str, tuple[str, str]] = field(default_factory=dict)
    pairs: set[Pair] = field(default_factory=set)


def read_abstracts(path: Path) -> dict[str, Abstract]:
    """Abstracts of a PubTator file."""
    found: defaultdict[str, Abstract] = defaultdict(Abstract)
    for line in path.read_text("utf-8").splitlines():
        parts = line.split("|", 2)
        if len(parts) == 3 and parts[1] in {"t", "a"}:
            one = found[parts[0]]
            one.text = f"{one.text} {parts[2]}".strip()
            continue
        fields = line.split("\t")
        if len(fields) == 4 and fields[1] == "CID":
            found[fields[0]].pairs.add((fields[2], fields[3]))
        elif len(fields) >= 6 and fields[5] != "-1":
            found[fields[0]].mentions[fields[3]] = (fields[5].split("|")[0], fields[4])
    return dict(found)


def measure_cdr(folder: Path) -> dict[str, Any]:
    """Precision, recall and F1 over documents; the DevelopmentSet is held out."""
    table = []
    for part, name in (("held out", "CDR_DevelopmentSet"), ("tuned on", "CDR_TrainingSet")):
        abstracts = read_abstracts(folder / f"{name}.PubTator.txt")
        backend = RulesBackend()
        parser = backend.parser
        runs = {
            ("given mentions", "rules"): {key: _given(one, parser) for key, one in abstracts.items()},
            ("given mentions", "any two in one sentence"): {
                key: _together(one, parser) for key, one in abstracts.items()
            },
        }
        rules, together = _from_text(abstracts, backend)
        runs["from text alone", "rules"] = rules
        runs["from text alone", "any two in one sentence"] = together
        for (entities, method), predicted in runs.items():
            table.append(
                {
                    "half": part,
                    "entities": entities,
                    "method": method,
                    "abstracts": len(abstracts),
                    **_scores(abstracts, predicted),
                }
            )
    return {"Abstracts: chemical-induced disease pairs": table}


def _scores(abstracts: dict[str, Abstract], predicted: dict[str, set[Pair]]) -> dict[str, Any]:
    hits = sum(len(predicted[key] & one.pairs) for key, one in abstracts.items())
    said, gold = sum(len(pairs) for pairs in predicted.values()), sum(len(one.pairs) for one in abstracts.values())
    precision, recall = hits / (said or 1), hits / (gold or 1)
    f1 = 2 * precision * recall / ((precision + recall) or 1)
    return {
        "pairs": said,
        "gold": gold,
        "precision": round(precision, 3),
        "recall": round(recall, 3),
        "F1": round(f1, 3),
    }


def _dimensions(one: Abstract) -> tuple[Dimension, ...]:
    """The abstract's own mentions as entities, named by their MeSH ids."""
    spellings: dict[tuple[str, str], list[str]] = {}
    for text, (identifier, kind) in one.mentions.items():
        spellings.setdefault((_DIMENSION[kind], identifier), []).append(text)
    return tuple(
        Dimension(
            name,
            "",
            tuple(
                Entity(identifier, tuple(texts))
                for (dimension, identifier), texts in spellings.items()
                if dimension == name
            ),
        )
        for name in ("drug", "disease")
    )


def _vocabulary(dimensions: tuple[Dimension, ...]) -> Vocabulary:
    facets = [(one.name, facet) for one in dimensions for facet in dict.fromkeys((default_facet(one.name), *_FACETS))]
    return Vocabulary(dimensions, tuple(Metric(metric_name((name,), facet), (name,), "", "") for name, facet in facets))


def _passage(text: str) -> Passage:
    return Passage("c", "d", 0, len(text), text)


def _given(one: Abstract, parser: Parser) -> set[Pair]:
    dimensions = _dimensions(one)
    resolver = Resolver(_vocabulary(dimensions))
    return {
        (found.source.entities[0], found.target.entities[0])
        for found in relations_in(_passage(one.text), resolver, parser)
        if resolver.dimension_of(found.source) == "drug"
        and resolver.dimension_of(found.target) == "disease"
        and found.sign != "-"
    }


def _together(one: Abstract, parser: Parser) -> set[Pair]:
    index = EntityIndex(_dimensions(one))
    pairs: set[Pair] = set()
    for sentence in parser.passage(_passage(one.text)):
        tokens = sentence.clauses.tokens
        mentions = index.within(tokens, 0, len(tokens))
        drugs, diseases = ({m.entity for m in mentions if m.dimension == name} for name in ("drug", "disease"))
        pairs |= {(drug, disease) for drug in drugs for disease in diseases}
    return pairs


def _from_text(
    abstracts: dict[str, Abstract], backend: RulesBackend
) -> tuple[dict[str, set[Pair]], dict[str, set[Pair]]]:
    """Dimensions from the abstracts themselves; an entity counts by the MeSH id of its spelling in the abstract."""
    windows = [
        Window(f"w{key}", (Passage(f"c{key}", key, 0, len(one.text), one.text),)) for key, one in abstracts.items()
    ]
    proposed = backend.propose_dimensions(windows, Silent()).results
    dimensions = tuple(
        Dimension(one.name, "", tuple(Entity(e.name, e.aliases) for e in one.entities)) for one in proposed
    )
    resolver = Resolver(_vocabulary(dimensions))
    aliases = {entity.name: (entity.name, *entity.aliases) for one in dimensions for entity in one.entities}
    rules: dict[str, set[Pair]] = {}
    together: dict[str, set[Pair]] = {}
    for key, one in abstracts.items():
        known = {term_key(text): identifier for text, (identifier, _) in one.mentions.items()}

        def identify(entity: str, known: dict[str, str] = known) -> str:
            return next(
                (known[term_key(text)] for text in aliases[entity] if term_key(text) in known), f"unknown {entity}"
            )

        rules[key] = {
            (identify(found.source.entities[0]), identify(found.target.entities[0]))
            for found in relations_in(_passage(one.text), resolver, backend.parser)
            if resolver.dimension_of(found.source) in _CAUSES
            and resolver.dimension_of(found.target) in _EFFECTS
            and found.sign != "-"
        }
        together[key] = set()
        for sentence in backend.parser.passage(_passage(one.text)):
            tokens = sentence.clauses.tokens
            mentions = resolver.index.within(tokens, 0, len(tokens))
            left = {identify(m.entity) for m in mentions if m.dimension in _CAUSES}
            right = {identify(m.entity) for m in mentions if m.dimension in _EFFECTS}
            together[key] |= {(source, target) for source in left for target in right}
    return rules, together
