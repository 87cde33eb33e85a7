"""Tags and segments that the cue patterns rest on."""

import pytest

from hcg_pipeline.backends.rules.phrases import segments
from hcg_pipeline.backends.rules.tagging import Tagger
from hcg_pipeline.backends.rules.tokens import word_spans


@pytest.fixture(scope="module")
def tagger() -> Tagger:
    return Tagger()


def tag_of(tagger: Tagger, sentence: str, word: str) -> str:
    return next(token.tag for token in tagger.tag(sentence) if token.text == word)


@pytest.mark.parametrize(
    ("sentence", "words"),
    [
        ("The patient's doctor didn't stop.", ["The", "patient", "'s", "doctor", "did", "n't", "stop", "."]),
        ("Cisplatin-induced anti-cancer U.S. therapy", ["Cisplatin", "-induced", "anti-cancer", "U.S.", "therapy"]),
        ("BCR::ABL1 rose 3.5%", ["BCR::ABL1", "rose", "3.5%"]),
    ],
)
def test_words(sentence: str, words: list[str]) -> None:
    assert [sentence[start:end] for start, end in word_spans(sentence)] == words


@pytest.mark.parametrize(
    ("sentence", "word", "tag"),
    [
        ("If the price of gasoline rises, sales fall.", "rises", "VVZ"),
        ("Imatinib blocks the receptor.", "blocks", "VVZ"),
        ("Smoking damages the lungs and increases the risk of stroke.", "damages", "VVZ"),
        ("Calcium activates proteases, damages membranes and kills neurons.", "damages", "VVZ"),
        ("The damages were paid.", "damages", "NN2"),
        ("Statins lower cholesterol.", "lower", "VVB"),
        ("A lower price helps.", "lower", "AJC"),
        ("Exposure to valproate is rare.", "valproate", "NN1"),
        ("This can lead to gangrene.", "gangrene", "NN1"),
    ],
)
def test_nouns_and_verbs_are_told_apart(tagger: Tagger, sentence: str, word: str, tag: str) -> None:
    assert tag_of(tagger, sentence, word) == tag


@pytest.mark.parametrize(
    ("sentence", "verb"),
    [
        ("It is caused by smoke.", ("cause", "fin", True, False, False)),
        ("It may not cause harm.", ("cause", "fin", False, True, True)),
        ("They try to reduce harm.", ("reduce", "inf", False, False, False)),
        ("Harm caused by smoke lasts.", ("cause", "ppl", False, False, False)),
    ],
)
def test_verb_groups(tagger: Tagger, sentence: str, verb: tuple[str, str, bool, bool, bool]) -> None:
    found = [
        (one.lemma, one.form, one.passive, one.negated, one.hedged)
        for one in segments(tagger.tag(sentence))
        if one.kind == "VG"
    ]
    assert verb in found


def test_segments_cover_every_word_once(tagger: Tagger) -> None:
    tokens = tagger.tag("Because of this, the so-called (new) drug, which he took, did not help; nobody knew why.")
    places = [at for one in segments(tokens) for at in range(one.start, one.end)]
    assert places == list(range(len(tokens)))


@pytest.mark.parametrize("text", ["", "   ", "\n", "???", "(((", "—", "ÄÖÜ ß 漢字 😀", "a" * 5000, "x " * 3000])
def test_anything_can_be_tagged(tagger: Tagger, text: str) -> None:
    tokens = tagger.tag(text)
    assert all(text[token.start : token.end] == token.text for token in tokens)
    assert len(tokens) <= 120
