"""Passages as a prompt shows them: fenced as data and numbered from 1, whatever they are called elsewhere.

Labels are local (c1, c2, …), so the same text gives the same request and the same cache key in any corpus. The
fence's code is a hash of the text inside: a document cannot hold its own hash, so it cannot close the fence.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from hcg_pipeline.corpus.window import Passage
from hcg_pipeline.specification.quotes import QuotedText


@dataclass(frozen=True)
class LabelledPassages:
    """Passages by their labels, in order, and the text that shows them."""

    by_label: dict[str, Passage]
    text: str

    @property
    def labels(self) -> tuple[str, ...]:
        """c1, c2, … in reading order."""
        return tuple(self.by_label)

    @cached_property
    def _quoted(self) -> dict[str, QuotedText]:
        return {label: QuotedText(passage.text) for label, passage in self.by_label.items()}

    def find(self, label: str, quote: str) -> tuple[str, str] | None:
        """The chunk id that `quote` is from and its exact words there; None where it stands in no passage.

        The passage of `label` is looked at first, then the others. See `QuotedText.span` for what counts as the same.
        """
        for candidate in (label, *(other for other in self.by_label if other != label)):
            span = self._quoted[candidate].span(quote)
            if span is not None:
                passage = self.by_label[candidate]
                return passage.chunk_id, passage.text[slice(*span)]
        return None

    def locate(self, label: str, quote: str) -> tuple[str, str]:
        """As `find`; a quote that stands in no passage comes back as it is, under `label`.

        Whoever assembles the proposals drops and counts it.
        """
        return self.find(label, quote) or (self.by_label[label].chunk_id, quote)


def label_passages(passages: Sequence[Passage]) -> LabelledPassages:
    """`passages` under the labels c1, c2, … in their order."""
    by_label = {f"c{number}": passage for number, passage in enumerate(passages, start=1)}
    return LabelledPassages(by_label, fenced({label: passage.text for label, passage in by_label.items()}))


def fenced(texts: dict[str, str]) -> str:
    """Each text between marks that carry its label and a code that no text inside can know."""
    code = hashlib.blake2b("\x00".join(texts.values()).encode("utf-8", "replace"), digest_size=5).hexdigest()
    parts = [f'<passage id="{label}" code="{code}">\n{text}\n</passage code="{code}">' for label, text in texts.items()]
    return "# Passages\n" + "\n".join(parts)
