"""Plausible replies for `FakeOpenAI`: valid in the request's schema, made of the prompt's own words, always the same.

A simple reader stands in for a model. It takes frequent long words for entities, sorts them onto fixed dimensions by a
hash, and takes a sentence with a causal verb for a relation between the entities before and after the verb. So quotes
stand in their passages, names repeat from window to window, and a whole pipeline can be built on it.
"""

import hashlib
import json
import re
from typing import Any

_PASSAGE = re.compile(r'<passage id="(\w+)" code="(\w+)">\n(.*?)\n</passage code="\2">', re.DOTALL)
_METRIC = re.compile(r"^- (\w+)\(([^)]*)\): ", re.MULTILINE)
_PAIR = re.compile(r"^- (p\d+): \w+\((.*?)\) -> \w+\((.*?)\)$", re.MULTILINE)
_CAUSAL = re.compile(
    r"\b(caus\w*|lead\w* to|led to|result\w* in|increas\w*|rais\w*|reduc\w*|lower\w*|prevent\w*|trigger\w*|improv\w*"
    r"|inhibit\w*|promot\w*|induc\w*|affect\w*|damag\w*|weaken\w*|strengthen\w*)\b",
    re.IGNORECASE,
)
_FALLING = re.compile(r"reduc|lower|prevent|inhibit|damag|weaken", re.IGNORECASE)
_TERM = re.compile(r"[^\W\d_]{6,}")
_DIMENSIONS = ("condition", "factor", "process", "measure", "substance", "structure", "group", "sign")
_QUALITIES = ("Occurrence", "Severity", "Influence", "Duration", "Control", "Exposure", "Change", "Activity", "Risk")
_STOP = frozenset(("because", "through", "during", "between", "without", "however", "therefore", "several", "common"))


def plausible_reply(body: dict[str, Any]) -> str:
    """The assistant's text for a chat request."""
    prompt = "\n".join(message["content"] for message in body["messages"] if message["role"] != "assistant")
    schema = _schema_of(body, prompt)
    make = {
        "dimensions": _dimensions,
        "metrics": _metrics,
        "entities": _reading,
        "driven": _templates,
        "borne_out": _edges,
        "answer": _answer,
    }
    names = list(schema.get("properties", {}))
    maker = next((make[name] for name in names if name in make), None)
    return json.dumps(maker(prompt, schema) if maker else dict.fromkeys(names), ensure_ascii=False)


def _schema_of(body: dict[str, Any], prompt: str) -> dict[str, Any]:
    """The request's schema: from response_format, or where that is not sent, from the prompt's line of JSON."""
    sent = (body.get("response_format") or {}).get("json_schema")
    if sent:
        return dict(sent["schema"])
    lines = [line for line in prompt.splitlines() if line.startswith('{"') and '"properties"' in line]
    return dict(json.loads(lines[0])) if lines else {}


def _passages(prompt: str) -> list[tuple[str, str]]:
    return [(label, text) for label, _code, text in _PASSAGE.findall(prompt)]


def _sentences(text: str) -> list[str]:
    return [part.strip() for part in re.split(r"(?<=[.!?])\s+", text) if part.strip()]


def _terms(text: str) -> list[str]:
    """Its long words that are no causal verb, lower-case, each once, in order."""
    words = (word.lower() for word in _TERM.findall(_CAUSAL.sub(" ", text)))
    return list(dict.fromkeys(word for word in words if word not in _STOP))


def _bucket(word: str, count: int) -> int:
    return hashlib.blake2b(word.encode(), digest_size=4).digest()[0] % count


def _sides(sentence: str) -> tuple[list[str], list[str], str] | None:
    """Terms before and after the sentence's causal verb, and the verb."""
    found = _CAUSAL.search(sentence)
    if found is None:
        return None
    before, after = _terms(sentence[: found.start()]), _terms(sentence[found.end() :])
    return (before, after, found.group(0)) if before and after else None


def _dimensions(prompt: str, _schema: dict[str, Any]) -> dict[str, Any]:
    entities: dict[str, list[str]] = {name: [] for name in _DIMENSIONS}
    for _label, text in _passages(prompt):
        for sentence in _sentences(text):
            before, after, _verb = _sides(sentence) or ([], [], "")
            for term in (*before[-1:], *after[:1]):
                axis = entities[_DIMENSIONS[_bucket(term, len(_DIMENSIONS))]]
                if term not in axis:
                    axis.append(term)
    return {
        "dimensions": [
            {
                "name": name,
                "description": f"{name}: {', '.join(terms[:4])}",
                "entities": [{"name": term, "aliases": []} for term in terms[:20]],
            }
            for name, terms in entities.items()
            if terms
        ]
    }


def _metrics(prompt: str, schema: dict[str, Any]) -> dict[str, Any]:
    """About a third of all qualities of single dimensions, and a few of pairs; other ones for other passages."""
    axes = schema["$defs"]["dimension"]["enum"]
    text = "".join(text for _label, text in _passages(prompt))
    pairs = [(axis, other) for axis in axes for other in axes if axis < other]
    choices = [(bound, quality) for quality in _QUALITIES for bound in (*((axis,) for axis in axes), *pairs)]
    chosen = [
        (bound, quality)
        for bound, quality in choices
        if _bucket(f"{bound}{quality}{text}", 3 if len(bound) == 1 else 24) == 0
    ]
    return {
        "metrics": [
            {
                "name": f"{''.join(axis.title().replace('_', '') for axis in bound)}{quality}",
                "signature": list(bound),
                "description": f"{quality}: {', '.join(bound)}; {quality.lower()} × {' × '.join(bound)}.",
                "category": quality.lower(),
            }
            for bound, quality in chosen
        ]
    }


def _reading(prompt: str, schema: dict[str, Any]) -> dict[str, Any]:
    metrics = {name: axes.split(", ") for name, axes in _METRIC.findall(prompt)}
    single = [(name, axes[0]) for name, axes in metrics.items() if len(axes) == 1]
    known = _known_entities(prompt, schema["$defs"]["dimension"]["enum"])
    added: dict[str, str] = {}
    variables, relations = [], []

    def ref(term: str) -> dict[str, Any] | None:
        if not single:
            return None
        axis = known.get(term)
        fitting = [name for name, bound in single if bound == axis] or [name for name, _ in single]
        metric = fitting[_bucket(term[::-1], len(fitting))]
        if axis is None:
            added[term] = metrics[metric][0]
        return {"metric": metric, "entities": [term]}

    for label, text in _passages(prompt):
        for sentence in _sentences(text):
            sides = _sides(sentence)
            if sides is None or (source := ref(sides[0][-1])) is None or (target := ref(sides[1][0])) is None:
                continue
            variables += [{**source, "passage": label}, {**target, "passage": label}]
            relations.append(
                {
                    "source": source,
                    "target": target,
                    "mechanism": f"{source['entities'][0]} {sides[2]} {target['entities'][0]}",
                    "sign": "-" if _FALLING.search(sides[2]) else "+",
                    "confidence": 0.8,
                    "passage": label,
                    "quote": sentence,
                }
            )
    entities = [{"name": term, "aliases": [], "dimension": axis} for term, axis in added.items()]
    return {"entities": entities, "variables": variables, "relations": relations}


def _known_entities(prompt: str, axes: list[str]) -> dict[str, str]:
    """Entities that the prompt lists as known, with their dimension."""
    section = prompt.partition("# Known entities")[2].partition("\n# ")[0]
    known: dict[str, str] = {}
    for line in section.splitlines():
        axis, _, names = line.removeprefix("- ").partition(": ")
        if axis in axes:
            known.update({name.strip(): axis for name in names.split(";")})
    return known


def _templates(prompt: str, schema: dict[str, Any]) -> dict[str, Any]:
    source = _METRIC.findall(prompt.partition("# Source metric")[2])[0][0]
    targets = schema["$defs"]["target"]["enum"]
    driven = [target for target in targets if _bucket(f"{source}{target}", 3) == 0]
    return {"driven": [{"target": target, "mechanism": f"{source} → {target}", "confidence": 0.7} for target in driven]}


def _edges(prompt: str, _schema: dict[str, Any]) -> dict[str, Any]:
    found = []
    for label, source, target in _PAIR.findall(prompt):
        for passage, text in _passages(prompt):
            quote = next((one for one in _sentences(text) if _states(one, source, target)), None)
            if quote is not None:
                found.append(
                    {
                        "pair": label,
                        "mechanism": f"{source} → {target}",
                        "sign": "-" if _FALLING.search(quote) else "+",
                        "confidence": 0.75,
                        "passage": passage,
                        "quote": quote,
                    }
                )
                break
    return {"borne_out": found}


def _states(sentence: str, source: str, target: str) -> bool:
    said = sentence.lower()
    sides = _sides(sentence)
    return sides is not None and source.lower() in said and target.lower() in said and source != target


def _answer(prompt: str, _schema: dict[str, Any]) -> dict[str, Any]:
    """The sentence of the passages that shares most words with the question."""
    question = set(_terms(prompt.partition("# Question")[2]))
    best, best_score, cited = "", 0, 0
    for label, text in _passages(prompt):
        for sentence in _sentences(text):
            score = len(question & set(_terms(sentence)))
            if score > best_score:
                best, best_score, cited = sentence, score, int(label)
    if not best_score:
        return {"answer": "The passages do not say.", "answered": False, "cited": []}
    return {"answer": best, "answered": True, "cited": [cited]}
