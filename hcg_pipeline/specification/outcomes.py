"""Outcome configuration: which metrics the graph builds towards (paper, section 3.1).

`outcomes.yaml` at the root of a corpus names them; where it is absent, names are read for words that mean an end
result in plain English. Terminals take edges and emit none; outcomes are where retrieval stops to collect evidence.
"""

import math
import re
from collections.abc import Sequence
from dataclasses import replace
from fnmatch import fnmatchcase

import pyarrow as pa
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from rapidfuzz import fuzz

from hcg_pipeline.any_path import AnyPath
from hcg_pipeline.specification.names import REPAIR_CUTOFF, key_of, split_camel
from hcg_pipeline.specification.vocabulary import Metric, Role
from hcg_pipeline.specification.yaml_reading import read_yaml_file
from hcg_pipeline.tables import OUTCOMES

FILE = "outcomes.yaml"

# Ends of a causal chain in any field: nothing is explained by them any more.
_TERMINAL_PHRASES = (
    *("mortality", "death", "survival", "fatality", "casualty", "longevity", "lifespan", "extinction"),
    *("life expectancy", "quality of life", "wellbeing", "well being", "welfare", "living standard"),
    *("patient outcome", "clinical outcome", "overall outcome", "final outcome", "user satisfaction"),
    *("customer satisfaction", "bankruptcy", "insolvency", "profitability", "downtime"),
)
# Results that people ask about, which may still drive others.
_OUTCOME_PHRASES = (
    *_TERMINAL_PHRASES,
    *("occurrence", "onset", "presence", "development", "function", "dysfunction", "disorder", "condition"),
    *("diagnosis", "spread", "pain", "inflammation", "production", "formation"),
    *("outcome", "result", "consequence", "impact", "success", "failure", "prognosis", "recovery", "remission"),
    *("recurrence", "relapse", "response", "efficacy", "effectiveness", "efficiency", "complication", "toxicity"),
    *("adverse event", "adverse effect", "side effect", "disability", "severity", "risk", "burden", "progression"),
    *("incidence", "prevalence", "symptom", "damage", "loss", "injury", "accident", "harm", "cost", "expense"),
    *("revenue", "profit", "income", "price", "wage", "inflation", "output", "growth", "productivity", "yield"),
    *("performance", "quality", "safety", "reliability", "availability", "accuracy", "error", "defect", "delay"),
    *("throughput", "satisfaction", "employment", "unemployment", "poverty", "inequality", "emission", "pollution"),
    *("decline", "crash", "collapse", "degradation", "shortage", "demand", "supply", "consumption"),
)
# How descriptions say what a metric depends on, and what depends on it.
_DRIVEN = re.compile(r"\b(driven|determined|shaped|caused|affected|influenced|set) by\b", re.IGNORECASE)
_DRIVES = re.compile(
    r"\b(influenc(?!ed by)|affect(?!ed by)|drives?\b|determines|shapes|causes|leads? to)", re.IGNORECASE
)
TERMINAL_PORTION = 1 / 12
MAXIMUM_TERMINALS = 6
OUTCOME_PORTION = 0.4
_FALLBACK_PORTION = 0.2


class OutcomeConfig(BaseModel):
    """Metric names, or patterns with `*` and `?` ('*Survival*'), compared without regard to case."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    terminals: list[str] = Field(default_factory=list)
    outcomes: list[str] = Field(default_factory=list)


def read_outcomes(folder: AnyPath) -> OutcomeConfig | None:
    """The corpus's `outcomes.yaml`, or None where there is none. Raises `SettingsError` with file and line."""
    file = folder / FILE
    if not file.is_file():
        return None
    located = read_yaml_file(file)
    try:
        return OutcomeConfig.model_validate(located.data if located.data is not None else {})
    except ValidationError as error:
        raise located.refused(error) from error


def outcomes_table(config: OutcomeConfig | None) -> pa.Table:
    """A configuration as OUTCOMES; an absent one as no rows, which gives the same roles as an empty file."""
    chosen = config or OutcomeConfig()
    rows = [{"role": "terminal", "pattern": pattern} for pattern in chosen.terminals]
    rows += [{"role": "outcome", "pattern": pattern} for pattern in chosen.outcomes]
    return pa.Table.from_pylist(rows, schema=OUTCOMES)


def to_outcomes(table: pa.Table) -> OutcomeConfig | None:
    """The configuration that an OUTCOMES table holds; None where it has no rows, so that roles are proposed."""
    patterns: dict[str, list[str]] = {"terminal": [], "outcome": []}
    for row in table.to_pylist():
        patterns[row["role"]].append(row["pattern"])
    if not table.num_rows:
        return None
    return OutcomeConfig(terminals=patterns["terminal"], outcomes=patterns["outcome"])


def outcomes_of(metrics: Sequence[Metric]) -> OutcomeConfig:
    """The configuration that gives these metrics the roles that they have, by their names."""
    return OutcomeConfig(
        terminals=[metric.name for metric in metrics if metric.role == "terminal"],
        outcomes=[metric.name for metric in metrics if metric.role == "outcome"],
    )


def render_outcomes(config: OutcomeConfig) -> str:
    """An `outcomes.yaml` that reads back as `config`."""
    lines = [
        "# What the graph builds towards. Terminals take causal edges and emit none; outcomes are where answers are",
        "# looked for. Names of metrics, or patterns such as '*Survival*'. Edit, and build again.",
    ]
    for key, names in (("terminals", config.terminals), ("outcomes", config.outcomes)):
        quoted = [f"  - '{name.replace(chr(39), chr(39) * 2)}'" for name in names]
        lines.extend([f"{key}:", *quoted] if quoted else [f"{key}: []"])
    return "\n".join(lines) + "\n"


def assign_roles(metrics: Sequence[Metric], config: OutcomeConfig | None) -> list[Metric]:
    """The same metrics with their roles: from `config`, or proposed from their names where there is none."""
    config = config if config is not None else propose_outcomes(metrics)
    return [replace(metric, role=_role(metric.name, config)) for metric in metrics]


def unmatched_patterns(metrics: Sequence[Metric], config: OutcomeConfig) -> list[str]:
    """Names and patterns of the configuration that no metric answers to."""
    names = [metric.name for metric in metrics]
    return [p for p in [*config.terminals, *config.outcomes] if not any(_matches(p, name) for name in names)]


def propose_outcomes(metrics: Sequence[Metric]) -> OutcomeConfig:
    """Terminals and outcomes by the words of the metrics' names and by what their descriptions say drives what.

    An outcome's name means a result, or its description says what drives it and names nothing that it drives. A
    terminal's name means an end, and its description names nothing that it drives. `metrics` come in rank order, and
    each decision looks at higher ranks alone, so a metric has the same role in every tier. At most one in twelve (and
    six) are terminals, at most two in five are outcomes. Where nothing is said, every fifth metric from the top is an
    outcome, since retrieval needs somewhere to arrive.
    """
    terminals: list[str] = []
    outcomes: list[str] = []
    for place, metric in enumerate(metrics, start=1):
        room = min(MAXIMUM_TERMINALS, math.ceil(place * TERMINAL_PORTION))
        drives = _DRIVES.search(metric.description) is not None
        if len(terminals) < room and not drives and _speaks_of(metric.name, _TERMINAL_PHRASES):
            terminals.append(metric.name)
            continue
        sink = not drives and _DRIVEN.search(metric.description) is not None
        wanted = (sink or _speaks_of(metric.name, _OUTCOME_PHRASES)) and len(outcomes) < math.ceil(
            place * OUTCOME_PORTION
        )
        if wanted or len(terminals) + len(outcomes) < math.floor(place * _FALLBACK_PORTION):
            outcomes.append(metric.name)
    return OutcomeConfig(terminals=terminals, outcomes=outcomes)


def _speaks_of(metric: str, phrases: Sequence[str]) -> bool:
    key = f" {key_of(split_camel(metric))} "
    return any(f" {key_of(phrase)} " in key for phrase in phrases)


def _role(name: str, config: OutcomeConfig) -> Role:
    if any(_matches(pattern, name) for pattern in config.terminals):
        return "terminal"
    if any(_matches(pattern, name) for pattern in config.outcomes):
        return "outcome"
    return "driver"


def _matches(pattern: str, name: str) -> bool:
    if any(c in pattern for c in "*?["):
        return fnmatchcase(name.casefold(), pattern.replace(" ", "").casefold())
    wanted, key = key_of(split_camel(pattern)), key_of(split_camel(name))
    return wanted == key or fuzz.ratio(wanted, key) >= max(REPAIR_CUTOFF, 94.0)
