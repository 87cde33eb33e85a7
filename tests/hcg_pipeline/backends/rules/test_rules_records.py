"""Lines of a table: values are read one by one, and quoted without the rest of the line."""

from hcg_pipeline.backends.rules.parsing import Parser
from hcg_pipeline.backends.rules.reading import relations_in
from hcg_pipeline.backends.rules.records import Stated, reading_spans, stated_by_columns
from hcg_pipeline.backends.rules.resolve import Resolver
from hcg_pipeline.corpus.window import Passage
from hcg_pipeline.specification.vocabulary import Dimension, Entity, Metric, Vocabulary

ROW = "station: Eastfield; damage_found: pitted impeller; root_cause: clogged strainer; note: Debris clogs the filter."


def relations(text: str) -> list[tuple[str, str, str, str]]:
    components = Dimension("component", "", tuple(Entity(name) for name in ("impeller", "strainer", "filter")))
    materials = Dimension("material", "", (Entity("debris"),))
    metrics = (
        Metric("ComponentCondition", ("component",), "", ""),
        Metric("MaterialPresence", ("material",), "", ""),
    )
    resolver = Resolver(Vocabulary((components, materials), metrics))
    found = relations_in(Passage("c", "d", 0, len(text), text), resolver, Parser())
    return [(one.source.entities[0], one.target.entities[0], one.sign, one.quote) for one in found]


def test_each_value_is_read_on_its_own() -> None:
    assert [ROW[start:end] for start, end in reading_spans(ROW)] == [
        "Eastfield",
        "pitted impeller",
        "clogged strainer",
        "Debris clogs the filter.",
    ]


def test_prose_with_a_colon_is_no_record() -> None:
    text = "Two things matter: speed and load. Risk: a fall; a burn."
    assert [text[start:end] for start, end in reading_spans(text)] == [
        "Two things matter: speed and load.",
        "Risk: a fall; a burn.",
    ]


def test_headings_that_ran_into_their_sentences_are_left_out() -> None:
    text = "Background and Objectives: Noise is bad (p=0.1).Results: It was high in 2025.Conclusions : The move helped."
    assert [text[start:end] for start, end in reading_spans(text)] == [
        "Noise is bad (p=0.1).",
        "It was high in 2025.",
        "The move helped.",
    ]


def test_a_piece_of_a_record_is_cut_at_its_column_names() -> None:
    text = "title: Floods in Nepal\npublication_year: 2025"
    assert [text[start:end].strip() for start, end in reading_spans(text)] == ["title: Floods in Nepal", "2025"]


def test_a_colon_alone_makes_no_heading() -> None:
    for text in ("The mix is 3:4 by weight.", "Side effects of it include: Nausea.", "It has one cause: Noise."):
        assert [text[start:end] for start, end in reading_spans(text)] == [text]


def test_a_value_keeps_its_own_semicolons_and_may_be_empty() -> None:
    text = "drug: x; risk: rash; fever; dose: ; note: It helps."
    assert [text[start:end] for start, end in reading_spans(text)] == ["x", "rash; fever", "It helps."]


def test_columns_named_as_cause_and_effect_state_a_relation() -> None:
    first, second = ROW.index("clogged"), ROW.index("pitted")
    assert stated_by_columns(ROW) == [Stated((first, first + 16), (second, second + 15))]
    assert stated_by_columns("a cause: x") == []


def test_the_quote_of_a_record_is_the_part_that_states_the_relation() -> None:
    quotes = relations(ROW)
    assert ("debris", "filter", "-", "Debris clogs the filter.") in quotes
    assert ("strainer", "impeller", "+", "pitted impeller; root_cause: clogged strainer") in quotes
    assert len(quotes) == 2
    assert all(quote in ROW for *_, quote in quotes)
