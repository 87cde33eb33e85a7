"""Each mode on the small corpus: what it finds, what it says about it, and what never depends on the batch."""

import pytest
from conftest import DOCUMENTS_TEXT

from hcg_pipeline.errors import SettingsError
from hcg_pipeline.retrieval.modes import MODES
from hcg_pipeline.retrieval.retrieve import retrieve
from hcg_pipeline.retrieval.settings import RetrievalSettings

RAIN = "What does heavy rain on sandy soil do to the leaves of a plant?"
BREAD = "Why does yeast growth in the dough change the taste of bread?"
TEXTS = {f"d{number}": text for number, text in enumerate(DOCUMENTS_TEXT.values())}
PATHS = {f"d{number}": path for number, path in enumerate(DOCUMENTS_TEXT)}


def one(index, question, mode, **settings):
    (found,) = retrieve(index, [question], mode, RetrievalSettings(**settings))
    return found


def test_the_graph_follows_the_chain_from_cause_to_outcome(index):
    found = one(index, RAIN, "graph", tau_min=0.4)
    assert found.mode == "graph"
    assert "RainAmount(sandy soil)" in dict(found.matched)
    assert {cone.metric for cone in found.cones} == {"LeafColour", "PlantGrowth"}
    assert any("Heavy rain washes nitrogen" in passage.text for passage in found.passages)
    assert any(passage.why.startswith("states ") for passage in found.passages)
    assert list(found.seconds) == ["embed", "match", "search", "traverse", "cones", "evidence"]


def test_similarities_fall_and_are_at_least_the_lowest_threshold(index):
    found = one(index, RAIN, "graph", tau_min=0.3)
    values = [similarity for _, similarity in found.matched]
    assert values == sorted(values, reverse=True)
    assert min(values) >= 0.3 * 0.8


@pytest.mark.parametrize("mode", ["graph", "hybrid", "naive", "in_context"])
def test_evidence_opens_at_its_characters(index, mode):
    for question in (RAIN, BREAD):
        for passage in one(index, question, mode).passages:
            assert TEXTS[passage.document_id][passage.start : passage.end] == passage.text
            assert PATHS[passage.document_id] == passage.path
            assert passage.why


def test_without_a_match_similarity_alone_answers_and_says_so(index):
    found = one(index, BREAD, "graph", tau_min=1.0)
    assert found.mode == "fallback"
    assert (found.matched, found.cones) == ((), ())
    assert one(index, BREAD, "graph", tau_min=1.0, words=1).passages[0].document_id == "d2"


def test_hybrid_ranks_the_chunk_that_speaks_of_it_first(index):
    assert one(index, RAIN, "hybrid").passages[0].document_id == "d0"
    assert one(index, BREAD, "hybrid").passages[0].document_id == "d2"


def test_the_word_budget_is_kept_and_never_empties_the_evidence(index):
    for words in (1, 40, 80, 3000):
        for mode in ("graph", "hybrid"):
            passages = one(index, RAIN, mode, words=words).passages
            total = sum(len(passage.text.split()) for passage in passages)
            assert total <= words or len(passages) == 1


@pytest.mark.parametrize("mode", ["naive", "in_context"])
def test_a_budget_that_was_set_cuts_the_modes_with_a_size_of_their_own(index, mode):
    whole = " ".join(one(index, BREAD, mode).contexts).split()
    for words in (1, 30, 45, 10_000):
        found = one(index, BREAD, mode, words=words).passages
        assert " ".join(passage.text for passage in found).split() == whole[:words]
        for passage in found:
            assert TEXTS[passage.document_id][passage.start : passage.end] == passage.text


def test_what_came_closest_is_said_where_nothing_matched(index):
    found = one(index, BREAD, "graph", tau_min=1.0)
    assert found.tau_min == 1.0
    assert found.nearest == max(one(index, BREAD, "graph", tau_min=-1.0, metrics=9).matched, key=lambda pair: pair[1])
    assert one(index, RAIN, "graph").tau_min == index.manifest.tau_min


def test_naive_cuts_windows_over_each_document(index):
    # Documents are shorter than a window, so each is one window.
    found = one(index, BREAD, "naive")
    assert found.passages[0].document_id == "d2"
    assert sorted(passage.text for passage in found.passages) == sorted(TEXTS.values())


def test_in_context_is_the_whole_corpus_by_path(index):
    assert list(one(index, RAIN, "in_context").contexts) == [DOCUMENTS_TEXT[path] for path in sorted(DOCUMENTS_TEXT)]


def test_nodes_only_shows_names_and_edges_and_no_passage(index):
    found = one(index, RAIN, "nodes_only", tau_min=0.4)
    assert found.contexts[0] == "; ".join(name for name, _ in found.matched)
    assert any("→" in text for text in found.contexts[1:])
    assert all((p.document_id, p.start, p.end) == ("", 0, 0) for p in found.passages)
    edge = "YeastGrowth(dough) → BreadTaste(bread): Slow rising gives the bread a stronger taste."
    assert list(one(index, BREAD, "nodes_only", tau_min=0.5).contexts[1:]) == [edge]
    assert one(index, RAIN, "nodes_only", tau_min=1.0).passages == ()


@pytest.mark.parametrize("mode", sorted(MODES))
def test_a_retrieval_does_not_depend_on_its_batch(index, mode):
    settings = RetrievalSettings()
    both = retrieve(index, [RAIN, BREAD, RAIN], mode, settings)
    assert both == [*retrieve(index, [RAIN, BREAD], mode, settings), *retrieve(index, [RAIN], mode, settings)]


def test_no_questions_give_nothing(index):
    assert retrieve(index, [], "graph", RetrievalSettings()) == []


def test_a_question_of_unknown_words_still_gets_an_answer_or_nothing(index):
    found = one(index, "xqzt ?!", "graph", tau_min=0.99)
    assert found.mode == "fallback"


def test_an_unknown_mode_names_the_known_ones(index):
    with pytest.raises(SettingsError, match="graph, nodes_only, naive, in_context, hybrid"):
        retrieve(index, [RAIN], "magic", RetrievalSettings())
