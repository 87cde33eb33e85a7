"""How well the rules backend reads causes: news sentences, chemical-disease abstracts, and the hand-written table.

`python benchmarks/causal_extraction.py [--data FOLDER]` writes `benchmarks/results/causal_extraction.json` and `.md`.
FOLDER holds `causal_news_corpus/` (CASE 2023) and `bc5cdr/` (BioCreative V). Rules were tuned on one half only: the
news sentences whose hash is even and CDR's TrainingSet. Reported is the other half, with the tuned half beside it.
"""

import argparse
import json
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.causal_cdr import measure_cdr
from benchmarks.causal_news import measure_news
from benchmarks.causal_table import read_rows, wrong_rows
from hcg_pipeline.backends.rules.parsing import Parser

ROOT = Path(__file__).parents[1]
TABLE = ROOT / "tests/hcg_pipeline/backends/rules/causal_sentences.tsv"
RESULTS = ROOT / "benchmarks/results"
NOT_DONE = (
    "Causes that only world knowledge or the order of events tells ('he fell ill; the match was called off').",
    "Causes between clauses whose verbs say no change or occurrence; in the graph they have no variable.",
    "Pronouns for which more than one thing in the sentence, or in the one before it, could stand.",
    "Association ('is linked to', 'is associated with') is read only between a drug, treatment or substance and a "
    "disease or symptom, with no sign and little confidence.",
    "Purpose ('to hold a rally') is read as a cause only where a change is named as its means.",
    "Languages other than English.",
)


def measure_table(parser: Parser) -> dict[str, Any]:
    """Error rate over the hand-written sentences."""
    rows = read_rows(TABLE)
    wrong = list(wrong_rows(rows, parser))
    return {
        "sentences": len(rows),
        "read exactly": len(rows) - len(wrong),
        "error rate": round(len(wrong) / len(rows), 3),
        "wrong though listed as handled": [row.sentence for row, _ in wrong if row.handled],
        "known misses": [row.sentence for row, _ in wrong if not row.handled],
    }


def render(results: dict[str, Any]) -> str:
    """The results as Markdown: one table a measurement, then what is not done."""
    lines = ["# Causal extraction with the rules backend", "", "Written by `benchmarks/causal_extraction.py`.", ""]
    for title, block in results.items():
        lines += [f"## {title}", ""]
        if isinstance(block, list):
            columns = list(dict.fromkeys(name for row in block for name in row))
            lines += ["| " + " | ".join(columns) + " |", "| " + " | ".join("---" for _ in columns) + " |"]
            lines += ["| " + " | ".join(str(row.get(name, "")) for name in columns) + " |" for row in block]
        else:
            for name, value in block.items():
                lines += [f"- {name}: " + ("; ".join(value) or "none" if isinstance(value, list) else str(value))]
        lines.append("")
    lines += ["## What it does not do", "", *(f"- {text}" for text in NOT_DONE), ""]
    return "\n".join(lines)


def main() -> None:
    """Measure, print, write both result files."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--data", type=Path, default=ROOT.parent / "shared/data", help="folder of the annotated corpora"
    )
    parser.add_argument("--results", type=Path, default=RESULTS, help="folder for causal_extraction.json and .md")
    arguments = parser.parse_args()
    sentences = Parser()
    results: dict[str, Any] = {"Hand-written sentences": measure_table(sentences)}
    results |= measure_news(arguments.data / "causal_news_corpus", sentences)
    results |= measure_cdr(arguments.data / "bc5cdr")
    text = render(results)
    arguments.results.mkdir(parents=True, exist_ok=True)
    (arguments.results / "causal_extraction.json").write_text(json.dumps(results, indent=2) + "\n", "utf-8")
    (arguments.results / "causal_extraction.md").write_text(text, "utf-8")
    print(text)


if __name__ == "__main__":
    main()
