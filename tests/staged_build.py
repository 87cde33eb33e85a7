"""The asking stages of a build, one after the other as the assets run them, without Dagster."""

import pyarrow as pa

from hcg_pipeline.backends.protocol import LanguageBackend
from hcg_pipeline.corpus.windows import pack_windows
from hcg_pipeline.estimation.rehearsal import PlannedBuild
from hcg_pipeline.graph.node_edges import edge_questions, merge_edges, seed_edges
from hcg_pipeline.graph.templates import lift_templates, merge_templates, template_questions
from hcg_pipeline.progress import Silent
from hcg_pipeline.specification.assembly import assemble, ground_relations
from hcg_pipeline.specification.dimensions import cut_dimensions, resolve_dimensions
from hcg_pipeline.specification.metrics import resolve_metrics
from hcg_pipeline.specification.tiers import VOCABULARY_WINDOW_WORDS, VOCABULARY_WINDOWS, caps_of, sample_windows
from hcg_pipeline.specification.vocabulary_tables import to_vocabulary


def ask_everything(backend: LanguageBackend, build: PlannedBuild) -> pa.Table:
    """Run all stages that ask `backend`; NODE_EDGES."""
    quiet, chunks, caps = Silent(), build.chunks, caps_of(build.tier)
    windows = sample_windows(pack_windows(chunks, VOCABULARY_WINDOW_WORDS), VOCABULARY_WINDOWS)
    ranked = resolve_dimensions(backend.propose_dimensions(windows, quiet).results).table
    proposals = backend.propose_metrics(windows, to_vocabulary(ranked).dimensions, quiet).results
    metrics = resolve_metrics(proposals, ranked, build.outcomes, build.tier).table
    vocabulary = to_vocabulary(cut_dimensions(ranked, build.tier), metrics)
    reading = backend.read_windows(pack_windows(chunks, caps.window_words), vocabulary, quiet)
    assembly = assemble(reading.results, vocabulary, chunks)
    grown = to_vocabulary(assembly.dimensions, metrics)
    questions = template_questions(grown, assembly.relations, assembly.variables, chunks, caps)
    verdicts = [one for several in backend.judge_templates(questions, quiet).results for one in several]
    templates = merge_templates(lift_templates(assembly.relations), verdicts, grown)
    stated = seed_edges(assembly.relations)
    asked = edge_questions(templates, assembly.variables, chunks, stated, grown, caps)
    judged = [one for several in backend.judge_edges(asked, quiet).results for one in several]
    return merge_edges(stated, ground_relations(judged, grown, chunks).table, templates)
