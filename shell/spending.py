"""`hcg estimate` and `hcg cache`: what a build will cost before it is made, and what the cache of replies holds."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hcg_pipeline.errors import HcgError
from resources.terminal import ERR, counted, print_json, print_table, say
from shell.arguments import Corpus, Json, TierName, workspace_with

if TYPE_CHECKING:
    from sqlalchemy import Engine

    from hcg_pipeline.estimation.estimate import StageEstimate

Batch = Annotated[
    bool,
    typer.Option("--batch", help="Through the endpoint's Batch API: half the price, within a day; stop and go on."),
]

cache_app = typer.Typer(help="What the cache of LLM replies holds, and deleting from it.", no_args_is_help=True)


def estimate(
    corpus: Corpus,
    tier: Annotated[
        TierName | None, typer.Option(help="As for `hcg build`; else as corpus.yaml says, else S.", show_default=False)
    ] = None,
    as_json: Json = False,
) -> None:
    """Calls, tokens and USD that `hcg build CORPUS` would cost, stage by stage. Makes no call."""
    from assets.spending import estimate_corpus
    from resources.run_progress import Listened
    from resources.stage_bars import StageBars

    workspace, name = workspace_with(corpus)
    with StageBars(ERR):
        found = estimate_corpus(workspace, name, tier, Listened())
    if as_json:
        print_json({"corpus": name, **asdict(found)})
        return
    say(f"{name}, tier {found.tier}, {found.model}:")
    print_table(
        ("stage", "calls", "cached", "tokens in", "tokens out", "USD"),
        [_row(stage) for stage in (*found.stages, found.total)],
    )
    batch = "" if found.usd_in_batches is None else f"; with --batch about {found.usd_in_batches:.2f} USD"
    say(f"At most {counted(found.most_calls, 'call')} at this tier{batch}.")
    for note in found.notes:
        say(f"- {note}")


def print_costs(costs: list[dict[str, Any]]) -> None:
    """The rows of `spending.corpus_costs` as a table; nothing if there are none."""
    if not costs:
        return
    say("\nLLM calls so far:")
    columns = ("calls", "batched", "cached", "retries", "tokens_in", "tokens_out")
    rows = [[cost["stage"], *(f"{cost[name]:,}" for name in columns), _usd(cost["usd"])] for cost in costs]
    print_table(("stage", "calls", "in batches", "cached", "retries", "tokens in", "tokens out", "USD"), rows)


@cache_app.command(epilog="Example:  hcg cache stats --json")
def stats(as_json: Json = False) -> None:
    """Replies that are kept, by model and by stage."""
    from hcg_pipeline.backends.llm.cache import cache_stats

    found = cache_stats(_cache())
    if as_json:
        print_json({**asdict(found), "by_model": dict(found.by_model), "by_stage": dict(found.by_stage)})
        return
    say(f"{found.replies:,} replies, {found.characters:,} characters; {found.pending:,} not found good yet")
    say(f"They took {found.tokens_in:,} tokens in and {found.tokens_out:,} out, which a rebuild does not pay again.")
    for title, counts in (("model", found.by_model), ("stage", found.by_stage)):
        if counts:
            print_table((title, "replies"), [[name, f"{count:,}"] for name, count in counts])


@cache_app.command(epilog="Example:  hcg cache prune --unused-days 90")
def prune(
    unused_days: Annotated[
        int | None, typer.Option(min=0, help="Replies that no run has used for so many days.", show_default=False)
    ] = None,
    model: Annotated[str | None, typer.Option(help="Replies of this model alone.", show_default=False)] = None,
    everything: Annotated[bool, typer.Option("--all", help="All of them.")] = False,
) -> None:
    """Delete replies; what is asked again then is paid for again."""
    from hcg_pipeline.backends.llm.cache import cache_stats, prune_cache

    if not everything and unused_days is None and model is None:
        raise HcgError("Say which replies: --unused-days N, --model NAME, or --all.")
    engine = _cache()
    deleted = prune_cache(engine, unused_days=unused_days, model=model)
    say(f"{deleted:,} replies deleted, {cache_stats(engine).replies:,} kept.")


def _cache() -> "Engine":
    from resources.language import LanguageModel
    from resources.workspace import Workspace

    return LanguageModel.from_environment(Workspace.from_environment().cache).cache_engine()


def build_config(batch: bool, tier: str | None) -> Mapping[str, Any]:
    """Dagster's run config for these choices."""
    chosen = ({"tier": tier} if tier else {}) | ({"batch": True} if batch else {})
    return {"resources": {"choices": {"config": chosen}}} if chosen else {}


def _row(stage: "StageEstimate") -> list[str]:
    numbers = (stage.calls, stage.cached, stage.tokens_in, stage.tokens_out)
    return [stage.stage, *(f"{number:,}" for number in numbers), _usd(stage.usd)]


def _usd(value: float | None) -> str:
    return "?" if value is None else f"{value:.4f}"
