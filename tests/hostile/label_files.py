"""Mutated label files: bytes, the head of the container, and the words inside it."""

import json
import struct
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch

from hostile.mutations import Chance, mutated_bytes, mutated_plain, odd
from hostile.outcomes import Case, chance
from labelspace import LabelSpace, confusion, cost, groups, ordinal, permuted, tree, uniform
from labelspace.spec.named import named
from labelspace.spec.prices import has_prices, implied
from labelspace.spec.words import words

READABLE = {"F64": "<f8", "F32": "<f4", "F16": "<f2", "I64": "<i8", "I32": "<i4"}


def tries(seed: int, count: int, first: int = 0) -> Iterator[Case]:
    """Yield label files that were tampered with."""
    with tempfile.TemporaryDirectory() as folder:
        originals = [space.save(Path(folder) / f"{number}.safetensors") for number, space in enumerate(_spaces())]
        # with a digest little is accepted: files of earlier versions, which had none, go further
        contents = [content for path in originals for content in (path.read_bytes(), _unsigned(path.read_bytes()))]
        for number in range(first, first + count):
            yield _case(chance(seed, number), contents, Path(folder) / "case.safetensors")


def _spaces() -> list[LabelSpace]:
    animals = tree({"pet": ["cat", "dog"], "vehicle": {"road": ["car", "bus"], "rail": ["tram"]}})
    return [
        animals,
        permuted(animals, 1),
        animals.subset(["tram", "cat"]),
        ordinal(["low", "mid", "high"]),
        groups({"pet": ["cat", "dog"], "vehicle": ["car", "bus"]}),
        uniform(3),
        cost([[0, 1, 5], [2, 0, 1], [9, 3, 0]], ["a", "b", "c"]),
        confusion([[5, 1], [2, 7]], ["well", "ill"]),
        LabelSpace(("a", "b", "ü"), torch.tensor([[1.0, 2.0], [0.0, -3.0], [0.5, 0.5]]), "vectors"),
    ]


def _case(draw: Chance, contents: list[bytes], path: Path) -> Case:
    content = contents[int(draw.integers(len(contents)))]
    kind = ("bytes", "head", "words", "tensors")[int(draw.integers(4))]
    if kind == "bytes":
        changed = mutated_bytes(draw, content, contents[int(draw.integers(len(contents)))])
    else:
        changed = _rebuilt(draw, content, kind)
    path.write_bytes(changed)

    def run() -> LabelSpace:
        space = named(path)
        # whoever has a space may ask it anything
        assert words(space)
        space.targets(0.3), space.distances(), space.nearest(space.names[0]), implied(space), repr(space)
        return space

    return Case(kind, run, lambda space: _is_right(space, changed, path))


def _unsigned(content: bytes) -> bytes:
    size = struct.unpack("<Q", content[:8])[0]
    head = json.loads(content[8 : 8 + size])
    words = json.loads(head["__metadata__"]["labelspace"])
    del words["digest"]
    head["__metadata__"]["labelspace"] = json.dumps(words, ensure_ascii=False)
    text = json.dumps(head).encode()
    return struct.pack("<Q", len(text)) + text + content[8 + size :]


def _rebuilt(draw: Chance, content: bytes, kind: str) -> bytes:
    """Return a sound container around something else."""
    size = struct.unpack("<Q", content[:8])[0]
    head, body = json.loads(content[8 : 8 + size]), content[8 + size :]
    if kind == "head":
        head = mutated_plain(draw, head)
    elif kind == "words":
        text = mutated_plain(draw, json.loads(head["__metadata__"]["labelspace"]))
        head["__metadata__"]["labelspace"] = json.dumps(text, ensure_ascii=bool(draw.integers(2)))
    else:
        head, body = _other_tensors(draw, head)
    text = json.dumps(head).encode("utf-8", "surrogatepass")
    return struct.pack("<Q", len(text)) + text + body


def _other_tensors(draw: Chance, head: dict[str, Any]) -> tuple[dict[str, Any], bytes]:
    body = b""
    kept = {"__metadata__": head["__metadata__"]}
    for name in [name for name in ("matrix", "hops") if name in head] + (["extra"] if draw.integers(2) else []):
        dtype = str(draw.choice([*READABLE, "BF16", "U8", "BOOL", "I16", "U64", "C64", "F8_E4M3"]))
        shape = [int(length) for length in head.get(name, {"shape": [2, 2]})["shape"]]
        if draw.integers(3) == 0:
            shape[int(draw.integers(len(shape)))] = int(draw.integers(0, 6))
        numbers = draw.choice([0.0, 1.0, 0.5, -1.0, 2.0, 1e39, np.nan, np.inf, 0.9, 2.0**62], size=shape)
        with np.errstate(all="ignore"):
            values = numbers.astype(READABLE.get(dtype, "<f4")) if dtype in READABLE else np.zeros(shape, "<f8")
        width = {"BF16": 2, "U8": 1, "BOOL": 1, "I16": 2, "U64": 8, "C64": 8, "F8_E4M3": 1}.get(dtype)
        content = values.tobytes() if width is None else bytes(width * values.size)
        kept[name] = {"dtype": dtype, "shape": shape, "data_offsets": [len(body), len(body) + len(content)]}
        body += content
    if draw.integers(6) == 0:
        kept["matrix"] = odd(draw)
    return kept, body


def _is_right(space: LabelSpace, content: bytes, path: Path) -> bool:
    """Compare with the file as json and numpy read it, and with the space written and read again."""
    size = struct.unpack("<Q", content[:8])[0]
    head, body = json.loads(content[8 : 8 + size]), content[8 + size :]
    inside = json.loads(head["__metadata__"]["labelspace"])
    if list(space.names) != inside["names"] or space.kind != inside["kind"] or dict(space.source) != inside["source"]:
        return False
    start, end = head["matrix"]["data_offsets"]
    if head["matrix"]["dtype"] in READABLE:
        stored = np.frombuffer(body[start:end], READABLE[head["matrix"]["dtype"]]).reshape(head["matrix"]["shape"])
        if not np.allclose(space.matrix.numpy(), stored.astype(np.float64), rtol=1e-3, atol=1e-4):
            return False
    if not _is_sound(space):
        return False
    again = LabelSpace.load(space.save(path))
    return again.names == space.names and torch.equal(again.matrix, space.matrix) and again.source == space.source


def _is_sound(space: LabelSpace) -> bool:
    matrix = space.matrix.double()
    if not torch.isfinite(matrix).all() or len(set(space.names)) != len(matrix):
        return False
    if space.kind == "relations" and not torch.allclose(matrix.sum(1), torch.ones(len(matrix)).double(), atol=1e-4):
        return False
    if space.kind == "cost" and (
        matrix.diagonal().any() or (matrix < 0).any() or has_prices(space) not in (True, False)
    ):
        return False
    if space.source.get("builder") == "tree":
        return all(_reaches_the_top(space.source["parents"], name) for name in space.names)
    return True


def _reaches_the_top(parents: dict[str, str], node: str) -> bool:
    for _ in range(len(parents) + 1):
        node = parents.get(node, "")
    return node == ""
