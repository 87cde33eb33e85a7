"""The command of a report evaluates what the report shows, and nothing else."""

import shlex

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st
from test_report import system, systems

from hcg_pipeline.evaluation.reproducing import not_alike, reproducing_line
from hcg_pipeline.evaluation.systems import System, merge_systems


def merged(*rows: dict[str, object]) -> list[System]:
    table: pa.Table = systems(*rows)
    return merge_systems(table)


def test_modes_with_the_same_budgets_go_into_one_command() -> None:
    known = merged(*(system(mode, words=words) for mode in ("graph", "hybrid") for words in (750, 3000)))
    assert (
        reproducing_line("roads", known) == "hcg evaluate roads --mode graph --mode hybrid --budget 750 --budget 3000"
    )


def test_no_system_is_made_that_the_report_does_not_show() -> None:
    known = merged(system("graph", words=750), system("graph", words=3000), system("hybrid", words=3000))
    assert reproducing_line("roads", known) == (
        "hcg evaluate roads --mode graph --budget 750 && hcg evaluate roads --mode graph --mode hybrid --budget 3000"
    )


def test_runs_evidence_alone_and_files_are_said() -> None:
    known = merged(
        system("graph", backend="llm", runs=5, file="/my files/dev.json"), system("naive", backend="none", runs=1)
    )
    assert reproducing_line("two roads", known) == (
        "hcg evaluate 'two roads' --mode naive --budget 3000 --retrieve-only && "
        "hcg evaluate 'two roads' '/my files/dev.json' --mode graph --budget 3000 --runs 5"
    )


def test_tiers_are_built_first_each_with_what_was_asked_of_it() -> None:
    same = merged(system("graph", "S"), system("graph", "XS"))
    evaluate = "hcg evaluate roads --mode graph --budget 3000"
    assert reproducing_line("roads", same) == (f"for tier in XS S; do hcg build roads --tier $tier && {evaluate}; done")
    unlike = merged(system("graph", "S"), system("graph", "XS"), system("hybrid", "S"))
    assert reproducing_line("roads", unlike) == (
        f"hcg build roads --tier XS && {evaluate} && "
        "hcg build roads --tier S && hcg evaluate roads --mode graph --mode hybrid --budget 3000"
    )


def test_without_systems_there_is_no_command() -> None:
    assert reproducing_line("roads", []) == ""


def after(option: str, words: list[str]) -> list[str]:
    return [words[at + 1] for at, word in enumerate(words) if word == option]


@given(
    st.sets(
        st.tuples(
            st.sampled_from(["graph", "hybrid", "naive"]),
            st.sampled_from(["S", "M"]),
            st.sampled_from([750, 1500, 3000]),
            st.sampled_from(["rules", "none"]),
        ),
        min_size=1,
    )
)
def test_the_commands_make_exactly_the_systems(wanted: set[tuple[str, str, int, str]]) -> None:
    known = merged(*(system(mode, tier, words=words, backend=backend) for mode, tier, words, backend in wanted))
    line = reproducing_line("roads", known).removesuffix("; done")
    head, _, rest = line.partition("; do ")
    tiers = head.removeprefix("for tier in ").split() if rest else [known[0].tier]
    made: set[tuple[str, str, int, str]] = set()
    for command in (rest or line).split(" && "):
        words = shlex.split(command)
        if words[1] == "build":
            tiers = tiers if rest else words[-1:]
            continue
        backend = "none" if "--retrieve-only" in words else "rules"
        modes, budgets = after("--mode", words), after("--budget", words)
        made |= {(mode, tier, int(budget), backend) for tier in tiers for mode in modes for budget in budgets}
    assert made == wanted


def test_systems_of_one_tier_that_were_asked_of_different_graphs_are_named() -> None:
    lines = list(not_alike(merged(system("graph", snapshot_id="s1"), system("hybrid", snapshot_id="s2"))))
    assert lines[0].startswith("**Not alike:** (graph) and (hybrid) were asked of different graphs of tier S.")
    assert not list(not_alike(merged(system("graph", "S"), system("graph", "M"), system("hybrid", "S"))))


def test_systems_that_were_asked_different_questions_are_named() -> None:
    lines = list(not_alike(merged(system("graph", asked="x"), system("hybrid", asked="y"), system("naive", asked="y"))))
    assert lines[0].startswith("**Not alike:** (graph) and (hybrid; naive) were asked different questions as s.")
    assert not list(not_alike(merged(system("graph", asked=None), system("hybrid", asked="y"))))
