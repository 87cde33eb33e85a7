"""A question set answered over a small index: rows, failures, order, citations and the file that is written."""

import json

import pyarrow as pa
import pytest
from fake_openai import FakeOpenAI

from hcg_pipeline.answering.answers import NO_EVIDENCE, answer_questions, retrieve_questions, write_answers_jsonl
from hcg_pipeline.answering.questions import Question
from hcg_pipeline.backends.llm.assembling import build_llm_backend
from hcg_pipeline.backends.llm.budget import BudgetError
from hcg_pipeline.backends.llm.cache import open_cache
from hcg_pipeline.backends.llm.settings import BudgetSettings, EndpointSettings, RateSettings
from hcg_pipeline.backends.protocol import AnswerReply, Failure, Outcome, Usage
from hcg_pipeline.embedding.wordllama import WordLlamaEmbedder
from hcg_pipeline.progress import Silent
from hcg_pipeline.retrieval.index import build_index, open_index
from hcg_pipeline.retrieval.settings import RetrievalSettings
from hcg_pipeline.tables import ANSWERS, CHUNKS, DOCUMENTS, EDGES, EVIDENCE_LINKS, NODES, embeddings_schema

TEXT = "Rain wets the road. A wet road is slippery. Slippery roads cause accidents. Sand on the road helps."
QUESTIONS = [
    Question("b", "Why is a wet road slippery?", "Because of rain.", "Why", ("Rain wets the road.",)),
    Question("a", "What causes accidents?"),
    Question("c", "What helps on the road?"),
]


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    embedder = WordLlamaEmbedder()
    vectors = embedder.embed([TEXT])
    document = {
        "document_id": "d0", "path": "road.txt", "other_paths": [], "media_type": "text/plain", "text": TEXT,
        "characters": len(TEXT), "words": 18,
    }  # fmt: skip
    chunk = {
        "chunk_id": "c0",
        "document_id": "d0",
        "position": 0,
        "start": 0,
        "end": len(TEXT),
        "text": TEXT,
        "words": 18,
    }
    nodes = [
        {
            "variable": f"{metric}(road)", "metric": metric, "entities": ["road"], "role": role, "description": "",
            "mentions": 1, "chunk_ids": ["c0"], "category": "", "in_degree": 0, "out_degree": 0,
            "added_by": "corpus",
        }
        for metric, role in (("RoadWetness", "driver"), ("AccidentRate", "terminal"))
    ]  # fmt: skip
    edge = {
        "edge_id": "e0", "source": "RoadWetness(road)", "target": "AccidentRate(road)", "mechanism": "slipping",
        "sign": "+", "confidence": 0.8, "origin": "seed", "support": 1, "evidence": 1,
    }  # fmt: skip
    quote = "A wet road is slippery."
    link = {
        "edge_id": "e0", "chunk_id": "c0", "document_id": "d0", "start": TEXT.index(quote),
        "end": TEXT.index(quote) + len(quote), "quote": quote, "kind": "quote", "similarity": None,
    }  # fmt: skip
    folder = tmp_path_factory.mktemp("roads") / "index"
    build_index(
        folder,
        pa.Table.from_pylist([chunk], schema=CHUNKS),
        pa.table([["c0"], pa.FixedSizeListArray.from_arrays(pa.array(vectors[0]), 256)], schema=embeddings_schema(256)),
        pa.Table.from_pylist(nodes, schema=NODES),
        pa.Table.from_pylist([edge], schema=EDGES),
        pa.Table.from_pylist([link], schema=EVIDENCE_LINKS),
        pa.Table.from_pylist([document], schema=DOCUMENTS),
        embedder,
    )
    return open_index(folder, embedder)


class Backend:
    """Answers with the question in capitals; replies in reverse order; fails on request."""

    name, version = "rules", "test-1"

    def __init__(self, failing=()):
        self.failing = failing
        self.asked = []

    def answer(self, requests, progress):
        self.asked += requests
        replies = [
            AnswerReply(request.key, request.question.upper(), True, (0, 7, 0, -1))
            for request in reversed(requests)
            if request.key not in self.failing
        ]
        failures = [Failure("answers", key, "no JSON", "raw text") for key in self.failing]
        return Outcome(tuple(replies), tuple(failures), Usage(calls=len(requests)))


def answer(index, backend, questions=QUESTIONS, mode="graph", **settings):
    return answer_questions(index, backend, "roads", questions, mode, RetrievalSettings(**settings), Silent())


def test_rows_stand_in_the_order_of_the_questions_with_all_that_explains_them(index):
    done = answer(index, Backend(), tau_min=0.2)
    assert done.answers.schema.equals(ANSWERS)
    assert done.answers["id"].to_pylist() == ["b", "a", "c"]
    assert done.usage == Usage(calls=3)
    first = done.answers.to_pylist()[0]
    assert first["answer"] == "WHY IS A WET ROAD SLIPPERY?"
    assert (first["question_set"], first["mode"], first["backend"]) == ("roads", "graph", "rules")
    assert (first["reference"], first["reference_evidence"]) == ("Because of rain.", ["Rain wets the road."])
    assert {match["variable"] for match in first["matched"]} <= {"RoadWetness(road)", "AccidentRate(road)"}
    assert [cone["metric"] for cone in first["cones"]] == ["AccidentRate"]
    assert first["contexts"] == [TEXT]
    (place,) = first["evidence"]
    assert (place["path"], TEXT[place["start"] : place["end"]]) == ("road.txt", place["quote"])


def test_citations_of_what_is_not_there_are_dropped(index):
    assert answer(index, Backend()).answers["cited"].to_pylist() == [[0], [0], [0]]


def test_a_failed_reply_is_a_failure_and_not_an_empty_answer(index):
    done = answer(index, Backend(failing=("a",)))
    assert done.answers["id"].to_pylist() == ["b", "c"]
    assert [(failure.key, failure.reason, failure.raw) for failure in done.failures] == [("a", "no JSON", "raw text")]


def test_the_order_of_the_questions_changes_no_answer(index):
    def by_id(done):
        return {row["id"]: row for row in done.answers.to_pylist()}

    assert by_id(answer(index, Backend())) == by_id(answer(index, Backend(), QUESTIONS[::-1]))


def test_the_backend_sees_the_contexts_and_nothing_of_the_graph(index):
    backend = Backend()
    answer(index, backend)
    assert [request.contexts for request in backend.asked] == [(TEXT,)] * 3
    assert "RoadWetness" not in str(backend.asked)


def test_without_evidence_no_call_is_made_and_the_answer_says_so(index):
    backend = Backend()
    rows = answer(index, backend, mode="nodes_only", tau_min=1.0).answers.to_pylist()
    assert backend.asked == []
    assert [(row["answer"], row["answered"]) for row in rows] == [(NO_EVIDENCE, False)] * 3


def test_retrieving_only_asks_no_backend(index):
    table = retrieve_questions(index, "roads", QUESTIONS, "hybrid", RetrievalSettings())
    assert table.schema.equals(ANSWERS)
    assert table["contexts"].to_pylist() == [[TEXT]] * 3
    assert set(table["backend"].to_pylist()) == {"none"}
    assert set(table["answer"].to_pylist()) == {""}


def test_the_written_file_has_one_object_a_line(index, tmp_path):
    answers = answer(index, Backend()).answers
    path = tmp_path / "new" / "out.jsonl"
    write_answers_jsonl(answers, path)
    lines = path.read_text(encoding="utf-8").splitlines()
    first = json.loads(lines[0])
    assert [json.loads(line)["id"] for line in lines] == ["b", "a", "c"]
    assert {"id", "question", "answer", "mode", "contexts", "evidence"} <= set(first)
    (evidence,) = first["evidence"]
    assert evidence["document"] == "road.txt"
    assert TEXT[evidence["start"] : evidence["end"]] == evidence["quote"] == first["contexts"][0]


def test_a_failed_write_leaves_the_old_file(index, tmp_path):
    path = tmp_path / "out.jsonl"
    path.write_text("old\n")
    broken = answer(index, Backend()).answers.drop_columns(["evidence"])
    with pytest.raises(KeyError):
        write_answers_jsonl(broken, path)
    assert path.read_text() == "old\n"
    assert list(tmp_path.iterdir()) == [path]


def test_citations_of_what_is_not_there_are_counted(index):
    # Each reply of this backend cites the places 0, 7 and -1 of one context.
    assert answer(index, Backend()).dropped_citations == 6


def endpoint_backend(fake, folder, workers=1):
    settings = EndpointSettings(model="fake-model", base_url=fake.base_url, rate=RateSettings(concurrency=workers))
    return build_llm_backend(settings, open_cache(f"sqlite:///{folder}/replies.sqlite"))


def test_a_model_that_cites_what_it_was_not_shown_is_not_believed(index, tmp_path):
    reply = json.dumps({"answer": "Rain does.", "answered": True, "cited": [1, 2, 9]})
    with FakeOpenAI(reply=lambda _body: reply) as fake:
        done = answer(index, endpoint_backend(fake, tmp_path))
    assert done.answers["cited"].to_pylist() == [[0], [0], [0]]
    assert done.dropped_citations == 6


def test_a_question_that_cannot_be_answered_is_said_to_be_so(index, tmp_path):
    reply = json.dumps({"answer": "The price is not given.", "answered": False, "cited": []})
    with FakeOpenAI(reply=lambda _body: reply) as fake:
        rows = answer(index, endpoint_backend(fake, tmp_path)).answers.to_pylist()
    assert {(row["answer"], row["answered"]) for row in rows} == {("The price is not given.", False)}


def test_after_a_stop_in_the_middle_no_finished_question_is_asked_again(index, tmp_path):
    questions = [Question(f"q{number}", f"What does rain do in case {number}?") for number in range(12)]
    with FakeOpenAI() as fake:
        settings = EndpointSettings(
            model="fake-model",
            base_url=fake.base_url,
            rate=RateSettings(concurrency=1),
            budget=BudgetSettings(max_calls=7),
        )
        stopped = build_llm_backend(settings, open_cache(f"sqlite:///{tmp_path}/replies.sqlite"))
        with pytest.raises(BudgetError):
            answer(index, stopped, questions)
        assert fake.chat_calls == 7
        done = answer(index, endpoint_backend(fake, tmp_path), questions)
        assert fake.chat_calls == 12
        assert (done.usage.calls, done.usage.cached) == (5, 7)
        assert done.answers["id"].to_pylist() == [question.id for question in questions]


def test_order_and_concurrency_change_no_answer(index, tmp_path):
    questions = [Question(f"q{number}", f"What does rain do in case {number}?") for number in range(12)]
    found = []
    with FakeOpenAI(latency=0.02) as fake:
        for place, (workers, asked) in enumerate(((1, questions), (16, questions[::-1]))):
            folder = tmp_path / str(place)
            folder.mkdir()
            done = answer(index, endpoint_backend(fake, folder, workers), asked)
            found.append({row["id"]: row for row in done.answers.to_pylist()})
        assert fake.in_flight_most > 1
    assert found[0] == found[1] and len(found[0]) == 12
