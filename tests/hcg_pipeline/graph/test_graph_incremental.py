"""Whatever is added, edited, renamed or deleted: the graph is that of a build from nothing with the same pin."""

import functools
import shutil
from pathlib import Path

import pytest
from engine_build import build, propose
from fake_openai import FakeOpenAI
from hypothesis import given, settings
from hypothesis import strategies as st

from hcg_pipeline.backends.llm.assembling import build_llm_backend
from hcg_pipeline.backends.llm.cache import open_cache
from hcg_pipeline.backends.llm.settings import EndpointSettings
from hcg_pipeline.backends.rules.backend import RulesBackend
from hcg_pipeline.embedding.cache import CachedEmbedder, sqlite_engine
from hcg_pipeline.embedding.wordllama import WordLlamaEmbedder

TEXTS = (
    "Influenza causes fever. Influenza causes pneumonia in old people. Measles causes pneumonia as well.",
    "Aspirin reduces fever. Aspirin causes gastric bleeding. Penicillin cures pneumonia.",
    "Vaccination prevents influenza. Vaccination prevents measles. Vaccination does not cause autism.",
    "Smoking increases the risk of pneumonia. Influenza causes fever. Malaria causes fever and anaemia.",
    "Aspirin reduces fever. Pneumonia causes respiratory failure. Smoking increases the risk of tuberculosis.",
    "Tuberculosis causes fibrosis of the lung. Corticosteroids reduce fibrosis. Malaria causes anaemia.",
    "The weather was fine and nothing happened.",
    "Influenza, also called grippe, is a disease. Grippe causes anaemia. Varicella (VZ) is a disease. VZ causes fever.",
)
CORRECTIONS = """\
corrections:
- {action: rename_entity, dimension: disease, entity: influenza, to: flu, note: shorter, date: 2026-03-01}
"""
OTHER_CORRECTIONS = (
    "corrections: []\n",
    CORRECTIONS
    + "- {action: set_role, metric: DiseaseOccurrence, role: terminal, note: an end, date: 2026-03-02}\n"
    + "- {action: drop_entity, dimension: disease, entity: measles, note: not ours, date: 2026-03-02}\n",
    CORRECTIONS
    + "- {action: add_edge, source: DiseaseOccurrence(flu), target: DiseaseOccurrence(anaemia), mechanism: wasting, "
    + "quote: Malaria causes anaemia., note: seen, date: 2026-03-02}\n",
)
RULES = RulesBackend()
NAMES = ("a.txt", "b.md", "sub/c.txt", "d.txt")
_steps = st.lists(
    st.one_of(
        st.tuples(st.just("write"), st.sampled_from(NAMES), st.lists(st.sampled_from(TEXTS), min_size=1, max_size=3)),
        st.tuples(st.just("rename"), st.sampled_from(NAMES), st.sampled_from(NAMES)),
        st.tuples(st.just("delete"), st.sampled_from(NAMES), st.none()),
        st.tuples(st.just("correct"), st.just("corrections.yaml"), st.sampled_from((CORRECTIONS, *OTHER_CORRECTIONS))),
    ),
    min_size=1,
    max_size=4,
)


def write(folder: Path, name: str, texts: list[str]) -> None:
    file = folder / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("\n\n".join(texts) + "\n", encoding="utf-8")


def change(folder: Path, step) -> None:
    kind, name, what = step
    file = folder / name
    if kind == "write":
        write(folder, name, what)
    elif kind == "correct":
        file.write_text(what)
    elif kind == "delete" and len(documents(folder)) > 1:
        file.unlink(missing_ok=True)
    elif kind == "rename" and file.exists() and not (folder / what).exists():
        (folder / what).parent.mkdir(exist_ok=True)
        file.rename(folder / what)


def documents(folder: Path) -> list[Path]:
    return [path for path in sorted(folder.rglob("*")) if path.is_file() and path.name != "corrections.yaml"]


def start(folder: Path) -> Path:
    folder.mkdir()
    for name, text in zip(NAMES, TEXTS, strict=False):
        write(folder, name, [text])
    write(folder, NAMES[0], [TEXTS[0], TEXTS[4]])
    (folder / "corrections.yaml").write_text(CORRECTIONS)
    return folder


def embedder(folder: Path) -> CachedEmbedder:
    """The embedder of a store of its own: what it has seen before comes from its cache."""
    return CachedEmbedder(_wordllama(), sqlite_engine(str(folder / "vectors.sqlite")))


@functools.cache
def _wordllama() -> WordLlamaEmbedder:
    return WordLlamaEmbedder()


@pytest.fixture(scope="module")
def pin(tmp_path_factory):
    folder = start(tmp_path_factory.mktemp("pin") / "corpus")
    vocabulary, _ = propose(folder, RULES, "S", None)
    assert "disease" in vocabulary.dimension
    return vocabulary


@settings(max_examples=8, deadline=None)
@given(steps=_steps)
def test_rules_after_any_changes_the_graph_equals_that_of_a_build_from_nothing(tmp_path_factory, pin, steps):
    room = tmp_path_factory.mktemp("steps")
    folder, kept = start(room / "corpus"), embedder(room)
    build(folder, pin, RULES, kept, "S")
    for number, step in enumerate(steps):
        change(folder, step)
        grown = build(folder, pin, RULES, kept, "S")
        fresh = room / f"fresh{number}"
        shutil.copytree(folder, fresh / "corpus")
        assert build(fresh / "corpus", pin, RULES, embedder(fresh), "S").bytes == grown.bytes


@settings(max_examples=3, deadline=None)
@given(steps=_steps)
def test_llm_after_any_changes_the_graph_equals_that_of_a_build_from_nothing(tmp_path_factory, steps):
    room = tmp_path_factory.mktemp("steps")
    folder, kept = start(room / "corpus"), embedder(room)
    with FakeOpenAI() as fake:

        def backend(store: Path):
            endpoint = EndpointSettings(model="fake-model", base_url=fake.base_url)
            return build_llm_backend(endpoint, open_cache(f"sqlite:///{store / 'llm.sqlite'}"))

        vocabulary, _ = propose(folder, backend(room), "S", 10)
        build(folder, vocabulary, backend(room), kept, "S")
        for number, step in enumerate(steps):
            change(folder, step)
            grown = build(folder, vocabulary, backend(room), kept, "S")
            calls = fake.chat_calls
            assert build(folder, vocabulary, backend(room), kept, "S").bytes == grown.bytes
            assert fake.chat_calls == calls, "nothing changed, and something was asked"
            fresh = room / f"fresh{number}"
            shutil.copytree(folder, fresh / "corpus")
            assert build(fresh / "corpus", vocabulary, backend(fresh), embedder(fresh), "S").bytes == grown.bytes


def test_an_edge_of_two_documents_goes_when_both_are_gone_and_not_before(tmp_path, pin):
    folder, kept = start(tmp_path / "corpus"), embedder(tmp_path)
    write(folder, "d.txt", [TEXTS[6]])

    def support() -> int:
        edges = build(folder, pin, RULES, kept, "S").graph.edges.to_pylist()
        found = [row for row in edges if (row["source"], row["target"]) == pair]
        assert all(row["evidence"] >= row["support"] for row in found)
        return found[0]["support"] if found else 0

    [pair] = {
        (row["source"], row["target"])
        for row in build(folder, pin, RULES, kept, "S").graph.edges.to_pylist()
        if "(aspirin)" in row["source"] and "(fever)" in row["target"]
    }
    assert support() == 2
    write(folder, "a.txt", [TEXTS[0]])
    assert support() == 1
    (folder / "b.md").unlink()
    assert support() == 0


def test_one_changed_page_costs_a_twentieth_of_the_calls_at_most(tmp_path):
    folder = tmp_path / "corpus"
    folder.mkdir()
    ends = ("pathy", "genesis", "lysis", "plasia", "trophy")
    things = [f"{stem}{end}" for stem in ("cardio", "neuro", "hepato", "dermato", "osteo") for end in ends]
    verbs = ("causes", "reduces", "increases", "prevents", "promotes")
    for page in range(60):
        one, other, third, last = (things[(page * step + step) % len(things)] for step in (1, 3, 7, 11))
        write(
            folder,
            f"page{page:02}.txt",
            [
                f"On page {page}, {one} {verbs[page % 5]} {other}. "
                f"Also {third} {verbs[page % 3]} {last} in region {page}."
            ],
        )
    with FakeOpenAI() as fake:
        endpoint = EndpointSettings(model="fake-model", base_url=fake.base_url)
        backend = build_llm_backend(endpoint, open_cache(f"sqlite:///{tmp_path / 'llm.sqlite'}"))
        kept = embedder(tmp_path)
        vocabulary, _ = propose(folder, backend, "S", 10)
        build(folder, vocabulary, backend, kept, "S")
        full = fake.chat_calls
        assert full > 60
        build(folder, vocabulary, backend, kept, "S")
        assert fake.chat_calls == full
        write(
            folder, "page31.txt", ["On this page nothing is as it was: cardiolysis prevents neuropathy in the young."]
        )
        build(folder, vocabulary, backend, kept, "S")
        assert 1 <= fake.chat_calls - full <= full * 0.05
