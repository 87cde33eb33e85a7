"""What replies typically are, where nobody has asked for them yet.

Characters a token were measured with the o200k_base vocabulary on this project's prompts: 4.3 to 4.7 for English, 3.8
for German, 3.4 for Russian, 1.0 for Chinese; the numbers here are the middle for plain letters, and on the safe side
for others. Lengths of replies are the middle of what the stages got on the sample corpora; that of a relation is what
its fields take.
"""

from collections.abc import Sequence

from hcg_pipeline.backends.protocol import ProposedMetric, Reading
from hcg_pipeline.specification.vocabulary import Dimension

_ASCII_A_TOKEN = 4.5
_LETTERS_A_TOKEN = 2.2
_SIGNS_A_TOKEN = 1.1
_FIRST_SIGN = 0x2E80
"""Where the scripts begin that are written in syllables or words: Chinese, Japanese, Korean."""

_QUALITIES = (
    *("Occurrence", "Severity", "Influence", "Duration", "Control", "Exposure", "Change", "Activity", "Risk", "Rate"),
    *("Efficacy", "Quality"),
)
_REPLY = {"dimensions": 320, "metrics": 1_350, "metric_templates": 70, "node_edges": 60, "answers": 120}
_READING = 30
_RELATION = 155
"""Two references, mechanism, sign, confidence, passage and quote; and the two variables, each with its passage."""


def token_count(text: str) -> int:
    """About how many tokens `text` is, in any script."""
    plain = sum(map(str.isascii, text)) if not text.isascii() else len(text)
    signs = 0 if plain == len(text) else sum(ord(character) >= _FIRST_SIGN for character in text)
    letters = len(text) - plain - signs
    return round(plain / _ASCII_A_TOKEN + letters / _LETTERS_A_TOKEN + signs / _SIGNS_A_TOKEN)


def reply_tokens(stage: str) -> int:
    """About how long a reply of `stage` is, any but a reading."""
    return _REPLY[stage]


def reading_tokens(reading: Reading) -> int:
    """About how long a reply is that says what `reading` says."""
    return _READING + _RELATION * len(reading.relations)


def typical_metrics(dimensions: Sequence[Dimension]) -> list[ProposedMetric]:
    """Metrics as a model proposes them: qualities of the dimensions, singly, in the order of the dimensions' rank."""
    return [
        ProposedMetric(
            f"{dimension.name.title().replace('_', '')}{quality}",
            (dimension.name,),
            f"How far the {quality.lower()} of the {dimension.name.replace('_', ' ')} goes. Driven by others.",
            quality.lower(),
        )
        for quality in _QUALITIES
        for dimension in dimensions
    ]
