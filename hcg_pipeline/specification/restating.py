"""Names that restate another: an abbreviation written out inside a longer name, or a word for its kind put behind it.

'classic FL' is 'classic follicular lymphoma' where FL is known for follicular lymphoma; 'MRI scan' is MRI, and so is
'MRI magnetic resonance imaging'.
"""

from collections.abc import Iterable, Mapping

from hcg_pipeline.specification.names import is_abbreviation, key_of

# Words that add nothing to an abbreviation: a BRCA1 gene is BRCA1. Not 'receptor', 'protein' or 'test', which are
# other things than what they are of.
_KINDS = frozenset({"gene", "scan", "scanning", "imaging", "virus"})


def restated_keys(spellings: Iterable[str], long_forms: Mapping[str, str]) -> set[str]:
    """Other keys that these spellings of one name may go by.

    `long_forms` maps the key of an abbreviation to the key of what it stands for.
    """
    found: set[str] = set()
    for spelling in spellings:
        words = spelling.split()
        if len(words) < 2:
            continue
        key = key_of(spelling)
        if len(words) == 2 and words[1].lower() in _KINDS and is_abbreviation(words[0]):
            found.add(key_of(words[0]))
        expanded = " ".join(long_forms.get(word, word) for word in key.split())
        found.add(_once(expanded))
        found.discard(key)
    return found


def _once(key: str) -> str:
    """A name said twice is said once."""
    words = key.split()
    half = len(words) // 2
    return " ".join(words[:half]) if words[:half] == words[half:] and half else key
