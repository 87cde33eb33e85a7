"""A choice for one run goes before corpus.yaml."""

import pytest

from hcg_pipeline.corpus.settings import CorpusSettings
from resources.build_choices import BuildChoices, TierChoice


def test_the_tier_of_a_run_goes_before_the_corpus():
    settings = CorpusSettings(tier="M", backend="rules")
    assert BuildChoices().applied_to(settings) == settings
    assert BuildChoices(tier=TierChoice.XS).applied_to(settings) == settings.model_copy(update={"tier": "XS"})


def test_every_tier_can_be_chosen():
    from hcg_pipeline.specification.tiers import TIERS

    assert [choice.value for choice in TierChoice] == list(TIERS)


def test_a_share_is_between_0_and_1():
    with pytest.raises(ValueError, match="less than or equal to 1"):
        BuildChoices(failed_share=1.5)
