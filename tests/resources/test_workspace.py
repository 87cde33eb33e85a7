"""Which corpora there are, and where each one's files lie, whatever its name."""

import unicodedata

import pytest
from object_store import BUCKET, empty_bucket

from hcg_pipeline.corpus.documents import read_files
from hcg_pipeline.errors import CorpusError
from resources.remote_files import list_files
from resources.run_progress import Listened
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


def test_how_often_sensors_look_can_be_said(workspace, monkeypatch):
    assert workspace.seconds_between_looks == 10
    monkeypatch.setenv("HCG_SECONDS_BETWEEN_LOOKS", "120")
    assert Workspace.from_environment().seconds_between_looks == 120


@pytest.fixture
def on_s3(monkeypatch, tmp_path):
    """A bucket with two corpora, and the workspace on it."""
    bucket = empty_bucket(monkeypatch)
    for key, text in (
        ("hearts/a.txt", "one"),
        ("hearts/deep/b.md", "two"),
        ("hearts/corpus.yaml", "tier: L"),
        ("hearts/.a.txt.swp", "an editor's"),
        ("hearts/deep/Thumbs.db", "a system's"),
        ("hearts/notes.xyz", "unknown"),
        (f"{unicodedata.normalize('NFD', 'Ünïcode')}/c.txt", "three"),
        ("a*b/d.txt", "refused"),
    ):
        bucket.put_object(Key=f"x/corpora/{key}", Body=text.encode())
    monkeypatch.setenv("HCG_DATA", f"s3://{BUCKET}/x")
    monkeypatch.setenv("HCG_CACHE", str(tmp_path / "cache"))
    return bucket, Workspace.from_environment()


def test_corpora_on_s3_are_found_as_here(on_s3):
    _, workspace = on_s3
    assert workspace.corpora() == ["hearts", "Ünïcode"]
    assert [folder for folder, _ in workspace.refused_folders()] == ["a*b"]
    assert workspace.settings("hearts").tier == "L"
    assert str(workspace.corpus_store("Ünïcode")) == f"s3://{BUCKET}/x/store/%C3%9Cn%C3%AFcode"
    with pytest.raises(CorpusError, match=rf"no corpus 'nix' in s3://{BUCKET}/x/corpora. There are: hearts, Ü"):
        workspace.corpus_folder("nix")
    assert workspace.seconds_between_looks == 60


def test_documents_on_s3_are_read_as_here(on_s3):
    _, workspace = on_s3
    files = {file.name: file for file in workspace.document_files("hearts")}
    assert list(files) == ["a.txt", "deep/b.md", "notes.xyz"]
    assert [files[name].path.read_text() for name in ("a.txt", "deep/b.md")] == ["one", "two"]
    assert (
        files["notes.xyz"].reason.startswith("files ending in '.xyz' are not read") and files["notes.xyz"].size() == 7
    )
    documents, rejected = read_files(list(files.values()), Listened())
    assert documents["path"].to_pylist() == ["a.txt", "deep/b.md"]
    assert rejected.select(["path", "bytes"]).to_pylist() == [{"path": "notes.xyz", "bytes": 7}]
    assert [file.name for file in workspace.document_files("Ünïcode")] == ["c.txt"]


def test_a_document_that_changes_while_it_is_fetched_is_fetched_again(on_s3, monkeypatch):
    bucket, workspace = on_s3
    changes = iter(["ONE", "Two"])

    def listing(folder):
        listed = list_files(folder)
        if (text := next(changes, None)) is not None:
            bucket.put_object(Key="x/corpora/hearts/a.txt", Body=text.encode())
        return listed

    monkeypatch.setattr("resources.workspace.list_files", listing)
    assert workspace.document_files("hearts")[0].path.read_text() == "Two"


def test_documents_that_never_stop_changing_are_not_built(on_s3, monkeypatch):
    monkeypatch.setattr("resources.workspace.Copies.fetch", lambda self, folder, files: list(files))
    with pytest.raises(CorpusError, match=r"s3://.*/hearts changes while it is read"):
        on_s3[1].document_files("hearts")
