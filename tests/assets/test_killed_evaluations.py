"""Answering and judging, killed with -9: the same scores and answers in the end, and no reply paid for twice."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import sqlalchemy as sa
from command_line import CliRunner
from fake_openai import FakeOpenAI
from fake_replies import plausible_reply
from scripted_judge import scripted_judge

from hcg import app
from hcg_pipeline.backends.llm.cache import open_cache
from resources.ledgers import read_ledger
from resources.places import CHECKOUT
from resources.table_files import read_table

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("building")]
SUBJECTS = ("fever", "measles", "influenza", "malaria", "a virus", "dehydration")
EVALUATE = ("evaluate", "infections", "--mode", "graph", "--mode", "hybrid", "--budget", "40")


def reply(body):
    judged = {"statements", "verdicts"} & set(body["response_format"]["json_schema"]["schema"]["properties"])
    return scripted_judge(body) if judged else plausible_reply(body)


def use(monkeypatch, data, fake, workers):
    chosen = {"HCG_DATA": data, "HCG_LLM_BASE_URL": fake.base_url, "HCG_JUDGE_BASE_URL": fake.base_url}
    chosen |= {"HCG_JUDGE_MODEL": "judge-1", "HCG_LLM_CONCURRENCY": workers, "HCG_JUDGE_CONCURRENCY": workers}
    for name, value in {**chosen, "HCG_EMBEDDER": "wordllama"}.items():
        monkeypatch.setenv(name, str(value))


def hcg(*words):
    result = CliRunner().invoke(app, [str(word) for word in words])
    assert result.exit_code == 0, result.output
    return result.stdout


def replies_kept(data):
    """How many replies were committed, whether or not anyone has used them yet."""
    engine = open_cache(f"sqlite:///{data / 'store' / 'cache' / 'llm.sqlite'}")
    with engine.connect() as connection:
        return connection.execute(sa.text("select count(*) from llm_replies")).scalar_one()


def kill_when(done):
    """Start an evaluation in a process of its own, and end it with SIGKILL once `done` says so."""
    process = subprocess.Popen(
        [sys.executable, "-c", "from hcg import run; run()", *EVALUATE],
        env=os.environ | {"PYTHONPATH": str(CHECKOUT)},
        cwd=CHECKOUT,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    while not done() and process.poll() is None:
        time.sleep(0.002)
    assert process.poll() is None, "it was to be killed before it was done"
    os.kill(process.pid, signal.SIGKILL)
    process.wait()


def kept(data: Path):
    """Every table of the evaluations; of the systems, all but how long retrieval took."""
    tables = {}
    for path in sorted((data / "store" / "infections" / "evaluations").glob("*/*.parquet")):
        table = read_table(path)
        shown = table.drop_columns("milliseconds") if path.stem == "systems" else table
        tables[f"{path.parent.name}/{path.stem}"] = shown.to_pylist()
    return tables


@pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL")
def test_an_evaluation_that_is_killed_again_and_again_ends_like_one_that_is_not(built, tmp_path, monkeypatch):
    questions = [
        {
            "id": f"q{number}",
            "question": f"What causes {subject}, case {number}?",
            "answer": f"Case {number}. It is so.",
        }
        for number, subject in enumerate(SUBJECTS * 3)
    ]
    (built / "questions" / "infections").joinpath("small.json").write_text(json.dumps(questions))
    killed = tmp_path / "killed"
    shutil.copytree(built, killed)
    with FakeOpenAI(reply=reply) as fake:
        use(monkeypatch, built, fake, 1)
        hcg(*EVALUATE)
        needed = len(fake.completed)
        assert sum(fake.completed.values()) == needed == replies_kept(built)
        answering = sum("judge" not in body["model"] for body in fake.requests)

    with FakeOpenAI(reply=reply, latency=0.06) as fake:
        use(monkeypatch, killed, fake, 6)
        for enough in (answering // 4, answering + (needed - answering) // 3):
            kill_when(lambda enough=enough: sum(fake.completed.values()) >= enough)
            while fake.in_flight:
                time.sleep(0.01)
        there, before = replies_kept(killed), fake.chat_calls
        assert answering < there < needed
        hcg(*EVALUATE)
        assert fake.chat_calls - before == needed - there, "exactly what was not kept is asked for"
        calls = fake.chat_calls
        texts = [data / "answers.jsonl" for data in (built, killed)]
        for data, text in zip((built, killed), texts, strict=True):
            monkeypatch.setenv("HCG_DATA", str(data))
            hcg("answer", "infections", data / "questions/infections/small.json", "--budget", "40", "--out", text)
        assert texts[0].read_bytes() == texts[1].read_bytes()
        assert fake.chat_calls == calls, "all answers were kept"

    assert kept(killed) == kept(built)
    stages = {row["stage"] for row in read_ledger(killed / "store" / "infections" / "ledger").to_pylist()}
    assert stages == {"answers", "judge_statements", "judge_verdicts"}
