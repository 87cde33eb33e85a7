"""The report of one corpus: which systems were compared, what they score, and what is more than chance."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from statistics import fmean
from typing import Any

import pyarrow as pa

from hcg_pipeline.evaluation.benchmark_table import Values, benchmark_section
from hcg_pipeline.evaluation.comparison_sections import compared_sections
from hcg_pipeline.evaluation.judging.naming import split_judged_name
from hcg_pipeline.evaluation.markdown import measure_name, measure_title, plain, table
from hcg_pipeline.evaluation.measures import MEASURES, WORD_BUDGETS, recall_measure
from hcg_pipeline.evaluation.noise_sections import judges_section, runs_section
from hcg_pipeline.evaluation.plots import draw_plots, frontier
from hcg_pipeline.evaluation.question_section import questions_section
from hcg_pipeline.evaluation.reproducing import not_alike, reproducing_line
from hcg_pipeline.evaluation.systems import System, merge_systems, named_scores, system_keys, system_names
from hcg_pipeline.evaluation.verdict_tables import comparisons_of, headline, verdict_sentence

_MOST_SENTENCES = 12
RECALL_IN_BUDGET = "reference_recall"


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

    Where that is recall at more words than some systems have, it is `RECALL_IN_BUDGET`: each system's recall at the
    largest of the words up to its own budget. `named` is as `named_scores` makes it.
    """
    measure = headline(sorted(set(named["measure"].to_pylist())))
    if measure is None:
        return "", {}
    means: dict[str, dict[str, float]] = defaultdict(dict)
    for (name, kind, system), found in sorted(_collect(named).items()):
        if not kind:
            means[name][system] = fmean(found)
    systems = set(named["system"].to_pylist())
    recalls = [name for name in map(recall_measure, WORD_BUDGETS) if name in means]
    if measure not in recalls or means[measure].keys() == systems:
        return measure, means[measure]
    within: dict[str, float] = {}
    for name in recalls:
        within |= means[name]
    return RECALL_IN_BUDGET, within


def draw_report(scores: pa.Table, systems: pa.Table) -> bytes:
    """The report's plots as an SVG, b'' where there is nothing to draw."""
    called = system_names(system_keys(scores, systems))
    measure, quality = quality_of(named_scores(scores, called))
    title = measure_name(measure)
    return draw_plots(merge_systems(systems, called), quality, title) if quality and systems.num_rows else b""


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
    again = reproducing_line(corpus, compared)
    command = [f"Again: `{again}`", ""] if again else []
    values = _collect(named)
    lines += ["Means of values from 0 to 1; in brackets the number of questions.", "", *command]
    lines += _who(compared, measures)
    lines += [*_in_short(named, measures, compared, missing), *_systems(compared, scores), *not_alike(compared)]
    lines += benchmark_section(values, measures, compared, command)
    lines += ["## Summary", ""]
    rows = [[measure_title(measure)[0], *(_mean(values, measure, "", name) for name in names)] for measure in measures]
    lines += [*table(["measure", *names], rows), *command]
    lines += _missing(missing)
    lines += _plots(named, compared, plots, command)
    lines += compared_sections(named, measures, compared, command)
    lines += questions_section(named, headline(measures), compared, command)
    for measure in measures:
        lines += _by_type(values, measure, names, command)
    lines += [*runs_section(named, command), *judges_section(named, compared, command)]
    return "\n".join(lines).rstrip() + "\n"


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


def _who(compared: Sequence[System], measures: Sequence[str]) -> Iterator[str]:
    """Which models answered and judged: the command finds them in the environment."""
    answering = sorted({model for one in compared for model in one.models})
    judging = sorted({judged[1] for judged in map(split_judged_name, measures) if judged})
    told = [
        f"{done} by {plain(', '.join(models))} (`{variable}`)."
        for done, models, variable in (
            ("Answered", answering, "HCG_LLM_MODEL"),
            ("Judged", judging, "HCG_JUDGE_MODEL"),
        )
        if models
    ]
    if told:
        yield from (f"{' '.join(told)} The command takes that from the environment.", "")


def _in_short(
    named: pa.Table, measures: Sequence[str], compared: Sequence[System], missing: pa.Table | None
) -> Iterator[str]:
    """What the headline measure says of systems that differ in one part, and how much is missing."""
    shown = headline(measures)
    rows = comparisons_of(named, shown, compared) if shown else []
    if shown and rows:
        yield from ("## In short", "", f"By {measure_title(shown)[0]}:", "")
        yield from (f"- {verdict_sentence(row)}" for row in rows[:_MOST_SENTENCES])
        yield from (*([] if len(rows) <= _MOST_SENTENCES else ["- … and more, in the tables below"]), "")
    if missing is not None and missing.num_rows:
        yield from (f"**{missing.num_rows:,} judged scores are missing**: they are in no mean (see below).", "")


def _systems(compared: Sequence[System], scores: pa.Table) -> Iterator[str]:
    if not compared:
        return
    yield from ("## Systems", "")
    rows = [
        [
            one.name,
            one.tier,
            plain(", ".join(one.models) or ("nobody" if one.backend == "none" else one.backend)),
            f"{one.variables:,} / {one.edges:,}",
            f"{one.questions:,}",
            f"{one.failed:,}",
            "" if one.answered is None else f"{one.answered:,.6g}",
            f"{one.context_words:,.0f}",
            "" if one.tokens is None else f"{one.tokens:,.0f}",
            "" if one.usd is None else f"{one.usd:.4g}",
            "" if one.milliseconds is None else f"{one.milliseconds:.1f}",
        ]
        for one in compared
    ]
    counts = ("questions", "failed", "answered")
    costs = ("words of evidence", "tokens", "USD", "retrieval, ms")
    yield from table(("system", "tier", "answered by", "variables / edges", *counts, *costs), rows)
    yield from (
        "Words, tokens, USD (by the price list) and milliseconds are per question. *Failed* got no usable reply and "
        "are in no mean; those neither failed nor *answered* were said to have no answer in the evidence.",
        "",
    )
    graphs = sorted({(one.tier, snapshot) for one in compared for snapshot in one.snapshots})
    yield from (f"Graphs: {', '.join(f'{snapshot} (tier {tier})' for tier, snapshot in graphs)}.", "")
    embedders = sorted({model for one in compared for model in one.embedding_models})
    if embedders:
        yield from (f"Vectors, and similarities of texts, are by {plain(', '.join(embedders))}.", "")
    keys = {(row["question_set"], row["id"]) for row in scores.to_pylist() if row["mode"] == "fallback"}
    if keys:
        about = "Questions that matched nothing in the graph and got their evidence by search (`fallback`):"
        yield from (f"{about} {len(keys):,}.", "")


def _missing(missing: pa.Table | None) -> Iterator[str]:
    if missing is None:
        return
    counts = Counter((row["mode"], row["measure"], row["reason"]) for row in missing.to_pylist())
    if counts:
        yield from ("## Judged scores that are missing", "")
        yield from ("They are in no mean, and no zero stands for them.", "")
        rows = [[*map(plain, cells), f"{count:,}"] for cells, count in sorted(counts.items())]
        yield from table(("mode", "measure", "why", "answers"), rows)


def _plots(named: pa.Table, compared: Sequence[System], plots: str, command: Sequence[str]) -> Iterator[str]:
    measure, quality = quality_of(named)
    if not compared or not quality:
        return
    yield from ("## Quality, size and cost", "")
    if measure == RECALL_IN_BUDGET:
        yield from ("Recall is that within each system's own budget of words.", "")
    if plots:
        yield from (f"![{measure_title(measure)[0]} against size and cost]({plots})", "")
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
    title = measure_title(measure)[0]
    yield from table(("system", "variables read", "words of evidence", title, "on the frontier"), rows)
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
