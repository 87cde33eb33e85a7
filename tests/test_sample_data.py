"""The sample corpora and their question files keep what data/README.md promises of them."""

import csv
import json
from collections import Counter
from pathlib import Path

import lxml.html
import mammoth
import pytest
from ruamel.yaml import YAML

DATA = Path(__file__).parents[1] / "data"
RESERVED = {"corpus.yaml", "outcomes.yaml", "graph_spec.yaml", "corrections.yaml"}
CORPORA = ("epilepsy", "pumps")
MAIN_TYPES = {"Mechanistic", "Multi-hop Causal", "Synthesis", "Counterfactual", "Fact Retrieval"}


def read_text(path: Path) -> str:
    """The text of one sample file by plain reading, apart from the project's own loaders."""
    if path.suffix == ".docx":
        with path.open("rb") as handle:
            return mammoth.extract_raw_text(handle).value
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".html":
        return lxml.html.document_fromstring(text.encode()).text_content()
    if path.suffix == ".jsonl":
        return "\n".join(json.loads(line)["text"] for line in text.splitlines())
    if path.suffix == ".csv":
        return "\n".join(cell for row in csv.reader(text.splitlines()) for cell in row)
    return text


def read_corpus(corpus: str) -> dict[str, str]:
    folder = DATA / "corpora" / corpus
    files = sorted(p for p in folder.rglob("*") if p.is_file())
    return {
        p.relative_to(folder).as_posix(): read_text(p) for p in files if not (p.parent == folder and p.name in RESERVED)
    }


def read_questions(corpus: str) -> list[dict]:
    folder = DATA / "questions" / corpus
    if corpus == "pumps":
        with (folder / "questions.csv").open(encoding="utf-8", newline="") as handle:
            return [{**row, "evidence": json.loads(row["evidence"])} for row in csv.DictReader(handle)]
    lines = (folder / "questions.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def holders(sentence: str, documents: dict[str, str]) -> set[str]:
    return {path for path, text in documents.items() if sentence in text}


@pytest.mark.parametrize(("corpus", "documents", "words"), [("epilepsy", 16, 11_000), ("pumps", 10, 5_000)])
def test_corpus_is_large_enough(corpus: str, documents: int, words: int) -> None:
    texts = read_corpus(corpus)
    assert len(texts) >= documents
    assert sum(len(text.split()) for text in texts.values()) >= words


@pytest.mark.parametrize("corpus", CORPORA)
def test_no_two_documents_share_their_text_and_none_is_a_stub(corpus: str) -> None:
    texts = read_corpus(corpus)
    assert len(set(texts.values())) == len(texts)
    assert min(len(text.split()) for text in texts.values()) > 150


def test_samples_show_the_formats() -> None:
    suffixes = {corpus: {Path(path).suffix for path in read_corpus(corpus)} for corpus in CORPORA}
    assert suffixes == {
        "epilepsy": {".md", ".txt", ".html", ".csv", ".jsonl", ".docx"},
        "pumps": {".md", ".txt", ".html", ".csv"},
    }


@pytest.mark.parametrize("corpus", CORPORA)
def test_corpus_yaml_states_description_and_tier(corpus: str) -> None:
    settings = YAML(typ="safe").load((DATA / "corpora" / corpus / "corpus.yaml").read_text(encoding="utf-8"))
    assert set(settings) == {"description", "tier"}
    assert settings["tier"] == "S"
    assert settings["description"].strip()


@pytest.mark.parametrize("corpus", CORPORA)
def test_csv_rows_have_as_many_cells_as_the_header(corpus: str) -> None:
    for path in (DATA / "corpora" / corpus).rglob("*.csv"):
        with path.open(encoding="utf-8", newline="") as handle:
            widths = {len(row) for row in csv.reader(handle)}
        assert len(widths) == 1, f"{path}: ragged rows"


@pytest.mark.parametrize(
    ("corpus", "total", "reasoning", "least"),
    [("epilepsy", 54, "Clinical Reasoning", 8), ("pumps", 18, "Diagnostic Reasoning", 3)],
)
def test_question_types(corpus: str, total: int, reasoning: str, least: int) -> None:
    questions = read_questions(corpus)
    counts = Counter(question["question_type"] for question in questions)
    assert len(questions) >= total
    assert set(counts) == MAIN_TYPES | {reasoning}
    assert min(counts.values()) >= least


@pytest.mark.parametrize("corpus", CORPORA)
def test_ids_and_questions_are_unique(corpus: str) -> None:
    questions = read_questions(corpus)
    prefix = corpus.capitalize()
    expected = [f"{prefix}-{number:03d}" for number in range(1, len(questions) + 1)]
    assert [question["id"] for question in questions] == expected
    assert len({question["question"] for question in questions}) == len(questions)


@pytest.mark.parametrize("corpus", CORPORA)
def test_every_question_has_an_answer_and_one_to_four_pieces_of_evidence(corpus: str) -> None:
    for question in read_questions(corpus):
        assert question["question"].strip().endswith("?") or question["question"].strip().endswith("."), question["id"]
        assert question["answer"].strip(), question["id"]
        assert 1 <= len(question["evidence"]) <= 4, question["id"]
        assert len(set(question["evidence"])) == len(question["evidence"]), question["id"]


@pytest.mark.parametrize("corpus", CORPORA)
def test_evidence_stands_verbatim_in_exactly_one_document(corpus: str) -> None:
    documents = read_corpus(corpus)
    wrong = {
        (question["id"], sentence): holders(sentence, documents)
        for question in read_questions(corpus)
        for sentence in question["evidence"]
        if len(holders(sentence, documents)) != 1
    }
    assert wrong == {}


@pytest.mark.parametrize("corpus", CORPORA)
def test_multi_hop_evidence_spans_documents(corpus: str) -> None:
    documents = read_corpus(corpus)
    for question in read_questions(corpus):
        if question["question_type"] == "Multi-hop Causal":
            found = set().union(*(holders(sentence, documents) for sentence in question["evidence"]))
            assert len(found) >= 2, question["id"]


def test_out_of_scope_questions_carry_no_answer() -> None:
    with (DATA / "questions" / "epilepsy" / "out_of_scope.csv").open(encoding="utf-8", newline="") as handle:
        rows = list(csv.DictReader(handle))
    assert [set(row) for row in rows] == [{"id", "question"}] * 2
    assert len({row["id"] for row in rows} | {question["id"] for question in read_questions("epilepsy")}) == 2 + len(
        read_questions("epilepsy")
    )
