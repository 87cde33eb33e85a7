"""Documents to chunks: runs of whole sentences, cut where the text itself says, with exact offsets."""

from collections import Counter
from dataclasses import dataclass
from enum import IntEnum
from itertools import pairwise

import pyarrow as pa

from hcg_pipeline.corpus.cuts import cut_points, text_key
from hcg_pipeline.corpus.identity import content_id, split_record
from hcg_pipeline.corpus.lines import blocks, is_list_item
from hcg_pipeline.corpus.sentences import block_sentences
from hcg_pipeline.corpus.settings import ChunkingSettings
from hcg_pipeline.corpus.words import count_words, reading_length
from hcg_pipeline.progress import Progress
from hcg_pipeline.tables import CHUNKS

_STAGE = "chunks"
_LONGEST_HEADING = 12
"""Words."""


class _Cut(IntEnum):
    """How well a chunk may begin at a sentence, best first."""

    HEADING = 0
    PARAGRAPH = 1
    LINE = 2
    SENTENCE = 3
    STRANDED = 4  # would leave a heading or 'as follows:' at the end of the chunk before


@dataclass(frozen=True, slots=True)
class _Sentence:
    start: int
    end: int
    cut: _Cut
    key: int
    length: int


def split_documents(documents: pa.Table, chunking: ChunkingSettings, progress: Progress) -> pa.Table:
    """The chunks (CHUNKS) of a table of documents (DOCUMENTS), in its order.

    A chunk's id comes from its file, its text and which occurrence of that text in the file it is, so it survives
    edits elsewhere in the document and records added to its file.
    """
    columns: dict[str, list[object]] = {name: [] for name in CHUNKS.names}
    seen: Counter[str] = Counter()
    total = documents.num_rows
    for done in range(total):
        row = {name: documents.column(name)[done].as_py() for name in ("document_id", "path", "text")}
        file, _ = split_record(row["path"])
        for position, (start, end) in enumerate(chunk_spans(row["text"], chunking)):
            text = row["text"][start:end]
            same = content_id("", file, text)
            values = (
                content_id("c", file, text, str(seen[same])),
                *(row["document_id"], position, start, end, text, count_words(text)),
            )
            seen[same] += 1
            for name, value in zip(CHUNKS.names, values, strict=True):
                columns[name].append(value)
        progress.advance(_STAGE, done + 1, total)
    return pa.table(columns, schema=CHUNKS)


def chunk_spans(text: str, chunking: ChunkingSettings) -> list[tuple[int, int]]:
    """Character spans of the chunks of a text, in order; between them there is only white space.

    Cuts fall before sentences (`cuts.cut_points`), at headings rather than paragraphs rather than lines rather than
    within a line, and among equals where the hash of the sentence is smallest. Lengths are `words.reading_length`.
    """
    sentences = _sentences(text)
    keys = [(sentence.cut, sentence.key) for sentence in sentences]
    lengths = [sentence.length for sentence in sentences]
    starts = cut_points(lengths, keys, chunking.minimum, chunking.maximum)
    groups = pairwise([*starts, len(sentences)])
    return [(sentences[first].start, sentences[stop - 1].end) for first, stop in groups]


def _sentences(text: str) -> list[_Sentence]:
    found: list[_Sentence] = []
    leads_on = False
    for block in blocks(text):
        spans = list(block_sentences(text, block.start, block.end))
        heading = block.paragraph and _is_heading(text[slice(*spans[0])], len(spans))
        for index, (start, end) in enumerate(spans):
            sentence = text[start:end]
            if leads_on:
                cut = _Cut.STRANDED
            elif index:
                cut = _Cut.SENTENCE
            elif heading:
                cut = _Cut.HEADING
            else:
                cut = _Cut.PARAGRAPH if block.paragraph else _Cut.LINE
            found.append(_Sentence(start, end, cut, text_key(sentence), reading_length(sentence)))
            leads_on = heading or sentence.endswith((":", "："))
    return found


def _is_heading(first: str, sentences: int) -> bool:
    return (
        sentences == 1
        and first[-1] not in ".!?;,。！？"
        and (first.startswith("#") or not is_list_item(first))
        and count_words(first) <= _LONGEST_HEADING
    )
