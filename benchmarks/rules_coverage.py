"""How much of what a corpus states the rules backend brings into a graph: links, those resolved, variables, relations.

`python benchmarks/rules_coverage.py FOLDER …` (folders of documents; by default the sample corpora) writes
`benchmarks/results/rules_coverage.json` and `.md`. A link is resolved if both of its ends are variables.
"""

import argparse
import json
import sys
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from hcg_pipeline.backends.rules.anaphora import Before, after
from hcg_pipeline.backends.rules.backend import RulesBackend
from hcg_pipeline.backends.rules.newcomers import Newcomers
from hcg_pipeline.backends.rules.reading import link_ends
from hcg_pipeline.backends.rules.records import reading_spans
from hcg_pipeline.backends.rules.resolve import Resolver
from hcg_pipeline.corpus.chunks import split_documents
from hcg_pipeline.corpus.documents import read_documents
from hcg_pipeline.corpus.settings import ChunkingSettings
from hcg_pipeline.corpus.window import Window
from hcg_pipeline.corpus.windows import pack_windows
from hcg_pipeline.progress import Silent
from hcg_pipeline.specification.assembly import assemble
from hcg_pipeline.specification.dimensions import build_dimensions
from hcg_pipeline.specification.metrics import build_metrics
from hcg_pipeline.specification.tiers import ORDER, TIERS
from hcg_pipeline.specification.vocabulary_tables import to_vocabulary

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "benchmarks/results"
_VOCABULARY_WORDS = 3_000


def measure(folder: Path) -> list[dict[str, Any]]:
    """One row a tier; CPU seconds are of the whole reading, with the parse of the corpus in the first row."""
    quiet, backend, rows = Silent(), RulesBackend(), []
    documents, _ = read_documents(folder, quiet)
    chunks = split_documents(documents, ChunkingSettings(), quiet)
    wide = pack_windows(chunks, _VOCABULARY_WORDS)
    for tier in ORDER:
        started = time.process_time()
        dimensions = build_dimensions(backend.propose_dimensions(wide, quiet).results, tier)
        proposed = backend.propose_metrics(wide, to_vocabulary(dimensions).dimensions, quiet).results
        metrics = build_metrics(proposed, dimensions, None, tier)
        vocabulary = to_vocabulary(dimensions, metrics)
        windows = pack_windows(chunks, TIERS[tier].window_words)
        assembly = assemble(backend.read_windows(windows, vocabulary, quiet).results, vocabulary, chunks)
        seconds = time.process_time() - started
        resolver = Resolver(vocabulary)
        sentences, links, resolved = _coverage(
            windows, resolver, Newcomers(resolver, backend.parser.commonness), backend
        )
        rows.append(
            {
                "corpus": folder.name,
                "tier": tier,
                "sentences": sentences,
                "links": links,
                "resolved": resolved,
                "share": round(resolved / (links or 1), 2),
                "dimensions": dimensions.num_rows,
                "metrics": metrics.num_rows,
                "variables": assembly.variables.num_rows,
                "relations": assembly.relations.num_rows,
                "CPU seconds": round(seconds, 1),
            }
        )
    return rows


def _coverage(
    windows: list[Window], resolver: Resolver, newcomers: Newcomers, backend: RulesBackend
) -> tuple[int, int, int]:
    sentences = links = resolved = 0
    for window in windows:
        parsed = [sentence for passage in window.passages for sentence in backend.parser.passage(passage)]
        added = newcomers.found(parsed)
        wider = resolver.with_entities({key: (name, entity.name) for key, (name, entity) in added.items()})
        for passage in window.passages:
            before = Before()
            for start, end in reading_spans(passage.text):
                sentence = backend.parser.sentence(passage.text[start:end])
                sentences += 1
                for link in sentence.links:
                    causes, effects = link_ends(link, sentence, wider, before, start)
                    both = bool(causes and effects)
                    # A cue that is one only between certain kinds of things is no link between others.
                    links += both or not (link.only or link.onto)
                    resolved += both
                before = after(sentence, start, end, before, wider)
    return sentences, links, resolved


def main() -> None:
    """Measure, print, write both result files."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", type=Path, nargs="*")
    arguments = parser.parse_args()
    folders = arguments.folders or [ROOT / "data/corpora/epilepsy", ROOT / "data/corpora/pumps"]
    rows = [row for folder in folders for row in measure(folder)]
    columns = list(rows[0])
    lines = ["# What the rules backend finds", "", "Written by `benchmarks/rules_coverage.py`.", ""]
    lines += ["| " + " | ".join(columns) + " |", "| " + " | ".join("---" for _ in columns) + " |"]
    lines += ["| " + " | ".join(str(row[name]) for name in columns) + " |" for row in rows]
    RESULTS.mkdir(parents=True, exist_ok=True)
    (RESULTS / "rules_coverage.json").write_text(json.dumps(rows, indent=2) + "\n", "utf-8")
    (RESULTS / "rules_coverage.md").write_text("\n".join([*lines, ""]), "utf-8")
    print("\n".join(lines))


if __name__ == "__main__":
    main()
