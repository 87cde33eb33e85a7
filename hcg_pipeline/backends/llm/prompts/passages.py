"""Passages as a prompt shows them: fenced as data and numbered from 1, whatever they are called elsewhere.

Labels are local (c1, c2, …), so the same text gives the same request and the same cache key in any corpus. The
fence's code is a hash of the text inside: a document cannot hold its own hash, so it cannot close the fence.
"""

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass

from hcg_pipeline.corpus.window import Passage

_QUOTE_MARKS = str.maketrans({"’": "'", "‘": "'", "“": '"', "”": '"', "–": "-", "—": "-", "‐": "-", "‑": "-"})
_MARK_CLASSES = {"'": "['’‘]", '"': '["“”]', "-": "[-–—‐‑]"}


@dataclass(frozen=True, slots=True)
class LabelledPassages:
    """Passages by their labels, in order, and the text that shows them."""

    by_label: dict[str, Passage]
    text: str

    @property
    def labels(self) -> tuple[str, ...]:
        """c1, c2, … in reading order."""
        return tuple(self.by_label)

    def locate(self, label: str, quote: str) -> tuple[str, str]:
        """The chunk id that `quote` is from, and its exact words there.

        The passage of `label` is looked at first, then the others. A quote that stands in none of them comes back as it
        is, under `label`: whoever assembles the proposals drops and counts it.
        """
        order = [label, *(other for other in self.by_label if other != label)]
        for candidate in order:
            exact = exact_quote(quote, self.by_label[candidate].text)
            if exact is not None:
                return self.by_label[candidate].chunk_id, exact
        return self.by_label[label].chunk_id, quote


def label_passages(passages: Sequence[Passage]) -> LabelledPassages:
    """`passages` under the labels c1, c2, … in their order."""
    by_label = {f"c{number}": passage for number, passage in enumerate(passages, start=1)}
    return LabelledPassages(by_label, fenced({label: passage.text for label, passage in by_label.items()}))


def fenced(texts: dict[str, str]) -> str:
    """Each text between marks that carry its label and a code that no text inside can know."""
    code = hashlib.blake2b("\x00".join(texts.values()).encode("utf-8", "replace"), digest_size=5).hexdigest()
    parts = [f'<passage id="{label}" code="{code}">\n{text}\n</passage code="{code}">' for label, text in texts.items()]
    return "# Passages\n" + "\n".join(parts)


def exact_quote(quote: str, text: str) -> str | None:
    """The words of `text` that `quote` gives, up to white space, case and typographic marks; None if absent."""
    bare = quote.strip().strip("\"'“”‘’ ").removeprefix("…").removesuffix("…").removeprefix("...").removesuffix("...")
    words = bare.translate(_QUOTE_MARKS).split()
    if not words or not any(character.isalnum() for character in bare):
        return None
    if bare in text:
        return bare.strip()
    pattern = r"\s+".join("".join(_MARK_CLASSES.get(mark, re.escape(mark)) for mark in word) for word in words)
    found = re.search(pattern, text, re.IGNORECASE)
    return found.group(0) if found else None
