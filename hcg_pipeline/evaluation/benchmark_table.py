"""The table with which the paper and GraphRAG-Bench compare systems: each measure over the question types it is for.

After the paper's Tables 1 and 2: correctness over all questions; ROUGE-L over those that ask for a fact or a chain of
them, coverage over those that ask for a summary, faithfulness over those that ask for a text of one's own.
"""

from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean

from hcg_pipeline.evaluation.judging.naming import split_judged_name
from hcg_pipeline.evaluation.markdown import measure_title, plain, table
from hcg_pipeline.evaluation.measures import ROUGE
from hcg_pipeline.evaluation.systems import System

SUMMARIES = ("Contextual Summarize", "Creative Generation", "Synthesis")
"""Types of GraphRAG-Bench and of EpilepsyQA whose reference is a summary."""
CREATIVE = ("Creative Generation",)
KNOWN_TYPES = (*SUMMARIES, "Fact Retrieval", "Complex Reasoning")

Values = Mapping[tuple[str, str, str], Sequence[float]]
"""By measure, question type ('' for all) and system."""


def types_of(measure: str, types: Sequence[str]) -> list[str]:
    """Those of `types` over which the benchmark averages `measure`; [] for one that it does not have."""
    judged = split_judged_name(measure)
    kind = judged[0] if judged else measure
    if kind == "correctness":
        return list(types)
    if kind == ROUGE:
        return [name for name in types if name not in SUMMARIES]
    wanted = {"coverage": SUMMARIES, "faithfulness": CREATIVE}.get(kind, ())
    return [name for name in types if name in wanted]


def benchmark_section(
    values: Values, measures: Sequence[str], systems: Sequence[System], command: Sequence[str]
) -> Iterator[str]:
    """The table, where questions have the benchmark's types; measures without a question of theirs are left out."""
    types = sorted({kind for _, kind, _ in values} - {""})
    shown = [measure for measure in measures if types_of(measure, types)]
    if not systems or not shown or not set(types) & set(KNOWN_TYPES):
        return
    yield from ("## As GraphRAG-Bench has it", "")
    yield from ("Each measure over the question types for which the benchmark has it:", "")
    rows = [["Variables read", "", *(f"{one.size:,}" for one in systems)]]
    for measure in shown:
        over = types_of(measure, types)
        said = "all" if over == types else plain(", ".join(over))
        rows.append([measure_title(measure)[0], said, *(_mean(values, measure, over, one.name) for one in systems)])
    yield from table(("measure", "question types", *(one.name for one in systems)), rows)
    yield from command


def _mean(values: Values, measure: str, types: Sequence[str], system: str) -> str:
    found = [value for kind in types for value in values.get((measure, kind, system), ())]
    return f"{fmean(found):.3f} ({len(found):,})" if found else ""
