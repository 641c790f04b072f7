"""Columns of a table → numbers: what kind each one is, and how it is encoded from the training part alone."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from labelspace import _checks
from labelspace.data.digests import Array
from labelspace.data.files import OWNER
from labelspace.data.missing import is_missing
from labelspace.data.numbers import is_number, number
from labelspace.data.source import ColumnFacts, Source
from labelspace.data.tables import Columns, check_columns

# a column of texts with more different values than this is no category unless someone says so
MOST_CATEGORIES = 100
Rows = NDArray[np.int64]


@dataclass(frozen=True)
class Column:
    """How one column becomes features: a number as it is, a category as a feature per category of the training part.

    Args:
        name: of the column.
        fill: what stands for a missing value: the median of the training part, or its most frequent category.
        categories: None for numbers.
        marked: whether one more feature says where values are missing.
    """

    name: str
    fill: float | str
    categories: tuple[str, ...] | None = None
    marked: bool = False

    @property
    def features(self) -> list[str]:
        """The names of its features."""
        own = [self.name] if self.categories is None else [f"{self.name}={category}" for category in self.categories]
        return [*own, f"{self.name} is missing"] if self.marked else own

    def encode(self, values: Sequence[object]) -> Array:
        """Return ``(N, features)``; a category that the training part does not have is all zeros."""
        own = self._filled(values)
        if not self.marked:
            return own
        gaps = np.asarray([is_missing(value) for value in values], dtype=own.dtype).reshape(-1, 1)
        return np.concatenate([own, gaps], axis=1)

    def _filled(self, values: Sequence[object]) -> Array:
        if self.categories is None:
            numbers = [number(self.fill if is_missing(value) else value) for value in values]
            return np.asarray(numbers, dtype=np.float64)[:, None]
        known = np.asarray(self.categories, dtype=object)
        places = set(self.categories)
        texts = [self.fill if is_missing(value) else _spelled(value, places) for value in values]
        found: Array = np.asarray(texts, dtype=object)[:, None] == known
        return found.astype(np.float32)

    def plain(self) -> ColumnFacts:
        """Return it as plain JSON data."""
        facts: ColumnFacts = {"name": self.name, "fill": self.fill}
        if self.categories is not None:
            facts["categories"] = list(self.categories)
        if self.marked:
            facts["marked"] = True
        return facts

    def unseen(self, values: Sequence[object]) -> Counter[str]:
        """Return the categories that the training part does not have, and how often they occur."""
        if self.categories is None:
            return Counter()
        places = set(self.categories)
        texts = (str(self.fill) if is_missing(value) else _spelled(value, places) for value in values)
        return Counter(text for text in texts if text not in places)


@dataclass(frozen=True)
class Encoding:
    """How the columns of a table become features, fitted on the training part.

    Args:
        columns: in the order of the features.

    Example:
        >>> table = {"size": ["1", "3", ""], "colour": ["red", "blue", "green"]}
        >>> encoding = Encoding.fit(table, {"size": "numeric", "colour": "categorical"}, np.array([0, 1]))
        >>> encoding.features
        ['size', 'colour=blue', 'colour=red']
        >>> encoding.apply(table)[2].tolist()  # the median of 1 and 3, and a colour that was never seen
        [2.0, 0.0, 0.0]
    """

    columns: tuple[Column, ...]

    @classmethod
    def fit(cls, table: Columns, kind: Mapping[str, str], train: Rows, mark: bool = False) -> "Encoding":
        """Return the encoding that the training rows of a table decide, with marks for their gaps if asked for."""
        return cls(
            tuple(_fitted(name, kind[name], [values[row] for row in train], mark) for name, values in table.items())
        )

    @property
    def features(self) -> list[str]:
        """The names of all features."""
        return [feature for column in self.columns for feature in column.features]

    def apply(self, table: Columns) -> NDArray[np.float32]:
        """Return the float32 features of rows; columns are found by name, others are passed over."""
        blocks = [column.encode(table[column.name]) for column in self.columns]
        return np.concatenate(blocks, axis=1, dtype=np.float32, casting="same_kind")

    def plain(self) -> list[ColumnFacts]:
        """Return it as plain JSON data, for a run's record."""
        return [column.plain() for column in self.columns]

    @classmethod
    def stored(cls, facts: Sequence[ColumnFacts]) -> "Encoding":
        """Return what ``plain`` wrote down."""
        return cls(
            tuple(
                Column(
                    fact["name"],
                    fact["fill"],
                    tuple(fact["categories"]) if "categories" in fact else None,
                    fact.get("marked", False),
                )
                for fact in facts
            )
        )


def kinds(columns: Columns, numeric: Sequence[str], categorical: Sequence[str]) -> dict[str, str]:
    """Return ``"numeric"`` or ``"categorical"`` per column: as said, else numeric if every value is a number."""
    check_columns("numeric", numeric, columns)
    check_columns("categorical", categorical, columns)
    filled = {name: [value for value in values if not is_missing(value)] for name, values in columns.items()}
    _check_numeric({name: filled[name] for name in columns if name in numeric})
    texts = [name for name in columns if name not in numeric and not all(map(is_number, filled[name]))]
    _check_categories({name: filled[name] for name in texts if name not in categorical})
    own = {*categorical, *texts}
    return {name: "categorical" if name in own else "numeric" for name in columns}


def encode(
    columns: Columns, kind: Mapping[str, str], order: Sequence[Rows], mark: bool = False
) -> tuple[list[NDArray[np.float32]], Source]:
    """Return float32 features of three parts, the first of which decides the encoding, and what was done."""
    encoding = Encoding.fit(columns, kind, order[0], mark)
    parts = [{name: [values[row] for row in rows] for name, values in columns.items()} for rows in order]
    said: Source = {"columns": encoding.features, "encoding": encoding.plain()}
    for column in encoding.columns:
        unseen = sum(column.unseen(part[column.name]).total() for part in parts)
        if unseen:
            said.setdefault("unseen categories (all zeros)", {})[column.name] = unseen
    return [encoding.apply(part) for part in parts], said


def check_numbers(columns: Columns, kind: Mapping[str, str]) -> None:
    """Refuse infinite values, naming all of their columns; also what fits into more than 32 bits only."""
    bad: dict[str, Rows] = {}
    for name, values in columns.items():
        if kind[name] == "numeric":
            numbers = [0.0 if is_missing(value) else number(value) for value in values]
            with np.errstate(over="ignore"):
                rows = np.flatnonzero(~np.isfinite(np.asarray(numbers).astype(np.float32)))
            if len(rows):
                bad[name] = rows
    if bad:
        count = sum(map(len, bad.values()))
        where = ", ".join(f"{len(rows)} in {name!r}, first in row {rows[0]}" for name, rows in bad.items())
        got = f"{count} NaN or infinite values ({where})"
        remedy = ("Repair or take out these rows, or leave columns out with ", _checks.Setting("ignore", [*bad]), ".")
        raise _checks.fail(OWNER, "name_or_path", "columns of finite numbers", got, remedy)


def check_finite(x: Array) -> None:
    """Refuse NaN and infinity, naming where they are."""
    bad = np.argwhere(~np.isfinite(x))
    if len(bad):
        row, place = bad[0][0], bad[0][1:]
        where = ", ".join(str(index) for index in place)
        rows = len(np.unique(bad[:, 0]))
        got = f"{len(bad)} NaN or infinite values in {rows} rows (first: row {row}, column {where})"
        raise _checks.fail(OWNER, "x", "finite", got, "Repair or take out these rows or columns.")


def _fitted(name: str, kind: str, values: Sequence[object], mark: bool) -> Column:
    column = _category(name, values) if kind == "categorical" else _number(name, values)
    return replace(column, marked=mark and any(is_missing(value) for value in values))


def _number(name: str, values: Sequence[object]) -> Column:
    filled = [number(value) for value in values if not is_missing(value)]
    return Column(name, float(np.median(filled)) if filled else 0.0)


def _category(name: str, values: Sequence[object]) -> Column:
    counts = Counter(str(value).strip() for value in values if not is_missing(value))
    fill = min(counts, key=lambda text: (-counts[text], text)) if counts else "missing"
    gaps = any(is_missing(value) for value in values)
    return Column(name, fill, tuple(sorted({*counts, fill} if gaps else counts)))


def _spelled(value: object, known: set[str]) -> str:
    """Return a category as text: 3 and 3.0 are the same one, as a table with gaps turns one into the other."""
    text = str(value).strip()
    if text in known or isinstance(value, bool):
        return text
    if isinstance(value, int):
        other = str(float(value))
    else:
        other = str(int(value)) if isinstance(value, float) and value.is_integer() else text
    return other if other in known else text


def _check_numeric(columns: Columns) -> None:
    bad = {name: [value for value in values if not is_number(value)] for name, values in columns.items()}
    got = ", ".join(f"{values[0]!r} in {name!r}" for name, values in bad.items() if values)
    if got:
        raise _checks.fail(OWNER, "numeric", "columns of numbers", got, "Repair these cells, or leave the columns out.")


def _check_categories(columns: Columns) -> None:
    """Refuse all columns of texts that are too many to be categories, in one message."""
    counts = {name: len({str(value) for value in values}) for name, values in columns.items()}
    names = [name for name, different in counts.items() if different > MOST_CATEGORIES]
    if names:
        expected = f"columns of numbers or of at most {MOST_CATEGORIES} categories"
        got = ", ".join(f"{name!r} with {counts[name]} different texts in {len(columns[name])} rows" for name in names)
        text, categorical, ignore = map(_checks.Setting, ("text", "categorical", "ignore"), (names[0], names, names))
        one = ("it is: ", text, ", ") if len(names) == 1 else ("they are: ",)
        remedy = ("Say what ", *one, categorical, " or ", ignore, ".")
        repeated = [name for name in names if 2 * counts[name] <= len(columns[name])]
        if repeated:  # whoever has several rows must not be in two parts
            whose = _checks.Setting("group_by", repeated[0])
            remedy = (*remedy[:-1], "; or, where its rows belong together, ", whose, ".")
        raise _checks.fail(OWNER, "name_or_path", expected, got, remedy)
