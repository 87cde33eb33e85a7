"""How several statements of one thing add up."""

from collections.abc import Iterable

CEILING = 0.99


def combined(confidences: Iterable[float]) -> float:
    """Confidence of independent statements together: 1 - ∏(1 - c), at most 0.99 (nothing read is certain).

    Rounded to six digits, so that the order of the factors does not show.
    """
    doubt = 1.0
    for confidence in sorted(confidences):
        doubt *= 1.0 - min(max(confidence, 0.0), 1.0)
    return round(min(1.0 - doubt, CEILING), 6)


def voted_sign(votes: Iterable[tuple[str, float]]) -> str:
    """'+' or '-' by the weight of confidence behind each; '?' says nothing and abstains; a tie is '?'."""
    weight = {"+": 0.0, "-": 0.0}
    for sign, confidence in sorted(votes):
        if sign in weight:
            weight[sign] += confidence
    difference = round(weight["+"] - weight["-"], 9)
    if difference == 0:
        return "?"
    return "+" if difference > 0 else "-"
