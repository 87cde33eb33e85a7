"""Which backend and which embedder a person gets, by the environment and the corpus."""

import pytest
from fake_openai import FakeOpenAI

from hcg_pipeline.errors import BackendError, EmbeddingError, SettingsError
from resources.embedding import EmbeddingModel
from resources.language import LanguageModel

WORDLLAMA = "wordllama"
OPENAI = "text-embedding-3-small"


def _embedder(tmp_path, backend=None):
    return EmbeddingModel.from_environment(tmp_path).embedder_for(backend).model


def test_nothing_configured_is_rules_and_wordllama(tmp_path):
    assert LanguageModel.from_environment(tmp_path).backend_for(None).name == "rules"
    assert _embedder(tmp_path).startswith(WORDLLAMA)


def test_a_key_is_llm_and_openai_embeddings(tmp_path, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test-0123456789")
    backend = LanguageModel.from_environment(tmp_path).backend_for(None)
    assert backend.name == "llm"
    assert backend.version.startswith("gpt-4.1-mini/")
    assert _embedder(tmp_path) == OPENAI


def test_a_corpus_that_wants_rules_stays_offline_with_a_key(tmp_path, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test-0123456789")
    assert LanguageModel.from_environment(tmp_path).backend_for("rules").name == "rules"
    assert _embedder(tmp_path, "rules").startswith(WORDLLAMA)
    monkeypatch.setenv("HCG_EMBEDDER", "openai")
    assert _embedder(tmp_path, "rules") == OPENAI


def test_a_server_of_ones_own_gets_wordllama_unless_its_embedding_model_is_named(tmp_path, monkeypatch):
    monkeypatch.setenv("HCG_LLM_BASE_URL", "http://127.0.0.1:9/v1")
    monkeypatch.setenv("OPENAI_API_KEY", "dummy")
    assert _embedder(tmp_path).startswith(WORDLLAMA)
    monkeypatch.setenv("HCG_EMBEDDING_MODEL", "nomic-embed-text")
    assert _embedder(tmp_path) == "nomic-embed-text"
    monkeypatch.setenv("HCG_EMBEDDER", "wordllama")
    assert _embedder(tmp_path).startswith(WORDLLAMA)


def test_an_index_made_by_the_embedded_model_is_asked_with_it_whatever_is_configured(tmp_path, monkeypatch):
    embedded = _embedder(tmp_path)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test-0123456789")
    configured = EmbeddingModel.from_environment(tmp_path)
    assert configured.embedder_of(embedded).model == embedded
    assert configured.embedder_of(OPENAI).model == OPENAI


def test_a_server_that_serves_one_model_needs_no_name(tmp_path, monkeypatch):
    with FakeOpenAI(models=("the-only-one",)) as fake:
        monkeypatch.setenv("HCG_LLM_BASE_URL", fake.base_url)
        assert LanguageModel.from_environment(tmp_path).backend_for(None).version.startswith("the-only-one/")


def test_a_server_that_serves_several_lists_them(tmp_path, monkeypatch):
    with FakeOpenAI(models=("b", "a")) as fake:
        monkeypatch.setenv("HCG_LLM_BASE_URL", fake.base_url)
        with pytest.raises(BackendError, match=r"serves these models: a, b\. Set HCG_LLM_MODEL to one of them"):
            LanguageModel.from_environment(tmp_path).backend_for(None)
        monkeypatch.setenv("HCG_LLM_MODEL", "b")
        assert LanguageModel.from_environment(tmp_path).backend_for(None).version.startswith("b/")


def test_a_server_that_is_down_says_what_to_do(tmp_path, monkeypatch):
    monkeypatch.setenv("HCG_LLM_BASE_URL", "http://127.0.0.1:9/v1")
    with pytest.raises(BackendError, match=r"127\.0\.0\.1:9/v1 does not say which models .* set HCG_LLM_MODEL"):
        LanguageModel.from_environment(tmp_path).backend_for(None)


def test_asking_for_an_endpoint_that_is_not_configured_says_what_to_set(tmp_path, monkeypatch):
    with pytest.raises(BackendError, match=r"set OPENAI_API_KEY, or HCG_LLM_BASE_URL .* or write `backend: rules`"):
        LanguageModel.from_environment(tmp_path).backend_for("llm")
    monkeypatch.setenv("HCG_EMBEDDER", "openai")
    with pytest.raises(EmbeddingError, match="set OPENAI_API_KEY, or HCG_EMBEDDING_BASE_URL"):
        EmbeddingModel.from_environment(tmp_path).embedder_for(None)


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("HCG_LLM_CONCURRENCY", "many", "HCG_LLM_CONCURRENCY is 'many', not a whole number"),
        ("HCG_LLM_MAX_USD", "five", "HCG_LLM_MAX_USD is 'five', not a number"),
    ],
)
def test_a_variable_that_is_no_number_is_named(tmp_path, monkeypatch, name, value, message):
    monkeypatch.setenv(name, value)
    with pytest.raises(SettingsError, match=message):
        LanguageModel.from_environment(tmp_path)


def test_an_unknown_embedder_lists_those_there_are(tmp_path, monkeypatch):
    monkeypatch.setenv("HCG_EMBEDDER", "bert")
    with pytest.raises(SettingsError, match="HCG_EMBEDDER is 'bert': set it to wordllama or openai"):
        EmbeddingModel.from_environment(tmp_path)


def test_a_wrong_address_is_one_line(tmp_path, monkeypatch):
    monkeypatch.setenv("HCG_LLM_BASE_URL", "localhost:8000")
    monkeypatch.setenv("HCG_LLM_MODEL", "m")
    with pytest.raises(SettingsError, match=r"HCG_LLM_….* base_url: .*not an http\(s\) URL"):
        LanguageModel.from_environment(tmp_path).backend_for(None)


def test_the_key_is_no_part_of_the_configuration(tmp_path, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret-0123456789")
    assert "sk-secret" not in repr(LanguageModel.from_environment(tmp_path))
    assert "sk-secret" not in repr(EmbeddingModel.from_environment(tmp_path))


def test_only_an_endpoint_reads_a_sample_of_windows(tmp_path):
    language = LanguageModel.from_environment(tmp_path)
    assert language.window_sample(None) is None
    assert language.window_sample("llm") == 10
