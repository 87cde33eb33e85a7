"""How much of the reference answers retrieval finds, and how fast it is: side by side with baselines, in one run.

`python benchmarks/retrieval.py [CORPUS …] [--half even|odd]` measures the speed on random graphs, then built corpora
(all of them by default) that have question files with references in the data folder (`HCG_DATA`, else `data/`), and
writes `benchmarks/results/retrieval.json` and `.md`. Settings were chosen on questions at even places of three files
(GraphRAG-Bench medical, HolisQA medicine, the self-checks of a textbook on economics); `--half odd` reports the others.
"""

import argparse
import json
import resource
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import numpy as np
import pyarrow as pa

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.retrieval_speed import measure_speed
from hcg_pipeline.answering.questions import Question, find_question_files, read_questions
from hcg_pipeline.errors import HcgError
from hcg_pipeline.evaluation.measures import (
    WORD_BUDGETS,
    evidence_measure,
    evidence_recall,
    recall_measure,
    reference_recall,
    reference_terms,
    term_weights,
)
from hcg_pipeline.evaluation.significance import compare, compare_by_type
from hcg_pipeline.retrieval.cosine import cosines
from hcg_pipeline.retrieval.hybrid import fused_order
from hcg_pipeline.retrieval.index import GraphIndex
from hcg_pipeline.retrieval.passages import cut_passages
from hcg_pipeline.retrieval.retrieve import retrieve
from hcg_pipeline.retrieval.settings import RetrievalSettings
from hcg_pipeline.retrieval.terms import bm25_weights, count_terms
from hcg_pipeline.tables import SCORES
from resources.embedding import EmbeddingModel
from resources.published import open_published
from resources.workspace import Workspace

RESULTS = Path(__file__).parent / "results"
BASELINE = "hybrid, 150-word passages"
TEXT_ONLY = "BM25, 150-word passages"
NO_GRAPH = "graph mode without the graph"
# The system, the mode it is, and what is set besides the budget.
SYSTEMS: dict[str, tuple[str, dict[str, Any]]] = {
    "graph": ("graph", {}),
    "graph, paper's cone order": ("graph", {"order": "paper"}),
    NO_GRAPH: ("graph", {"tau_min": 1.0}),
    "hybrid": ("hybrid", {}),
    "naive": ("naive", {}),
    "nodes_only": ("nodes_only", {}),
}
PAIRS = [("graph", BASELINE), ("graph", TEXT_ONLY), ("graph", "hybrid"), ("graph", "naive"), ("graph", NO_GRAPH)]

# As many questions as GraphRAG-Bench's medical file has.
BATCH = 2_062
# A measure that fewer questions have says nothing.
FEWEST = 20

Contexts = dict[int, list[Sequence[str]]]
"""Per budget, the contexts of each question."""


def answered_contexts(index: GraphIndex, questions: Sequence[str]) -> Iterator[tuple[str, Contexts]]:
    """Each system's contexts at each budget."""
    for system, (mode, changes) in SYSTEMS.items():
        contexts = {}
        for budget in WORD_BUDGETS:
            settings = RetrievalSettings(words=budget, **changes)
            contexts[budget] = [found.contexts for found in retrieve(index, questions, mode, settings)]
        yield system, contexts
    yield from baseline_contexts(index, questions)


def baseline_contexts(index: GraphIndex, questions: Sequence[str]) -> Iterator[tuple[str, Contexts]]:
    """Plain search over passages of 150 words, best first; the last one is cut where the budget ends."""
    texts = cut_passages(index.chunks.table, 150)["text"].to_pylist()
    terms = count_terms(texts)
    text = np.asarray((terms.rows(questions) @ bm25_weights(terms).T).todense())
    vector = cosines(index.embedder.embed(list(questions)), index.embedder.embed(texts))
    for system, scores in ((BASELINE, (vector, text)), (TEXT_ONLY, (text,))):
        found = []
        for rows in zip(*scores, strict=True):
            # Enough for the largest budget even where passages are short.
            found.append([texts[row] for row in fused_order(*rows)[:200]])
        yield system, dict.fromkeys(WORD_BUDGETS, found)


def measure_quality(index: GraphIndex, questions: Sequence[Question]) -> pa.Table:
    """SCORES of every system (`mode`): recall of reference terms, and of evidence that stands in the corpus."""
    texts = index.chunks.table["text"].to_pylist()
    weights, corpus = term_weights(texts), " ".join(" ".join(texts).split())
    wanted = [reference_terms(one.question, one.answer or "", one.evidence) for one in questions]
    pieces = [[piece for piece in one.evidence if " ".join(piece.split()) in corpus] for one in questions]
    rows: list[dict[str, Any]] = []
    for system, by_budget in answered_contexts(index, [one.question for one in questions]):
        for budget, contexts in by_budget.items():
            for place, one in enumerate(questions):
                common = {"question_set": "", "id": one.id, "question_type": one.question_type, "mode": system}
                shares = reference_recall(wanted[place], contexts[place], weights, (budget,))
                if shares is not None:
                    rows.append({**common, "measure": recall_measure(budget), "value": shares[0]})
                if pieces[place]:
                    share = evidence_recall(pieces[place], contexts[place], (budget,))[0]
                    rows.append({**common, "measure": evidence_measure(budget), "value": share})
    return pa.Table.from_pylist(rows, schema=SCORES)


def summarise(scores: pa.Table) -> dict[str, list[dict[str, Any]]]:
    """Means by system and budget, and the paired bootstrap of `graph` against the others, overall and by type."""
    tables: dict[str, list[dict[str, Any]]] = {}
    for name, of_budget in (("reference terms", recall_measure), ("evidence sentences", evidence_measure)):
        present = scores.filter(pa.compute.is_in(scores["measure"], pa.array([of_budget(b) for b in WORD_BUDGETS])))
        if len(set(present["id"].to_pylist())) < FEWEST:
            continue
        means = present.group_by(["mode", "measure"]).aggregate([("value", "mean"), ("value", "count")]).to_pylist()
        by_name = {(row["mode"], row["measure"]): row for row in means}
        tables[f"Recall of {name} by words of context"] = [
            {
                "system": system,
                **{
                    f"{budget:,}": round(by_name[system, of_budget(budget)]["value_mean"], 4) for budget in WORD_BUDGETS
                },
                "questions": by_name[system, of_budget(WORD_BUDGETS[0])]["value_count"],
            }
            for system in dict.fromkeys(present["mode"].to_pylist())
        ]
        budgets: list[dict[str, Any]] = []
        for budget in WORD_BUDGETS:
            table = compare(present, of_budget(budget), pairs=PAIRS)
            budgets += [{"words": budget, **row} for row in table.to_pylist()]
        tables[f"Recall of {name}: paired bootstrap"] = [_shown(row) for row in budgets]
        if len(set(present["question_type"].to_pylist())) > 1:
            table = compare_by_type(present, of_budget(3000), pairs=[PAIRS[0], PAIRS[-1]])
            tables[f"Recall of {name} at 3,000 words by type"] = [_shown(row) for row in table.to_pylist()]
    return tables


def _shown(row: dict[str, Any]) -> dict[str, Any]:
    return {name: round(value, 4) if isinstance(value, float) else value for name, value in row.items()}


def measure_corpus(workspace: Workspace, corpus: str, half: str) -> dict[str, Any] | None:
    """Quality and time of one corpus, or None where no question has a reference."""
    files = find_question_files(workspace.question_folder(corpus))
    questions = [one for path in files for one in read_questions(path)[_chosen(half)] if one.answer]
    if not questions:
        return None
    index = open_published(workspace, corpus, EmbeddingModel.from_environment(workspace.cache)).index
    texts = [one.question for one in questions]
    batch = (texts * -(-BATCH // len(texts)))[:BATCH]
    begin, begin_processor = perf_counter(), process_time()
    retrieve(index, batch, "graph", RetrievalSettings())
    seconds, processor = perf_counter() - begin, process_time() - begin_processor
    return {
        "Corpus": {**index.manifest.model_dump(exclude={"format"}), "half": half, "questions": len(questions)},
        "Time": {
            f"retrieving {BATCH:,} questions (the files', over again), seconds by the clock": round(seconds, 2),
            "the same, seconds of processor time": round(processor, 2),
            "peak memory of the process by then, MB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
        },
        **summarise(measure_quality(index, questions)),
    }


def _chosen(half: str) -> slice:
    return {"all": slice(None), "even": slice(0, None, 2), "odd": slice(1, None, 2)}[half]


def render(results: dict[str, Any]) -> str:
    """The results as Markdown."""
    lines = ["# Retrieval", "", "Written by `benchmarks/retrieval.py`."]
    for title, blocks in results.items():
        lines += ["", f"## {title}"]
        for heading, block in blocks.items():
            lines += ["", f"### {heading}", ""]
            if isinstance(block, list):
                columns = list(block[0])
                lines += ["| " + " | ".join(columns) + " |", "| " + " | ".join("---" for _ in columns) + " |"]
                lines += ["| " + " | ".join(str(row[name]) for name in columns) + " |" for row in block]
            else:
                lines += [f"- {name}: {value}" for name, value in block.items()]
    return "\n".join([*lines, ""])


def main() -> int:
    """Measures, prints and writes."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpora", nargs="*", metavar="CORPUS", help="built corpora; all of them by default")
    parser.add_argument("--half", choices=("all", "even", "odd"), default="all", help="which questions")
    parser.add_argument("--out", type=Path, default=RESULTS, help="folder of the results")
    arguments = parser.parse_args()
    results: dict[str, Any] = {"Speed": measure_speed()}
    workspace = Workspace.from_environment()
    try:
        for corpus in arguments.corpora or workspace.corpora():
            measured = measure_corpus(workspace, corpus, arguments.half)
            if measured is not None:
                results[corpus] = measured
    except HcgError as error:
        print(error, file=sys.stderr)
        return 1
    text = render(results)
    print(text)
    arguments.out.mkdir(parents=True, exist_ok=True)
    (arguments.out / "retrieval.json").write_text(json.dumps(results, indent=1, ensure_ascii=False) + "\n", "utf-8")
    (arguments.out / "retrieval.md").write_text(text, "utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
