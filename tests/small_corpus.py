"""A small language to translate: number words, turned round."""

import random
from pathlib import Path
from typing import Any

ENGLISH = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"]
GERMAN = ["null", "eins", "zwei", "drei", "vier", "fünf", "sechs", "sieben", "acht", "neun"]
COUNTS = {"train": 120, "valid": 30, "test": 30}
READING: dict[str, Any] = {"data_options": {"kind": "sequences"}}
SMALL: dict[str, Any] = {
    **READING,
    "model": "seq2seq-16",
    "epochs": 2,
    "batch_size": 16,
    "learning_rate": 0.01,
    "beam": 3,
}


def write_corpus(folder: Path) -> Path:
    """Write three tables of pairs; no source is in two of them."""
    draws, seen = random.Random(0), set[tuple[int, ...]]()
    folder.mkdir(parents=True, exist_ok=True)
    for part, count in COUNTS.items():
        lines: list[str] = []
        while len(lines) < count:
            digits = tuple(draws.randrange(10) for _ in range(draws.randint(2, 6)))
            if digits in seen:
                continue
            seen.add(digits)
            pair = (" ".join(ENGLISH[d] for d in digits) + ".", " ".join(GERMAN[d] for d in reversed(digits)) + "!")
            lines.append("\t".join(pair) + "\n")
        (folder / f"{part}.tsv").write_text("".join(lines))
    return folder
