"""Dagster's door: every asset, check, job, sensor and resource of the pipeline, put together."""

import dagster as dg

from assets import answering, corpus, correcting, edits, embedding, evaluation, graph, inputs, quality, specification
from assets.automation import changed_corpora, changed_questions, nightly
from assets.cataloguing import catalogued
from assets.noticing import corpora_noticed
from assets.reacting import FOLLOW_THE_GRAPH, answers_follow_the_graph
from resources.build_choices import BuildChoices
from resources.embedding import EmbeddingModel
from resources.judging import Judges
from resources.language import LanguageModel
from resources.repository import Repository
from resources.table_files import TableFilesResource
from resources.workspace import Workspace

workspace = Workspace.from_environment()
workspace.keep_caches_inside()

language = LanguageModel.from_environment(workspace.cache)

_LOOKED_AT = dg.AssetSelection.assets(*inputs.INPUTS)
_ASKED = dg.AssetSelection.groups("answering", "evaluation") - _LOOKED_AT
_BUILT = dg.AssetSelection.all() - _ASKED - _LOOKED_AT

build_graph = dg.define_asset_job(
    "build_graph",
    selection=_LOOKED_AT | _BUILT,
    description="From the documents of a corpus to its published graph.",
)
answer_questions = dg.define_asset_job(
    "answer_questions",
    selection=_LOOKED_AT | _ASKED,
    description="Answers to the question files of a corpus from its published graph, with scores and a report.",
)
everything = dg.define_asset_job(
    "everything",
    selection=_LOOKED_AT | _BUILT | _ASKED,
    description="The published graph of a corpus, and the answers to its question files.",
)
costs_nothing = language.backend == "rules"  # what runs by itself costs nothing, unless somebody turned it on

defs = dg.Definitions(
    assets=catalogued(
        [
            *dg.load_assets_from_modules([inputs, corpus, embedding, edits, specification, graph, correcting, quality]),
            *dg.load_assets_from_modules([answering, evaluation], automation_condition=FOLLOW_THE_GRAPH),
        ],
        Repository.from_environment(),
    ),
    jobs=[build_graph, answer_questions, everything],
    sensors=[
        corpora_noticed(workspace.seconds_between_looks),
        changed_corpora(build_graph, costs_nothing, workspace.seconds_between_looks),
        changed_questions(answer_questions, costs_nothing, workspace.seconds_between_looks),
        answers_follow_the_graph(_ASKED),
    ],
    schedules=[nightly(everything)],
    executor=dg.in_process_executor,
    resources={
        "workspace": workspace,
        "choices": BuildChoices(),
        "language": language,
        "embedding": EmbeddingModel.from_environment(workspace.cache),
        "judging": Judges.from_environment(),
        "io_manager": TableFilesResource(store=str(workspace.store)),
    },
)
