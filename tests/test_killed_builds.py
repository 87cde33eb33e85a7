"""`hcg build` through a faulty endpoint, killed and terminated at several moments: the same graph, no call twice."""

import itertools
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from fake_openai import RESET_IN_BODY, FakeOpenAI, Fault, throttled
from tiny_corpus import TEXTS, write_tiny_corpus

from hcg_pipeline.graph.snapshot import SnapshotStore
from resources.ledgers import ledger_totals, read_ledger
from resources.table_files import read_table

CHECKOUT = Path(__file__).parents[1]
WORKERS = 2
ASKING = ("variables", "seed_relations", "metric_templates", "node_edges", "evidence_links")


def command(*words: str) -> list[str]:
    return [sys.executable, "-c", "from hcg import run; run()", *words]


def environment(data: Path, fake: FakeOpenAI) -> dict[str, str]:
    chosen = {"HCG_DATA": str(data), "HCG_LLM_BASE_URL": fake.base_url, "HCG_LLM_CONCURRENCY": str(WORKERS)}
    return os.environ | chosen | {"HCG_EMBEDDER": "wordllama", "PYTHONPATH": str(CHECKOUT)}


def corpus_in(data: Path) -> None:
    """The tiny corpus, three times over, so that there are some dozen calls to be killed in."""
    folder = write_tiny_corpus(data)
    for name, text in TEXTS.items():
        for number in (1, 2):
            other = text.replace("fever", f"fever{number}").replace("measles", f"measles{number}")
            (folder / f"{Path(name).stem}{number}.txt").write_text(other, encoding="utf-8")


def graph_of(data: Path) -> tuple[str, dict[str, object]]:
    """The published graph's name, which stands for its content, and every table that calls went into."""
    store = data / "store" / "infections"
    snapshot = SnapshotStore(store).current()
    assert snapshot is not None
    tables = {name: read_table(store / "assets" / f"{name}.parquet").to_pylist() for name in ASKING}
    return snapshot.snapshot_id, tables


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL")
def test_a_build_that_is_killed_again_and_again_ends_like_one_that_is_not(tmp_path: Path) -> None:
    calm, killed = tmp_path / "calm", tmp_path / "killed"
    for data in (calm, killed):
        corpus_in(data)
    with FakeOpenAI() as fake:
        words = command("build", "infections")
        subprocess.run(words, env=environment(calm, fake), cwd=CHECKOUT, check=True, capture_output=True)
        needed = len(fake.completed)
        assert sum(fake.completed.values()) == needed > 40

    with FakeOpenAI(latency=0.02) as fake:
        faults = (throttled("0"), Fault(status=500, headers={"Retry-After": "0"}), RESET_IN_BODY)
        turns = itertools.cycle(faults)
        fake.always(lambda _body: next(turns) if fake.chat_calls % 9 == 0 else Fault())
        kills = 0
        for share, ended in ((0.25, signal.SIGKILL), (0.7, signal.SIGINT)):  # the second is what *Terminate* sends
            process = subprocess.Popen(
                words, env=environment(killed, fake), cwd=CHECKOUT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
            )
            while sum(fake.completed.values()) < share * needed and process.poll() is None:
                time.sleep(0.002)
            assert process.poll() is None, "it was to be killed before it was done"
            os.kill(process.pid, ended)
            process.wait()
            kills += 1
            while fake.in_flight:
                time.sleep(0.01)
        last = subprocess.run(
            words, env=environment(killed, fake), cwd=CHECKOUT, check=True, capture_output=True, text=True
        )
        assert "The graph lies in" in last.stdout
        assert len(fake.completed) == needed
        # a reply that was on its way when the process died is all that may be asked for again
        repeated = sum(fake.completed.values()) - needed
        assert repeated <= kills * WORKERS
        assert max(fake.completed.values()) <= 2

    assert graph_of(killed) == graph_of(calm)
    recorded = ledger_totals(killed / "store" / "infections" / "ledger")
    assert sum(cost.calls for cost in recorded) >= needed - kills * WORKERS
    assert {row["outcome"] for row in read_ledger(killed / "store" / "infections" / "ledger").to_pylist()} <= {
        *("ok", "cached", "unanswered")
    }
