"""Judges from the environment: none, one, several, and what is wrong said in one line."""

import pytest
from pydantic import SecretStr

from hcg_pipeline.backends.llm.cache import open_cache
from hcg_pipeline.backends.llm.settings import EndpointSettings
from hcg_pipeline.errors import BackendError, SettingsError
from resources.bounds import bounds_of
from resources.judging import Judges


@pytest.fixture
def cache(tmp_path):
    return open_cache(f"sqlite:///{tmp_path}/replies.sqlite")


@pytest.fixture
def judge(monkeypatch):
    """Sets HCG_JUDGE_… variables."""

    def set_all(**values):
        for name, value in values.items():
            monkeypatch.setenv(f"HCG_JUDGE_{name}", value)
        return Judges.from_environment()

    return set_all


def test_without_a_model_nobody_judges(judge, cache, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "key")
    assert judge().judges(cache) == []


def test_several_models_at_one_endpoint_and_one_elsewhere(judge, cache):
    judges = judge(
        MODEL="one, two",
        BASE_URL="http://127.0.0.1:1/v1",
        **{"2_MODEL": "three", "2_BASE_URL": "http://127.0.0.1:2/v1"},
    )
    assert [one.name for one in judges.judges(cache)] == ["one", "two", "three"]
    assert [endpoint.base_url for endpoint in judges.endpoints] == ["http://127.0.0.1:1/v1", "http://127.0.0.1:2/v1"]


def test_the_key_is_read_when_it_is_used_and_is_no_part_of_the_configuration(judge):
    judges = judge(MODEL="one", API_KEY="very-secret")
    assert "very-secret" not in repr(judges) + judges.model_dump_json()
    assert judges._settings(judges.endpoints[0], "one", 7).api_key == SecretStr("very-secret")


def test_each_run_has_a_seed_of_its_own(judge, cache):
    judges = judge(MODEL="one", BASE_URL="http://127.0.0.1:1/v1")
    versions = [judges.judges(cache, run)[0].version for run in (1, 2, 1)]
    assert versions[0] == versions[2] != versions[1]


def test_the_answering_models_key_is_not_sent_to_the_judge(judge, cache, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "key")
    with pytest.raises(BackendError, match="set HCG_JUDGE_API_KEY, or HCG_JUDGE_BASE_URL"):
        judge(MODEL="one").judges(cache)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"BASE_URL": "http://127.0.0.1:1/v1"}, "HCG_JUDGE_MODEL is not set"),
        ({"2_API_KEY": "key"}, "HCG_JUDGE_2_MODEL is not set"),
        ({"MODEL": "one", "MAX_CALLS": "many"}, "HCG_JUDGE_MAX_CALLS is 'many', not a whole number"),
    ],
)
def test_settings_that_are_wrong(judge, values, message):
    with pytest.raises(SettingsError, match=message):
        judge(**values)


def test_a_judge_that_is_named_twice_is_refused(judge, cache):
    judges = judge(MODEL="one", BASE_URL="http://127.0.0.1:1/v1", **{"2_MODEL": "one", "2_BASE_URL": "http://a/v1"})
    with pytest.raises(SettingsError, match="'one' is named twice"):
        judges.judges(cache)


def test_limits_and_the_price_list_reach_each_judge(judge, tmp_path):
    prices = tmp_path / "prices.yaml"
    prices.write_text("as_of: 2026-12-01\nmodels: {my-judge: {input: 1.0, output: 2.0}}\n")
    limits = {"MAX_CALLS": "5", "MAX_TOKENS": "6", "MAX_USD": "0.5", "REPLY_TOKENS": "70", "CONCURRENCY": "3"}
    judges = judge(MODEL="my-judge", BASE_URL="http://127.0.0.1:1/v1", **limits).model_copy(
        update={"prices": str(prices)}
    )
    settings = judges._settings(judges.endpoints[0], "my-judge", 7)
    assert (settings.budget.max_calls, settings.budget.max_tokens, settings.budget.max_usd) == (5, 6, 0.5)
    assert (settings.budget.prices, settings.max_tokens, settings.rate.concurrency) == (prices, 70, 3)


def test_a_budget_in_usd_needs_a_price_for_the_judge(judge, cache):
    judges = judge(MODEL="nobody-knows-it", BASE_URL="http://127.0.0.1:1/v1", MAX_USD="1")
    with pytest.raises(SettingsError, match="needs a price for 'nobody-knows-it'"):
        judges.judges(cache)


def test_errors_name_the_variables_of_the_judge_that_they_are_about(judge):
    judges = judge(MODEL="one", API_KEY="k", **{"2_MODEL": "two", "2_API_KEY": "k"})
    names = [judges._settings(endpoint, endpoint.models[0], 7).names for endpoint in judges.endpoints]
    assert [found.model for found in names] == ["HCG_JUDGE_MODEL", "HCG_JUDGE_2_MODEL"]
    assert [found.base_url for found in names] == ["HCG_JUDGE_BASE_URL", "HCG_JUDGE_2_BASE_URL"]
    assert [found.api_key for found in names] == ["HCG_JUDGE_API_KEY", "HCG_JUDGE_2_API_KEY"]


def test_all_seeds_of_a_model_share_limiter_and_budget():
    settings = EndpointSettings(model="shared", base_url="http://127.0.0.1:1/v1")
    limiter, budget = bounds_of(settings)
    later = bounds_of(settings.model_copy(update={"seed": 8}))
    assert (later[0] is limiter, later[1] is budget) == (True, True)
    assert bounds_of(settings.model_copy(update={"model": "another"}))[1] is not budget
