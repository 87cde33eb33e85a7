import random
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st
from spec_builders import dimension, entity

from hcg_pipeline.specification.dimensions import build_dimensions, cut_dimensions, resolve_dimensions
from hcg_pipeline.specification.merges import merges_of
from hcg_pipeline.specification.names import key_of
from hcg_pipeline.specification.tiers import ORDER, TIERS
from hcg_pipeline.specification.vocabulary_tables import to_vocabulary
from hcg_pipeline.tables import DIMENSIONS


def _merges(table):
    return {tuple(row.values()) for row in merges_of(to_vocabulary(table)).to_pylist()}


def _entities(table, name):
    return {
        e["name"]: (e["aliases"], e["mentions"])
        for row in table.to_pylist()
        if row["dimension"] == name
        for e in row["entities"]
    }


def test_names_that_agree_become_one_dimension_and_support_adds_up():
    resolved = resolve_dimensions(
        [
            dimension("Diseases", entity("asthma"), support=2, description="Ailments."),
            dimension("disease_type", entity("gout"), description="Kinds."),
            dimension("Risk factor", entity("smoking"), support=5),
        ]
    )
    assert resolved.table.schema.equals(DIMENSIONS)
    assert [(r["dimension"], r["support"], r["description"]) for r in resolved.table.to_pylist()] == [
        ("risk_factor", 5, ""),
        ("disease", 3, "Ailments."),
    ]
    assert _merges(resolved.table) == {
        ("dimension", "disease", "disease_type", "differs in case, plural, hyphen or regional spelling")
    }


def test_axes_with_mostly_the_same_entities_become_one():
    shared = [entity("aspirin"), entity("ibuprofen"), entity("naproxen")]
    table = build_dimensions(
        [dimension("drug", *shared, entity("heparin"), support=3), dimension("medication", *shared, entity("insulin"))],
        "S",
    )
    assert table.column("dimension").to_pylist() == ["drug"]
    assert set(_entities(table, "drug")) == {"aspirin", "ibuprofen", "naproxen", "heparin", "insulin"}
    assert _merges(table) == {("dimension", "drug", "medication", "has mostly the same entities")}


def test_spellings_abbreviations_and_typing_errors_become_aliases_and_are_recorded():
    resolved = resolve_dimensions(
        [
            dimension(
                "disease",
                entity("non-small cell lung cancer (NSCLC)", mentions=3),
                entity("NSCLC", mentions=9),
                entity("Non small cell lung cancers", mentions=1),
                entity("glioblastoma", mentions=4),
                entity("glioblastomma", mentions=1),
            )
        ]
    )
    assert _entities(resolved.table, "disease") == {
        "non-small cell lung cancer": (["NSCLC", "Non small cell lung cancers"], 13),
        "glioblastoma": (["glioblastomma"], 5),
    }
    lung, brain = "non-small cell lung cancer", "glioblastoma"
    assert _merges(resolved.table) == {
        ("entity:disease", lung, "NSCLC", "abbreviation"),
        ("entity:disease", lung, "Non small cell lung cancers", "differs in case, plural, hyphen or regional spelling"),
        ("entity:disease", brain, "glioblastomma", "spelled almost alike"),
    }


def test_a_name_that_restates_another_is_the_other():
    resolved = resolve_dimensions(
        [
            dimension(
                "test",
                entity("magnetic resonance imaging (MRI)", mentions=9),
                *(entity(name) for name in ("MRI scan", "MRI magnetic resonance imaging", "brain MRI")),
                *(entity(name) for name in ("brain magnetic resonance imaging", "MRI report", "scan", "PSA test")),
            ),
            dimension("gene", entity("BRCA1", mentions=2), entity("BRCA1 gene"), entity("BRCA1 protein")),
        ]
    )
    scan = "magnetic resonance imaging"
    assert _entities(resolved.table, "test") == {
        scan: (["MRI", "MRI magnetic resonance imaging", "MRI scan"], 11),
        "brain magnetic resonance imaging": (["brain MRI"], 2),
        **{name: ([], 1) for name in ("MRI report", "scan", "PSA test")},
    }
    assert _entities(resolved.table, "gene") == {"BRCA1": (["BRCA1 gene"], 3), "BRCA1 protein": ([], 1)}
    restated = "says the same with an abbreviation written out, or with a word for its kind"
    assert _merges(resolved.table) == {
        ("entity:test", scan, "MRI", "abbreviation"),
        ("entity:test", scan, "MRI scan", restated),
        ("entity:test", scan, "MRI magnetic resonance imaging", restated),
        ("entity:test", "brain magnetic resonance imaging", "brain MRI", restated),
        ("entity:gene", "BRCA1", "BRCA1 gene", restated),
    }


def test_different_things_with_one_abbreviation_stay_apart():
    table = build_dimensions(
        [
            dimension(
                "disease",
                entity("multiple sclerosis (MS)"),
                entity("mitral stenosis (MS)"),
                entity("MS", mentions=5),
            )
        ],
        "S",
    )
    assert _entities(table, "disease") == {
        "MS": ([], 5),
        "mitral stenosis": ([], 1),
        "multiple sclerosis": ([], 1),
    }


def test_a_broader_term_given_as_alias_does_not_swallow_the_narrower():
    table = build_dimensions([dimension("disease", entity("Hodgkin lymphoma", "lymphoma"), entity("lymphoma"))], "S")
    assert _entities(table, "disease") == {"Hodgkin lymphoma": ([], 1), "lymphoma": ([], 1)}


def test_an_entity_stands_on_the_dimension_that_mentions_it_most():
    resolved = resolve_dimensions(
        [
            dimension("treatment", entity("surgery", mentions=1), entity("insulin"), support=9),
            dimension("procedure", entity("Surgeries", mentions=6), entity("biopsy")),
        ]
    )
    assert _entities(resolved.table, "treatment") == {"insulin": ([], 1)}
    assert _entities(resolved.table, "procedure") == {"Surgeries": (["surgery"], 6), "biopsy": ([], 1)}
    reason = "differs in case, plural, hyphen or regional spelling"
    assert _merges(resolved.table) == {("entity:procedure", "Surgeries", "surgery", reason)}


def test_hostile_names_are_refused_and_counted():
    resolved = resolve_dimensions(
        [
            dimension("../../etc", entity("passwd")),
            dimension("<img src=x>", entity("x")),
            dimension("disease", entity("asthma"), entity("<script>x</script>"), entity("a\x00b"), entity("x" * 200)),
            dimension("empty axis"),
        ]
    )
    assert resolved.table.column("dimension").to_pylist() == ["disease"]
    assert list(_entities(resolved.table, "disease")) == ["asthma"]
    assert resolved.counts == {"dimension_refused": 2, "dimension_empty": 1, "entity_refused": 3}


def test_a_tier_keeps_the_most_mentioned_entities():
    names = [f"thing {chr(97 + n // 26)}{chr(97 + n % 26)}" for n in range(150)]
    proposals = [dimension("axis", *(entity(name, mentions=500 - n) for n, name in enumerate(names)))]
    kept = {tier: list(_entities(build_dimensions(proposals, tier), "axis")) for tier in ORDER}
    assert kept == {"XS": names[:40], "S": names[:100], "M": names[:120], "L": names}


def test_no_proposals_make_an_empty_table():
    assert build_dimensions([], "L").num_rows == 0


_words = st.sampled_from(
    [
        "lung",
        "cancer",
        "cancers",
        "asthma",
        "MS",
        "NSCLC",
        "surgery",
        "surgeries",
        "chemo",
        "drug",
        "Drug",
        "dose",
        "doses",
        "tumour",
        "tumor",
        "stage",
    ]
)
_names = st.lists(_words, min_size=1, max_size=3).map(" ".join)
_proposals = st.lists(
    st.builds(
        lambda name, entities, support: dimension(name, *entities, support=support),
        _names,
        st.lists(
            st.builds(
                lambda n, a, m: entity(n, *a, mentions=m), _names, st.lists(_names, max_size=1), st.integers(1, 9)
            ),
            max_size=5,
        ),
        st.integers(1, 5),
    ),
    max_size=25,
)


@given(_proposals, st.randoms(use_true_random=False))
def test_order_of_proposals_does_not_matter_and_tiers_nest(proposals, chance: random.Random):
    shuffled = list(proposals)
    chance.shuffle(shuffled)
    tables = {tier: build_dimensions(proposals, tier) for tier in ORDER}
    assert build_dimensions(shuffled, "L").equals(tables["L"])
    for smaller, larger in pairwise(ORDER):
        assert tables[smaller].num_rows <= TIERS[smaller].dimensions
        assert tables[smaller].equals(tables[larger].slice(0, tables[smaller].num_rows))
        assert tables[smaller].equals(cut_dimensions(tables["L"], smaller))


@given(_proposals)
def test_every_spelling_names_one_entity_on_one_dimension(proposals):
    owners: dict[str, tuple[str, str]] = {}
    for row in build_dimensions(proposals, "L").to_pylist():
        assert row["entities"]
        for e in row["entities"]:
            for spelling in (e["name"], *e["aliases"]):
                here = (row["dimension"], e["name"])
                assert owners.setdefault(key_of(spelling), here) == here
