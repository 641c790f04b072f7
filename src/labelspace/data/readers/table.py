"""Tables, in files or in memory: columns of numbers and categories, or one column of text, and a column of labels."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from labelspace import _checks
from labelspace.data import columns, digests, factors, labels, memory, numbers, roles, suspects, tables
from labelspace.data import missing as rules
from labelspace.data import text as tokeniser
from labelspace.data.files import OWNER
from labelspace.data.found import Found, Rows, Taken, ranges
from labelspace.data.source import ReaderOptions, Source
from labelspace.data.tables import Columns


def recognises(folder: Path) -> bool:
    """Return whether a folder holds tables called train and test."""
    return "train" in tables.of_folder(folder)


def read(
    source: object,
    *,
    label: str | None = None,
    text: str | None = None,
    group_by: str | None = None,
    cost_column: str | None = None,
    numeric: Sequence[str] = (),
    categorical: Sequence[str] = (),
    ignore: Sequence[str] = (),
    missing: str = "error",
    names: Sequence[str] | None = None,
    delimiter: str | None = None,
    vocabulary: int = 20_000,
    max_length: int = 256,
) -> Found:
    """Return the rows of a table.

    Args:
        source: a file, a folder with ``train`` and ``test`` (and perhaps ``validation``) tables, a DataFrame, a dict
            of columns, a Hugging Face dataset, or a dict of such parts.
        label: the column of labels; by default the one called label, class, target, y, species or the like, or the
            only one with few different values (of a Hugging Face dataset, of classes). Where several may be it, it has
            to be said. Rows whose label is empty, NA or null are left out and counted.
        text: the column of texts, which makes the kind ``"text"``; the other columns are then left out. By default
            a column called text or sentence, if there is nothing else to learn from.
        group_by: a column whose values (patients, users, devices) are kept on one side of every split.
        cost_column: a column of numbers, 0 or more, that a comparison multiplies the prices of each row by, such as
            the amount at stake; nothing is learned from it.
        numeric: columns to read as numbers, whatever they look like.
        categorical: columns to read as categories, whatever they look like; with the label among them, hundreds of
            different numbers are classes too.
        ignore: columns to leave out.
        missing: what to do about cells without a value: ``"error"`` names the columns, ``"drop"`` leaves the rows
            out, ``"median"`` puts the training part's median (of a category: its most frequent one) in their place,
            ``"indicator"`` does too and adds a feature that says where.
        names: class names in the order of the labels.
        delimiter: what separates the cells of a file; found by looking (comma, semicolon, tab, vertical bar) if not
            given. Where it is no comma, commas in columns of numbers are decimal marks; beside a tab or a bar not if
            all of them may be marks of thousands.
        vocabulary: the largest number of words, for text.
        max_length: how many words of each text are kept.
    """
    _checks.choice(OWNER, "missing", missing, rules.RULES)
    _checks.whole(OWNER, "vocabulary", vocabulary, low=3)
    _checks.whole(OWNER, "max_length", max_length, low=1)
    path = Path(source) if isinstance(source, str | Path) else None
    parts, known, separator = _in_memory(source, delimiter) if path is None else _on_disk(path, delimiter)
    parts, index = roles.without_index(parts)
    table, counts = _merged(parts)
    table = numbers.with_points(
        table, [name for name in table if name not in {text, group_by, *categorical}], separator
    )
    asked = {"label": label, "text": text, "group_by": group_by, "cost_column": cost_column}
    role = roles.roles(table, known=known, **asked, ignore=ignore)
    table, counts, bare = rules.labelled(table, counts, role.label, names or known.get(role.label, ()))
    others = [name for name in (role.text, role.group_by, role.cost_column) if name is not None]
    table, counts, gaps = rules.settle(table, counts, role.features, others, missing)
    if path is None:
        memory.check_cells(table, [*role.features, role.label, *others])
    if names is None and role.label in known:
        names = memory.in_order({"train": known[role.label]}, table[role.label])
    if names is None and role.label not in categorical:
        labels.check_classes_repeat(role.label, table[role.label])
    y, classes = labels.encode(_objects(table[role.label]), names)
    rows = _Rows(y, classes, ranges(counts), _groups(table, group_by), _factors(table, cost_column))
    options: ReaderOptions = {"label": role.label, "text": role.text, "group_by": group_by, "missing": missing}
    options |= {} if cost_column is None else {"cost_column": cost_column}
    origin: Source = {"reader": "table", "path": "table" if path is None else path.name, "options": options}
    origin = {**origin, **_said(role, index), **bare, **gaps}
    if role.text is not None:
        options.update({"vocabulary": vocabulary, "max_length": max_length})
        return _texts([str(value) for value in table[role.text]], rows, origin, vocabulary, max_length)
    options.update({"numeric": list(numeric), "categorical": list(categorical), "ignore": list(ignore)})
    features = {name: table[name] for name in role.features}
    own = [name for name in categorical if name != role.label]
    return _numbers(features, columns.kinds(features, numeric, own), rows, origin)


@dataclass(frozen=True)
class _Rows:
    y: Rows
    names: tuple[str, ...]
    given: dict[str, Rows]
    groups: Rows | None
    factors: NDArray[np.float64] | None = None

    def content(self, *parts: object) -> str:
        """Return a digest of what the table holds."""
        return digests.of_values(*parts, self.y, *([] if self.factors is None else [self.factors]))


def _said(role: roles.Roles, index: Mapping[str, str]) -> Source:
    """Return what was found out about the columns, where there is something to say."""
    said: Source = {}
    if index:
        said["index"] = dict(index)
    if role.guessed is not None:
        said["guessed"] = role.guessed
    if role.unused:
        said["unused"] = role.unused
    return said


def _groups(table: Columns, group_by: str | None) -> Rows | None:
    if group_by is None:
        return None
    return np.unique([str(value) for value in table[group_by]], return_inverse=True)[1].astype(np.int64)


def _factors(table: Columns, column: str | None) -> NDArray[np.float64] | None:
    """Return what prices are multiplied by."""
    if column is None:
        return None
    return factors.checked(OWNER, "cost_column", table[column])


def _texts(texts: list[str], rows: _Rows, source: Source, size: int, length: int) -> Found:
    found = digests.of_texts(texts)

    def take(order: Sequence[Rows]) -> Taken:
        return tokeniser.take(texts, found, order, size, length)

    content = rows.content(found)
    return Found(
        "text",
        rows.y,
        rows.names,
        rows.given,
        found,
        content,
        source,
        take,
        rows.groups,
        texts,
        factors=rows.factors,
    )


def _numbers(table: Columns, kinds: Mapping[str, str], rows: _Rows, source: Source) -> Found:
    if not table:
        raise _checks.fail(OWNER, "name_or_path", "a table with columns to learn from", "only the label")
    columns.check_numbers(table, kinds)
    found = digests.of_bytes(repr(row).encode() for row in zip(*table.values(), strict=True))
    if ids := suspects.identifiers(table, kinds, rows.given.values()):
        source["identifiers"] = ids
    if telling := suspects.giving_away(table, kinds, rows.y):
        source["giving away"] = telling

    def take(order: Sequence[Rows]) -> Taken:
        x, said = columns.encode(table, kinds, order, source["options"]["missing"] == rules.MARKED)
        if chances := suspects.alike_by_chance(table, found, order):
            said["alike by chance"] = chances
        return Taken(x, [found[part] for part in order], source=said)

    content, held = rows.content(list(table), found), rows.factors
    return Found("table", rows.y, rows.names, rows.given, found, content, source, take, rows.groups, factors=held)


def _on_disk(path: Path, delimiter: str | None) -> memory.Tables:
    paths = tables.of_folder(path) if path.is_dir() else {"all": path}
    read = {part: tables.read(file, delimiter) for part, file in paths.items()}
    other = [table.separator for table in read.values() if table.separator not in {",", None}]
    return memory.Tables({part: table.columns for part, table in read.items()}, {}, other[0] if other else ",")


def _in_memory(source: object, delimiter: str | None) -> memory.Tables:
    if delimiter is not None:
        raise _checks.fail(OWNER, "delimiter", "left out for tables in memory", repr(delimiter))
    return memory.tables(source)


def _merged(tables: dict[str, Columns]) -> tuple[Columns, dict[str, int]]:
    """Return the rows of all parts one after the other, and how many belong to each part."""
    first = next(iter(tables.values()))
    for table in tables.values():
        if set(table) != set(first):
            got = f"{sorted(set(table) ^ set(first))} only in some of them"
            raise _checks.fail(OWNER, "name_or_path", "parts with the same columns", got)
    if list(tables) == ["train"]:
        tables = {"all": first}
    merged = {name: [value for table in tables.values() for value in table[name]] for name in first}
    return merged, {part: len(next(iter(table.values()))) for part, table in tables.items()}


def _objects(values: Sequence[object]) -> NDArray[np.object_]:
    array = np.empty(len(values), dtype=object)
    array[:] = [value.strip() if isinstance(value, str) else value for value in values]
    return array
