"""What a metric is, in a sentence or two: what it says of what, what drives it, what it influences."""

from collections import Counter
from collections.abc import Sequence

from hcg_pipeline.backends.rules.families import families
from hcg_pipeline.backends.rules.wordlists import NounClass, facets, noun_classes

_EXAMPLES = 4
_REGARDS = {
    ("treatment", "disease"): "against",
    ("treatment", "symptom"): "against",
    ("treatment", "condition"): "against",
    ("drug", "disease"): "against",
    ("drug", "symptom"): "against",
    ("drug", "condition"): "against",
    ("test", "disease"): "to find or follow",
    ("test", "symptom"): "to find or follow",
    ("test", "condition"): "to find or follow",
    ("policy", "good"): "on",
    ("policy", "food"): "on",
    ("policy", "asset"): "on",
    ("policy", "material"): "on",
    ("policy", "energy"): "on",
}
"""How a use or a rule regards the second dimension; what befalls something befalls it "in" the second."""
_BEFALLS = frozenset({"disease", "symptom", "event", "condition"})


def describe(
    signature: Sequence[str], facet: str, entities: Counter[str], causes: Counter[str], effects: Counter[str]
) -> str:
    """One paragraph: what is measured of what, with examples; driven by what; influencing what, as far as is said."""
    sentence = _says(signature, facet)
    examples = _top(entities)
    sentence += f", for example {examples}." if examples else "."
    driven, influencing = _top(causes), _top(effects)
    if driven:
        sentence += f" Driven by {driven}" + ("" if influencing else ".")
    if influencing:
        sentence += f"; influences {influencing}." if driven else f" Influences {influencing}."
    return sentence


def _says(signature: Sequence[str], facet: str) -> str:
    if facet in families():
        text = families()[facet].says
    else:
        known = _class_of(signature[0])
        if known is not None and known.facet == facet and known.says != "-":
            text = known.says
        else:
            text = facets()[facet].says if facet in facets() else f"the {facet.lower()} of {{x}}"
        text = text.replace("{x}", _one(signature[0]))
    if len(signature) > 1:
        regard = "in" if signature[0] in _BEFALLS else _REGARDS.get((signature[0], signature[1]), "for")
        text += f" {regard} {_one(signature[1])}"
    return f"{text[:1].upper()}{text[1:]}"


def _class_of(dimension: str) -> NounClass | None:
    return next((kind for kind in noun_classes().values() if kind.dimension == dimension), None)


def _one(dimension: str) -> str:
    """One thing of a dimension as a noun with its article."""
    known = _class_of(dimension)
    if known is not None:
        return known.one
    text = dimension.replace("_", " ")
    return f"an {text}" if text[0] in "aeiou" else f"a {text}"


def _top(counts: Counter[str]) -> str:
    names = [name for name, _ in sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:_EXAMPLES]]
    return f"{', '.join(names[:-1])} and {names[-1]}" if len(names) > 1 else "".join(names)
