"""Parquet files by pyarrow, with a bound on what they unpack to: a few bytes may stand for a value a million times."""

import importlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from labelspace import _opening
from labelspace._opening import Asked, check_unpacked, may_unpack

ROWS = 4096
# the packing in which a text says how much of the one before it repeats: each may be as long as all together
SHARING = "DELTA_BYTE_ARRAY"
# cells are texts, numbers, truth values, None, and what Parquet files hold besides
Columns = Mapping[str, Sequence[object]]
CELL = 8  # bytes that a cell takes at least, whatever it was packed to


class Unreadable(Exception):
    """What pyarrow says of a file that it cannot read, in classes known only where it is installed."""


def columns(path: Path, asked: Asked) -> Columns:
    """Return the columns of a whole file, which may unpack to as much as a gzipped file of its size."""
    file = _opened(path, asked)
    _check(path, _announced(file.metadata), asked)
    found: dict[str, list[object]] = {name: [] for name in _names(file)}
    total = 0
    for batch in _batches(path, file):
        total += _unpacked(batch)
        _check(path, total, asked)
        for values, column in zip(found.values(), batch.columns, strict=True):
            values.extend(_values(column))
    return found


def rows(path: Path, asked: Asked) -> tuple[list[str], Iterator[tuple[object, ...]]]:
    """Return the names of the columns, and the rows one after the other; the file may be larger than memory."""
    file = _opened(path, asked)

    def each() -> Iterator[tuple[object, ...]]:
        for batch in _batches(path, file):
            _check(path, _unpacked(batch), asked)
            yield from zip(*(_values(column) for column in batch.columns), strict=True)

    return _names(file), each()


def count(path: Path, asked: Asked) -> int:
    """Return how many rows a file says that it has."""
    number: int = _opened(path, asked).metadata.num_rows
    return number


def _opened(path: Path, asked: Asked) -> Any:
    _opening.check_regular(asked.owner, asked.argument, path)
    parquet: Any = importlib.import_module("pyarrow.parquet")
    with _translated():
        metadata = parquet.ParquetFile(path).metadata
        leaves = [metadata.schema.column(place) for place in range(len(metadata.schema))]
        texts = {leaf.path for leaf in leaves if leaf.physical_type == "BYTE_ARRAY" and "Decimal" not in str(leaf)}
        texts -= {chunk.path_in_schema for chunk in _chunks(metadata) if SHARING in chunk.encodings}
        # texts stay numbers into a list of different ones: a long text that every row has is there once
        return parquet.ParquetFile(path, read_dictionary=sorted(texts))


def _names(file: Any) -> list[str]:
    names = [str(name) for name in file.schema_arrow.names]
    if len(set(names)) < len(names) or not all(name.strip() for name in names):
        raise Unreadable("columns without a name, or with the same one")
    return names


def _chunks(metadata: Any) -> list[Any]:
    groups = (metadata.row_group(place) for place in range(metadata.num_row_groups))
    return [group.column(place) for group in groups for place in range(group.num_columns)]


def _announced(metadata: Any) -> int:
    """Return how many bytes a file says that it unpacks to."""
    with _translated():
        chunks = _chunks(metadata)
    cells = max(sum(chunk.num_values for chunk in chunks), metadata.num_rows * metadata.num_columns)
    return int(max(sum(chunk.total_uncompressed_size for chunk in chunks), CELL * cells))


def _batches(path: Path, file: Any) -> Iterator[Any]:
    with _translated():
        # one group after the other: lists of texts cannot be joined across them
        for group in range(file.metadata.num_row_groups):
            yield from file.iter_batches(batch_size=_step(path, file.metadata), row_groups=[group])


def _step(path: Path, metadata: Any) -> int:
    """Return how many rows to unpack at once, so few that they stay below the bound whatever they hold."""
    chunks = _chunks(metadata)
    sharing = {chunk.path_in_schema for chunk in chunks if SHARING in chunk.encodings}
    longest = max([1, *(chunk.total_uncompressed_size for chunk in chunks if chunk.path_in_schema in sharing)])
    return int(max(1, min(ROWS, may_unpack(path.stat().st_size) // longest)))


def _unpacked(batch: Any) -> int:
    with _translated():
        return int(max(sum(_size(column) for column in batch.columns), CELL * batch.num_rows * batch.num_columns))


def _size(column: Any) -> int:
    """Return how many bytes the values of a column take when each has its own."""
    types: Any = importlib.import_module("pyarrow.types")
    if types.is_dictionary(column.type):
        return CELL * len(column) + _texts(column)
    if types.is_struct(column.type):
        return sum(_size(part) for part in column.flatten())
    if types.is_map(column.type):
        return CELL * len(column) + _size(column.keys) + _size(column.items)
    if types.is_nested(column.type):
        return CELL * len(column) + _size(column.flatten())
    return int(column.nbytes)


def _texts(column: Any) -> int:
    compute: Any = importlib.import_module("pyarrow.compute")
    different = column.dictionary
    if not any(word in str(different.type) for word in ("string", "binary")):
        return 0
    return int(compute.sum(compute.binary_length(different).take(column.indices)).as_py() or 0)


def _values(column: Any) -> list[object]:
    types: Any = importlib.import_module("pyarrow.types")
    with _translated():
        if not types.is_dictionary(column.type):
            return list(column.to_pylist())
        different = column.dictionary.to_pylist()
        return [None if place is None else different[place] for place in column.indices.to_pylist()]


def _check(path: Path, total: int, asked: Asked) -> None:
    check_unpacked(path, total, path.stat().st_size, asked)


@contextmanager
def _translated() -> Iterator[None]:
    try:
        yield
    except (ImportError, MemoryError, GeneratorExit):
        raise
    except Exception as error:
        raise Unreadable(str(error) or type(error).__name__) from error
