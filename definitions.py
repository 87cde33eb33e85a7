"""Dagster's door: every asset, check, job, sensor and resource of the pipeline, put together."""

import dagster as dg

from assets import answering, corpus, correcting, edits, embedding, evaluation, graph, inputs, quality, specification
from assets.automation import changed_corpora, changed_questions, corpora_noticed, nightly
from assets.reacting import FOLLOW_THE_GRAPH, answers_follow_the_graph
from resources.build_choices import BuildChoices
from resources.embedding import EmbeddingModel
from resources.judging import Judges
from resources.language import LanguageModel
from resources.table_files import TableFilesResource
from resources.workspace import Workspace

workspace = Workspace.from_environment()
workspace.keep_caches_inside()

_BUILT = dg.AssetSelection.groups("corpus", "embedding", "specification", "graph")
_ASKED = dg.AssetSelection.groups("answering", "evaluation")

defs = dg.Definitions(
    assets=dg.load_assets_from_modules(
        [corpus, embedding, edits, specification, graph, correcting, quality, answering, evaluation]
    ),
    jobs=[
        dg.define_asset_job(
            "build_graph",
            selection=_BUILT,
            description="From the documents of a corpus to its published graph.",
        ),
        dg.define_asset_job(
            "answer_questions",
            selection=_ASKED,
            description="Answers to the question files of a corpus from its published graph, with scores and a report.",
        ),
        dg.define_asset_job(
            "everything",
            selection=_BUILT | _ASKED,
            description="The published graph of a corpus, and the answers to its question files.",
        ),
    ],
    sensors=[new_corpora],
    executor=dg.in_process_executor,
    resources={
        "workspace": workspace,
        "choices": BuildChoices(),
        "language": LanguageModel.from_environment(workspace.cache),
        "embedding": EmbeddingModel.from_environment(workspace.cache),
        "judging": Judges.from_environment(),
        "io_manager": TableFilesResource(store=str(workspace.store)),
    },
)
