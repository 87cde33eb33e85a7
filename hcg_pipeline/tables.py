"""The Arrow schema of every table that one stage hands to the next. Each field's metadata says what it holds."""

import pyarrow as pa


def _field(name: str, kind: pa.DataType, about: str, *, nullable: bool = False) -> pa.Field:
    return pa.field(name, kind, nullable=nullable, metadata={"description": about})


_STRINGS = pa.list_(pa.string())

QUOTE = pa.struct(
    [
        pa.field("chunk_id", pa.string()),
        pa.field("document_id", pa.string()),
        pa.field("start", pa.int64()),
        pa.field("end", pa.int64()),
        pa.field("quote", pa.string()),
    ]
)

DOCUMENTS = pa.schema(
    [
        _field("document_id", pa.string(), "'d' and the first 16 hex digits of the BLAKE2b hash of the text"),
        _field("path", pa.string(), "place in the corpus folder, '/'-separated; '#n' names a record of a file"),
        _field("other_paths", _STRINGS, "further files or records with exactly the same text"),
        _field("media_type", pa.string(), "IANA media type by which it was read"),
        _field("text", pa.large_string(), "the extracted text: Unicode NFC, newlines \\n; offsets count into it"),
        _field("characters", pa.int64(), "length of the text in Unicode code points"),
        _field("words", pa.int64(), "white-space separated words"),
    ]
)

REJECTED = pa.schema(
    [
        _field("path", pa.string(), "the file or record that was not read"),
        _field("media_type", pa.string(), "what it was taken for, by its name"),
        _field("bytes", pa.int64(), "size of the file"),
        _field("reason", pa.string(), "why, and what to do about it, in one sentence"),
    ]
)

CHUNKS = pa.schema(
    [
        _field("chunk_id", pa.string(), "'c' and 16 hex digits of the hash of path, text and occurrence"),
        _field("document_id", pa.string(), "the document it is a passage of"),
        _field("position", pa.int32(), "0-based order in the document"),
        _field("start", pa.int64(), "first character in the document's text"),
        _field("end", pa.int64(), "one past the last character; text[start:end] is the chunk"),
        _field("text", pa.large_string(), "the passage"),
        _field("words", pa.int32(), "white-space separated words"),
    ]
)


def embeddings_schema(dimension: int) -> pa.Schema:
    """Schema of the chunk vectors of one embedding model; `dimension` is the length of a vector."""
    return pa.schema(
        [
            _field("chunk_id", pa.string(), "the chunk"),
            _field("vector", pa.list_(pa.float32(), dimension), "L2-normalised"),
        ]
    )


ENTITY = pa.struct(
    [
        pa.field("name", pa.string()),
        pa.field("aliases", _STRINGS),
        pa.field("mentions", pa.int64()),
    ]
)

DIMENSIONS = pa.schema(
    [
        _field("dimension", pa.string(), "the axis, in snake_case"),
        _field("description", pa.string(), "what lies on it"),
        _field("support", pa.int64(), "chunks or windows that speak of it"),
        _field("entities", pa.list_(ENTITY), "the values on it: canonical name, other spellings, mentions"),
        _field("aliases", _STRINGS, "other names that readings gave it"),
    ]
)

METRICS = pa.schema(
    [
        _field("metric", pa.string(), "CamelCase name, unique"),
        _field("signature", _STRINGS, "the dimensions it binds, in order"),
        _field("description", pa.string(), "what it is, driven by what, influencing what"),
        _field("category", pa.string(), "a heading to read it under"),
        _field("role", pa.string(), "terminal, outcome or driver"),
        _field("support", pa.int64(), "chunks or windows that speak of it"),
        _field("aliases", _STRINGS, "other names that readings gave it"),
    ]
)

VARIABLES = pa.schema(
    [
        _field("variable", pa.string(), "Metric(entity, …): the node's name, unique"),
        _field("metric", pa.string(), "its metric"),
        _field("entities", _STRINGS, "one per dimension of the signature, in its order"),
        _field("role", pa.string(), "its metric's role"),
        _field("description", pa.string(), "a phrase that a reader and an embedder understand"),
        _field("mentions", pa.int64(), "how often the corpus speaks of it"),
        _field("chunk_ids", _STRINGS, "the chunks that do, in corpus order"),
    ]
)

SEED_RELATIONS = pa.schema(
    [
        _field("source", pa.string(), "cause: a variable's name"),
        _field("target", pa.string(), "effect: a variable's name"),
        _field("mechanism", pa.string(), "how the one brings about the other"),
        _field("sign", pa.string(), "'+' more leads to more, '-' more leads to less, '?' not said"),
        _field("confidence", pa.float64(), "0 to 1"),
        _field("chunk_id", pa.string(), "where it was read"),
        _field("document_id", pa.string(), "the chunk's document"),
        _field("start", pa.int64(), "first character of the quote in the document"),
        _field("end", pa.int64(), "one past the last"),
        _field("quote", pa.string(), "document[start:end], the words that state it"),
    ]
)

METRIC_TEMPLATES = pa.schema(
    [
        _field("source_metric", pa.string(), "cause; never a terminal metric"),
        _field("target_metric", pa.string(), "effect; never the source itself"),
        _field("origin", pa.string(), "'seed': lifted from seed relations; 'judged': found by the backend"),
        _field("support", pa.int64(), "seed relations behind it"),
        _field("mechanism", pa.string(), "why the one drives the other"),
        _field("confidence", pa.float64(), "0 to 1"),
    ]
)

NODE_EDGES = pa.schema(
    [
        _field("edge_id", pa.string(), "'e' and 16 hex digits of the hash of source and target"),
        _field("source", pa.string(), "cause: a variable's name"),
        _field("source_metric", pa.string(), "its metric"),
        _field("source_entities", _STRINGS, "its entities"),
        _field("target", pa.string(), "effect: a variable's name"),
        _field("target_metric", pa.string(), "its metric"),
        _field("target_entities", _STRINGS, "its entities"),
        _field("mechanism", pa.string(), "how the one brings about the other"),
        _field("sign", pa.string(), "'+', '-' or '?'"),
        _field("confidence", pa.float64(), "0 to 1"),
        _field("origin", pa.string(), "'seed', 'judged', or 'expert' for an edge that a person added"),
        _field("support", pa.int64(), "distinct quotes that state it"),
        _field("quotes", pa.list_(QUOTE), "the words that state it, with their spans"),
    ]
)

EVIDENCE_LINKS = pa.schema(
    [
        _field("edge_id", pa.string(), "the edge"),
        _field("chunk_id", pa.string(), "the chunk that supports it"),
        _field("document_id", pa.string(), "the chunk's document"),
        _field("start", pa.int64(), "first character in the document"),
        _field("end", pa.int64(), "one past the last"),
        _field("quote", pa.string(), "document[start:end]"),
        _field("kind", pa.string(), "'quote', 'text' or 'semantic'"),
        _field("similarity", pa.float64(), "cosine for 'semantic', else null", nullable=True),
    ]
)

NODES = pa.schema(
    [
        *VARIABLES,
        _field("category", pa.string(), "its metric's category"),
        _field("in_degree", pa.int64(), "edges into it"),
        _field("out_degree", pa.int64(), "edges out of it"),
        _field("added_by", pa.string(), "'corpus', or 'expert' where no text names it and a person added it"),
    ]
)

EDGES = pa.schema(
    [
        _field("edge_id", pa.string(), "as in node_edges"),
        _field("source", pa.string(), "cause: a node's name"),
        _field("target", pa.string(), "effect: a node's name"),
        _field("mechanism", pa.string(), "how the one brings about the other"),
        _field("sign", pa.string(), "'+', '-' or '?'"),
        _field("confidence", pa.float64(), "0 to 1"),
        _field("origin", pa.string(), "'seed', 'judged', or 'expert' for an edge that a person added"),
        _field("support", pa.int64(), "distinct quotes that state it"),
        _field("evidence", pa.int64(), "evidence links; 0 marks an edge that lacks any"),
    ]
)

GRAPH = pa.schema(
    [
        _field("snapshot_id", pa.string(), "names the content: equal graphs have equal ids"),
        _field("variables", pa.int64(), "nodes of the graph"),
        _field("edges", pa.int64(), "directed causal edges"),
        _field("evidence", pa.int64(), "pieces of evidence, each at its characters"),
        _field("share_with_evidence", pa.float64(), "part of the edges that have any, 0 to 1"),
    ]
)

OUTCOMES = pa.schema(
    [
        _field("role", pa.string(), "'terminal' or 'outcome'"),
        _field("pattern", pa.string(), "a metric's name, or a pattern such as '*Survival*'"),
    ]
)

CORRECTIONS = pa.schema(
    [
        _field("place", pa.string(), "file and line"),
        _field("action", pa.string(), "what kind of edit it is"),
        _field("edit", pa.string(), "the whole edit, as JSON"),
        _field("note", pa.string(), "why, in the expert's words"),
        _field("date", pa.string(), "when it was decided"),
    ]
)

MERGES = pa.schema(
    [
        _field("scope", pa.string(), "'dimension', 'metric', or 'entity:' and the dimension"),
        _field("kept", pa.string(), "the name that stands for all"),
        _field("merged", pa.string(), "a spelling that was taken into it"),
        _field("reason", pa.string(), "why the two are taken for one thing"),
    ]
)

READING_COUNTS = pa.schema(
    [
        _field("count", pa.string(), "what was counted when readings were assembled"),
        _field("value", pa.int64(), "how often"),
    ]
)

QUALITY_REPORT = pa.schema(
    [
        _field("section", pa.string(), "what the number is about"),
        _field("item", pa.string(), "of which metric, category, kind …"),
        _field("value", pa.float64(), "a count, or a share from 0 to 1"),
    ]
)

GRAPH_INDEX = pa.schema(
    [
        _field("snapshot_id", pa.string(), "the published snapshot"),
        _field("fingerprint", pa.string(), "names what was indexed, and by which model"),
        _field("embedding_model", pa.string(), "the model that made the vectors; questions need the same"),
        _field("passages", pa.int64(), "passages that evidence is chosen from"),
        _field("tau_min", pa.float64(), "similarity that a metric's best variable must reach"),
        _field("tau_e", pa.float64(), "similarity at which a chunk supports an edge"),
    ]
)

MATCHED = pa.struct([pa.field("variable", pa.string()), pa.field("similarity", pa.float64())])

CONE = pa.struct(
    [
        pa.field("metric", pa.string()),
        pa.field("outcomes", _STRINGS),
        pa.field("converging", pa.int64()),
        pa.field("score", pa.float64()),
    ]
)

PASSAGE = pa.struct(
    [
        pa.field("document_id", pa.string()),
        pa.field("path", pa.string()),
        pa.field("chunk_id", pa.string()),
        pa.field("start", pa.int64()),
        pa.field("end", pa.int64()),
        pa.field("quote", pa.string()),
    ]
)

ANSWERS = pa.schema(
    [
        _field("question_set", pa.string(), "the question file's name without its ending"),
        _field("id", pa.string(), "the question's id, unique in its set"),
        _field("question", pa.string(), "the question"),
        _field("question_type", pa.string(), "as the file gives it, or ''"),
        _field("answer", pa.string(), "what the backend answers"),
        _field("answered", pa.bool_(), "false: the evidence does not hold an answer, and the text says so"),
        _field("mode", pa.string(), "how evidence was found; 'fallback' where nothing in the graph matched"),
        _field("backend", pa.string(), "which backend answered"),
        _field("matched", pa.list_(MATCHED), "the variables that the question matched, best first"),
        _field("cones", pa.list_(CONE), "the outcome cones that were expanded, best first"),
        _field("contexts", _STRINGS, "the texts in the order in which the answering model sees them"),
        _field("evidence", pa.list_(PASSAGE), "where each context stands: document, characters, quote"),
        _field("cited", pa.list_(pa.int64()), "0-based places in `evidence` that the answer rests on"),
        _field("reference", pa.string(), "the file's own answer", nullable=True),
        _field("reference_evidence", _STRINGS, "the file's own evidence"),
    ]
)

SCORES = pa.schema(
    [
        _field("question_set", pa.string(), "the question file"),
        _field("id", pa.string(), "the question"),
        _field("question_type", pa.string(), "as the file gives it"),
        _field("mode", pa.string(), "how evidence was found"),
        _field("measure", pa.string(), "what was measured"),
        _field("value", pa.float64(), "0 to 1"),
        _field("tier", pa.string(), "tier of the graph that was asked; null: not said", nullable=True),
        _field("backend", pa.string(), "which backend answered; 'none': evidence alone", nullable=True),
        _field("words", pa.int64(), "budget of evidence in words; null: not said", nullable=True),
        _field("run", pa.int64(), "1, 2, …: the same again under another seed; null: one run", nullable=True),
    ]
)

BENCHMARK_REPORT = pa.schema([_field("report", pa.large_string(), "the report, in Markdown")])

FAILURES = pa.schema(
    [
        _field("stage", pa.string(), "the stage whose call failed"),
        _field("key", pa.string(), "the window, template or question that was asked about"),
        _field("reason", pa.string(), "why the reply was not accepted"),
        _field("raw", pa.large_string(), "the reply as it came"),
    ]
)

LEDGER = pa.schema(
    [
        _field("call_id", pa.string(), "unique: of rows with the same id, all but one are copies"),
        _field("run", pa.string(), "the run that made the call, or what else did (`ask`, `evaluate`, `respec`)"),
        _field("at", pa.timestamp("us", tz="UTC"), "when it was over"),
        _field("stage", pa.string(), "the stage that it was for"),
        _field("key", pa.string(), "the window, template or question that it was about"),
        _field("model", pa.string(), "the model that was asked"),
        _field("tokens_in", pa.int64(), "tokens of the prompt; 0 where the reply came from the cache"),
        _field("tokens_cached", pa.int64(), "of these, found in the endpoint's own prompt cache"),
        _field("tokens_out", pa.int64(), "tokens of the reply, hidden reasoning included"),
        _field("counted", pa.bool_(), "false: the endpoint gave no counts, and the tokens are estimates"),
        _field("seconds", pa.float64(), "from the first attempt to the reply, waits included"),
        _field("retries", pa.int64(), "attempts that failed before"),
        _field("usd", pa.float64(), "price by the price list; null: it has none for the model", nullable=True),
        _field(
            "outcome",
            pa.string(),
            "'ok'; 'cached': no call was made; 'invalid': sent back for repair; 'repaired'; 'failed': invalid again; "
            "'divided': too long, asked in halves; 'unanswered'; 'batch': through the batch endpoint, at its price",
        ),
    ]
)
