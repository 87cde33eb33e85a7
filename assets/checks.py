"""What the asset checks look at. Each takes tables and returns a result that says what is wrong, with the rows."""

import warnings
from collections.abc import Mapping, Sequence

import dagster as dg
import pyarrow as pa
import pyarrow.compute as pc

from assets.corpora import CORPORA
from assets.table_metadata import preview, rows_preview
from hcg_pipeline.graph.drift import Drift
from hcg_pipeline.graph.published import Graph
from hcg_pipeline.specification.vocabulary import Vocabulary

SHOWN = 50
"""Rows of a failed check that its metadata shows; the file `table` holds all of them."""
MOST_DRIFT = 0.25
"""How much larger a share of the newest text may be unread than of the text that the vocabulary was made from."""

# What each check is, and whether a failure stops what follows.
_CHECKS = {
    "no_rejected_files": (False, "Every file of the corpus folder could be read."),
    "spans_exact": (True, "Each passage or quote is exactly its document's text from `start` to `end`."),
    "vocabulary_closed": (
        True,
        "Every metric named is one of the specification, with one entity per dimension of its signature.",
    ),
    "failed_windows": (False, "All but a small share of what the backend was asked got a reply that could be used."),
    "edges_have_evidence": (False, "Every edge has at least one piece of evidence that can be opened at its place."),
    "graph_not_empty": (False, "The graph has edges: the corpus states causes that the backend could read."),
    "corrections_match": (False, "Every edit of corrections.yaml found what it is about, and did something."),
    "vocabulary_fits": (
        False,
        "The newest text fits the pinned vocabulary about as well as the text from which it was made.",
    ),
    "judged_in_full": (False, "Every score that a judge owes is there: no reply of a judge was unusable."),
    "answers_have_evidence": (False, "Every answer stands on evidence, and cites at least one piece of it."),
    "index_matches_graph": (
        True,
        "The index that readers see holds exactly the passages, variables and edges of the graph that was built.",
    ),
    "cost_within_budget": (
        False,
        "What the run has spent so far on calls leaves room in its budget. Without a budget, it says what was spent.",
    ),
}


def spec(name: str, asset: str) -> dg.AssetCheckSpec:
    """The declaration of a check on an asset."""
    blocking, description = _CHECKS[name]
    with warnings.catch_warnings():
        # Partitioned checks are in preview in this Dagster, whose version is pinned. Without them, one corpus that
        # passes would hide another that fails.
        warnings.simplefilter("ignore", dg.PreviewWarning)
        return dg.AssetCheckSpec(name, asset=asset, blocking=blocking, description=description, partitions_def=CORPORA)


def no_rejected_files(rejected: pa.Table) -> dg.AssetCheckResult:
    """Warns when a file could not be read, and lists each with its reason."""
    return dg.AssetCheckResult(
        passed=rejected.num_rows == 0,
        check_name="no_rejected_files",
        asset_key="rejected",
        severity=dg.AssetCheckSeverity.WARN,
        description=f"{rejected.num_rows} of the corpus's files could not be read." if rejected.num_rows else None,
        metadata={"rejected": rejected.num_rows, "rows": preview(rejected, rows=SHOWN)},
    )


def spans_exact(asset: str, documents: pa.Table, passages: pa.Table, column: str) -> dg.AssetCheckResult:
    """Fails, and blocks what follows, when a passage's `column` is not its document's text[start:end]."""
    texts = dict(zip(documents["document_id"].to_pylist(), documents["text"].to_pylist(), strict=True))
    wrong = [
        place
        for place, (document, start, end, quote) in enumerate(
            zip(*(passages[name].to_pylist() for name in ("document_id", "start", "end", column)), strict=True)
        )
        if document not in texts or texts[document][start:end] != quote
    ]
    return dg.AssetCheckResult(
        passed=not wrong,
        check_name="spans_exact",
        asset_key=asset,
        severity=dg.AssetCheckSeverity.ERROR,
        description=f"{len(wrong)} of {passages.num_rows} are not the words at their place." if wrong else None,
        metadata={
            "checked": passages.num_rows,
            "wrong": len(wrong),
            "rows": preview(_rows(passages, wrong), rows=SHOWN),
        },
    )


def vocabulary_closed(asset: str, variables: pa.Table, vocabulary: Vocabulary) -> dg.AssetCheckResult:
    """Fails, and blocks what follows, when a variable's metric is not in the specification or is bound wrongly."""
    wrong = [
        place
        for place, (metric, entities) in enumerate(
            zip(variables["metric"].to_pylist(), variables["entities"].to_pylist(), strict=True)
        )
        if metric not in vocabulary.metric or len(entities) != len(vocabulary.metric[metric].signature)
    ]
    return dg.AssetCheckResult(
        passed=not wrong,
        check_name="vocabulary_closed",
        asset_key=asset,
        severity=dg.AssetCheckSeverity.ERROR,
        description=f"{len(wrong)} of {variables.num_rows} name what the vocabulary lacks." if wrong else None,
        metadata={
            "checked": variables.num_rows,
            "wrong": len(wrong),
            "rows": preview(_rows(variables, wrong), rows=SHOWN),
        },
    )


def index_matches_graph(built: str, published: str, differences: Sequence[Mapping[str, str]]) -> dg.AssetCheckResult:
    """Fails, and blocks what follows, when readers would see an index of something else than the graph.

    `built` and `published` are snapshot ids; each of the `differences` names a `table`, a `row` and where it is `only`.
    """
    problems = [f"readers see {published}, not {built}"] if built != published else []
    if differences:
        problems.append(f"{len(differences)} rows are in only one of graph and index")
    about = f"{'; '.join(problems)}: delete the snapshot's folder and build the corpus again." if problems else None
    return dg.AssetCheckResult(
        passed=not problems,
        check_name="index_matches_graph",
        asset_key="graph_index",
        severity=dg.AssetCheckSeverity.ERROR,
        description=about,
        metadata={
            "graph": built,
            "published": published,
            "differences": len(differences),
            **({"rows": rows_preview(differences[:SHOWN])} if differences else {}),
        },
    )


def edges_have_evidence(edges: pa.Table, links: pa.Table) -> dg.AssetCheckResult:
    """Warns when an edge has no evidence that can be opened, and lists those edges."""
    supported = pa.array(sorted(set(links["edge_id"].to_pylist())), pa.string())
    bare = edges.filter(pc.invert(pc.is_in(edges["edge_id"], value_set=supported)))
    share = 1 - bare.num_rows / edges.num_rows if edges.num_rows else 1.0
    return dg.AssetCheckResult(
        passed=bare.num_rows == 0,
        check_name="edges_have_evidence",
        asset_key="evidence_links",
        severity=dg.AssetCheckSeverity.WARN,
        description=f"{bare.num_rows} of {edges.num_rows} edges have no evidence." if bare.num_rows else None,
        metadata={
            "edges": edges.num_rows,
            "without_evidence": bare.num_rows,
            "share_with_evidence": share,
            "rows": preview(bare, ["edge_id", "source", "target", "mechanism"], rows=SHOWN),
        },
    )


def graph_not_empty(graph: Graph) -> dg.AssetCheckResult:
    """Warns when a graph has no edges."""
    empty = graph.edges.num_rows == 0
    about = (
        "The graph has no edges: the documents are too few, state no causes, or are in a language that the backend "
        "does not read. Add documents, or use an LLM backend."
    )
    return dg.AssetCheckResult(
        passed=not empty,
        check_name="graph_not_empty",
        asset_key="graph",
        severity=dg.AssetCheckSeverity.WARN,
        description=about if empty else None,
        metadata={"variables": graph.nodes.num_rows, "edges": graph.edges.num_rows},
    )


def corrections_match(edits: int, problems: Sequence[str]) -> dg.AssetCheckResult:
    """Fails when an edit had no effect, and says for each where it stands and why. The others are applied."""
    return dg.AssetCheckResult(
        passed=not problems,
        check_name="corrections_match",
        asset_key="corrected_edges",
        severity=dg.AssetCheckSeverity.ERROR,
        description="; ".join(problems) if problems else None,
        metadata={
            "edits": edits,
            "without_effect": len(problems),
            "rows": rows_preview([{"problem": problem} for problem in problems]),
        },
    )


def vocabulary_fits(drift: Drift) -> dg.AssetCheckResult:
    """Warns when the newest text leaves more of itself unread than older text does, by `MOST_DRIFT` or more."""
    passed = drift.excess < MOST_DRIFT
    about = (
        f"Of the newest text, {drift.excess:.0%} more does not fit the pinned vocabulary than of the text it was made "
        "from: `hcg respec` shows what a new one would change."
    )
    return dg.AssetCheckResult(
        passed=passed,
        check_name="vocabulary_fits",
        asset_key="quality_report",
        severity=dg.AssetCheckSeverity.WARN,
        description=None if passed else about,
        metadata={
            "drift": drift.excess,
            "newest_documents": drift.newest.documents if drift.newest else 0,
            "new_words": rows_preview([{"word": word, "passages": count} for word, count in drift.words]),
        },
    )


def judged_in_full(missing: pa.Table, unusable: int) -> dg.AssetCheckResult:
    """Warns when judges' replies could not be used. `missing` is MISSING: every judged score that is not there."""
    return dg.AssetCheckResult(
        passed=unusable == 0,
        check_name="judged_in_full",
        asset_key="scores",
        severity=dg.AssetCheckSeverity.WARN,
        description=(
            f"{unusable} replies of judges could not be used; their scores are missing, and count as nothing."
            if unusable
            else None
        ),
        metadata={
            "unusable_replies": unusable,
            "missing_scores": missing.num_rows,
            "rows": preview(missing, rows=SHOWN),
        },
    )


def answers_have_evidence(answers: pa.Table) -> dg.AssetCheckResult:
    """Warns when an answer stands on no evidence or cites none of it, and lists those questions."""
    lacking = pc.equal(pc.list_value_length(answers["contexts"]), 0)
    uncited = pc.and_(answers["answered"], pc.equal(pc.list_value_length(answers["cited"]), 0))
    bare = answers.filter(pc.or_(lacking, uncited))
    return dg.AssetCheckResult(
        passed=bare.num_rows == 0,
        check_name="answers_have_evidence",
        asset_key="answers",
        severity=dg.AssetCheckSeverity.WARN,
        description=(
            f"{bare.num_rows} of {answers.num_rows} answers have no evidence, or cite none of it."
            if bare.num_rows
            else None
        ),
        metadata={
            "answers": answers.num_rows,
            "without_evidence": pc.sum(lacking).as_py() or 0,
            "without_citation": pc.sum(uncited).as_py() or 0,
            "rows": preview(bare, ["question_set", "id", "question", "mode"], rows=SHOWN),
        },
    )


def _rows(table: pa.Table, places: list[int]) -> pa.Table:
    return table.take(pa.array(places[:SHOWN], pa.int64()))
