"""What the chain around a model costs in time: 64 calls in flight, beside the server's own latency and bare requests.

    python benchmarks/llm_concurrency.py [SECONDS_OF_LATENCY]

A local server, in a process of its own, answers each call after the same time. The same 645 requests go through the
whole chain (cache on disk, budget, limiter, retries, HTTP, validation, ledger), and as bare POSTs of the same bodies by
the same HTTP library from as many threads. A stage sends five calls ahead and looks at the replies; so do the bare
requests, and eleven times the latency is the least possible for both. Writes
benchmarks/results/llm_concurrency.{md,json}.
"""

import json
import multiprocessing
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from multiprocessing.connection import Connection
from pathlib import Path

import httpx2

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

from fake_openai import FakeOpenAI  # noqa: E402 (the path comes first)

from hcg_pipeline.backends.llm.assembling import build_llm_backend  # noqa: E402
from hcg_pipeline.backends.llm.budget import read_prices  # noqa: E402
from hcg_pipeline.backends.llm.cache import open_cache  # noqa: E402
from hcg_pipeline.backends.llm.dialect import first_dialect, parameters  # noqa: E402
from hcg_pipeline.backends.llm.ledger import SqlLedger  # noqa: E402
from hcg_pipeline.backends.llm.mapping import CANARY, canary_places  # noqa: E402
from hcg_pipeline.backends.llm.prompt import request_of  # noqa: E402
from hcg_pipeline.backends.llm.prompts.reading import reading_task  # noqa: E402
from hcg_pipeline.backends.llm.settings import EndpointSettings, RateSettings  # noqa: E402
from hcg_pipeline.corpus.window import Passage, Window  # noqa: E402
from hcg_pipeline.progress import Silent  # noqa: E402
from hcg_pipeline.specification.vocabulary import Dimension, Metric, Vocabulary  # noqa: E402

RESULTS = ROOT / "benchmarks" / "results"
IN_FLIGHT, CALLS = 64, 640 + CANARY
EMPTY = '{"entities": [], "variables": [], "relations": []}'
VOCABULARY = Vocabulary((Dimension("thing", "Anything."),), (Metric("ThingRisk", ("thing",), "How likely.", "risk"),))


def main(latency: float) -> None:
    """Measure, print, write."""
    ours, theirs = multiprocessing.Pipe()
    server = multiprocessing.get_context("spawn").Process(target=_serve, args=(theirs, latency), daemon=True)
    server.start()
    url = str(ours.recv())
    try:
        bare = _seconds(lambda: _ask_bare(url))
        chain = _seconds(lambda: _ask_through_the_chain(url))
    finally:
        server.terminate()
    least = latency * (1 + (CALLS - CANARY) / IN_FLIGHT)
    rows = [("the server's own latency", least), ("bare requests", bare), ("the chain", chain)]
    text = _report(latency, rows)
    print(text)
    RESULTS.mkdir(exist_ok=True)
    found = {"latency": latency, "calls": CALLS, "in_flight": IN_FLIGHT, "seconds": dict(rows)}
    (RESULTS / "llm_concurrency.json").write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")
    (RESULTS / "llm_concurrency.md").write_text(text, encoding="utf-8")


def _serve(pipe: Connection, latency: float) -> None:
    with FakeOpenAI(latency=latency, reply=lambda _body: EMPTY) as fake:
        pipe.send(fake.base_url)
        time.sleep(3600)


def _windows() -> list[Window]:
    """Windows of about 1,000 words, no two of them alike."""
    texts = (f"Report {number}. " + "Nothing of note was found on this day. " * 125 for number in range(CALLS))
    return [Window(f"w{n}", (Passage(f"c{n}", "d", 0, len(text), text),)) for n, text in enumerate(texts)]


def _settings(url: str) -> EndpointSettings:
    return EndpointSettings(model="fake-model", base_url=url, rate=RateSettings(concurrency=IN_FLIGHT))


def _ask_through_the_chain(url: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        engine = open_cache(f"sqlite:///{folder}/cache.db")
        ledger = SqlLedger(engine, "benchmark", "run", read_prices(None))
        backend = build_llm_backend(_settings(url), engine).recording(ledger)
        outcome = backend.read_windows(_windows(), VOCABULARY, Silent())
        engine.dispose()
    if outcome.failures or outcome.usage.calls != CALLS:
        raise SystemExit(f"{outcome.usage.calls} calls, {len(outcome.failures)} failures")


def _ask_bare(url: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        backend = build_llm_backend(_settings(url), open_cache(f"sqlite:///{folder}/cache.db"))
        prompts = [reading_task(window, VOCABULARY, backend.metrics_shown).prompt for window in _windows()]
    bodies = [parameters(request_of(prompt, backend.sampling), first_dialect(url)) for prompt in prompts]
    limits = httpx2.Limits(max_connections=IN_FLIGHT, max_keepalive_connections=IN_FLIGHT)
    with httpx2.Client(limits=limits, timeout=60) as client, ThreadPoolExecutor(IN_FLIGHT) as executor:
        ahead = canary_places(CALLS)
        for part in ([bodies[place] for place in ahead], [bodies[n] for n in range(CALLS) if n not in ahead]):
            replies = executor.map(lambda body: client.post(f"{url}/chat/completions", json=body), part)
            if any(reply.status_code != 200 for reply in replies):
                raise SystemExit("the server did not answer all bare requests")


def _seconds(work: Callable[[], None]) -> float:
    began = time.perf_counter()
    work()
    return round(time.perf_counter() - began, 3)


def _report(latency: float, rows: list[tuple[str, float]]) -> str:
    least = rows[0][1]
    lines = [
        "# Calls in flight",
        "",
        f"{CALLS} calls, {IN_FLIGHT} in flight, to a server that takes {latency:g} s for each; {CANARY} go ahead.",
        "",
        "| | seconds | of the server's own |",
        "| --- | ---: | ---: |",
        *(f"| {name} | {seconds:.2f} | {seconds / least:.3f} |" for name, seconds in rows),
    ]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main(float(sys.argv[1]) if len(sys.argv) > 1 else 2.0)
