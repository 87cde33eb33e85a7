"""What is compared: a system is a graph of one tier, asked in one mode with one budget, answered by one backend."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

import pyarrow as pa

from hcg_pipeline.evaluation.significance import fallback_as_graph


def _field(name: str, kind: pa.DataType, about: str, *, nullable: bool = False) -> pa.Field:
    return pa.field(name, kind, nullable=nullable, metadata={"description": about})


SYSTEMS = pa.schema(
    [
        _field("question_set", pa.string(), "the question file's name without its ending"),
        _field("file", pa.string(), "the question file as it was named; '': the corpus's own question folder"),
        _field("mode", pa.string(), "how evidence was found"),
        _field("tier", pa.string(), "tier of the graph that was asked"),
        _field("backend", pa.string(), "which backend answered; 'none': evidence alone"),
        _field("words", pa.int64(), "budget of evidence in words"),
        _field("snapshot_id", pa.string(), "the graph that was asked"),
        _field("variables", pa.int64(), "nodes of that graph"),
        _field("edges", pa.int64(), "edges of that graph"),
        _field("questions", pa.int64(), "questions that were asked"),
        _field("failed", pa.int64(), "questions without a usable reply, which are in no mean"),
        _field("context_words", pa.float64(), "words of evidence per question"),
        _field("tokens", pa.float64(), "tokens per question, prompt and reply; 0 without an LLM", nullable=True),
        _field("milliseconds", pa.float64(), "retrieval per question, embedding included", nullable=True),
        _field("usd", pa.float64(), "price of answering a question by the price list; null: not known", nullable=True),
        _field("answered", pa.float64(), "questions that got an answer; null: nobody was asked", nullable=True),
        _field("model", pa.string(), "the model that answered; null: no model did", nullable=True),
        _field("embedding_model", pa.string(), "the model of all vectors; null: not said", nullable=True),
        _field("runs", pa.int64(), "how often everything was asked; null: not said", nullable=True),
        _field("asked", pa.string(), "hash of the questions and references; null: not said", nullable=True),
    ]
)

TIERS = ("XS", "S", "M", "L")
_PARTS = ("mode", "tier", "backend", "words")
Key = tuple[str, str, str, int]
"""Mode, tier, backend, words."""


@dataclass(frozen=True, slots=True)
class System:
    """One system over all its question sets. `size` is what its mode reads of the graph: 0 where it reads none.

    `asked` are the question sets with the hash of what was asked; sets of which that is not known are left out.
    """

    name: str
    mode: str
    tier: str
    backend: str
    words: int
    variables: int
    edges: int
    questions: int
    failed: int
    context_words: float
    tokens: float | None
    milliseconds: float | None
    usd: float | None
    answered: float | None
    models: tuple[str, ...]
    embedding_models: tuple[str, ...]
    runs: int
    snapshots: tuple[str, ...]
    files: tuple[str, ...]
    asked: tuple[tuple[str, str], ...]

    @property
    def size(self) -> int:
        """Variables of the graph that the mode reads."""
        return self.variables if self.mode in ("graph", "nodes_only") else 0


def system_keys(*tables: pa.Table) -> list[Key]:
    """The systems that tables like SCORES or SYSTEMS speak of, each once, sorted."""
    found = (fallback_as_graph(table.select(list(_PARTS))).group_by(list(_PARTS)).aggregate([]) for table in tables)
    return sorted({_key(row) for table in found for row in table.to_pylist()})


def named_scores(scores: pa.Table, names: Mapping[Key, str] | None = None) -> pa.Table:
    """SCORES with a column `system`, and mode `fallback` under `graph`; `names` are those of `system_names`."""
    merged = fallback_as_graph(scores)
    keys = [_key(row) for row in merged.select(list(_PARTS)).to_pylist()]
    names = names or system_names(keys)
    return merged.append_column(pa.field("system", pa.string(), nullable=False), pa.array([names[key] for key in keys]))


def system_names(keys: Sequence[Key]) -> dict[Key, str]:
    """By key, a name: its mode, and of tier, backend and budget those that are not the same for all keys."""
    varies = [len({key[part] for key in keys}) > 1 for part in range(len(_PARTS))]
    return {
        key: ", ".join([key[0], *(part for part, shown in zip(_said(key), varies[1:], strict=True) if shown)])
        for key in sorted(set(keys))
    }


def _said(key: Key) -> tuple[str, str, str]:
    _, tier, backend, words = key
    return f"tier {tier}", "evidence alone" if backend == "none" else f"{backend} backend", f"{words:,} words"


def merge_systems(systems: pa.Table, names: Mapping[Key, str] | None = None) -> list[System]:
    """The rows of SYSTEMS by system, question sets together, in the order of mode, size of tier, backend, words."""
    groups: dict[Key, list[dict[str, object]]] = {}
    for row in systems.to_pylist():
        groups.setdefault(_key(row), []).append(row)
    names = names or system_names(list(groups))
    return [
        _merged(names[key], key, pa.Table.from_pylist(groups[key], schema=SYSTEMS))
        for key in sorted(groups, key=_order)
    ]


def _merged(name: str, key: Key, rows: pa.Table) -> System:
    counts = rows["questions"].to_pylist()

    def mean(column: str) -> float | None:
        values = rows[column].to_pylist()
        if any(value is None for value in values) or not sum(counts):
            return None
        return float(sum(value * count for value, count in zip(values, counts, strict=True)) / sum(counts))

    def said(column: str) -> tuple[str, ...]:
        return tuple(sorted({value for value in rows[column].to_pylist() if value}))

    answered = rows["answered"].to_pylist()
    asked = zip(rows["question_set"].to_pylist(), rows["asked"].to_pylist(), strict=True)
    mode, tier, backend, words = key
    return System(
        name=name,
        mode=mode,
        tier=tier,
        backend=backend,
        words=words,
        variables=round(fmean(rows["variables"].to_pylist())),
        edges=round(fmean(rows["edges"].to_pylist())),
        questions=sum(counts),
        failed=sum(rows["failed"].to_pylist()),
        context_words=mean("context_words") or 0.0,
        tokens=mean("tokens"),
        milliseconds=mean("milliseconds"),
        usd=mean("usd"),
        answered=None if None in answered else sum(answered),
        models=said("model"),
        embedding_models=said("embedding_model"),
        runs=max(runs or 1 for runs in rows["runs"].to_pylist()),
        snapshots=said("snapshot_id"),
        files=tuple(sorted(set(rows["file"].to_pylist()))),
        asked=tuple(sorted((name, found) for name, found in asked if found)),
    )


def tier_order(tier: str) -> tuple[int, str]:
    """What sorts tiers by size."""
    return (TIERS.index(tier) if tier in TIERS else len(TIERS), tier)


def _order(key: Key) -> tuple[str, tuple[int, str], str, int]:
    mode, tier, backend, words = key
    return mode, tier_order(tier), backend, words


def _key(row: dict[str, object]) -> Key:
    words = row["words"]
    return (
        str(row["mode"]),
        str(row["tier"] or ""),
        str(row["backend"] or ""),
        words if isinstance(words, int) else 0,
    )
