"""Causal News Corpus (Tan et al. 2022, 2023): does a sentence state a cause, and which words are cause and effect."""

import ast
import csv
import re
from hashlib import blake2b
from pathlib import Path
from typing import Any

from hcg_pipeline.backends.rules.parsing import Parsed, Parser
from hcg_pipeline.backends.rules.statements import statements
from hcg_pipeline.backends.rules.wordlists import cues

_CONNECTIVES = frozenset(
    ["because", "due", "since", "so", "therefore", "thus", "hence", "as", "result", "consequently", "thereby"]
)
_TAG = re.compile(r"</?(ARG0|ARG1|SIG\d)>")


def held_out(index: str) -> bool:
    """Half of the sentences, by hash: the half that nothing was tuned on."""
    return blake2b(index.encode(), digest_size=1).digest()[0] % 2 == 1


def scores(pairs: list[tuple[bool, bool]]) -> dict[str, float]:
    """Precision, recall and F1 of (predicted, gold) pairs."""
    hits = sum(predicted and gold for predicted, gold in pairs)
    predicted, gold = sum(one for one, _ in pairs), sum(one for _, one in pairs)
    precision, recall = hits / (predicted or 1), hits / (gold or 1)
    return {
        "precision": round(precision, 3),
        "recall": round(recall, 3),
        "F1": round(2 * precision * recall / ((precision + recall) or 1), 3),
    }


def has_cue_word(sentence: Parsed) -> bool:
    """The bare baseline: any causal verb or connective, wherever it stands."""
    return any(
        (token.lemma in cues() and token.tag.startswith("V")) or token.low in _CONNECTIVES
        for token in sentence.clauses.tokens
    )


def measure_news(folder: Path, parser: Parser) -> dict[str, Any]:
    """Tables for subtask 1 and subtask 2."""
    with (folder / "train_subtask1.csv").open(encoding="utf-8-sig") as file:
        rows = list(csv.DictReader(file))
    detection = []
    for part, wanted in (("held out", True), ("tuned on", False)):
        chosen = [
            (parser.sentence(row["text"]), row["label"] == "1") for row in rows if held_out(row["index"]) == wanted
        ]
        for name, predict in (
            ("rules", lambda one: bool(statements(one.clauses))),
            ("always yes", lambda one: True),
            ("any cue word", has_cue_word),
        ):
            detection.append(
                {
                    "half": part,
                    "method": name,
                    "sentences": len(chosen),
                    **scores([(predict(one), gold) for one, gold in chosen]),
                }
            )
    with (folder / "train_subtask2_grouped.csv").open(encoding="utf-8-sig") as file:
        grouped = list(csv.DictReader(file))
    spans = [
        {
            "half": part,
            **_span_scores([row for row in grouped if held_out(f"{row['doc_id']}_{row['sent_id']}") == wanted], parser),
        }
        for part, wanted in (("held out", True), ("tuned on", False))
    ]
    return {
        "News: does the sentence state a cause (subtask 1)": detection,
        "News: cause and effect spans (subtask 2)": spans,
    }


def _gold(marked: str) -> tuple[set[int], set[int], str]:
    """Character places of the cause (ARG0) and the effect (ARG1), and the text without marks."""
    places: dict[str, set[int]] = {"ARG0": set(), "ARG1": set()}
    text, open_tags, last = [], set(), 0
    length = 0
    for match in _TAG.finditer(marked):
        piece = marked[last : match.start()]
        for tag in open_tags & places.keys():
            places[tag].update(range(length, length + len(piece)))
        text.append(piece)
        length += len(piece)
        (open_tags.discard if match.group().startswith("</") else open_tags.add)(match.group(1))
        last = match.end()
    text.append(marked[last:])
    return places["ARG0"], places["ARG1"], "".join(text)


def _span_scores(rows: list[dict[str, str]], parser: Parser) -> dict[str, Any]:
    """Word overlap F1 of the best statement for each gold relation (0 where there is none), and its direction.

    For a gold relation, a statement scores the mean of the word F1 of its cause span against ARG0 and of its effect
    span against ARG1; the best statement counts. Direction is judged where the best statement overlaps the
    arguments in one orientation or the other: right if the overlap is larger as read than swapped.
    """
    cause_f1 = effect_f1 = 0.0
    relations = found = judged = right = 0
    for row in rows:
        for marked in ast.literal_eval(row["causal_text_w_pairs"]):
            gold_cause, gold_effect, text = _gold(marked)
            parsed = parser.sentence(text)
            tokens = parsed.clauses.tokens
            causes = {at for at, token in enumerate(tokens) if token.start in gold_cause}
            effects = {at for at, token in enumerate(tokens) if token.start in gold_effect}
            relations += 1
            best = max(
                (
                    (
                        _f1(one.cause, causes),
                        _f1(one.effect, effects),
                        _f1(one.cause, effects) + _f1(one.effect, causes),
                    )
                    for one in statements(parsed.clauses)
                ),
                key=lambda scored: max(scored[0] + scored[1], scored[2]),
                default=None,
            )
            if best is None:
                continue
            found += 1
            cause_f1 += best[0]
            effect_f1 += best[1]
            if best[0] + best[1] or best[2]:
                judged += 1
                right += best[0] + best[1] > best[2]
    return {
        "relations": relations,
        "in sentences with a statement": found,
        "cause F1": round(cause_f1 / relations, 3),
        "effect F1": round(effect_f1 / relations, 3),
        "cause F1 where found": round(cause_f1 / (found or 1), 3),
        "effect F1 where found": round(effect_f1 / (found or 1), 3),
        "direction right": round(right / (judged or 1), 3),
    }


def _f1(span: tuple[int, int], gold: set[int]) -> float:
    read = set(range(*span))
    hits = len(read & gold)
    return 2 * hits / (len(read) + len(gold)) if hits else 0.0
