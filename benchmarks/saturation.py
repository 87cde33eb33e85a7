"""How a graph grows with its corpus: variables and edges of every tier, from a tenth of the passages to all of them.

    python -m benchmarks.saturation FOLDER [--name NAME]

FOLDER holds documents, as a corpus folder does. The rules backend builds a vocabulary and a graph from each share anew.
Passages are taken evenly from the whole corpus, so that more of them is more on the same subjects. Results go to
benchmarks/results/saturation-NAME.{json,md,svg}.
"""

import argparse
import json
import time
from pathlib import Path
from typing import Any

import pyarrow as pa

from hcg_pipeline.backends.rules.backend import RulesBackend
from hcg_pipeline.corpus.chunks import split_documents
from hcg_pipeline.corpus.documents import read_documents
from hcg_pipeline.corpus.settings import ChunkingSettings
from hcg_pipeline.corpus.windows import pack_windows
from hcg_pipeline.graph.corrected import correct_tables
from hcg_pipeline.graph.node_edges import edge_questions, merge_edges, seed_edges
from hcg_pipeline.graph.templates import lift_templates, merge_templates, template_questions
from hcg_pipeline.progress import Silent
from hcg_pipeline.specification.assembly import assemble, ground_relations
from hcg_pipeline.specification.dimensions import cut_dimensions, resolve_dimensions
from hcg_pipeline.specification.metrics import resolve_metrics
from hcg_pipeline.specification.tiers import ORDER, VOCABULARY_WINDOW_WORDS, caps_of
from hcg_pipeline.specification.vocabulary import Vocabulary
from hcg_pipeline.specification.vocabulary_tables import metrics_table, to_vocabulary

RESULTS = Path(__file__).parent / "results"
SHARES = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
# Variables of the paper's graphs of the medical corpus (section 4, Appendix L).
PAPER = {"XS": 333, "S": 902, "M": 1_064, "L": 1_583}


def main() -> None:
    """Read the arguments, measure, write the results."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--name", default="medical")
    chosen = parser.parse_args()
    documents, _ = read_documents(chosen.folder, Silent())
    chunks = split_documents(documents, ChunkingSettings(), Silent())
    rows = []
    for share in SHARES:
        part = evenly(chunks, share)
        rows += sizes(part, share)
        print(
            *(f"{row['share']:.0%} {row['tier']}: {row['variables']} / {row['edges']}" for row in rows[-4:]), sep="  "
        )
    RESULTS.mkdir(exist_ok=True)
    stem = RESULTS / f"saturation-{chosen.name}"
    stem.with_suffix(".json").write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    stem.with_suffix(".svg").write_bytes(plot(rows))
    stem.with_suffix(".md").write_text(page(chosen.name, rows), encoding="utf-8")


def evenly(chunks: pa.Table, share: float) -> pa.Table:
    """That share of the chunks, spread evenly over the corpus, in its order."""
    total = chunks.num_rows
    kept = [place for place in range(total) if int((place + 1) * share + 1e-9) > int(place * share + 1e-9)]
    return chunks.take(pa.array(kept, pa.int64()))


def sizes(chunks: pa.Table, share: float) -> list[dict[str, Any]]:
    """Words, metrics, variables and edges of a build from these chunks, one row a tier."""
    backend = RulesBackend()
    windows = pack_windows(chunks, VOCABULARY_WINDOW_WORDS)
    ranked = resolve_dimensions(backend.propose_dimensions(windows, Silent()).results).table
    measured = backend.propose_metrics(windows, to_vocabulary(ranked).dimensions, Silent()).results
    rows = []
    for tier in ORDER:
        began = time.perf_counter()
        vocabulary = to_vocabulary(cut_dimensions(ranked, tier), resolve_metrics(measured, ranked, None, tier).table)
        variables, edges = graph_of(backend, chunks, vocabulary, tier)
        words = sum(chunks["words"].to_pylist())
        rows.append(
            {
                "share": share,
                "tier": tier,
                "words": words,
                "passages": chunks.num_rows,
                "dimensions": len(vocabulary.dimensions),
                "metrics": len(vocabulary.metrics),
                "variables": variables,
                "edges": edges,
                "seconds": round(time.perf_counter() - began, 1),
            }
        )
    return rows


def graph_of(backend: RulesBackend, chunks: pa.Table, pin: Vocabulary, tier: str) -> tuple[int, int]:
    """How many variables and edges the tier's graph of these chunks has."""
    caps = caps_of(tier)
    readings = backend.read_windows(pack_windows(chunks, caps.window_words), pin, Silent()).results
    assembly = assemble(readings, pin, chunks)
    vocabulary = Vocabulary(to_vocabulary(assembly.dimensions).dimensions, pin.metrics)
    asked = template_questions(vocabulary, assembly.relations, assembly.variables, chunks, caps)
    verdicts = (one for several in backend.judge_templates(asked, Silent()).results for one in several)
    templates = merge_templates(lift_templates(assembly.relations), verdicts, vocabulary)
    stated = seed_edges(assembly.relations)
    pairs = edge_questions(templates, assembly.variables, chunks, stated, vocabulary, caps)
    judged = (one for several in backend.judge_edges(pairs, Silent()).results for one in several)
    edges = merge_edges(stated, ground_relations(judged, vocabulary, chunks).table, templates)
    published = correct_tables(assembly.dimensions, metrics_table(pin.metrics), assembly.variables, edges, chunks, ())
    return published.variables.num_rows, published.edges.num_rows


def plot(rows: list[dict[str, Any]]) -> bytes:
    """Variables and edges against thousands of words, one line a tier, as SVG."""
    import io

    from matplotlib import rc_context
    from matplotlib.figure import Figure

    with rc_context({"svg.hashsalt": "hcg", "svg.fonttype": "none", "font.family": "DejaVu Sans"}):
        figure = Figure(figsize=(10, 4), layout="constrained")
        for axes, what in zip(figure.subplots(1, 2), ("variables", "edges"), strict=True):
            for tier in ORDER:
                line = [row for row in rows if row["tier"] == tier]
                axes.plot([row["words"] / 1000 for row in line], [row[what] for row in line], marker="o", label=tier)
            axes.set_xlabel("thousands of words")
            axes.set_title(what)
            axes.set_xlim(left=0)
            axes.set_ylim(bottom=0)
            axes.legend()
        image = io.BytesIO()
        figure.savefig(image, format="svg", metadata={"Date": None})
    return image.getvalue()


def page(name: str, rows: list[dict[str, Any]]) -> str:
    """The results in Markdown."""
    whole = {row["tier"]: row for row in rows if row["share"] == 1.0}
    half = {row["tier"]: row for row in rows if row["share"] == 0.5}
    lines = [
        f"# Saturation: {name}",
        "",
        f"Rules backend; {whole['S']['words']:,} words. Written by `python -m benchmarks.saturation`.",
        "",
        f"![Variables and edges against the size of the corpus](saturation-{name}.svg)",
        "",
        "## The whole corpus",
        "",
        "| tier | dimensions | metrics | variables | variables in the paper | edges | variables at half the text |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    for tier in ORDER:
        row, paper = whole[tier], PAPER[tier] if name == "medical" else "–"
        growth = row["variables"] / half[tier]["variables"] - 1
        lines.append(
            f"| {tier} | {row['dimensions']} | {row['metrics']} | {row['variables']:,} | {paper} | {row['edges']:,} | "
            f"{half[tier]['variables']:,} (twice the text: {growth:+.0%}) |"
        )
    lines += ["", "## Variables and edges by share of the text", "", "| share | words | " + " | ".join(ORDER) + " |"]
    lines.append("| --- | --- |" + " --- |" * len(ORDER))
    for share in SHARES:
        found = {row["tier"]: row for row in rows if row["share"] == share}
        cells = " | ".join(f"{found[tier]['variables']:,} / {found[tier]['edges']:,}" for tier in ORDER)
        lines.append(f"| {share:.0%} | {found['S']['words']:,} | {cells} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
