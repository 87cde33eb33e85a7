"""How many calls and tokens a build asks of a model, by stage and tier, on a folder of documents.

    python benchmarks/llm_calls.py FOLDER [TIER …]

A local server with the OpenAI API answers, with replies that are plausible and in the requested form; the calls are
those that arrive there. Beside them stand the numbers of the paper (Appendix L, on the GraphRAG-Bench medical corpus)
and the limits that this project sets itself, half of each. Writes benchmarks/results/llm_calls.{md,json}.
"""

import json
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

from fake_openai import FakeOpenAI  # noqa: E402 (the path comes first)
from staged_build import ask_everything  # noqa: E402

from hcg_pipeline.backends.llm.assembling import build_llm_backend  # noqa: E402
from hcg_pipeline.backends.llm.budget import read_prices  # noqa: E402
from hcg_pipeline.backends.llm.cache import open_cache  # noqa: E402
from hcg_pipeline.backends.llm.ledger import SqlLedger, recorded_calls, stage_costs, total_cost  # noqa: E402
from hcg_pipeline.backends.llm.settings import EndpointSettings, RateSettings  # noqa: E402
from hcg_pipeline.backends.rules.backend import RulesBackend  # noqa: E402
from hcg_pipeline.corpus.chunks import split_documents  # noqa: E402
from hcg_pipeline.corpus.documents import read_documents  # noqa: E402
from hcg_pipeline.corpus.settings import read_settings  # noqa: E402
from hcg_pipeline.estimation.estimate import estimate_build  # noqa: E402
from hcg_pipeline.estimation.rehearsal import PlannedBuild  # noqa: E402
from hcg_pipeline.progress import Silent  # noqa: E402
from hcg_pipeline.specification.tiers import ORDER  # noqa: E402

RESULTS = ROOT / "benchmarks" / "results"
PAPER = {"XS": 131, "S": 833, "M": 1_167, "L": 2_214}
LIMIT = {"XS": 65, "S": 416, "M": 583, "L": 1_107}
STAGES = ("dimensions", "metrics", "variables", "metric_templates", "node_edges")
MODEL = "gpt-4.1-mini"


def main(folder: Path, tiers: list[str]) -> None:
    """Measure, print, write."""
    documents, _ = read_documents(folder, Silent())
    chunks = split_documents(documents, read_settings(folder).chunking, Silent())
    words = sum(documents["words"].to_pylist())
    results = {tier: _measure(PlannedBuild(chunks, tier)) for tier in tiers}
    found = {"documents": documents.num_rows, "words": words, "chunks": chunks.num_rows, "tiers": results}
    text = _report(found)
    print(text)
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / "llm_calls.json").write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")
    (RESULTS / "llm_calls.md").write_text(text, encoding="utf-8")


def _measure(build: PlannedBuild) -> dict[str, Any]:
    with FakeOpenAI() as fake, tempfile.TemporaryDirectory() as folder:
        engine = open_cache(f"sqlite:///{folder}/cache.db")
        settings = EndpointSettings(model=MODEL, base_url=fake.base_url, rate=RateSettings(concurrency=8))
        ledger = SqlLedger(engine, "benchmark", build.tier, read_prices(None))
        backend = build_llm_backend(settings, engine).recording(ledger)
        began = time.perf_counter()
        guess = estimate_build(build, backend, lambda _request: None, RulesBackend(), read_prices(None))
        guessed = time.perf_counter()
        ask_everything(backend, build)
        calls = recorded_calls(engine, "benchmark")
        stages = {cost.stage: cost for cost in stage_costs(calls)}
        whole = total_cost(calls.to_pylist())
        engine.dispose()
        return {
            "stages": {
                name: {"calls": cost.calls, "tokens_in": cost.tokens_in, "tokens_out": cost.tokens_out}
                for name in STAGES
                if (cost := stages.get(name)) is not None
            },
            "calls": fake.chat_calls,
            "invalid": whole.invalid,
            "tokens_in": whole.tokens_in,
            "tokens_out": whole.tokens_out,
            "usd": whole.usd,
            "seconds": round(time.perf_counter() - guessed, 1),
            "estimated": {
                "calls": guess.total.calls,
                "tokens": guess.total.tokens_in + guess.total.tokens_out,
                "usd": guess.total.usd,
                "seconds": round(guessed - began, 1),
            },
        }


def _report(found: dict[str, Any]) -> str:
    lines = [
        "# Calls to the language model",
        "",
        f"{found['documents']:,} document(s), {found['words']:,} words, {found['chunks']:,} chunks. Calls that arrived "
        "at a local server, tokens as it counts them (close to o200k_base).",
        "",
        f"| tier | {' | '.join(STAGES)} | calls | limit | paper | tokens in | tokens out | USD ({MODEL}) |",
        f"| --- |{' ---: |' * (len(STAGES) + 6)}",
    ]
    for tier, row in found["tiers"].items():
        calls = [f"{row['stages'].get(name, {}).get('calls', 0):,}" for name in STAGES]
        rest = [row["calls"], LIMIT[tier], PAPER[tier], row["tokens_in"], row["tokens_out"]]
        lines.append(f"| {tier} | {' | '.join([*calls, *(f'{n:,}' for n in rest)])} | {row['usd']:.2f} |")
    lines += ["", "## The estimate beside it", "", "| tier | calls | estimated | tokens | estimated | seconds |"]
    lines.append("| --- | ---: | ---: | ---: | ---: | ---: |")
    for tier, row in found["tiers"].items():
        guess, tokens = row["estimated"], row["tokens_in"] + row["tokens_out"]
        calls_off = f"{guess['calls']:,} ({guess['calls'] / row['calls'] - 1:+.0%})"
        tokens_off = f"{guess['tokens']:,} ({guess['tokens'] / tokens - 1:+.0%})"
        lines.append(f"| {tier} | {row['calls']:,} | {calls_off} | {tokens:,} | {tokens_off} | {guess['seconds']} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:] or list(ORDER))
