"""The report of one corpus: which systems were compared, what they score, and what is more than chance."""

import shlex
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean
from typing import Any

import pyarrow as pa

from hcg_pipeline.evaluation.comparison_sections import compared_sections, judges_section, runs_section
from hcg_pipeline.evaluation.judging.naming import split_judged_name
from hcg_pipeline.evaluation.markdown import measure_title, plain, table
from hcg_pipeline.evaluation.measures import MEASURES
from hcg_pipeline.evaluation.plots import draw_plots, frontier
from hcg_pipeline.evaluation.systems import System, merge_systems, named_scores, system_keys, system_names
from hcg_pipeline.evaluation.verdict_tables import headline


def means_of(named: pa.Table) -> list[dict[str, Any]]:
    """Per `measure`, in the report's order: `systems`, by name the `mean` and the number of `questions`."""
    values = _collect(named)
    rows = []
    for measure in _ordered(set(named["measure"].to_pylist()), MEASURES):
        found = {system: one for (name, kind, system), one in sorted(values.items()) if (name, kind) == (measure, "")}
        systems = {system: {"mean": fmean(one), "questions": len(one)} for system, one in found.items()}
        rows.append({"measure": measure, "systems": systems})
    return rows


def quality_of(named: pa.Table) -> tuple[str, dict[str, float]]:
    """The report's headline measure and each system's mean of it; ('', {}) where nothing was scored.

    `named` is as `named_scores` makes it.
    """
    measure = headline(sorted(set(named["measure"].to_pylist())))
    if measure is None:
        return "", {}
    values = _collect(named)
    return measure, {
        system: fmean(found) for (name, kind, system), found in sorted(values.items()) if (name, kind) == (measure, "")
    }


def draw_report(scores: pa.Table, systems: pa.Table) -> bytes:
    """The report's plots as an SVG, b'' where there is nothing to draw."""
    called = system_names(system_keys(scores, systems))
    measure, quality = quality_of(named_scores(scores, called))
    return draw_plots(merge_systems(systems, called), quality, measure) if quality and systems.num_rows else b""


def render_report(
    corpus: str,
    scores: pa.Table,
    systems: pa.Table | None = None,
    missing: pa.Table | None = None,
    plots: str = "",
) -> str:
    """The page in Markdown.

    `scores` is SCORES, `systems` SYSTEMS (without it there are no sizes, costs and commands), `missing` the judged
    scores that are not there (MISSING), `plots` what the image links to. A cell is a mean, and in brackets over how
    many questions. The same tables give the same text.
    """
    lines = [f"# Scores of {plain(corpus)}", ""]
    if not scores.num_rows:
        return "\n".join([*lines, "No question of this corpus has a reference answer, so nothing was scored.", ""])
    called = system_names(system_keys(scores, *([systems] if systems is not None else [])))
    named = named_scores(scores, called)
    compared = merge_systems(systems, called) if systems is not None else []
    measures = _ordered(set(named["measure"].to_pylist()), MEASURES)
    names = list(dict.fromkeys([*(one.name for one in compared), *sorted(set(named["system"].to_pylist()))]))
    command = _command(corpus, compared)
    values = _collect(named)
    lines += ["Means of values from 0 to 1; in brackets the number of questions.", "", *command]
    lines += _systems(compared, scores)
    lines += ["## Summary", ""]
    rows = [[measure_title(measure)[0], *(_mean(values, measure, "", name) for name in names)] for measure in measures]
    lines += [*table(["measure", *names], rows), *command]
    lines += _missing(missing)
    lines += _plots(named, compared, plots, command)
    lines += compared_sections(named, measures, compared, command)
    for measure in measures:
        lines += _by_type(values, measure, names, command)
    lines += [*runs_section(named, command), *judges_section(named, command)]
    return "\n".join(lines).rstrip() + "\n"


Values = Mapping[tuple[str, str, str], Sequence[float]]
"""By measure, question type ('' for all) and system."""


def _collect(named: pa.Table) -> Values:
    """Each question counts once: its runs are averaged first."""
    keys = ["measure", "question_type", "system", "question_set", "id"]
    means = named.group_by(keys, use_threads=False).aggregate([("value", "mean")])
    values: dict[tuple[str, str, str], list[float]] = defaultdict(list)
    columns = (means[name].to_pylist() for name in ("measure", "question_type", "system", "value_mean"))
    for measure, kind, system, value in zip(*columns, strict=True):
        values[measure, kind or "untyped", system].append(value)
        values[measure, "", system].append(value)
    return values


def _mean(values: Values, measure: str, kind: str, system: str) -> str:
    found = values.get((measure, kind, system), ())
    return f"{fmean(found):.3f} ({len(found):,})" if found else ""


def _systems(compared: Sequence[System], scores: pa.Table) -> Iterator[str]:
    if not compared:
        return
    yield from ("## Systems", "")
    rows = [
        [
            one.name,
            one.tier,
            one.backend,
            f"{one.variables:,} / {one.edges:,}",
            f"{one.questions:,}",
            f"{one.failed:,}",
            f"{one.context_words:,.0f}",
            "" if one.tokens is None else f"{one.tokens:,.0f}",
            "" if one.milliseconds is None else f"{one.milliseconds:.1f}",
            " ".join(one.snapshots),
        ]
        for one in compared
    ]
    costs = ("words of evidence", "tokens", "retrieval, ms")
    yield from table(("system", "tier", "backend", "variables / edges", "questions", "failed", *costs, "graph"), rows)
    yield from ("Words, tokens and milliseconds are per question; *failed* got no usable reply and are in no mean.", "")
    keys = {(row["question_set"], row["id"]) for row in scores.to_pylist() if row["mode"] == "fallback"}
    if keys:
        about = "Questions that matched nothing in the graph and got their evidence by search (`fallback`):"
        yield from (f"{about} {len(keys):,}.", "")


def _command(corpus: str, compared: Sequence[System]) -> list[str]:
    """The one command that makes these numbers again."""
    if not compared:
        return []
    files = sorted({file for one in compared for file in one.files if file})
    modes = [f"--mode {mode}" for mode in sorted({one.mode for one in compared})]
    budgets = [f"--budget {words}" for words in sorted({one.words for one in compared})]
    only = ["--retrieve-only"] if {one.backend for one in compared} == {"none"} else []
    name = shlex.quote(corpus)
    tiers = sorted({one.tier for one in compared})
    commands = []
    for file in files or [""]:
        named = [shlex.quote(file)] if file else []
        commands.append(" ".join(["hcg evaluate", name, *named, *modes, *budgets, *only]))
    line = " && ".join(commands)
    if len(tiers) > 1:
        line = f"for tier in {' '.join(tiers)}; do hcg build {name} --tier $tier && {line}; done"
    return [f"Again: `{line}`", ""]


def _missing(missing: pa.Table | None) -> Iterator[str]:
    if missing is None:
        return
    counts = Counter((row["measure"], row["reason"]) for row in missing.to_pylist())
    if counts:
        yield from ("## Judged scores that are missing", "")
        yield from ("They are in no mean, and no zero stands for them.", "")
        rows = [[plain(measure), plain(reason), f"{count:,}"] for (measure, reason), count in sorted(counts.items())]
        yield from table(("measure", "why", "answers"), rows)


def _plots(named: pa.Table, compared: Sequence[System], plots: str, command: Sequence[str]) -> Iterator[str]:
    measure, quality = quality_of(named)
    if not compared or not quality:
        return
    yield from ("## Quality, size and cost", "")
    if plots:
        yield from (f"![{plain(measure)} against size and cost]({plots})", "")
    best = set(frontier(compared, quality))
    rows = [
        [
            one.name,
            f"{one.size:,}",
            f"{one.context_words:,.0f}",
            f"{quality[one.name]:.3f}",
            "yes" if one.name in best else "",
        ]
        for one in compared
        if one.name in quality
    ]
    yield from table(("system", "variables read", "words of evidence", plain(measure), "on the frontier"), rows)
    yield from ("On the frontier: no system that reads at most as many variables scores more.", "", *command)


def _by_type(values: Values, measure: str, names: Sequence[str], command: Sequence[str]) -> Iterator[str]:
    title, about = measure_title(measure)
    yield from (f"## {title}", "", *([about, ""] if about else []))
    types = sorted({kind for name, kind, _ in values if name == measure} - {""})
    # With one type the row for all would say the same again.
    kinds = [*types, ""] if len(types) != 1 else types
    rows = [[plain(kind or "all"), *(_mean(values, measure, kind, name) for name in names)] for kind in kinds]
    yield from table(["question type", *names], rows)
    yield from command


def _ordered(names: set[str], first: Sequence[str]) -> list[str]:
    """Judged measures first, then the known ones in their order, then what else there is."""
    judged = sorted(name for name in names if split_judged_name(name))
    known = [name for name in first if name in names]
    return [*judged, *known, *sorted(names - set(known) - set(judged))]
