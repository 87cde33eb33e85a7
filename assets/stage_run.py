"""What every asset does around its one call of the engine: read the settings, report progress, attach metadata."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from typing import Any

import dagster as dg
import pyarrow as pa

from assets.asking_checks import cost_within_budget, failed_windows
from assets.column_lineage import column_lineage
from assets.corpora import CORPORA
from assets.table_metadata import column_schema, content_version, preview
from assets.turns import take_turn
from hcg_pipeline import tables
from hcg_pipeline.any_path import AnyPath
from hcg_pipeline.backends.llm.backend import LlmBackend
from hcg_pipeline.backends.llm.ledger import StageCost
from hcg_pipeline.backends.protocol import Failure, LanguageBackend, Outcome, Usage
from hcg_pipeline.embedding.cache import CachedEmbedder
from hcg_pipeline.evaluation.judging.judge import Judge
from resources.build_choices import BuildChoices
from resources.embedding import EmbeddingModel
from resources.judging import Judges
from resources.language import LanguageModel
from resources.ledgers import RunCalls
from resources.run_progress import RunProgress
from resources.table_files import replace_table
from resources.workspace import Workspace

_KINDS = frozenset({"python", "parquet"})
LLM_POOL = "llm"
"""The pool of the stages that ask the language backend: all corpora share what the instance gives it."""
_OWNERS = ["team:knowledge"]

# Dagster takes a result with check results from a generator; for a plain return it would have it annotated as a tuple.
StageResult = Iterator[dg.MaterializeResult[pa.Table]]


def stage_asset(
    group: str,
    schema: pa.Schema,
    *,
    version: str,
    kinds: Set[str] = _KINDS,
    deps: Sequence[str] = (),
    checks: Sequence[dg.AssetCheckSpec] = (),
    pool: str | None = None,
) -> Callable[[Callable[..., StageResult]], dg.AssetsDefinition]:
    """A decorator that makes a function an asset of the pipeline: partitioned by corpus, described by its docstring.

    `schema` is what the asset hands on; `version` changes when its code makes another table of the same input.
    `deps` are assets that it needs but is not handed; `pool` bounds how many such steps run at once, over all corpora.
    """
    return dg.asset(
        partitions_def=CORPORA,
        group_name=group,
        kinds=set(kinds),
        code_version=version,
        owners=_OWNERS,
        metadata={"dagster/column_schema": column_schema(schema)},
        deps=list(deps),
        check_specs=list(checks),
        pool=pool,
    )


def stage_output(group: str, schema: pa.Schema, *, version: str, description: str) -> dg.AssetOut:
    """One output of a multi-asset, described like the asset of `stage_asset`."""
    return dg.AssetOut(
        group_name=group,
        kinds=set(_KINDS),
        code_version=version,
        owners=_OWNERS,
        metadata={"dagster/column_schema": column_schema(schema)},
        description=description,
    )


class StageRun:
    """One stage at work on one corpus: its settings, its progress, the clock, and the output that it ends with."""

    def __init__(self, context: dg.AssetExecutionContext, workspace: Workspace, choices: BuildChoices) -> None:
        self.corpus = context.partition_key
        take_turn(context.instance, context.run.run_id, self.corpus)
        self._choices = choices
        self._asset = context.op_def.name
        self.workspace = workspace
        self.settings = choices.applied_to(workspace.settings(self.corpus))
        self._run_id = context.run.run_id
        self._calls: RunCalls | None = None
        self._vectors: RunCalls | None = None
        self._bounds: Mapping[str, float] = {}
        self.progress = RunProgress(context.log, self._spent_so_far)
        self._began = time.perf_counter()

    def backend(self, language: LanguageModel) -> LanguageBackend:
        """The backend that the corpus asks for. An endpoint's calls go into this run's ledger, in batches if chosen."""
        backend = language.backend_for(self.settings.backend)
        if not isinstance(backend, LlmBackend):
            return backend
        return self._recorded(language).of(backend.in_batches() if self._choices.batch else backend)

    def embedder(self, embedding: EmbeddingModel, language: LanguageModel) -> CachedEmbedder:
        """The embedder for the corpus. An endpoint's calls go into this run's ledger."""
        embedder = embedding.embedder_for(self.settings.backend)
        if not embedder.makes_calls:
            return embedder
        self._vectors = self._run_calls(language)
        return self._vectors.of(embedder)

    def question_calls(self, embedding: EmbeddingModel, language: LanguageModel) -> RunCalls | None:
        """What takes note of the calls that embed questions, where an endpoint may be asked to."""
        return self._recorded(language) if embedding.kind == "openai" else None

    def judges(self, judging: Judges, language: LanguageModel) -> list[Judge]:
        """The judges that are configured, if any. Their calls go into this run's ledger, replies into the cache."""
        if not judging.endpoints:
            return []
        calls = self._recorded(language)
        return [calls.of(judge) for judge in judging.judges(language.cache_engine())]

    def _recorded(self, language: LanguageModel) -> RunCalls:
        self._calls = self._run_calls(language)
        bounds = {"calls": language.max_calls, "tokens": language.max_tokens, "USD": language.max_usd}
        self._bounds = {what: float(bound) for what, bound in bounds.items() if bound is not None}
        return self._calls

    def _run_calls(self, language: LanguageModel) -> RunCalls:
        folder = self.workspace.corpus_store(self.corpus) / "ledger"
        return RunCalls(language.cache_engine(), folder, self.corpus, self._run_id, language.price_list())

    def result(
        self,
        table: pa.Table,
        *,
        asset: str | None = None,
        columns: Sequence[str] | None = None,
        outcome: Outcome[Any] | None = None,
        backend: LanguageBackend | None = None,
        checks: Sequence[dg.AssetCheckResult] = (),
        shown: Mapping[str, Any] | None = None,
    ) -> dg.MaterializeResult[pa.Table]:
        """The table with a data version from its content, and what a person wants to see of it.

        That is its row count, a preview (of `columns`), the time, what else is `shown`, and, where a backend was
        asked, which one, what the calls cost, and those that failed. `asset` names the output of a multi-asset.
        """
        name = asset or self._asset
        metadata: dict[str, Any] = {
            "dagster/row_count": table.num_rows,
            "dagster/column_lineage": column_lineage(name),
            "seconds": round(time.perf_counter() - self._began, 3),
            **(shown or {}),
        }
        if backend is not None:
            metadata["backend"] = f"{backend.name} ({backend.version})"
        if self._calls is None and self._vectors is not None:
            metadata |= _vector_costs(self._vectors.settle()[1])
        if outcome is not None:
            metadata |= self._costs(outcome.usage)
            metadata |= self._quarantine(name, outcome.failures)
            if backend is not None:
                checks = [*checks, self._cost_check(name)]
        return dg.MaterializeResult(
            asset_key=asset,
            value=table,
            metadata={**metadata, "preview": preview(table, columns)},
            data_version=content_version(table),
            check_results=[self._with_links(check, name) for check in checks],
        )

    def _costs(self, usage: Usage) -> dict[str, Any]:
        """What the stage's calls came to: as the ledger has it, where there is one."""
        if self._calls is None:
            calls = {"llm_calls": usage.calls, "llm_calls_from_cache": usage.cached}
            return calls | {"tokens_in": usage.tokens_in, "tokens_out": usage.tokens_out}
        cost, vectors = self._calls.settle()
        return _vector_costs(vectors) | {
            "llm_calls": cost.calls,
            "llm_calls_in_batches": cost.batched,
            "llm_calls_from_cache": max(0, usage.cached - cost.batched),
            "tokens_in": cost.tokens_in,
            "tokens_in_at_cached_rate": cost.tokens_cached,
            "tokens_out": cost.tokens_out,
            "llm_retries": cost.retries,
            "llm_usd": "no price for this model" if cost.usd is None else cost.usd,
        }

    def failed_windows(self, asset: str, outcome: Outcome[Any], asked: int) -> dg.AssetCheckResult:
        """The check that failed replies stay below the share that this run allows."""
        kept = str(self._failures_file(asset)) if outcome.failures else None
        return failed_windows(asset, failure_table(outcome.failures), asked, self._choices.failed_share, kept)

    def _cost_check(self, asset: str) -> dg.AssetCheckResult:
        spent: dict[str, float] = {}
        if self._calls is not None:
            cost = self._calls.so_far()
            spent = {"calls": cost.calls, "tokens": cost.tokens_in + cost.tokens_out}
            spent |= {} if cost.usd is None else {"USD": cost.usd}
        return cost_within_budget(asset, spent, self._bounds)

    def _spent_so_far(self) -> str:
        """What the run's log says of its cost: nothing where nothing costs anything."""
        if self._calls is None:
            return ""
        cost = self._calls.so_far()
        usd = "" if cost.usd is None else f", {cost.usd:.4f} USD"
        return f"{cost.calls:,} calls, {cost.tokens_in + cost.tokens_out:,} tokens{usd} so far"

    def _with_links(self, check: dg.AssetCheckResult, asset: str) -> dg.AssetCheckResult:
        """The check's result with the way to all rows: the asset's page, and the file with its table."""
        table = self.workspace.corpus_store(self.corpus) / "assets" / f"{asset}.parquet"
        links: dict[str, dg.MetadataValue[Any]] = {
            "asset": dg.MetadataValue.asset(dg.AssetKey(asset)),
            "table": dg.MetadataValue.path(str(table)),
        }
        return check._replace(metadata={**check.metadata, **links})

    def _quarantine(self, asset: str, failures: Sequence[Failure]) -> Mapping[str, Any]:
        """Keep replies that could not be used in `<corpus store>/failures/<asset>.parquet`; metadata that shows them.

        The file is written even when there are none, so that it always speaks of the latest run.
        """
        table = failure_table(failures)
        path = self._failures_file(asset)
        replace_table(path, table)
        shown: dict[str, Any] = {"failed_calls": table.num_rows}
        if table.num_rows:
            shown["failed_calls_preview"] = preview(table)
            shown["failed_calls_file"] = dg.MetadataValue.path(str(path))
        return shown

    def _failures_file(self, asset: str) -> AnyPath:
        return self.workspace.corpus_store(self.corpus) / "failures" / f"{asset}.parquet"


def _vector_costs(cost: StageCost) -> dict[str, Any]:
    """What calls for vectors came to; nothing where none was made."""
    if not cost.calls:
        return {}
    usd = "no price for this model" if cost.usd is None else cost.usd
    return {"embedding_calls": cost.calls, "embedding_tokens": cost.tokens_in, "embedding_usd": usd}


def failure_table(failures: Sequence[Failure]) -> pa.Table:
    """Failures as a FAILURES table, in their order."""
    rows = [{"stage": f.stage, "key": f.key, "reason": f.reason, "raw": f.raw} for f in failures]
    return pa.Table.from_pylist(rows, schema=tables.FAILURES)
