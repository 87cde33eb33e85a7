"""Content-defined cuts: where to divide a sequence so that an edit moves only the cuts near it."""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from hashlib import blake2b
from itertools import accumulate
from typing import Any


def text_key(text: str) -> int:
    """A 64-bit hash of a text: an order of preference among cuts that depends on nothing but the text."""
    return int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), "big")


def cut_points(lengths: Sequence[int], keys: Sequence[Any], minimum: int, maximum: int) -> list[int]:
    """Divide a sequence of items into consecutive groups and return where each group begins (the first at 0).

    `lengths[i]` is the length of item i, `keys[i]` how much a cut before item i is wanted (the smallest key most).
    Every group has at most `maximum` length unless it is one item, and at least `minimum` where that is possible.

    From one cut on, the next is the position with the smallest key among those that leave a group between minimum
    and maximum. This is content-defined chunking as in LBFS (Muthitacharoen, Chen and Mazières 2001) with the extreme
    value of a window instead of a fixed mask (Bjørner, Blass and Gurevich 2010; AE, Zhang et al. 2015), over sentences
    instead of bytes. Two sequences that differ in one place soon meet a position that is the smallest in both
    windows, and agree from there on; no cut is forced by the maximum alone. The share of windows in which they do
    grows with maximum/minimum.
    """
    total = len(lengths)
    ends = [0, *accumulate(lengths)]
    starts = [0] if total else []
    start = 0
    while ends[total] - ends[start] > maximum:
        low = max(bisect_left(ends, ends[start] + minimum, start), start + 1)
        high = bisect_right(ends, ends[start] + maximum, start) - 1
        if low > high:  # an item that reaches past the maximum: cut before it, or behind it if it is the first
            low = high = max(high, start + 1)
        if high >= total:
            break
        roomy = bisect_right(ends, ends[total] - minimum, low, high + 1) - 1
        if roomy >= low:
            high = roomy  # leaves enough for the last group
        start = min(range(low, high + 1), key=keys.__getitem__)
        starts.append(start)
    return starts


def fewest_groups(lengths: Sequence[int], keys: Sequence[Any], maximum: int) -> list[int]:
    """Divide a sequence into as few groups of at most `maximum` as its length asks for; return where each begins.

    Each cut falls where the key is smallest among the positions from which the rest still fits (an item longer than
    the maximum is a group of its own, and items of uneven length may take one group more).
    """
    total = len(lengths)
    ends = [0, *accumulate(lengths)]
    starts = [0] if total else []
    start = 0
    while ends[total] - ends[start] > maximum:
        groups = -(-(ends[total] - ends[start]) // maximum)
        high = max(bisect_right(ends, ends[start] + maximum, start) - 1, start + 1)
        if high >= total:
            break
        low = bisect_left(ends, ends[total] - (groups - 1) * maximum, start + 1, high)
        start = min(range(low, high + 1), key=keys.__getitem__)
        starts.append(start)
    return starts
