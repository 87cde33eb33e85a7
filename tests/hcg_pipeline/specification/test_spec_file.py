import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from spec_builders import MEDICAL

from hcg_pipeline.errors import SettingsError
from hcg_pipeline.specification.names import key_of
from hcg_pipeline.specification.spec_file import HEADER, parse_spec, read_spec, render_spec
from hcg_pipeline.specification.specification import (
    Comment,
    Specification,
    SpecRelation,
    SpecVariable,
    pinned_vocabulary,
    specification_of,
)
from hcg_pipeline.specification.vocabulary import Dimension, Entity, Metric, VariableRef, Vocabulary
from hcg_pipeline.specification.vocabulary_tables import dimensions_table, metrics_table

EFFICACY = VariableRef("TreatmentEfficacy", ("chemotherapy", "lung cancer"))
BURDEN = VariableRef("TumorBurden", ("lung cancer",))
SPEC = Specification(
    MEDICAL.dimensions,
    MEDICAL.metrics,
    (SpecVariable(EFFICACY, 3), SpecVariable(BURDEN)),
    (
        SpecRelation(EFFICACY, BURDEN, "Cells: die.", "-", 0.75, 2),
        SpecRelation(BURDEN, EFFICACY, "So.", "?", 0.5, 0, "x"),
    ),
)

TEXT = """\
# Checked by a person.
dimensions:
- name: disease
  # the commonest
  entities:
  - lung cancer
  - name: asthma
    aliases: [bronchial asthma]
metrics:
# keep this one
- name: TumorBurden( disease )
  description: >-
    How much tumor
    there is.
  attributes: {category: course, graph_role: outcome}
- name: Severity(disease)
variables:
- TumorBurden(lung cancer)
- {name: TumorBurden(gout), mentions: 2}
relations:
- {source: TumorBurden(lung cancer), target: Severity(lung cancer), sign: +, mechanism: more of it}
- {source: Severity(lung cancer), target: Severity(lung cancer), support: 1}
"""


def test_rendered_form_is_that_of_figure_5():
    lines = render_spec(SPEC).split("\n")
    start = lines.index("metrics:")
    assert lines[start : start + 6] == [
        "metrics:",
        "- name: TreatmentEfficacy(treatment, disease)",
        "  description: How well it works. Driven by dose.",
        "  attributes:",
        "    category: care",
        "    graph_role: driver",
    ]
    assert lines[: len(HEADER)] == list(HEADER)
    start = lines.index("variables:")
    assert lines[start + 1 : start + 4] == [
        '- name: "TreatmentEfficacy(chemotherapy, lung cancer)"',
        "  mentions: 3",
        "- TumorBurden(lung cancer)",
    ]


def test_parsing_gives_the_specification_back():
    assert parse_spec(render_spec(SPEC), "graph_spec.yaml") == SPEC


def test_hand_written_file_is_read_with_its_shortcuts():
    spec = parse_spec(TEXT, "g.yaml")
    assert spec.dimensions == (
        Dimension("disease", "", (Entity("lung cancer"), Entity("asthma", ("bronchial asthma",)))),
    )
    assert spec.metrics == (
        Metric("TumorBurden", ("disease",), "How much tumor there is.", "course", "outcome"),
        Metric("Severity", ("disease",), "", "other", "driver"),
    )
    assert pinned_vocabulary(spec) == Vocabulary(spec.dimensions, spec.metrics)
    assert spec.variables == spec.own_variables == (SpecVariable(BURDEN),)
    assert spec.variables[0].place == "g.yaml:18"
    severe = VariableRef("Severity", ("lung cancer",))
    assert spec.relations == spec.own_relations == (SpecRelation(BURDEN, severe, "more of it", "+", 0.99),)
    assert spec.relations[0].place == "g.yaml:21"
    assert spec.ignored == (
        "g.yaml:19: 'TumorBurden(gout)': 'gout' is no entity of disease: left out",
        "g.yaml:22: 'Severity(lung cancer)' cannot cause itself: left out",
    )


def test_comments_are_kept_above_their_items():
    spec = parse_spec(TEXT, "g.yaml")
    assert spec.comments == (
        Comment("", "", ("# Checked by a person.",)),
        Comment("dimensions", "disease", ("# the commonest",)),
        Comment("metrics", "TumorBurden", ("# keep this one",)),
    )
    text = render_spec(spec)
    assert "# keep this one\n- name: TumorBurden(disease)\n" in text
    assert "# Checked by a person.\n" in text
    again = parse_spec(text, "g.yaml")
    assert again.comments == spec.comments
    assert render_spec(again) == text


def test_comments_beside_and_within_items_are_kept_and_texts_are_no_comments():
    text = """\
dimensions:
- name: disease  # of people
  entities:
  - gout # in the toe
  - "#4 bone's # end"
metrics:
- name: Risk(disease)
  # how it was agreed
  description: >-
    Number
    # 1 of the list.
  attributes: {category: 'it''s # one'}  # for now
variables:

# the last word
"""
    spec = parse_spec(text, "g.yaml")
    assert spec.metrics[0].description == "Number # 1 of the list."
    assert spec.comments == (
        Comment("dimensions", "disease", ("# of people",)),
        Comment("dimensions/disease", "gout", ("# in the toe",)),
        Comment("metrics", "Risk", ("# how it was agreed", "# for now")),
        Comment("variables", "", ("# the last word",)),
    )
    again = parse_spec(render_spec(spec), "g.yaml")
    assert again == spec


@pytest.mark.parametrize(
    ("old", "new", "line", "what"),
    [
        ("- name: disease", "- name: Disease", 3, "dimension 'Disease' must be written in snake_case"),
        ("TumorBurden( disease )", "TumorBurden(illness)", 11, "binds 'illness', which is no dimension"),
        ("TumorBurden( disease )", "TumorBurden", 11, "must be written as Name\\(dimension"),
        ("TumorBurden( disease )", "TumorBurden()", 11, "must be written as Name\\(dimension"),
        ("TumorBurden( disease )", "TumorBurden(disease, disease)", 11, "binds a dimension twice"),
        ("Severity(disease)", "TumorBurden(disease)", 16, "metric 'TumorBurden' is already on line 11"),
        ("graph_role: outcome", "graph_role: sink", 15, "Input should be 'terminal', 'outcome' or 'driver'"),
        ("name: asthma", "name: Lung cancers", 7, "already names disease/lung cancer on line 6"),
        ("[bronchial asthma]", "[LUNG CANCER]", 7, "already names disease/lung cancer on line 6"),
        ("name: asthma", "name: asthma, severe", 7, "no comma"),
        ("    aliases:", "    alias:", 8, "Extra inputs are not permitted"),
        ("metrics:", "metric:", 9, "Field required|Extra inputs"),
        ("  - lung cancer", "  - lung: [cancer", 7, "not YAML"),
        ("- TumorBurden(lung cancer)", "- TumorBurden(flu)", 18, "'flu' is no entity of disease"),
        ("- TumorBurden(lung cancer)", "- Burden(lung cancer)", 18, "has a metric that is not in this file"),
        (", mechanism: more of it", "", 21, "needs a `mechanism`"),
        ("target: Severity(lung cancer), sign", "target: Severity(flu), sign", 21, "'flu' is no entity of disease"),
        (
            "  attributes: {category: course, graph_role: outcome}",
            "  attributes: {graph_role: terminal}",
            21,
            "is terminal and causes nothing",
        ),
        (
            "{source: Severity(lung cancer), target: Severity(lung cancer), support: 1}",
            "{source: TumorBurden(lung cancer), target: Severity(lung cancer), support: 1}",
            22,
            "is already on line 21: keep one of them",
        ),
    ],
)
def test_mistakes_are_told_with_file_and_line(old, new, line, what):
    with pytest.raises(SettingsError, match=what) as caught:
        parse_spec(TEXT.replace(old, new, 1), "here/graph_spec.yaml")
    place, number, _ = str(caught.value).split(":", 2)
    assert (place, int(number)) == ("here/graph_spec.yaml", line)
    assert "\n" not in str(caught.value)


def test_file_is_read_from_the_corpus_or_absent(tmp_path):
    assert read_spec(tmp_path) is None
    (tmp_path / "graph_spec.yaml").write_text(render_spec(SPEC), encoding="utf-8")
    assert read_spec(tmp_path) == SPEC


def test_specification_of_tables():
    variables = pa.table({"variable": [EFFICACY.name, BURDEN.name], "mentions": [3, 0]})
    stated = {"source": EFFICACY.name, "target": BURDEN.name, "mechanism": "Cells: die.", "sign": "-"}
    own = {"source": BURDEN.name, "target": EFFICACY.name, "mechanism": "So.", "sign": "?"}
    edges = pa.Table.from_pylist(
        [
            {**stated, "confidence": 0.75, "origin": "seed", "support": 2, "quotes": [{"quote": "y"}]},
            {**own, "confidence": 0.5, "origin": "expert", "support": 1, "quotes": [{"quote": "x"}]},
        ]
    )
    tables = dimensions_table(MEDICAL.dimensions), metrics_table(MEDICAL.metrics)
    assert specification_of(*tables, variables, edges) == SPEC


_texts = st.text(max_size=160) | st.sampled_from(
    [
        "yes",
        "null",
        "1.5",
        "# no",
        "a: b",
        "- x",
        "",
        " lead",
        "trail ",
        "a\n\nb",
        "'q' \"q\"",
        "word " * 40 + "end",
        "\u2028\x85\ufeff\U0001f600",
    ]
)
_names = st.text(min_size=1, max_size=20).filter(
    lambda n: n == n.strip() and n.isprintable() and "," not in n and bool(key_of(n)) and "(" not in n and ")" not in n
)
_identifiers = st.from_regex(r"[a-z][a-z0-9_]{0,8}", fullmatch=True)
_roles = st.sampled_from(["outcome", "driver"])


@st.composite
def _specifications(draw):
    names = draw(st.lists(_identifiers, min_size=1, max_size=3, unique=True))
    taken: set[str] = set()
    dimensions = []
    for name in names:
        entities = []
        for spelling in draw(st.lists(_names, min_size=1, max_size=3)):
            if key_of(spelling) not in taken:
                taken.add(key_of(spelling))
                aliases = []
                for alias in draw(st.lists(_names, max_size=2)):
                    if key_of(alias) not in taken:
                        taken.add(key_of(alias))
                        aliases.append(alias)
                entities.append(Entity(spelling, tuple(aliases), draw(st.integers(0, 5))))
        dimensions.append(Dimension(name, draw(_texts), tuple(entities), draw(st.integers(0, 9))))
    metrics = [
        Metric(
            name,
            tuple(draw(st.lists(st.sampled_from(names), min_size=1, max_size=2, unique=True))),
            draw(_texts),
            draw(_identifiers),
            draw(_roles),
            draw(st.integers(0, 9)),
        )
        for name in draw(
            st.lists(st.from_regex(r"[A-Z][A-Za-z0-9]{0,8}", fullmatch=True), min_size=1, max_size=4, unique=True)
        )
    ]
    by_name = {d.name: [e.name for e in d.entities] for d in dimensions}
    possible = sorted(
        {
            VariableRef(m.name, tuple(draw(st.sampled_from(by_name[d])) for d in m.signature))
            for m in metrics
            if all(by_name[d] for d in m.signature)
        }
    )
    relations = [
        SpecRelation(
            one,
            other,
            "so: " + draw(_texts),
            draw(st.sampled_from("+-?")),
            draw(st.floats(0, 1)),
            draw(st.integers(0, 2)),
            draw(_texts),
        )
        for one in possible
        for other in possible
        if one != other
    ]
    variables = [SpecVariable(ref, draw(st.integers(0, 3))) for ref in possible]
    return Specification(tuple(dimensions), tuple(metrics), tuple(variables), tuple(relations[:4]))


@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.filter_too_much])
@given(_specifications())
def test_round_trip_of_any_specification(spec):
    text = render_spec(spec)
    assert parse_spec(text, "graph_spec.yaml") == spec
    assert render_spec(parse_spec(text, "graph_spec.yaml")) == text
