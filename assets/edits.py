"""What an expert wrote beside the documents: outcomes.yaml and corrections.yaml, as inputs that the lineage shows."""

import dagster as dg

from assets.stage_run import StageResult, StageRun, stage_asset
from hcg_pipeline import tables
from hcg_pipeline.specification import corrections as corrections_file
from hcg_pipeline.specification import outcomes as outcomes_file
from resources.build_choices import BuildChoices
from resources.workspace import Workspace


@stage_asset("specification/settings", tables.OUTCOMES, version="1", kinds={"python", "yaml"}, deps=["outcomes_file"])
def outcomes(context: dg.AssetExecutionContext, workspace: Workspace, choices: BuildChoices) -> StageResult:
    """The corpus's outcomes.yaml: metrics that are terminals, and those that are outcomes.

    Empty where there is no such file: roles then come from the pin, or from the metrics' names and descriptions.
    """
    run = StageRun(context, workspace, choices)
    folder = workspace.corpus_folder(run.corpus)
    table = outcomes_file.outcomes_table(outcomes_file.read_outcomes(folder))
    yield run.result(table, shown={"file": dg.MetadataValue.path(str(folder / outcomes_file.FILE))})


@stage_asset("graph/corrections", tables.CORRECTIONS, version="1", kinds={"python", "yaml"}, deps=["corrections_file"])
def corrections(context: dg.AssetExecutionContext, workspace: Workspace, choices: BuildChoices) -> StageResult:
    """The expert's edits in the corpus's corrections.yaml, in their order. Empty where there is no such file.

    They are applied after everything that a backend is asked, so an edit costs no call.
    """
    run = StageRun(context, workspace, choices)
    folder = workspace.corpus_folder(run.corpus)
    table = corrections_file.corrections_table(corrections_file.read_corrections(folder))
    yield run.result(
        table,
        columns=["place", "action", "edit", "note"],
        shown={"file": dg.MetadataValue.path(str(folder / corrections_file.FILE))},
    )
