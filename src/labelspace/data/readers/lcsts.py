"""LCSTS: short Chinese texts and summaries between tags; part I is for training, II for validation, III the test."""

import re
from collections.abc import Iterator
from pathlib import Path

from labelspace import _checks
from labelspace.data import pairs
from labelspace.data.files import OWNER
from labelspace.data.found import Found
from labelspace.data.pairs import Both, Side, Texts
from labelspace.data.source import ReaderOptions, Source
from labelspace.data.text_files import TextFile, tree_of

PARTS = {"train": "PART_I", "validation": "PART_II", "test": "PART_III"}
LANGUAGES = ("text", "summary")
SCORES = (1, 5)
OPENING = re.compile(r"<doc id=[\"']?(\w+)[\"']?>")
CLOSING = "</doc>"
FIELD = re.compile(r"<(short_text|summary|human_label)>\s*(.*?)\s*</\1>", re.DOTALL)


def read(
    path: Path,
    *,
    human_label: int = 3,
    tokens: str = "character",
    vocabulary: Both = None,
    lowercase: bool = False,
    longest: Both = None,
    cut: bool | str = False,
) -> Found:
    """Return the texts and summaries of LCSTS, in its own format, which only looks like XML.

    Args:
        path: the folder with ``PART_I.txt``, ``PART_II.txt`` and ``PART_III.txt`` (also ``.gz``, or in a tar file), or
            the tar file.
        human_label: the lowest score, from 1 to 5, that people gave to a pair that is kept; 3 as the authors advise.
            Part I has no scores, and is kept whole.
        tokens: ``"character"``, which is usual for Chinese, ``"subword"`` or ``"word"``.
        vocabulary: the largest number of tokens, or one for texts and one for summaries.
        lowercase: make all texts lower-case.
        longest: the largest number of tokens of a text, its end included, or one for texts and one for summaries.
        cut: cut longer texts instead of refusing them; ``"source"`` or ``"target"`` for one side alone.
    """
    sides = Side.both(tokens, vocabulary, lowercase, longest, cut)
    low, high = SCORES
    if _checks.whole(OWNER, "human_label", human_label, low=low) > high:
        raise _checks.fail(OWNER, "human_label", f"a whole number from {low} to {high}", human_label)
    tree = tree_of(path)
    found = {part: tree[f"{stem}.txt"] for part, stem in PARTS.items() if f"{stem}.txt" in tree}
    if "train" not in found:
        listed = ", ".join(sorted(tree)[:8]) or "no files"
        raise _checks.fail(OWNER, "name_or_path", "a folder with PART_I.txt, and PART_II.txt and PART_III.txt", listed)
    if list(found) == ["train"]:
        found = {"all": found["train"]}
    parts = {part: _texts(file, human_label, part) for part, file in found.items()}
    options: ReaderOptions = {
        "human_label": human_label,
        "tokens": tokens,
        "vocabulary": vocabulary,
        "lowercase": lowercase,
        "longest": longest,
        "cut": cut,
    }
    languages = list(LANGUAGES)
    facts: Source = {"reader": "lcsts", "path": path.name, "options": options, "languages": languages}
    facts["measure"] = "ROUGE-1"
    return pairs.found(parts, sides, facts)


def _texts(file: TextFile, human_label: int, part: str) -> Texts:
    """Return the pairs of one file whose score is high enough."""
    sources, targets, lines, empty = [], [], [], 0
    for line, name, fields in _documents(file):
        score = fields.get("human_label")
        if score is not None and not re.fullmatch("[1-5]", score):
            raise _wrong(file, line, f"human_label {score!r} of doc {name}", "a human_label from 1 to 5")
        if score is not None and int(score) < human_label:
            continue
        text, summary = (fields[field] for field in ("short_text", "summary"))
        if text and summary:
            sources.append(text)
            targets.append(summary)
            lines.append(line)
        elif part in ("train", "all"):
            empty += 1
        else:
            raise _wrong(file, line, f"doc {name} with an empty one", "a text and a summary")
    if not lines:
        remedy = ("Keep more of them: ", _checks.Setting("human_label", SCORES[0]))
        raise _checks.fail(
            OWNER, "name_or_path", f"pairs in {file.name}", f"none of score {human_label} or more", remedy
        )
    return Texts((sources, targets), lines, (file.name, file.name), empty)


def _documents(file: TextFile) -> Iterator[tuple[int, str, dict[str, str]]]:
    """Yield the line, the number and the fields of each document."""
    begun: tuple[int, str] | None = None
    body: list[str] = []
    for number, line in enumerate(file.lines(), 1):
        opening = OPENING.fullmatch(line.strip())
        if opening:
            if begun is not None:
                raise _wrong(file, begun[0], f"doc {begun[1]} without an end", f"{CLOSING} before the next document")
            begun, body = (number, opening[1]), []
        elif line.strip() == CLOSING and begun is not None:
            fields = {name: " ".join(text.split()) for name, text in FIELD.findall("\n".join(body))}
            absent = [name for name in ("short_text", "summary") if name not in fields]
            if absent:
                raise _wrong(file, begun[0], f"doc {begun[1]} without {absent[0]}", "a summary and a short_text")
            yield *begun, fields
            begun = None
        elif begun is not None:
            body.append(line)
        elif line.strip():
            raise _wrong(file, number, repr(line[:40]), "documents between <doc id=0> and </doc>")
    if begun is not None:
        raise _wrong(file, begun[0], f"doc {begun[1]} without an end", f"{CLOSING} after each document")


def _wrong(file: TextFile, line: int, got: str, expected: str) -> _checks.InputError:
    return _checks.fail(OWNER, "name_or_path", expected, f"{got} in {file.name}, line {line}")
