"""Applying corrections to the variables: renamed, merged, divided or dropped with what they bind."""

from collections import Counter
from dataclasses import dataclass

import pyarrow as pa

from hcg_pipeline.specification.assembly import variable_row
from hcg_pipeline.specification.correcting import CorrectionPlan
from hcg_pipeline.specification.corrections import DropVariable, RenameVariable
from hcg_pipeline.specification.names import parse_variable
from hcg_pipeline.specification.splitting import Split
from hcg_pipeline.specification.vocabulary import VariableRef
from hcg_pipeline.tables import VARIABLES


@dataclass(frozen=True)
class Corrected:
    """A corrected table, and a line for each edit of its kind that matched nothing."""

    table: pa.Table
    problems: tuple[str, ...]


def apply_to_variables(variables: pa.Table, plan: CorrectionPlan, chunks: pa.Table) -> Corrected:
    """VARIABLES under their corrected names, those that became one merged; `chunks` gives the corpus order."""
    order = {chunk_id: place for place, chunk_id in enumerate(chunks.column("chunk_id").to_pylist())}
    texts = dict(zip(order, chunks.column("text").to_pylist(), strict=True))
    found: dict[VariableRef, Counter[str]] = {}
    for row in variables.to_pylist():
        counts = Counter(dict.fromkeys(row["chunk_ids"], 1))
        if row["chunk_ids"]:
            # Mentions beyond one a chunk are not told apart by chunk: keep the sum.
            counts[row["chunk_ids"][0]] += row["mentions"] - len(row["chunk_ids"])
        found[VariableRef(row["metric"], tuple(row["entities"]))] = counts
    problems = []
    for step in plan.steps:
        edit = step.correction.edit
        if isinstance(edit, RenameVariable | DropVariable) and parse_variable(edit.variable) not in found:
            problems.append(step.correction.problem(f"{edit.variable!r}: there is no such variable"))
        if step.split is not None:
            found = _split_mentions(found, step.split, texts)
        if step.rewrite is not None:
            moved: dict[VariableRef, Counter[str]] = {}
            for ref, counts in found.items():
                new = step.rewrite(ref)
                if new is not None:
                    moved[new] = moved.get(new, Counter()) + counts
            found = moved
    rank = {metric.name: place for place, metric in enumerate(plan.vocabulary.metrics)}
    rows = [
        variable_row(ref, plan.vocabulary.metric[ref.metric], found[ref], order)
        for ref in sorted(found, key=lambda ref: (rank[ref.metric], ref.name))
    ]
    return Corrected(pa.Table.from_pylist(rows, schema=VARIABLES), tuple(problems))


def _split_mentions(
    found: dict[VariableRef, Counter[str]], split: Split, texts: dict[str, str]
) -> dict[VariableRef, Counter[str]]:
    divided: dict[VariableRef, Counter[str]] = {}
    for ref, counts in found.items():
        if not counts or not split.binds(ref):
            divided[ref] = divided.get(ref, Counter()) + counts
            continue
        for chunk_id, count in counts.items():
            spoken = split.spoken_of(texts.get(chunk_id, ""))
            if spoken != "alias":
                divided.setdefault(ref, Counter())[chunk_id] += count
            if spoken in ("alias", "both"):
                divided.setdefault(split.renamed(ref), Counter())[chunk_id] += count if spoken == "alias" else 1
    return divided
