"""`LlmBackend` from end to end over real HTTP: every method, its cost, its version, and what a kill leaves behind."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from fake_openai import FakeOpenAI, Fault
from pydantic import SecretStr, ValidationError

from hcg_pipeline.backends.llm.assembling import build_llm_backend
from hcg_pipeline.backends.llm.backend import LlmBackend
from hcg_pipeline.backends.llm.cache import cache_stats, open_cache
from hcg_pipeline.backends.llm.settings import EndpointSettings
from hcg_pipeline.backends.protocol import (
    AnswerReply,
    AnswerRequest,
    EdgeQuestion,
    LanguageBackend,
    Reading,
    TemplateQuestion,
    Usage,
)
from hcg_pipeline.corpus.window import Passage, Window
from hcg_pipeline.progress import Silent
from hcg_pipeline.specification.vocabulary import Dimension, Entity, Metric, VariableRef, Vocabulary

Build = Callable[..., LlmBackend]
MakeWindows = Callable[[int], list[Window]]

CONDITION = Dimension("condition", "What ails.", (Entity("bronchitis"), Entity("hypertension")))
FACTOR = Dimension("factor", "What acts.", (Entity("smoking"), Entity("swimming")))
SEVERITY = Metric("ConditionSeverity", ("condition",), "How bad it is.", "severity")
INFLUENCE = Metric("FactorInfluence", ("factor",), "How strong it is.", "influence")
VOCABULARY = Vocabulary((CONDITION, FACTOR), (SEVERITY, INFLUENCE))


def test_it_is_a_language_backend(build: Build) -> None:
    backend: LanguageBackend = build()
    assert backend.name == "llm"


def test_dimensions_then_metrics_then_readings(fake: FakeOpenAI, build: Build, make_windows: MakeWindows) -> None:
    backend, windows = build(), make_windows(2)
    dimensions = backend.propose_dimensions(windows, Silent())
    named = {entity.name for proposal in dimensions.results for entity in proposal.entities}
    assert named == {"smoking", "bronchitis", "swimming", "hypertension"}
    assert dimensions.usage.calls == 2
    assert dimensions.usage.tokens_in > 200
    metrics = backend.propose_metrics(windows, VOCABULARY.dimensions, Silent())
    assert {metric.signature for metric in metrics.results} >= {("condition",), ("factor",)}
    readings = backend.read_windows(windows, VOCABULARY, Silent())
    assert [reading.window_id for reading in readings.results] == ["w0", "w1"]
    relation = readings.results[1].relations[0]
    assert relation.source.entities == ("smoking",)
    assert relation.target.entities == ("bronchitis",)
    assert (relation.chunk_id, relation.quote) == ("c1a", "Chronic smoking causes bronchitis in district 1.")
    assert readings.results[1].relations[1].sign == "-"
    assert fake.chat_calls == 6


def test_identical_windows_of_two_documents_are_one_call(
    fake: FakeOpenAI, build: Build, make_windows: MakeWindows
) -> None:
    (window,) = make_windows(1)
    passages = tuple(Passage("other-" + one.chunk_id, "d9", 5, 5 + len(one.text), one.text) for one in window.passages)
    outcome = build().read_windows([window, Window("w9", passages)], VOCABULARY, Silent())
    assert fake.chat_calls == 1
    assert outcome.usage.calls == outcome.usage.cached == 1
    assert [one.window_id for one in outcome.results] == ["w0", "w9"]
    assert outcome.results[1].relations[0].chunk_id == "other-c0a"


def test_judging_templates_and_edges(fake: FakeOpenAI, build: Build) -> None:
    text = "Heavy smoking causes bronchitis. Weather is mild."
    passage = Passage("c1", "d1", 0, len(text), text)
    backend = build()
    driven = backend.judge_templates(
        [TemplateQuestion(INFLUENCE, (SEVERITY,), (passage,)), TemplateQuestion(SEVERITY, (), ())], Silent()
    )
    assert [[verdict.target for verdict in verdicts] for verdicts in driven.results][1] == []
    assert driven.usage.calls == 1
    smoking, swimming = (VariableRef("FactorInfluence", (name,)) for name in ("smoking", "swimming"))
    bronchitis = VariableRef("ConditionSeverity", ("bronchitis",))
    candidates = ((swimming, bronchitis), (smoking, bronchitis))
    judged = backend.judge_edges(
        [
            EdgeQuestion(INFLUENCE, SEVERITY, "It irritates.", candidates, (passage,)),
            EdgeQuestion(INFLUENCE, SEVERITY, "It irritates.", candidates, ()),
            EdgeQuestion(INFLUENCE, SEVERITY, "It irritates.", (), (passage,)),
        ],
        Silent(),
    )
    ((edge,), *others) = judged.results
    assert (edge.source, edge.target, edge.quote) == (smoking, bronchitis, "Heavy smoking causes bronchitis.")
    assert others == [(), ()]
    assert judged.usage.calls == 1
    assert fake.chat_calls == 2


def test_answers_keep_their_order_and_ask_nothing_without_contexts(fake: FakeOpenAI, build: Build) -> None:
    contexts = ("Weather is mild.", "Heavy smoking causes bronchitis.")
    requests = [
        AnswerRequest("q1", "What does smoking bring about?", contexts),
        AnswerRequest("q2", "Anything?", ()),
        AnswerRequest("q3", "Where is Atlantis?", contexts),
    ]
    outcome = build().answer(requests, Silent())
    assert outcome.results[0] == AnswerReply("q1", "Heavy smoking causes bronchitis.", True, (1,))
    assert (outcome.results[1].key, outcome.results[1].answered, outcome.results[1].cited) == ("q2", False, ())
    assert (outcome.results[2].key, outcome.results[2].answered) == ("q3", False)
    assert outcome.usage.calls == fake.chat_calls == 2


def test_contexts_are_trimmed_only_if_asked(fake: FakeOpenAI, build: Build) -> None:
    request = AnswerRequest("q1", "What?", ("one two three", "four five"))
    build().answer([request], Silent())
    build(answer_words=4).answer([request], Silent())
    assert "four five" in fake.requests[0]["messages"][1]["content"]
    assert "four\n" in fake.requests[1]["messages"][1]["content"]
    assert "five" not in fake.requests[1]["messages"][1]["content"]


def test_without_a_vocabulary_there_is_nothing_to_ask(
    fake: FakeOpenAI, build: Build, make_windows: MakeWindows
) -> None:
    backend, windows = build(), make_windows(1)
    assert backend.propose_metrics(windows, [], Silent()).results == ()
    assert backend.read_windows(windows, Vocabulary((CONDITION,)), Silent()).results == (Reading("w0", (), (), ()),)
    assert fake.chat_calls == 0


def test_a_rebuild_with_nothing_changed_makes_no_call(
    fake: FakeOpenAI, build: Build, engine: sa.Engine, make_windows: MakeWindows
) -> None:
    windows = make_windows(6)
    first = build().read_windows(windows, VOCABULARY, Silent())
    calls = fake.chat_calls
    again = build().read_windows(windows, VOCABULARY, Silent())
    assert again.results == first.results
    assert again.usage == Usage(cached=6)
    assert fake.chat_calls == calls == 6
    assert cache_stats(engine).pending == 0
    build().read_windows([*windows, *make_windows(8)[6:]], VOCABULARY, Silent())
    assert fake.chat_calls == 8  # two new windows, two calls


@pytest.mark.parametrize(
    "change",
    [
        {"model": "other"},
        {"temperature": 0.5},
        {"seed": 8},
        {"max_tokens": 9},
        {"metrics_shown": 3},
        {"answer_words": 9},
    ],
)
def test_version_changes_with_whatever_changes_replies(build: Build, change: dict[str, Any]) -> None:
    assert build().version == build().version
    assert build(**change).version != build().version
    assert build(rate={"concurrency": 2}, api_key=SecretStr("sk-x")).version == build().version


def test_version_changes_with_the_prompts(build: Build, monkeypatch: pytest.MonkeyPatch) -> None:
    before = build().version
    monkeypatch.setattr("hcg_pipeline.backends.llm.backend.instructions", lambda stage: f"other words for {stage}")
    assert build().version != before


def test_settings_refuse_what_cannot_work_and_show_no_key() -> None:
    for bad in ({"model": ""}, {"base_url": "localhost:8080"}, {"max_tokens": 0}, {"modle": "x"}):
        with pytest.raises(ValidationError):
            EndpointSettings(**({"model": "m"} | bad))
    settings = EndpointSettings(model="m", api_key=SecretStr("sk-secret-key"), base_url="http://h/v1/")
    assert settings.base_url == "http://h/v1"
    assert "sk-secret" not in repr(settings)
    assert "sk-secret" not in settings.model_dump_json()


def test_no_key_comes_near_the_cache(fake: FakeOpenAI, tmp_path: Path, make_windows: MakeWindows) -> None:
    key = "sk-secret-abcdefgh"
    engine = open_cache(f"sqlite:///{tmp_path}/own.db")
    settings = EndpointSettings(model="fake-model", base_url=fake.base_url, api_key=SecretStr(key))
    build_llm_backend(settings, engine).propose_dimensions(make_windows(3), Silent())
    engine.dispose()
    assert all(key.encode() not in path.read_bytes() for path in tmp_path.iterdir() if path.is_file())


KILLED_BUILD = """
import sys
from hcg_pipeline.backends.llm.assembling import build_llm_backend
from hcg_pipeline.backends.llm.cache import open_cache
from hcg_pipeline.backends.llm.settings import EndpointSettings, RateSettings
from hcg_pipeline.corpus.window import Passage, Window
from hcg_pipeline.progress import Silent

url, cache = sys.argv[1:]
texts = [f"Report {n}. Chronic smoking causes bronchitis{n}x." for n in range(60)]
windows = [Window(f"w{n}", (Passage(f"c{n}", "d", 0, len(text), text),)) for n, text in enumerate(texts)]
settings = EndpointSettings(model="fake-model", base_url=url, rate=RateSettings(concurrency=4))
outcome = build_llm_backend(settings, open_cache(cache)).propose_dimensions(windows, Silent())
print(outcome.usage.calls, outcome.usage.cached, len(outcome.failures))
print(*[entity.name for proposal in outcome.results for entity in proposal.entities])
"""


@pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL")
def test_kill_at_any_moment_repeats_no_finished_call(tmp_path: Path) -> None:
    """`kill -9` twice, then let it finish."""
    cache = f"sqlite:///{tmp_path}/killed.db"
    with FakeOpenAI(latency=0.05) as fake:
        command = [sys.executable, "-c", KILLED_BUILD, fake.base_url, cache]
        for goal in (12, 35):
            process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
            while sum(fake.completed.values()) < goal and process.poll() is None:
                time.sleep(0.005)
            os.kill(process.pid, signal.SIGKILL)
            process.wait()
        while fake.in_flight:
            time.sleep(0.01)
        # Replies that were on their way when the process died are asked for again; those that had arrived are not.
        finished = cache_stats(open_cache(cache)).replies
        assert finished >= 25
        before = sum(fake.completed.values())
        assert before - finished <= 2 * 4
        last = subprocess.run(command, capture_output=True, text=True, check=True)
        assert sum(fake.completed.values()) - before == 60 - finished
        costs, names = last.stdout.splitlines()
        assert costs == f"{60 - finished} {finished} 0"
        assert names.split().count("smoking") == 60


def test_faults_of_every_kind_leave_the_same_result(
    fake: FakeOpenAI, build: Build, tmp_path: Path, make_windows: MakeWindows
) -> None:
    windows = make_windows(30)
    calm = build().read_windows(windows, VOCABULARY, Silent())
    fresh = open_cache(f"sqlite:///{tmp_path}/stormy.db")
    faults = [
        Fault(status=429, headers={"Retry-After": "0"}),
        Fault(status=500),
        Fault(reset="body"),
        Fault(reset="start"),
        Fault(content="lorem"),
        Fault(body=b'{"choices": [{"mess'),
        Fault(usage=False),
        Fault(hang=0.05),
    ]
    seen = 0

    def storm(_body: dict[str, Any]) -> Fault:
        nonlocal seen
        seen += 1
        return faults[(seen // 3) % len(faults)] if seen % 3 == 0 else Fault()

    fake.always(storm)
    settings = EndpointSettings(
        model="fake-model",
        base_url=fake.base_url,
        retry={"attempts": 8, "first_wait": 0.01, "longest_wait": 0.05},
        rate={"concurrency": 6},
    )
    stormy = build_llm_backend(settings, fresh).read_windows(windows, VOCABULARY, Silent())
    assert stormy.failures == ()
    assert stormy.results == calm.results
