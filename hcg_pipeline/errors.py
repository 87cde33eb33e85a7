"""Errors that a person can act on. Each message says what is wrong, where, and the way out, in one line."""


class HcgError(Exception):
    """Anything the pipeline reports to a person. Shells print the message without a traceback."""


class CorpusError(HcgError):
    """A corpus or its folder cannot be used: its name, its absence, or nothing readable in it."""


class SettingsError(HcgError):
    """A settings file (corpus.yaml, outcomes.yaml, graph_spec.yaml, corrections.yaml) is wrong; says file and line."""


class QuestionFileError(HcgError):
    """A question file cannot be read; says file and row."""


class DocumentError(HcgError):
    """One source file cannot be read. The message is the reason shown in the `rejected` table."""


class BackendError(HcgError):
    """The language backend cannot do the task: no endpoint, a refused key, or replies that never validate."""


class EmbeddingError(HcgError):
    """Vectors cannot be made, or belong to another model than the index's."""


class SnapshotError(HcgError):
    """There is no published graph to read, or what is there does not fit together."""


class EvaluationError(HcgError):
    """Scores cannot be compared: no such measure, nothing in common, a value that is no number."""
