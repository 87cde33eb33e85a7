"""Which corpora there are, and where each one's files lie, whatever its name."""

import unicodedata

import pytest

from hcg_pipeline.errors import CorpusError
from resources.workspace import Workspace


@pytest.fixture
def workspace(data):
    for name in ("epilepsy", "heart failure", "Ünïcode", ".hidden"):
        (data / "corpora" / name).mkdir(parents=True)
    (data / "corpora" / "a*b").mkdir()
    (data / "corpora" / "notes.txt").write_text("no folder")
    return Workspace.from_environment()


def test_folders_with_valid_names_are_the_corpora(workspace):
    assert workspace.corpora() == ["epilepsy", "heart failure", "Ünïcode"]
    [(folder, reason)] = workspace.refused_folders()
    assert folder == "a*b"
    assert reason.startswith("'a*b' cannot name a corpus: it holds '*'")


def test_without_a_corpora_folder_there_are_none(data):
    assert Workspace.from_environment().corpora() == []


def test_an_unknown_corpus_lists_those_there_are(workspace):
    with pytest.raises(CorpusError, match=r"There is no corpus 'nix' in .*There are: epilepsy, heart failure, Ünïcode"):
        workspace.corpus_folder("nix")


@pytest.mark.parametrize("name", ["../epilepsy", "..", "a/b", "", "a\x00b", "a\nb"])
def test_names_that_lead_elsewhere_are_refused(workspace, name):
    for find in (workspace.corpus_folder, workspace.question_folder, workspace.corpus_store):
        with pytest.raises(CorpusError, match="cannot name a corpus"):
            find(name)


def test_a_folder_named_in_decomposed_letters_is_found(data):
    decomposed = unicodedata.normalize("NFD", "Ünïcode")
    (data / "corpora" / decomposed).mkdir(parents=True)
    workspace = Workspace.from_environment()
    assert workspace.corpora() == ["Ünïcode"]
    assert workspace.corpus_folder("Ünïcode").name == decomposed
    assert workspace.corpus_store("Ünïcode") == workspace.corpus_store(decomposed)


def test_places_follow_the_name(workspace, data):
    assert workspace.corpus_folder("heart failure") == data / "corpora" / "heart failure"
    assert workspace.question_folder("heart failure") == data / "questions" / "heart failure"
    assert workspace.corpus_store("heart failure") == data / "store" / "heart failure"
    assert workspace.corpus_store("cache") != workspace.cache


def test_settings_come_from_corpus_yaml(workspace, data):
    assert workspace.settings("epilepsy").tier == "S"
    (data / "corpora" / "epilepsy" / "corpus.yaml").write_text("tier: L\nbackend: rules\n")
    settings = workspace.settings("epilepsy")
    assert (settings.tier, settings.backend) == ("L", "rules")
