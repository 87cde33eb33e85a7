"""Words of a text as stems, counted in a sparse matrix: the full-text side of retrieval (BM25) over arrays."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
import snowballstemmer
from numpy.typing import NDArray
from scipy import sparse

_WORD = re.compile(r"\w+(?:['’]\w+)?")
# BM25's constants for short passages (Trotman, Puurula and Burgess, 2014).
_SATURATION, _LENGTH = 0.9, 0.4

_FUNCTION_WORDS = """
    a about above after again against all also am an and any are as at be because been before being below between
    both but by can cannot could did do does doing down during each either few for from further had has have having he
    her here hers him his how i if in into is it its itself just may me might more most must my neither no nor not of
    off on once only or other our ours out over own per same shall she should so some such than that the their theirs
    them then there these they this those through to too under until up upon us very via was we were what when where
    whether which while who whom whose why will with within without would you your yours
"""
STOP_WORDS = frozenset(_FUNCTION_WORDS.split())

Floats = NDArray[np.float32]
Ints = NDArray[np.int64]


@lru_cache(maxsize=1)
def _stemmer() -> "snowballstemmer.stemmer":
    return snowballstemmer.stemmer("english")


@lru_cache(maxsize=200_000)
def _stem(word: str) -> str:
    return str(_stemmer().stemWord(word))


def stems(text: str) -> list[str]:
    """The text's words in order, case-folded and stemmed (Snowball English), without function words.

    Function words in capitals (`ALL`, `US`, `IT`) are taken for abbreviations and kept as they stand.
    """
    found: list[str] = []
    for match in _WORD.finditer(text):
        written = match.group()
        word = written.casefold()
        if word not in STOP_WORDS:
            found.append(_stem(word.removesuffix("'s").removesuffix("’s")))
        elif len(written) > 1 and written.isupper():
            found.append(written)
    return found


def shared_words(question: str, text: str) -> list[str]:
    """The words of a question, as it writes them, whose stems stand in a text: each once, in the question's order."""
    held, shared = set(stems(text)), dict[str, str]()
    for match in _WORD.finditer(question):
        for stem in stems(match.group()):
            if stem in held:
                shared.setdefault(stem, match.group())
    return list(shared.values())


@dataclass(frozen=True)
class TermMatrix:
    """Term counts of N texts over a closed vocabulary of T stems.

    `counts` is (N, T) CSR float32; `idf` (T,) is BM25's, always positive; `place` finds a stem's column.
    """

    vocabulary: tuple[str, ...]
    counts: sparse.csr_matrix
    idf: Floats
    place: dict[str, int]

    @cached_property
    def burstiness(self) -> Floats:
        """(T,): how often a stem stands in a text that has it, on average; at least 1 for a stem that occurs.

        Words that a text is about come back in it, others do not (Church and Gale, 1995).
        """
        total = np.asarray(self.counts.sum(axis=0)).ravel()
        holding = np.asarray((self.counts > 0).sum(axis=0)).ravel()
        mean: Floats = (total / np.maximum(holding, 1)).astype(np.float32)
        return mean

    def rows(self, texts: Sequence[str]) -> sparse.csr_matrix:
        """The known stems of further texts (questions), each counted once: (len(texts), T) CSR of ones."""
        pointers, columns = [0], list[int]()
        for text in texts:
            columns.extend(sorted({self.place[stem] for stem in stems(text) if stem in self.place}))
            pointers.append(len(columns))
        ones = np.ones(len(columns), dtype=np.float32)
        return sparse.csr_matrix((ones, columns, pointers), shape=(len(texts), len(self.vocabulary)))


def count_terms(texts: Iterable[str]) -> TermMatrix:
    """Counts the stems of each text; the vocabulary is sorted, so it does not depend on the order of the texts."""
    place: dict[str, int] = {}
    pointers, columns = [0], list[int]()
    for text in texts:
        columns.extend(place.setdefault(stem, len(place)) for stem in stems(text))
        pointers.append(len(columns))
    vocabulary = sorted(place)
    rank = np.empty(len(place), dtype=np.int64)
    rank[[place[stem] for stem in vocabulary]] = np.arange(len(place))
    cells = rank[np.asarray(columns, dtype=np.int64)]
    counts = sparse.csr_matrix(
        (np.ones(len(cells), dtype=np.float32), cells, pointers), shape=(len(pointers) - 1, len(vocabulary))
    )
    counts.sum_duplicates()
    return term_matrix(vocabulary, counts)


def term_matrix(vocabulary: Sequence[str], counts: sparse.csr_matrix) -> TermMatrix:
    """Puts a stored vocabulary and its counts together again."""
    holding = np.asarray((counts > 0).sum(axis=0)).ravel()
    idf = np.log1p((counts.shape[0] - holding + 0.5) / (holding + 0.5)).astype(np.float32)
    return TermMatrix(tuple(vocabulary), counts, idf, {stem: column for column, stem in enumerate(vocabulary)})


def bm25_weights(terms: TermMatrix) -> sparse.csc_matrix:
    """What each term of each text is worth to a query that names it: (N, T) CSC float32 (Okapi BM25)."""
    counts = terms.counts.tocoo()
    lengths = np.asarray(terms.counts.sum(axis=1)).ravel()
    mean = max(float(lengths.mean()), 1.0) if lengths.size else 1.0
    damping = _SATURATION * (1 - _LENGTH + _LENGTH * lengths[counts.row] / mean)
    worth = terms.idf[counts.col] * counts.data * (_SATURATION + 1) / (counts.data + damping)
    return sparse.csc_matrix((worth.astype(np.float32), (counts.row, counts.col)), shape=terms.counts.shape)
