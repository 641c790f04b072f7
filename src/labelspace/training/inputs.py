"""What a finished run takes besides tensors: tables, texts, pictures and arrays, prepared as its training data were."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import NamedTuple, final

import numpy as np
import torch
from torch import Tensor

from labelspace import _checks
from labelspace.data import memory, streams, tables
from labelspace.data import text as tokeniser
from labelspace.data.columns import Encoding
from labelspace.data.digests import Array
from labelspace.data.images import ENDINGS
from labelspace.data.missing import is_blank
from labelspace.data.npy import Stored
from labelspace.data.readers import arrays
from labelspace.data.roles import TEXTS
from labelspace.data.source import Kind
from labelspace.data.streams import ASKED
from labelspace.data.tables import Columns
from labelspace.training.objects import formed
from labelspace.training.preprocessed import InputFacts, Preprocessing

OWNER = "Run"
LARGEST = float(np.finfo(np.float32).max)
NO_NUMBER = "a number that is not finite"
DTYPES = {"images": torch.uint8, "text": torch.int64}
FORMS = {
    "images": "pictures (a file, a folder, a list of files), an array or an NPZ file with x",
    "table": "rows with the columns of training (a CSV or Parquet file, a dict of columns, a DataFrame, rows in lists)",
    "text": "texts (a list, or a CSV or Parquet file with a column of them)",
    "features": "an array, a DataFrame of numbers or an NPZ file with x",
}


Samples = Tensor | list[str]  # in the form of a dataset, or texts where a frozen network reads texts


class Piece(NamedTuple):
    """Some samples on their way to a model.

    Args:
        names: of all samples of the piece: file names, or numbers of rows, from 0.
        x: those that could be prepared, in the form of the dataset; texts where a frozen network reads texts.
        problems: for the others, why not, by their position in ``names``.
        kept: columns that were asked for, with a value for every sample.
        unseen: categories that training did not have, per column.
    """

    names: list[str]
    x: Samples
    problems: dict[int, str]
    kept: Columns
    unseen: dict[str, Counter[str]]


@final
class Inputs:
    """Prepares raw samples for a run.

    Args:
        preprocessing: what the run recorded; of runs that recorded no more than shapes and statistics, tables and
            the pictures of frozen networks are taken as tensors only.
        backbone: the frozen network whose features it was trained on, or None.
    """

    def __init__(self, preprocessing: Preprocessing, backbone: str | None = None) -> None:
        """Read the record."""
        facts = preprocessing.get("input", InputFacts())
        read_by: Kind | None = None if backbone is None else ("text" if backbone == "minilm" else "images")
        self.kind: Kind = facts.get("kind") or read_by or preprocessing["kind"]
        shape = facts.get("shape") or (None if backbone else preprocessing["input_shape"])
        self.shape = None if shape is None else tuple(shape)
        encoding = facts.get("encoding")
        self.encoding = Encoding.stored(encoding) if encoding else None
        self.rule: str = facts.get("missing", "error")
        self.column: str | None = facts.get("text")
        self.resized: bool = facts.get("resized", False)
        self.words: list[str] | None = None if backbone else preprocessing["vocabulary"]
        self.backbone = backbone

    def check(self, x: object) -> Tensor:
        """Return a tensor of the dataset's form; normalised as if it were of it, another would be nonsense."""
        if not isinstance(x, Tensor):
            raise self._refused(type(x).__name__)
        if x.is_meta or x.is_nested or x.layout != torch.strided:
            got = "a tensor on the meta device" if x.is_meta else "a nested tensor" if x.is_nested else str(x.layout)
            remedy = "" if x.is_meta or x.is_nested else "Give its .to_dense()."
            raise _checks.fail(OWNER, "x", "a dense tensor with numbers in it", got, remedy)
        right = x.dtype == DTYPES.get(self.kind, x.dtype)
        if not right or (self.shape is not None and not self.backbone and tuple(x.shape[1:]) != self.shape):
            raise self._refused(f"{x.dtype} of shape {tuple(x.shape)}")
        if x.is_floating_point() and not bool(torch.isfinite(x).all()):
            raise _checks.fail(OWNER, "x", "finite", "NaN or infinity")
        return x

    def pieces(self, x: object, size: int, keep: Sequence[str] = ()) -> Iterator[Piece]:
        """Yield samples in their order, prepared.

        Args:
            x: a path, a dict of columns (or a single row), a DataFrame, an array, a list of rows, of texts or of
                pictures' files.
            size: how many samples a piece has at most.
            keep: columns to pass on.
        """
        path = Path(x).expanduser() if isinstance(x, str | Path) else None
        if path is None:
            x = formed(x, self.kind, [column.name for column in self.encoding.columns] if self.encoding else [])
        elif not path.exists():
            raise _checks.fail(OWNER, "x", FORMS[self.kind], repr(str(x)), f"There is no file {path}.")
        if isinstance(x, np.ndarray):
            _check_kept(keep, [], "an array")
            yield from self._array(x, size, {})
        elif path is not None and path.suffix.lower() == ".npz":
            yield from self._stored(path, size, keep)
        elif self.kind == "images":
            yield from self._pictures(x if path is None else path, size, keep)
        elif self.kind in ("table", "text") and (path is None or tables.is_table(path)):
            yield from self._rows(x if path is None else path, size, keep)
        else:
            raise self._refused(type(x).__name__ if path is None else str(path))

    def count(self, x: object) -> int | None:
        """Return how many samples there are, where that is known before they are read."""
        path = Path(x).expanduser() if isinstance(x, str | Path) else None
        if path is None or not path.exists():
            return None
        if self.kind == "images" and path.suffix.lower() != ".npz":
            return len(streams.pictures_in(path))
        return tables.rows_in(path, ASKED) if path.is_file() else None

    def _pictures(self, x: object, size: int, keep: Sequence[str]) -> Iterator[Piece]:
        files = x if isinstance(x, Path) else [Path(one) for one in _listed(x) if isinstance(one, str | Path)]
        if not isinstance(files, Path) and (not files or len(files) < len(_listed(x))):
            raise self._refused(type(x).__name__)
        if isinstance(x, Path) and x.is_file() and x.suffix.lower() not in ENDINGS:
            raise self._refused(str(x))
        if self.shape is None:
            remedy = "Train again to have the size of its pictures recorded, or give them as a uint8 tensor."
            raise _checks.fail(OWNER, "x", "a tensor: the run did not record the size of its pictures", str(x), remedy)
        _check_kept(keep, [], "pictures")
        channels, height, width = self.shape
        pictures = streams.pictures_in(files)
        for names, rows, problems in streams.picture_pieces(pictures, (channels, height, width), self.resized, size):
            yield Piece(names, torch.from_numpy(rows), problems, {}, {})

    def _stored(self, path: Path, size: int, keep: Sequence[str]) -> Iterator[Piece]:
        stored = Stored(path)
        name = next((name for name in (*arrays.FEATURES, "x_test") if name in stored), None)
        if name is None:
            got = f"{path.name} with {', '.join(stored) or 'nothing'}"
            raise _checks.fail(OWNER, "x", "an NPZ file with an array x", got)
        rows = stored.shape(name)[:1]
        columns = {other: stored[other] for other in keep if other in stored and stored.shape(other) == rows}
        if len(columns) < len(set(keep)):
            _check_kept(keep, [other for other in stored if stored.shape(other) == rows], path.name)
        yield from self._array(stored[name], size, columns)

    def _array(self, numbers: Array, size: int, columns: Mapping[str, Array]) -> Iterator[Piece]:
        """Yield the rows of an array; those whose numbers are not finite, also in single precision, are problems."""
        whole = self.kind == "text" and np.issubdtype(numbers.dtype, np.integer)
        self.check(self._features(numbers[:0], whole))
        for start in range(0, len(numbers), size):
            rows = numbers[start : start + size]
            sound = (np.abs(rows) <= LARGEST).reshape(len(rows), -1).all(axis=1) if rows.dtype.kind == "f" else None
            problems = {} if sound is None else {int(row): NO_NUMBER for row in np.flatnonzero(~sound)}
            x = self._features(rows if sound is None else rows[sound], whole)
            kept = {column: values[start : start + size].tolist() for column, values in columns.items()}
            yield Piece([str(row) for row in range(start, start + len(rows))], x, problems, kept, {})

    @staticmethod
    def _features(numbers: Array, whole: bool) -> Tensor:
        return torch.from_numpy(numbers.astype(np.int64) if whole else arrays._features(numbers)[0])

    def _rows(self, x: object, size: int, keep: Sequence[str]) -> Iterator[Piece]:
        if self.kind == "text" and (texts := _listed(x)) and all(isinstance(one, str) for one in texts):
            x = {self.column or TEXTS[0]: texts}
        columns = self.encoding.columns if self.encoding else ()
        names = [column.name for column in columns]
        wanted = [*(names if self.kind == "table" else [self.column or TEXTS[0]]), *keep]
        if isinstance(x, Path):
            numbers = [column.name for column in columns if column.categories is None]
            pieces = tables.pieces(x, size, ASKED, wanted, numbers)
        else:
            pieces = streams.slices(self._columns(x), size)
        start = 0
        for table in pieces:
            _check_kept(keep, list(table), "the table")
            rows = len(next(iter(table.values())))
            samples, problems, unseen = self._encoded(table)
            kept = {column: table[column] for column in keep}
            yield Piece([str(row) for row in range(start, start + rows)], samples, problems, kept, unseen)
            start += rows

    def _columns(self, x: object) -> Columns:
        table = memory.columns_of(x)
        if table is None:
            raise self._refused(type(x).__name__)
        return table

    def _encoded(self, table: Columns) -> tuple[Samples, dict[int, str], dict[str, Counter[str]]]:
        if self.kind == "text":
            return (*self._texts(table), {})
        if self.encoding is None:
            remedy = "Train again to have the encoding of its columns recorded."
            raise _checks.fail(OWNER, "x", "a tensor: the run did not record how columns are encoded", "rows", remedy)
        streams.check_columns([column.name for column in self.encoding.columns], table)
        problems = streams.row_problems(self.encoding, table, self.rule)
        good = streams.without(table, problems)
        unseen = {column.name: column.unseen(good[column.name]) for column in self.encoding.columns}
        x = torch.from_numpy(self.encoding.apply(good))
        return x, problems, {name: counts for name, counts in unseen.items() if counts}

    def _texts(self, table: Columns) -> tuple[Samples, dict[int, str]]:
        column = self.column or next((name for name in table if name.lower() in TEXTS), TEXTS[0])
        if column not in table and len(table) == 1:
            column = next(iter(table))
        streams.check_columns([column], table)
        problems = {row: f"no text in {column!r}" for row, value in enumerate(table[column]) if is_blank(value)}
        texts = [str(value) for value in streams.without({column: table[column]}, problems)[column]]
        if self.words is None:
            return texts, problems
        assert self.shape is not None
        return torch.from_numpy(tokeniser.encode(texts, self.words, self.shape[0])), problems

    def _refused(self, got: str) -> ValueError:
        name = str(DTYPES.get(self.kind, torch.float32)).removeprefix("torch.")
        shape = ", ".join(map(str, ("N", *(self.shape or ("…",)))))
        expected = f"a {name} tensor of shape ({shape}), as the dataset gives, or {FORMS[self.kind]}"
        return _checks.fail(OWNER, "x", expected, got)


def _listed(x: object) -> list[object]:
    """Return the members of a list; nothing for anything else."""
    return list(x) if isinstance(x, list | tuple) else []


def _check_kept(keep: Sequence[str], there: Sequence[str], where: str) -> None:
    absent = [name for name in keep if name not in there]
    if absent:
        near = get_close_matches(absent[0], list(there), n=1)
        remedy = f"Did you mean {near[0]!r}?" if near else ""
        raise _checks.fail("predict", "keep", f"columns of {where}", repr(absent[0]), remedy)
