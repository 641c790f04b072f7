"""Mutated taxonomies, WordNet folders and price tables."""

import json
import tempfile
from collections import deque
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch

from hostile.mutations import Chance, mutated_bytes, mutated_plain
from hostile.outcomes import Case, chance
from labelspace import LabelSpace, tree, wordnet
from labelspace.spec.named import named
from labelspace.spec.prices import cost_words, prices
from labelspace.spec.words import words

LINES = "animal > pet > cat\nanimal > pet > dog\nvehicle > car\nvehicle > bus\n"
PAIRS = "child,parent\ncat,pet\ndog,pet\npet,animal\nanimal,\ncar,vehicle\nbus,vehicle\nvehicle,\n"
LEVELS = "level1,level2,level3\nanimal,pet,cat\nanimal,pet,dog\nvehicle,car\nvehicle,bus\n"
NESTED = {"animal": {"pet": ["cat", "dog"]}, "vehicle": ["car", {"bus": None}]}
YAML = "animal:\n  pet: [cat, dog]\nvehicle:\n  - car\n  - bus\n"
PARENTS = {"cat": "pet", "dog": "pet", "pet": "animal", "car": "vehicle", "bus": "vehicle"}
TABLE = "true\\predicted,cat,dog,car,bus\ncat,0,1,5,5\ndog,1,0,5,5\ncar,5,5,0,1\nbus,5,5,1,0\n"
LONG = "true,predicted,cost\ncat,dog,1\n*,*,2\ncar,*,3\n"
NOUNS = (
    "00000010 03 n 01 cat 0 001 @ 00000030 n 0000 | a\n00000020 03 n 01 dog 0 001 @ 00000030 n 0000 | b\n"
    "00000030 03 n 01 pet 0 000 | c\n"
)
INDEX = "cat n 1 1 @ 1 0 00000010\ndog n 1 1 @ 1 0 00000020\npet n 1 0 1 0 00000030\n"
NAMES = ["cat", "dog", "car", "bus"]


def tries(seed: int, count: int, first: int = 0) -> Iterator[Case]:
    """Yield files about classes that people could not have meant."""
    makers = (_text, _text, _plain, _prices, _nouns)
    with tempfile.TemporaryDirectory() as folder:
        for number in range(first, first + count):
            draw = chance(seed, number)
            yield makers[int(draw.integers(len(makers)))](draw, Path(folder))


def _text(draw: Chance, folder: Path) -> Case:
    forms = {"t.txt": LINES, "t.csv": PAIRS, "l.csv": LEVELS, "t.yaml": YAML, "t.json": json.dumps(NESTED)}
    name = str(draw.choice(list(forms)))
    others = "".join(forms.values()).encode() + bytes(range(256))
    (folder / name).write_bytes(mutated_bytes(draw, forms[name].encode(), others))
    return _case(draw, folder / name, f"text {name}")


def _plain(draw: Chance, folder: Path) -> Case:
    path = folder / "p.json"
    content = mutated_plain(draw, NESTED if draw.integers(2) else PARENTS)
    path.write_text(json.dumps(content), encoding="utf-8")
    if draw.integers(3) == 0 and isinstance(content, dict):
        return Case("tree of a dict", lambda: tree(content), _is_right)
    return _case(draw, path, "plain")


def _case(draw: Chance, path: Path, title: str) -> Case:
    names = NAMES if draw.integers(2) else None
    if path.name == "t.csv" and draw.integers(3) == 0:
        return Case("tree of a file", lambda: tree(path), _is_right)
    return Case(title, lambda: named(path, names), lambda space: _is_right(space, names))


def _is_right(space: LabelSpace, names: Any = None) -> bool:
    """Compare the steps between classes with a search through the links that the space says it was made of."""
    if names is not None and list(space.names) != names:
        return False
    if space.source["builder"] != "tree" or not words(space) or space.hops is None:
        return False
    links: dict[str, set[str]] = {}
    for child, parent in space.source["parents"].items():
        links.setdefault(child, set()).add(parent)
        links.setdefault(parent, set()).add(child)
    for row, name in enumerate(space.names[:5]):
        steps = _search(links, name)
        if [steps[other] for other in space.names] != space.hops[row].tolist():
            return False
    return bool(torch.allclose(space.matrix.sum(1), torch.ones(len(space)), atol=1e-5))


def _search(links: dict[str, set[str]], start: str) -> dict[str, int]:
    steps, waiting = {start: 0}, deque([start])
    while waiting:
        node = waiting.popleft()
        for other in links[node] - steps.keys():
            steps[other] = steps[node] + 1
            waiting.append(other)
    return steps


def _prices(draw: Chance, folder: Path) -> Case:
    content = TABLE if draw.integers(2) else LONG
    (folder / "prices.csv").write_bytes(mutated_bytes(draw, content.encode(), b"-1e39,nan;,*\x00\xff=1_0"))

    def is_right(space: LabelSpace) -> bool:
        matrix = space.matrix
        sound = torch.isfinite(matrix).all() and (matrix >= 0).all() and not matrix.diagonal().any()
        return bool(sound) and list(space.names) == NAMES and bool(cost_words(space)[0])

    return Case("prices", lambda: prices(str(folder / "prices.csv"), NAMES), is_right)


def _nouns(draw: Chance, folder: Path) -> Case:
    changed = int(draw.integers(3))
    for number, (name, content) in enumerate(
        {"data.noun": NOUNS, "index.noun": INDEX, "noun.exc": "cats cat\n"}.items()
    ):
        found = content.encode()
        (folder / name).write_bytes(mutated_bytes(draw, found, INDEX.encode()) if number == changed else found)

    def is_right(space: LabelSpace) -> bool:
        hops = space.hops
        return hops is not None and bool((hops == hops.T).all()) and not hops.diagonal().any() and bool(words(space))

    return Case("nouns", lambda: wordnet(["cat", "dog", "pet"], folder=folder), is_right)
