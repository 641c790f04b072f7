"""Mutated tables: CSV (also gzipped), Parquet and NPZ, to train on and to predict on."""

import csv
import gzip
import io
import pickle
import tempfile
import warnings
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch

from hostile.mutations import Chance, mutated_bytes, odd
from hostile.outcomes import Case, Payload, chance
from labelspace import data
from labelspace.data import streams, tables
from labelspace.data.columns import Encoding
from labelspace.data.dataset import Dataset

KINDS = ("cells", "bytes", "packed", "parquet cells", "parquet", "npz", "arrays", "predict", "predict bytes")
CELLS: tuple[Any, ...] = (
    "1", "2.5", "-3", "1e30", "1e39", "1e400", "inf", "nan", "NA", "", " ", "x", "é", "a b", '"', "1_000",
    "True", "0x10", "9" * 400, "1,5", "=1+1", "\u2028", "\0", "a\nb", "1e-400", "+7", "٣",
)  # fmt: skip
LABELS: tuple[Any, ...] = (
    3, [], ["p", "q"] * 12, [1e30, 2.0] * 12, [2**64 - 1, 0] * 12, [10**400, 1] * 12, [0.5] * 24, [None, 1] * 12,
    [True, False] * 12, [[1, 0]] * 24, [b"p", b"q"] * 12, [float("nan"), 1.0] * 12, ["\ud800", "q"] * 12,
    np.array([2**64 - 1, 5] * 12, dtype=np.uint64), np.array([-5, 5] * 12, dtype=np.int8),
    torch.zeros(24).to("meta"), torch.tensor([0, 1] * 12).to_sparse(),
)  # fmt: skip
ENCODING = Encoding.fit({"a": ["1", "2"], "b": ["x", "y"]}, {"a": "numeric", "b": "categorical"}, np.array([0, 1]))


def tries(seed: int, count: int, first: int = 0) -> Iterator[Case]:
    """Yield tables that nobody would write."""
    with tempfile.TemporaryDirectory() as folder:
        for number in range(first, first + count):
            draw = chance(seed, number)
            kind = KINDS[int(draw.integers(len(KINDS)))]
            yield MAKERS[kind.split()[0]](draw, kind, Path(folder))


def _cells(draw: Chance, kind: str, folder: Path) -> Case:
    """A sound CSV file with odd cells: everything about it is known."""
    header, rows = _table(draw)
    path = folder / "t.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([header, *rows])
    missing = str(draw.choice(["error", "drop", "median", "indicator"]))
    return Case(kind, lambda: data.load(path, missing=missing), lambda found: _holds(found, header, rows, missing))


def _table(draw: Chance) -> tuple[list[str], list[list[str]]]:
    width = int(draw.integers(1, 5))
    header = [f"column {number}" for number in range(width)] + ["label"]
    rows = [[str(draw.integers(100)) for _ in range(width)] + [str(draw.choice(["p", "q"]))] for _ in range(24)]
    for _ in range(int(draw.integers(0, 4))):
        place = int(draw.integers(width + 1))
        # one cell, or the whole column
        chosen = range(24) if draw.integers(4) == 0 else [int(draw.integers(24))]
        value = CELLS[int(draw.integers(len(CELLS)))]
        for row in chosen:
            rows[row][place] = value
    return header, rows


def _holds(found: Dataset, header: list[str], rows: list[list[str]], missing: str) -> bool:
    """Compare class counts with those of the cells, and look whether everything is finite."""
    said = Counter()
    for part in found.parts.values():
        said.update(found.names[index] for index in part.y.tolist())
        if not bool(torch.isfinite(part.x).all()):
            return False
    # rows without a label are left out under every rule
    written = Counter(label for row in rows if (label := row[-1].strip()) not in ("", "NA", "nan"))
    return missing == "drop" or sorted(written.values()) == sorted(said.values())


def _bytes(draw: Chance, kind: str, folder: Path) -> Case:
    header, rows = _table(draw)
    text = io.StringIO()
    csv.writer(text, delimiter=str(draw.choice([",", ";", "\t"]))).writerows([header, *rows])
    content = mutated_bytes(draw, text.getvalue().encode(), bytes(range(256)))
    path = folder / ("t.csv.gz" if kind == "packed" else "t.csv")
    packed = gzip.compress(content, mtime=0)
    path.write_bytes((mutated_bytes(draw, packed) if draw.integers(2) else packed) if kind == "packed" else content)
    delimiter = str(draw.choice([",", ";"])) if draw.integers(2) else None
    return Case(kind, lambda: data.load(path, missing="drop", delimiter=delimiter), _is_whole)


def _is_whole(found: Dataset) -> bool:
    return all(
        bool(torch.isfinite(part.x).all())
        and len(part.x) == len(part.y)
        and (not len(part) or (int(part.y.min()) >= 0 and int(part.y.max()) < len(found.names)))
        for part in found.parts.values()
    )


def _parquet(draw: Chance, kind: str, folder: Path) -> Case:
    import pyarrow
    from pyarrow import parquet

    path = folder / "t.parquet"
    columns: dict[str, Any] = {"a": draw.normal(size=24).tolist(), "label": ["p", "q"] * 12}
    if kind != "parquet":
        column = str(draw.choice(["a", "label", "b"]))
        value = odd(draw)
        columns[column] = [value if draw.integers(4) == 0 else columns.get(column, [1] * 24)[row] for row in range(24)]
    try:
        table = pyarrow.table(columns)
    except (pyarrow.ArrowException, OverflowError, UnicodeEncodeError):
        table = pyarrow.table({"a": [1.5] * 24, "label": [[1], [2]] * 12})
    codec = str(draw.choice(["snappy", "zstd", "none", "gzip"]))
    parquet.write_table(table, path, compression=codec, use_dictionary=bool(draw.integers(2)), row_group_size=10)
    if kind == "parquet":
        path.write_bytes(mutated_bytes(draw, path.read_bytes()))
    return Case(kind, lambda: data.load(path, missing="drop"), _is_whole)


def _npz(draw: Chance, kind: str, folder: Path) -> Case:
    path = folder / "t.npz"
    x = draw.normal(size=(24, 3)) if draw.integers(2) else draw.integers(0, 256, (24, 4, 4), dtype=np.uint8)
    save = np.savez_compressed if draw.integers(2) else np.savez
    junk = np.array([Payload()], dtype=object) if draw.integers(2) else np.zeros(3)
    save(path, x=x, y=np.tile(["p", "q"], 12), junk=junk)
    content = mutated_bytes(draw, path.read_bytes(), pickle.dumps(Payload()))
    path.write_bytes(content)
    return Case(kind, lambda: data.load(path), lambda found: _is_whole(found) and _same(found, path))


def _same(found: Dataset, path: Path) -> bool:
    """Compare the sums of what was read with what numpy reads."""
    with warnings.catch_warnings(), np.load(path, allow_pickle=False) as stored:
        warnings.simplefilter("ignore")
        x, y = stored["x"], stored["y"]
    total = sum(float(part.x.double().sum()) for part in found.parts.values())
    return sum(map(len, found.parts.values())) == len(y) and bool(
        np.isclose(total, x.astype(np.float32).sum(), rtol=1e-3)
    )


def _arrays(draw: Chance, kind: str, folder: Path) -> Case:
    """Arrays and tensors handed over directly, of odd types, shapes and values."""
    shape = [int(length) for length in draw.choice([0, 1, 3, 24], size=int(draw.integers(0, 4)))]
    shape = [24, *shape] if draw.integers(4) else shape
    dtype = str(draw.choice(["f8", "f4", "f2", "u1", "i8", "u8", "?", "c8", "U3", "O", "M8[s]", "S2", "V4"]))
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        x = (
            draw.integers(0, 100, shape).astype("i8").astype(dtype)
            if dtype not in ("M8[s]", "V4")
            else np.zeros(shape, dtype)
        )
    y = LABELS[int(draw.integers(len(LABELS)))]
    forms = [lambda: x]
    if dtype in ("f8", "f4", "f2", "u1", "i8", "?", "c8"):
        forms += [
            lambda: torch.from_numpy(x),
            lambda: torch.from_numpy(x).to_sparse(),
            lambda: torch.from_numpy(x).to("meta"),
        ]
        forms += [lambda: torch.from_numpy(x).to(torch.bfloat16), x.tolist]
    form = forms[int(draw.integers(len(forms)))]
    return Case(f"{kind} {dtype}", lambda: data.load((form(), y)), _is_whole)


def _predict(draw: Chance, kind: str, folder: Path) -> Case:
    """Rows to predict on, as a run takes them: columns by name, an encoding, and a reason for each that will not do."""
    rows = [[str(draw.choice(CELLS)), str(draw.choice(["x", "y", "z"]))] for _ in range(int(draw.integers(0, 30)))]
    text = io.StringIO()
    csv.writer(text).writerows([["a", "b"], *rows])
    content = text.getvalue().encode()
    path = folder / "new.csv"
    path.write_bytes(content if kind == "predict" else mutated_bytes(draw, content, bytes(range(256))))

    def run() -> int:
        found = 0
        for table in tables.pieces(path, 7, streams.ASKED, ["a", "b"], ["a"]):
            streams.check_columns(["a", "b"], table)
            problems = streams.row_problems(ENCODING, table, "median")
            good = streams.without(table, problems)
            x = ENCODING.apply(good)
            if not np.isfinite(x).all() or len(x) + len(problems) != len(table["a"]):
                raise AssertionError("rows were lost, or are not finite")
            found += len(table["a"])
        return found

    return Case(kind, run, lambda found: kind != "predict" or found == len(rows))


MAKERS = {
    "cells": _cells,
    "bytes": _bytes,
    "packed": _bytes,
    "parquet": _parquet,
    "npz": _npz,
    "arrays": _arrays,
    "predict": _predict,
}
