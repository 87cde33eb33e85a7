"""The pinned specification: once published, later builds keep its dimensions and metrics.

A person's `graph_spec.yaml` in the corpus folder is the pin. Without one, the first published build of a backend and
tier leaves its own in `<corpus store>/pins/<backend>-<tier>.yaml`; without that file the next build proposes anew.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import pyarrow as pa

from hcg_pipeline.any_path import AnyPath
from hcg_pipeline.specification.outcomes import OutcomeConfig, assign_roles
from hcg_pipeline.specification.spec_file import FILE, parse_spec, read_spec, render_spec
from hcg_pipeline.specification.specification import Comment, Specification
from hcg_pipeline.specification.vocabulary import Vocabulary
from hcg_pipeline.specification.vocabulary_tables import dimensions_table, metrics_table, to_vocabulary
from resources.table_files import replace_text
from resources.workspace import Workspace


@dataclass(frozen=True)
class Pin:
    """A pinned specification and the file that holds it."""

    path: AnyPath
    specification: Specification

    @property
    def dimensions(self) -> pa.Table:
        """The DIMENSIONS that a build keeps to."""
        return dimensions_table(self.specification.dimensions)

    def metrics(self, outcomes: OutcomeConfig | None) -> pa.Table:
        """The METRICS that a build keeps to; roles are the file's, unless an outcomes.yaml gives them."""
        metrics = self.specification.metrics
        return metrics_table(metrics if outcomes is None else assign_roles(metrics, outcomes))

    @property
    def comments(self) -> tuple[Comment, ...]:
        """A person's comments, which the published specification repeats."""
        return self.specification.comments


def read_pin(workspace: Workspace, corpus: str, backend: str, tier: str) -> Pin | None:
    """The pin that a build of this backend and tier keeps to, or None before the first. Raises `SettingsError`."""
    folder = workspace.corpus_folder(corpus)
    own = read_spec(folder)
    if own is not None:
        return Pin(folder / FILE, own)
    path = _path(workspace, corpus, backend, tier)
    if not path.is_file():
        return None
    return Pin(path, _parsed(path.read_text(encoding="utf-8"), str(path)))


@lru_cache(maxsize=8)
def _parsed(text: str, path: str) -> Specification:
    """Several stages of a build read the same pin."""
    return parse_spec(text, path)


def known_documents(workspace: Workspace, corpus: str, backend: str, tier: str) -> frozenset[str] | None:
    """Ids of the documents that the pin was made from.

    None where nobody kept them: before the first build, and for a person's own specification.
    """
    path = _documents_path(workspace, corpus, backend, tier)
    if read_spec(workspace.corpus_folder(corpus)) is not None or not path.is_file():
        return None
    return frozenset(path.read_text(encoding="utf-8").split())


def write_pin(
    workspace: Workspace,
    corpus: str,
    backend: str,
    tier: str,
    dimensions: pa.Table,
    metrics: pa.Table,
    documents: Sequence[str],
) -> AnyPath | None:
    """Pin DIMENSIONS and METRICS for later builds, unless there is a pin already. Returns the pin's path.

    `documents` are the ids of those that they were made from.

    A specification without dimensions or metrics is no specification: it is not pinned, and None is returned.
    """
    pin = read_pin(workspace, corpus, backend, tier)
    if pin is not None:
        return pin.path
    vocabulary = to_vocabulary(dimensions, metrics)
    if not vocabulary.dimensions or not vocabulary.metrics:
        return None
    return replace_pin(workspace, corpus, backend, tier, vocabulary, documents)


def replace_pin(
    workspace: Workspace, corpus: str, backend: str, tier: str, vocabulary: Vocabulary, documents: Sequence[str]
) -> AnyPath:
    """Pin a vocabulary, whatever was pinned before. Returns the pin's path."""
    path = _path(workspace, corpus, backend, tier)
    replace_text(_documents_path(workspace, corpus, backend, tier), "".join(f"{name}\n" for name in sorted(documents)))
    replace_text(path, render_spec(Specification(vocabulary.dimensions, vocabulary.metrics)))
    return path


def replacement(workspace: Workspace, corpus: str, backend: str, tier: str) -> str:
    """Names the vocabulary that a person had proposed anew and pinned in place of another; '' where nobody did."""
    path = _replacement_path(workspace, corpus, backend, tier)
    return path.read_text(encoding="utf-8").strip() if path.is_file() else ""


def note_replacement(workspace: Workspace, corpus: str, backend: str, tier: str) -> None:
    """Say that the pin is another one than builds kept to before, so that what they made of it shows as stale."""
    text = _path(workspace, corpus, backend, tier).read_text(encoding="utf-8")
    digest = hashlib.blake2b(text.encode(), digest_size=12).hexdigest()
    replace_text(_replacement_path(workspace, corpus, backend, tier), f"{digest}\n")


def _replacement_path(workspace: Workspace, corpus: str, backend: str, tier: str) -> AnyPath:
    return workspace.corpus_store(corpus) / "pins" / f"{backend}-{tier}.replaced"


def _documents_path(workspace: Workspace, corpus: str, backend: str, tier: str) -> AnyPath:
    return workspace.corpus_store(corpus) / "pinned_documents" / f"{backend}-{tier}.txt"


def _path(workspace: Workspace, corpus: str, backend: str, tier: str) -> AnyPath:
    return workspace.corpus_store(corpus) / "pins" / f"{backend}-{tier}.yaml"
