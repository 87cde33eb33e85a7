"""Abbreviations that texts spell out in two ways."""

from hcg_pipeline.specification.merges import merges_of
from hcg_pipeline.specification.shared_names import SharedName, shared_names
from hcg_pipeline.specification.vocabulary import Dimension, Entity, Vocabulary

VOCABULARY = Vocabulary(
    (
        Dimension(
            "disease",
            "",
            (
                Entity("hepatocellular carcinoma", ("liver cancers",)),
                Entity("Hürthle cell carcinoma"),
                Entity("cancer"),
            ),
        ),
        Dimension("test", "", (Entity("physical exam"), Entity("pulmonary function test", ("PFT",)))),
    )
)
TEXTS = (
    "Hepatocellular carcinomas (HCC) grow. A physical exam (PE) is done; pulmonary function tests (PFTs) follow.",
    "The Hürthle cell carcinoma (HCC) is rare. Cancer (HCC, stage 2).",
)


def test_an_abbreviation_behind_two_entities_is_found_whatever_their_spelling():
    assert shared_names(VOCABULARY, TEXTS) == [
        SharedName("HCC", (("disease", "hepatocellular carcinoma"), ("disease", "Hürthle cell carcinoma")))
    ]
    assert shared_names(VOCABULARY, TEXTS[:1]) == []


def test_the_record_of_merges_says_that_it_was_kept_apart():
    rows = [tuple(row.values()) for row in merges_of(VOCABULARY, TEXTS).to_pylist()]
    why = "kept apart: stands for hepatocellular carcinoma and for Hürthle cell carcinoma"
    assert rows[-2:] == [
        ("entity:disease", "hepatocellular carcinoma", "HCC", why),
        ("entity:disease", "Hürthle cell carcinoma", "HCC", why),
    ]
    assert len(rows) == 4
