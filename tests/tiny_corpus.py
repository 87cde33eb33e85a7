"""A corpus small enough to check by hand: three documents on infections, one broken file, four questions."""

import json
from pathlib import Path

TEXTS = {
    "infections.md": (
        "# Infections\n\n"
        "Influenza causes fever. Influenza causes pneumonia in old people. Pneumonia causes respiratory failure. "
        "Measles causes pneumonia as well. Measles causes encephalitis in one of a thousand children. "
        "Malaria causes fever and anaemia. Tuberculosis causes fibrosis of the lung.\n"
    ),
    "drugs/relief.txt": (
        "Aspirin reduces fever. Ibuprofen reduces fever too. Aspirin causes gastric bleeding. "
        "Ibuprofen causes gastric bleeding in some patients. Penicillin cures pneumonia. "
        "Penicillin may cause anaphylaxis. Quinine cures malaria. Corticosteroids reduce fibrosis.\n"
    ),
    "prevention.txt": (
        "Vaccination prevents influenza. Vaccination prevents measles. Vaccination does not cause autism. "
        "Smoking increases the risk of pneumonia. Smoking increases the risk of tuberculosis. "
        "Mosquito nets prevent malaria.\n"
    ),
}
QUESTIONS = [
    {"id": "q1", "question": "What causes pneumonia?", "answer": "Influenza and measles.", "question_type": "fact"},
    {"id": "q2", "question": "What does aspirin reduce?", "answer": "Fever.", "question_type": "fact"},
    {"id": "q3", "question": "How can influenza lead to respiratory failure?", "question_type": "chain"},
    {"id": "q4", "question": "Which drug cures malaria?", "answer": "Quinine."},
]


def write_tiny_corpus(data: Path, name: str = "infections") -> Path:
    """Write the corpus and its questions under a data folder. Returns the corpus's folder."""
    folder = data / "corpora" / name
    for path, text in TEXTS.items():
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    (folder / "broken.pdf").write_bytes(b"%PDF-1.4 nothing of a PDF follows")
    questions = data / "questions" / name
    questions.mkdir(parents=True, exist_ok=True)
    (questions / "small.json").write_text(json.dumps(QUESTIONS), encoding="utf-8")
    return folder
