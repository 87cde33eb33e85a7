"""A judge whose verdicts can be worked out by hand, for `FakeOpenAI(reply=scripted_judge)`.

It splits a text into its sentences. A statement is supported where exactly these words stand on the other side.
"""

import json
import re
from typing import Any

PART = re.compile(r'<passage id="(\w+)" code="(\w+)">\n(.*?)\n</passage code="\2">', re.DOTALL)
_LINE = re.compile(r"^([ar]\d+): (.*)$", re.MULTILINE)


def scripted_judge(body: dict[str, Any]) -> str:
    """The judge's reply to a request."""
    parts = {name: text for name, _code, text in PART.findall(body["messages"][1]["content"])}
    if "text" in parts:
        return json.dumps({"statements": sentences(parts["text"])})
    answer, reference = (dict(_LINE.findall(parts.get(side, ""))) for side in ("answer", "reference"))
    evidence = " ".join(text for name, text in parts.items() if name.isdigit())
    verdicts = []
    for label, statement in {**answer, **reference}.items():
        if evidence:
            supported = statement in evidence
        elif label.startswith("a"):
            supported = statement in reference.values()
        else:  # against the answer's statements, or for coverage against its text
            supported = statement in (answer.values() if answer else sentences(parts["answer"]))
        verdicts.append({"statement": label, "reason": f"looked for {label}", "supported": supported})
    return json.dumps({"verdicts": verdicts})


def sentences(text: str) -> list[str]:
    return [sentence for sentence in re.split(r"(?<=\.)\s+", text.strip()) if sentence]
