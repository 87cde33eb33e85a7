"""The commands that make a report's numbers again, and what must be evaluated again before systems can be compared."""

import shlex
from collections import defaultdict
from collections.abc import Iterator, Sequence

from hcg_pipeline.evaluation.markdown import plain
from hcg_pipeline.evaluation.systems import System, tier_order

_Asked = tuple[str, str, bool, int]
"""Tier, file, evidence alone, runs."""
_WAY_OUT = "Their differences are not those of the systems alone: evaluate all of them again."


def reproducing_line(corpus: str, systems: Sequence[System]) -> str:
    """One line for a shell that evaluates `systems` again, and builds the graph of each tier where there are several.

    Modes that were asked with the same budgets go into one command. '' without systems.
    """
    by_tier: dict[str, list[str]] = defaultdict(list)
    asked_modes = _modes_by_words(systems)
    for asked in sorted(asked_modes, key=lambda asked: (tier_order(asked[0]), asked)):
        modes = asked_modes[asked]
        by_tier[asked[0]] += [_command(corpus, asked, *grid) for grid in _grids(modes)]
    if len(by_tier) < 2:
        return " && ".join(command for commands in by_tier.values() for command in commands)
    build = f"hcg build {shlex.quote(corpus)} --tier"
    lines = {" && ".join(commands) for commands in by_tier.values()}
    if len(lines) == 1:
        return f"for tier in {' '.join(by_tier)}; do {build} $tier && {lines.pop()}; done"
    return " && ".join(f"{build} {tier} && {' && '.join(commands)}" for tier, commands in by_tier.items())


def _modes_by_words(systems: Sequence[System]) -> dict[_Asked, dict[int, set[str]]]:
    """What was asked together, and in it by budget the modes."""
    found: dict[_Asked, dict[int, set[str]]] = defaultdict(lambda: defaultdict(set))
    for one in systems:
        for file in one.files:
            found[one.tier, file, one.backend == "none", one.runs][one.words].add(one.mode)
    return found


def _grids(modes_by_words: dict[int, set[str]]) -> list[tuple[list[str], list[int]]]:
    """As few (modes, budgets) as there are sets of modes: budgets with the same modes stand together."""
    grids: dict[tuple[str, ...], list[int]] = defaultdict(list)
    for words, modes in sorted(modes_by_words.items()):
        grids[tuple(sorted(modes))].append(words)
    return [(list(modes), budgets) for modes, budgets in sorted(grids.items())]


def _command(corpus: str, asked: _Asked, modes: Sequence[str], budgets: Sequence[int]) -> str:
    _, file, evidence_alone, runs = asked
    return " ".join(
        [
            "hcg evaluate",
            shlex.quote(corpus),
            *([shlex.quote(file)] if file else []),
            *(f"--mode {mode}" for mode in modes),
            *(f"--budget {words}" for words in budgets),
            *(["--retrieve-only"] if evidence_alone else []),
            *([f"--runs {runs}"] if runs > 1 else []),
        ]
    )


def not_alike(systems: Sequence[System]) -> Iterator[str]:
    """A line for each tier whose systems were asked of different graphs, and each question set that has changed."""
    graphs: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    questions: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for one in systems:
        for snapshot in one.snapshots:
            graphs[one.tier][snapshot].append(one.name)
        for question_set, found in one.asked:
            questions[question_set][found].append(one.name)
    for tier, of_tier in sorted(graphs.items()):
        if len(of_tier) > 1:
            yield from (
                f"**Not alike:** {_groups(of_tier)} were asked of different graphs of tier {tier}. {_WAY_OUT}",
                "",
            )
    for question_set, of_set in sorted(questions.items()):
        if len(of_set) > 1:
            name = plain(question_set)
            yield from (f"**Not alike:** {_groups(of_set)} were asked different questions as {name}. {_WAY_OUT}", "")


def _groups(names: dict[str, list[str]]) -> str:
    return " and ".join(f"({'; '.join(group)})" for group in names.values())
