"""The estimate against real builds over real HTTP: within a quarter, exact where it can be, and free."""

import random
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
import sqlalchemy as sa
from fake_openai import FakeOpenAI
from staged_build import ask_everything

from hcg_pipeline.backends.llm.assembling import build_llm_backend
from hcg_pipeline.backends.llm.backend import LlmBackend
from hcg_pipeline.backends.llm.budget import PriceList, read_prices
from hcg_pipeline.backends.llm.cache import good_reply, open_cache
from hcg_pipeline.backends.llm.ledger import SqlLedger, recorded_calls, total_cost
from hcg_pipeline.backends.llm.settings import EndpointSettings
from hcg_pipeline.backends.rules.backend import RulesBackend
from hcg_pipeline.corpus.chunks import split_documents
from hcg_pipeline.corpus.documents import read_documents
from hcg_pipeline.corpus.settings import ChunkingSettings
from hcg_pipeline.estimation.estimate import MARGIN, BuildEstimate, estimate_build
from hcg_pipeline.estimation.rehearsal import PlannedBuild
from hcg_pipeline.estimation.typical import token_count
from hcg_pipeline.progress import Silent

SAMPLES = Path(__file__).parents[3] / "data" / "corpora"
MODEL = "gpt-4.1-mini"


@pytest.fixture(scope="module")
def rules() -> RulesBackend:
    return RulesBackend()


@pytest.fixture
def engine(tmp_path: Path) -> sa.Engine:
    return open_cache(f"sqlite:///{tmp_path}/cache.db")


@pytest.fixture
def fake() -> Iterator[FakeOpenAI]:
    with FakeOpenAI() as server:
        yield server


def chunks_of(folder: Path) -> pa.Table:
    documents, _ = read_documents(folder, Silent())
    return split_documents(documents, ChunkingSettings(), Silent())


def synthetic_corpus(folder: Path) -> Path:
    """Forty reports on faults of machines, made of a few dozen words with a fixed seed."""
    draw = random.Random(7)
    firsts = [
        *("rotor", "turbine", "gasket", "filter", "sensor", "coupling", "bearing"),
        *("impeller", "manifold", "radiator", "gearbox", "compressor"),
    ]
    lasts = ["housing", "surface", "mounting", "assembly", "cover"]
    faults = [
        *("corrosion", "vibration", "overheating", "leakage", "misalignment"),
        *("contamination", "fatigue", "erosion", "blockage", "wear"),
    ]
    verbs = ["causes", "increases", "reduces", "leads to", "prevents", "results in"]
    fillers = [
        "The crew inspected the station in spring.",
        "Records were kept for every shift.",
        "Nothing else was found.",
    ]

    def part() -> str:
        return f"{draw.choice(firsts)} {draw.choice(lasts)}"

    folder.mkdir()
    for number in range(40):
        sentences = []
        for _ in range(40):
            one, other = draw.sample(faults, 2)
            stated = f"{one.capitalize()} of the {part()} {draw.choice(verbs)} {other} of the {part()}."
            sentences.append(stated if draw.random() < 0.4 else draw.choice(fillers))
        (folder / f"report{number}.txt").write_text(" ".join(sentences) + "\n", encoding="utf-8")
    return folder


def estimated(
    build: PlannedBuild, backend: LlmBackend, rules: RulesBackend, engine: sa.Engine, prices: PriceList | None = None
) -> BuildEstimate:
    return estimate_build(
        build, backend, lambda request: good_reply(engine, request), rules, prices or read_prices(None)
    )


@pytest.mark.parametrize(
    ("corpus", "tier"),
    [("epilepsy", "S"), ("epilepsy", "M"), ("pumps", "XS"), ("pumps", "S"), ("synthetic", "XS")],
)
def test_it_is_within_a_quarter_of_the_build(
    corpus: str, tier: str, fake: FakeOpenAI, engine: sa.Engine, rules: RulesBackend, tmp_path: Path
) -> None:
    folder = synthetic_corpus(tmp_path / corpus) if corpus == "synthetic" else SAMPLES / corpus
    build = PlannedBuild(chunks_of(folder), tier)
    backend = build_llm_backend(EndpointSettings(model=MODEL, base_url=fake.base_url), engine)
    guess = estimated(build, backend, rules, engine)
    assert fake.chat_calls == 0
    ledger = SqlLedger(engine, corpus, "run", read_prices(None))
    ask_everything(backend.recording(ledger), build)
    cost = total_cost(recorded_calls(engine, corpus).to_pylist())
    assert (cost.calls, cost.invalid) == (fake.chat_calls, 0)
    assert guess.total.calls == pytest.approx(cost.calls, rel=MARGIN)
    assert guess.total.tokens_in + guess.total.tokens_out == pytest.approx(cost.tokens_in + cost.tokens_out, rel=MARGIN)
    assert cost.calls <= guess.most_calls
    asked = Counter(body["response_format"]["json_schema"]["name"] for body in fake.requests)
    for stage in guess.stages[:3]:
        assert stage.calls == asked[stage.stage], "the stages that read windows are exact"


def test_what_is_cached_costs_nothing(fake: FakeOpenAI, engine: sa.Engine, rules: RulesBackend) -> None:
    build = PlannedBuild(chunks_of(SAMPLES / "pumps"), "XS")
    backend = build_llm_backend(EndpointSettings(model=MODEL, base_url=fake.base_url), engine)
    ask_everything(backend, build)
    calls = fake.chat_calls
    done = estimated(build, backend, rules, engine)
    assert (done.total.calls, done.total.cached, done.total.usd) == (0, calls, 0.0)
    assert any(f"{calls} answers are in the cache" in note for note in done.notes)
    other = build_llm_backend(EndpointSettings(model="gpt-4.1", base_url=fake.base_url), engine)
    assert estimated(build, other, rules, engine).total.cached == 0
    with engine.begin() as connection:
        connection.execute(sa.text("DELETE FROM llm_replies WHERE stage = 'variables'"))
    again = estimated(build, backend, rules, engine)
    windows = sum(body["response_format"]["json_schema"]["name"] == "variables" for body in fake.requests)
    assert [(stage.calls, stage.cached) for stage in again.stages[:3]] == [(0, 10), (0, 10), (windows, 0)]
    assert fake.chat_calls == calls


def test_a_pinned_vocabulary_is_not_asked_for(fake: FakeOpenAI, engine: sa.Engine, rules: RulesBackend) -> None:
    from hcg_pipeline.specification.dimensions import build_dimensions
    from hcg_pipeline.specification.metrics import build_metrics

    backend = build_llm_backend(EndpointSettings(model=MODEL, base_url=fake.base_url), engine)
    chunks = chunks_of(SAMPLES / "pumps")
    dimensions = build_dimensions([], "XS")
    pinned = (dimensions, build_metrics([], dimensions, None, "XS"))
    guess = estimated(PlannedBuild(chunks, "XS", pinned=pinned), backend, rules, engine)
    assert [stage.stage for stage in guess.stages] == ["variables", "metric_templates", "node_edges"]


@pytest.mark.parametrize(
    ("model", "hidden"), [("gpt-5-mini", True), ("openai/o3", True), ("gpt-4.1-mini", False), ("llama", False)]
)
def test_money_and_what_is_unsure(
    model: str, hidden: bool, fake: FakeOpenAI, engine: sa.Engine, rules: RulesBackend
) -> None:
    backend = build_llm_backend(EndpointSettings(model=model, base_url=fake.base_url), engine)
    prices = PriceList.model_validate(
        {
            "as_of": "2026-01-01",
            "models": {"gpt-5-mini": {"input": 1.0, "output": 10.0}, "gpt-4.1-mini": {"input": 2.0}},
        }
    )
    guess = estimated(PlannedBuild(chunks_of(SAMPLES / "pumps"), "XS"), backend, rules, engine, prices)
    total = guess.total
    if model == "gpt-5-mini":
        assert total.usd == pytest.approx((total.tokens_in + 10 * total.tokens_out) / 1e6)
        assert guess.usd_in_batches == pytest.approx(total.usd / 2)
    elif model == "gpt-4.1-mini":
        assert total.usd == pytest.approx(2 * total.tokens_in / 1e6)
    else:
        assert (total.usd, guess.usd_in_batches) == (None, None)
        assert any("No price for" in note for note in guess.notes)
    assert any("reasons before it replies. That output is hidden" in note for note in guess.notes) == hidden


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        # counts of o200k_base
        ("", 0),
        ("The pump fails when the seal is worn, and the leak that follows damages the motor.", 18),
        ("Die Pumpe fällt aus, wenn die Dichtung verschlissen ist, und das Leck beschädigt den Motor.", 24),
        ("Насос выходит из строя, когда уплотнение изношено, и утечка повреждает двигатель.", 24),
        ("密封件磨损时泵会发生故障,随后的泄漏会损坏电机。", 23),
    ],
)
def test_tokens_of_some_scripts(text: str, tokens: int) -> None:
    assert token_count(text) == pytest.approx(tokens, rel=0.6, abs=1)


def test_the_same_corpus_gets_the_same_estimate(fake: FakeOpenAI, engine: sa.Engine, rules: RulesBackend) -> None:
    backend: Any = build_llm_backend(EndpointSettings(model=MODEL, base_url=fake.base_url), engine)
    build = PlannedBuild(chunks_of(SAMPLES / "pumps"), "S")
    assert estimated(build, backend, rules, engine) == estimated(build, backend, RulesBackend(), engine)
