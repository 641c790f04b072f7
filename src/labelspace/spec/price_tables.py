"""Prices in tables: a matrix with the names of the classes, or one line per kind of mistake."""

import math
import re
from collections.abc import Sequence
from pathlib import Path

import torch
from torch import Tensor

from labelspace import _checks
from labelspace._cells import guarded, unguarded
from labelspace._tables import Row, pointed, read_text, table
from labelspace.spec.naming import OWNER, canonical, matched, suggestion

ANY = ("*", "default")
TRUE_WORDS = ("true", "truth", "actual")
PREDICTED_WORDS = ("predicted", "prediction", "called")
TITLES = (TRUE_WORDS, PREDICTED_WORDS, ("cost", "price"))
# beyond this, sums of prices leave what float32 can hold
LARGEST = 1e30
TEMPLATE = "`labelspace labels template DATA --cost` writes a file to fill in."


def read_prices(path: Path, names: Sequence[str]) -> Tensor:
    """Return ``(K, K)`` prices in the order of ``names``, float64, from a table in either form."""
    written, separator = table("cost", path, read_text("cost", path))
    cells = {cell for row in written for cell in row.cells}
    # a name that stands there guarded does not stand there as it is too: that is another's guarded form
    known = {name for name in names if guarded(name) == name or guarded(name) not in cells}
    rows = [Row(row.line, [unguarded(cell, known) for cell in row.cells]) for row in written]
    try:
        return prices_in(rows, names, separator == ";")
    except _checks.InputError as error:
        raise error.about(file=path.name) from error


def prices_in(rows: Sequence[Row], names: Sequence[str], decimal_comma: bool = False) -> Tensor:
    """Return ``(K, K)`` prices in the order of ``names``, float64, from the rows of a table in either form."""
    columns = _titled_columns(rows[0].cells)
    if columns is not None:
        return _from_lines(rows[1:], columns, names, decimal_comma)
    if _is_list(rows, names):
        return _from_lines(rows, (0, 1, 2), names, decimal_comma)
    return _from_matrix(rows, names, decimal_comma)


def names_in(path: Path) -> tuple[list[str], bool]:
    """Return the classes that a table of prices names, and whether in an order: lines of mistakes have none.

    Args:
        path: of a table in either form.
    """
    written, _ = table("cost", path, read_text("cost", path))
    rows = [[unguarded(cell, ()) for cell in row.cells] for row in written]
    columns = _titled_columns(rows[0])
    across, down = rows[0][1:], [row[0] for row in rows[1:]]
    if columns is None and {*map(canonical, across)} & {*map(canonical, down)}:
        return across, True
    true, predicted = (0, 1) if columns is None else columns[:2]
    cells = [cell for row in rows[columns is not None :] for cell in (row[true : true + 1] + row[predicted:][:1])]
    return list(dict.fromkeys(cell for cell in cells if cell and cell.casefold() not in ANY)), False


def _from_matrix(rows: Sequence[Row], names: Sequence[str], decimal_comma: bool) -> Tensor:
    header, body = rows[0], rows[1:]
    _check_shape(header, body, names)
    expected = "a matrix whose first row and column are the classes"
    across = matched("cost", expected, header.cells[1:], names, ["first row"] * len(header.cells[1:]), TEMPLATE)
    where = [f"line {row.line}" for row in body]
    down = matched("cost", expected, [row.cells[0] for row in body], names, where, TEMPLATE)
    turned = _says_predicted_first(header.cells[0])
    place = {name: index for index, name in enumerate(names)}
    # lists: writing into a tensor one by one takes seconds for many classes
    prices = [[0.0] * len(names) for _ in names]
    for row, first in zip(body, down, strict=True):
        for cell, second in zip(row.cells[1:], across, strict=True):
            true, predicted = (second, first) if turned else (first, second)
            prices[place[true]][place[predicted]] = _price(cell, true, predicted, row.line, decimal_comma)
    return torch.tensor(prices, dtype=torch.float64)


def _check_shape(header: Row, body: Sequence[Row], names: Sequence[str]) -> None:
    known = {canonical(name) for name in names}
    found = {canonical(cell) for cell in [*header.cells, *(row.cells[0] for row in body)]}
    bare = re.fullmatch(r"[\d.,+-]+", header.cells[0]) is not None
    if bare or not known & found:
        expected = "a matrix whose first row and column are the classes, or columns true,predicted,cost"
        got = f"{header.cells[0]!r} in its corner" if bare else f"no class in either, but {header.cells[-1]!r}"
        raise _checks.fail(OWNER, "cost", expected, got, TEMPLATE)
    for row in body:
        if len(row.cells) != len(header.cells):
            got = f"{len(row.cells) - 1} for {row.cells[0]!r} in line {row.line} under {len(header.cells) - 1} names"
            raise _checks.fail(OWNER, "cost", f"a matrix of {len(names)} prices per class", got, TEMPLATE)


def _says_predicted_first(corner: str) -> bool:
    r"""Return whether the corner cell says that rows are predictions, as in ``predicted\true``."""
    places = [
        min((corner.casefold().find(word) for word in words if word in corner.casefold()), default=None)
        for words in (PREDICTED_WORDS, TRUE_WORDS)
    ]
    return places[0] is not None and places[1] is not None and places[0] < places[1]


def _titled_columns(cells: Sequence[str]) -> tuple[int, int, int] | None:
    """Return the columns of true, predicted and cost where the first row names them ("true class" does too)."""
    words = [re.split(r"[\s_]", cell.casefold())[0] for cell in cells]
    found = [[words.index(word) for word in kind if word in words] for kind in TITLES]
    return (found[0][0], found[1][0], found[2][0]) if all(found) else None


def _is_list(rows: Sequence[Row], names: Sequence[str]) -> bool:
    """Return whether a table without titles has one mistake per line: two classes and a price."""
    known = {canonical(name) for name in names} | set(ANY)
    return all(len(row.cells) == 3 and {canonical(cell) for cell in row.cells[:2]} <= known for row in rows)


def _from_lines(
    rows: Sequence[Row], columns: tuple[int, int, int], names: Sequence[str], decimal_comma: bool
) -> Tensor:
    classes = {canonical(name): index for index, name in enumerate(names)}
    given: dict[tuple[int | None, int | None], tuple[float, int]] = {}
    for row in rows:
        cells = [*row.cells, *[""] * (max(columns) + 1 - len(row.cells))]
        pair = _pair([cells[column] for column in columns[:2]], classes, row.line)
        if pair in given:
            got = f"lines {given[pair][1]} and {row.line} for the same mistake, {_said(pair, names)}"
            raise _checks.fail(OWNER, "cost", "one price per mistake", got, "Keep one of them.")
        true, predicted = ("*" if index is None else names[index] for index in pair)
        given[pair] = (_price(cells[columns[2]], true, predicted, row.line, decimal_comma), row.line)
    count = range(len(names))
    prices = [[0.0 if i == j else _chosen(given, i, j, names) for j in count] for i in count]
    return torch.tensor(prices, dtype=torch.float64)


def _pair(cells: Sequence[str], classes: dict[str, int], line: int) -> tuple[int | None, int | None]:
    pair: list[int | None] = []
    for cell, column in zip(cells, ("true", "predicted"), strict=True):
        # classes first: one may be called "default"
        if canonical(cell) in classes:
            pair.append(classes[canonical(cell)])
        elif cell.casefold() in ANY or (not cell and pair == [None]):
            pair.append(None)
        else:
            hint = suggestion(cell, classes) or "A * stands for every class."
            got = f"{cell!r} as {column} class in line {line}, which is none of the classes"
            raise _checks.fail(OWNER, "cost", "prices of mistakes between classes", got, hint)
    return pair[0], pair[1]


def _chosen(
    given: dict[tuple[int | None, int | None], tuple[float, int]], i: int, j: int, names: Sequence[str]
) -> float:
    """Return the price of a mistake from the line that says most about it: both classes, one, or none."""
    if (i, j) in given:
        return given[i, j][0]
    half = [given[pair] for pair in ((i, None), (None, j)) if pair in given]
    if len({price for price, _ in half}) > 1:
        lines = " and ".join(str(line) for _, line in half)
        got = f"two for {_said((i, j), names)}, in lines {lines}"
        remedy = f"Add the line {names[i]},{names[j]},PRICE."
        raise _checks.fail(OWNER, "cost", "one price per mistake", got, remedy)
    if half:
        return half[0][0]
    if (None, None) in given:
        return given[None, None][0]
    remedy = "Add the line *,*,1 for all mistakes that have no line of their own."
    raise _checks.fail(OWNER, "cost", "a price for every mistake", f"none for {_said((i, j), names)}", remedy)


def _price(cell: str, true: str, predicted: str, line: int, decimal_comma: bool) -> float:
    right = true == predicted != "*"
    if right and not cell:
        return 0.0
    text = pointed(cell) if decimal_comma else cell
    try:
        price = math.nan if "_" in text else float(text)
    except ValueError:
        price = math.nan
    if 0 <= price <= (0 if right else LARGEST):
        return price
    pair = f"for true {true!r} called {predicted!r} (line {line})"
    if not -LARGEST <= price <= LARGEST:
        raise _checks.fail(OWNER, "cost", "prices that are numbers", f"{cell!r} {pair}" if cell else f"nothing {pair}")
    if price < 0:
        raise _checks.fail(OWNER, "cost", "prices of 0 or more", f"{price:g} {pair}", "A gain is a price of 0.")
    raise _checks.fail(OWNER, "cost", "prices of 0 for being right", f"{price:g} {pair}")


def _said(pair: tuple[int | None, int | None], names: Sequence[str]) -> str:
    true, predicted = ("anything" if index is None else repr(names[index]) for index in pair)
    return f"true {true} called {predicted}"
