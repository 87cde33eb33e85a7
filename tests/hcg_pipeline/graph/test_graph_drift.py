from graph_builders import VOCABULARY, chunks_table, relation, relations_table, variables_table

from hcg_pipeline.graph.drift import Fit, measure_drift

CHUNKS = chunks_table(
    {
        "old": ["Rain causes floods. It was a Tuesday.", "Grants increase output."],
        "new": ["Lithium reduces weight. Lithium is light.", "Lithium batteries and anodes.", "Anodes cause heat."],
    }
)
ORDER = {chunk_id: place for place, chunk_id in enumerate(CHUNKS["chunk_id"].to_pylist())}
VARIABLES = variables_table({"Output(farming)": ["old.0", "old.1"], "Price(farming)": ["new.2"]}, ORDER)
RELATIONS = relations_table(
    relation("Output(farming)", "Price(farming)", "Rain causes floods", document_id="old", start=0),
    relation("Price(farming)", "Output(farming)", "increase output", document_id="old", chunk_id="old.1", start=45),
)


def test_the_newest_text_is_compared_with_the_text_that_the_vocabulary_was_made_from():
    drift = measure_drift(CHUNKS, VARIABLES, RELATIONS, VOCABULARY, {"old"})
    assert drift.older == Fit(documents=1, passages=2, spoken_of=2, statements=2, read=2)
    assert drift.newest == Fit(documents=1, passages=3, spoken_of=1, statements=2, read=0)
    assert drift.all == Fit(documents=2, passages=5, spoken_of=3, statements=4, read=2)
    assert (drift.newest.unspoken, drift.newest.unread, drift.older.unread) == (0.6667, 1.0, 0.0)
    assert drift.excess == 1.0
    assert drift.words == (("anode", 2), ("lithium", 2))


def test_words_of_the_vocabulary_are_known():
    chunks = chunks_table({"old": ["Nothing."], "new": ["Mining and subsidies.", "Mining and subsidies."]})
    drift = measure_drift(chunks, VARIABLES.slice(0, 0), RELATIONS.slice(0, 0), VOCABULARY, {"old"})
    assert drift.words == ()


def test_without_newer_text_or_without_knowing_there_is_no_drift():
    for known in (None, {"old", "new"}, set()):
        drift = measure_drift(CHUNKS, VARIABLES, RELATIONS, VOCABULARY, known)
        assert (drift.older, drift.newest, drift.words, drift.excess) == (None, None, (), 0.0)
        assert drift.all.passages == 5


def test_text_without_causal_words_claims_nothing():
    chunks = chunks_table({"alt": ["Regen bringt Segen."], "neu": ["Die Sonne scheint."]})
    drift = measure_drift(chunks, VARIABLES.slice(0, 0), RELATIONS.slice(0, 0), VOCABULARY, {"alt"})
    assert (drift.newest.statements, drift.newest.unread) == (0, 0.0)
